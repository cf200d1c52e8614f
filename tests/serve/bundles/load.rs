//! Bundles that change while events are served.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::Managed;
use crate::cli::project::EVENTS;

#[test]
fn what_changes_under_load_loses_nothing_and_doubles_nothing() {
    let managed = Managed::new();
    assert_eq!((managed.upload(0).status, managed.activate(0).status), (201, 200));
    let versions = managed.versions.each_ref().map(|it| it.version.clone());
    let body = (EVENTS.lines().next().unwrap().to_owned() + "\n").repeat(1_000);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let sending = [(); 2].map(|()| {
            scope.spawn(|| {
                let mut found = Vec::new();
                while !is_over.load(Ordering::Relaxed) || found.len() < 2 {
                    found.push(managed.ask("POST", "events", body.as_bytes()).lines());
                }
                found
            })
        });
        for number in 0..12 {
            let steps = match number % 3 {
                0 => [managed.upload(1), managed.activate(1)],
                1 => [managed.upload(0), managed.ask("POST", "bundles/read_order/rollback", b"")],
                _ => [managed.activate(1), managed.activate(0)],
            };
            assert!(steps.iter().all(|it| it.status < 300), "{number}: {steps:?}");
            assert!(managed.served().is_some_and(|it| versions.contains(&it)));
        }
        is_over.store(true, Ordering::Relaxed);
        let mut by = [0; 2];
        for lines in sending.into_iter().flat_map(|it| it.join().unwrap()) {
            let (summary, results) = lines.split_last().unwrap();
            let numbers: Vec<u64> = results.iter().filter_map(|it| it["line"].as_u64()).collect();
            assert_eq!(numbers, (1..=1_000).collect::<Vec<_>>(), "{summary}");
            assert_eq!(summary["summary"]["results"], 1_000, "{summary}");
            for line in results {
                let version = versions.iter().position(|it| line["bundle"] == **it);
                by[version.unwrap_or_else(|| panic!("{line}"))] += 1;
            }
        }
        assert!(by.iter().all(|events| *events > 0), "{by:?}");
    });
}
