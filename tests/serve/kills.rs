//! A service that is killed at whatever moment of an upload, a switch and a reload: what is on disk is whole, the old or the new.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use retort::bundle::{Catalog, VersionState};
use retort::{Bundle, Pipeline};
use rustix::process::Signal;
use serde_json::json;

use super::bundles::{Uploadable, config, two_versions};
use super::fixture::Service;
use super::tenants::bearer;
use crate::cli::project::{EVENTS, Project};

/// How often the service is killed in an upload, a switch and a reload, each.
const KILLS: u32 = 67;

/// A project, and the versions that its service may have.
struct Killed<'a> {
    project: &'a Project,
    versions: &'a [Uploadable; 2],
    gates: Pipeline,
}

impl Killed<'_> {
    fn start(&self) -> Service {
        Service::start(self.project, &["--config", "service.toml"])
    }

    /// The versions that are there, each of them whole; and the one that is active, if one is.
    fn on_disk(&self) -> (BTreeSet<String>, Option<String>) {
        let root = self.project.path("acme");
        let catalog = Catalog::read(Path::new(&root)).unwrap();
        let [only] = catalog.extractors.as_slice() else { panic!("{catalog:?}") };
        let there = only.versions.iter().filter(|it| it.path.exists());
        for version in there.clone() {
            Bundle::open(&version.path, &self.gates).unwrap();
        }
        let mut active = only.versions.iter().filter(|it| it.state == VersionState::Active);
        let (first, second) = (active.next(), active.next());
        assert!(second.is_none() && first.is_none_or(|it| it.manifest.is_some()), "{only:?}");
        let version = |it: &retort::bundle::Version| it.fingerprint.to_string();
        (there.map(version).collect(), first.map(version))
    }

    /// Sends a request, kills the service after this time, and gives whether it was at work then.
    fn kill_in(&self, service: Service, path: &str, body: &[u8], after: Duration) -> bool {
        let mut client = service.connect();
        let headers = format!("{}Content-Length: {}\r\n", bearer("root"), body.len());
        client.begin("POST", &format!("/v1/tenants/acme/{path}"), &headers);
        client.stream.write_all(body).unwrap();
        thread::sleep(after);
        client.stream.set_nonblocking(true).unwrap();
        let is_at_work = client.stream.peek(&mut [0]).is_err();
        // It is killed where it is dropped.
        drop(service);
        is_at_work
    }
}

/// How long a request takes that nobody kills.
fn duration(service: &Service, path: &str, body: &[u8]) -> Duration {
    let began = Instant::now();
    let answer = service.ask("POST", &format!("/v1/tenants/acme/{path}"), &bearer("root"), body);
    assert!(answer.status < 300, "{answer:?}");
    began.elapsed()
}

#[test]
fn whatever_a_service_is_killed_in_what_it_has_is_whole() {
    let project = Project::new();
    let versions = two_versions(&project);
    project.write("service.toml", config("", ""));
    let gates = Pipeline::builder().build().unwrap();
    let killed = Killed { project: &project, versions: &versions, gates };
    let activate = |bundle: &Uploadable| json!({"version": bundle.version}).to_string();
    let service = killed.start();
    let uploading = duration(&service, "bundles", &versions[1].tar);
    let [first, second] = versions.each_ref();
    duration(&service, "bundles", &first.tar);
    duration(&service, "bundles/read_order/activate", activate(second).as_bytes());
    let switching = duration(&service, "bundles/read_order/activate", activate(first).as_bytes());
    drop(service);

    let mut at_work = 0;
    for number in 0..KILLS {
        // What goes up isn't there, but for what a service left that was killed before.
        fs::remove_dir_all(project.path(&format!("acme/{}", second.version))).unwrap_or_default();
        let after = uploading * number / KILLS;
        at_work += u32::from(killed.kill_in(killed.start(), "bundles", &second.tar, after));
        let (there, active) = killed.on_disk();
        assert!(there.contains(&first.version) && active.as_ref() == Some(&first.version));
        assert!(there.len() < 2 || there.contains(&second.version), "{there:?}");
    }
    let service = killed.start();
    assert!(duration(&service, "bundles", &second.tar) > Duration::ZERO);
    drop(service);
    for number in 0..KILLS {
        let before = killed.on_disk().1.unwrap();
        let [_, other] = if before == first.version { [first, second] } else { [second, first] };
        let (path, body) = match number % 2 {
            0 => ("bundles/read_order/activate", activate(other)),
            _ => ("bundles/read_order/rollback", String::new()),
        };
        let after = switching * number / KILLS;
        at_work += u32::from(killed.kill_in(killed.start(), path, body.as_bytes(), after));
        let (there, active) = killed.on_disk();
        assert_eq!((there.len(), active.is_some()), (2, true), "{path}");
    }
    reloads(&killed);
    assert!(at_work > KILLS / 2, "{at_work} of {} were at work", 2 * KILLS);
    // Nothing is left of those that were killed once somebody writes.
    let service = killed.start();
    duration(&service, "bundles/read_order/activate", activate(first).as_bytes());
    duration(&service, "bundles/read_order/activate", activate(second).as_bytes());
    let names = fs::read_dir(project.path("acme")).unwrap();
    let names = names.map(|it| it.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.starts_with('.')).count(), 2, "the lock and the record");
}

/// Kills the service while it takes up another configuration and serves events.
fn reloads(killed: &Killed<'_>) {
    let body = EVENTS.lines().next().unwrap().to_owned() + "\n";
    let body = body.repeat(200);
    for number in 0..KILLS {
        let service = killed.start();
        let mut client = service.connect();
        let headers = format!("{}Content-Length: {}\r\n", bearer("acme"), body.len());
        client.begin("POST", "/v1/tenants/acme/events", &headers);
        client.stream.write_all(body.as_bytes()).unwrap();
        killed.project.write("service.toml", config("", &format!("weight = {}\n", number + 1)));
        service.tell(Signal::HUP);
        thread::sleep(Duration::from_millis(u64::from(number)));
        drop(service);
        // What has come of the answer are whole lines in order.
        let mut text = Vec::new();
        let _ = std::io::Read::read_to_end(&mut client.stream, &mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let numbers = text.lines().filter_map(|line| line.strip_prefix("{\"line\":"));
        let numbers = numbers.filter_map(|it| it.split(',').next()?.parse::<usize>().ok());
        assert!(numbers.enumerate().all(|(at, number)| number == at + 1), "{text}");
        let (there, active) = killed.on_disk();
        assert_eq!((there.len(), active.is_some()), (2, true));
    }
    assert_eq!(killed.versions.len(), 2);
}
