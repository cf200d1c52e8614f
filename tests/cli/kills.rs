//! Commands that change a directory of bundles and are killed at whatever moment: one version is served all along.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use retort::bundle::{Catalog, VersionState};

use retort::runtime::{Dispatched, Dispatcher};
use retort::{Bundle, Pipeline, Registry};

use super::project::{EVENTS, PLAN, Project};

/// How often each of the commands is killed.
const KILLS: u32 = 50;

/// The commands that change a directory of bundles.
const COMMANDS: [&str; 5] = ["compile", "activate", "rollback", "share", "gc"];

/// The one version that is served, by its fingerprint, whose manifest can be read.
fn active(root: &Path) -> Result<String, String> {
    let catalog = Catalog::read(root).map_err(|error| error.to_string())?;
    let [only] = catalog.extractors.as_slice() else { return Err(format!("{catalog:?}")) };
    let mut active = only.versions.iter().filter(|it| it.state == VersionState::Active);
    match (active.next(), active.next()) {
        (Some(version), None) if version.manifest.is_some() => Ok(version.fingerprint.to_string()),
        _ => Err(format!("{only:?}")),
    }
}

fn start(project: &Project, args: &[&str]) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_retort"))
        .args(args)
        .current_dir(project.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The arguments of the command of a number, each time with something to do as far as there is.
fn arguments(project: &Project, command: &str, number: u32) -> Vec<String> {
    let args = |args: &[&str]| args.iter().map(|it| (*it).to_owned()).collect();
    match command {
        "compile" => {
            project.write("rule.md", format!("Make a node of each order. {number}"));
            args(&["compile", "--rule", "rule.md"])
        }
        "activate" => {
            let catalog = Catalog::read(Path::new(&project.path("out"))).unwrap();
            let versions = &catalog.extractors[0].versions;
            let inactive = versions
                .iter()
                .find(|it| it.state != VersionState::Active && it.manifest.is_some());
            let wanted = inactive.unwrap_or(&versions[0]).fingerprint;
            args(&["bundles", "activate", "out", &format!("read_order@{wanted}")])
        }
        "rollback" => args(&["bundles", "rollback", "out", "read_order"]),
        "share" => {
            args(&["bundles", "share", "out", ["reject", "last", "off"][number as usize % 3]])
        }
        _ => args(&["bundles", "gc", "out", "--keep", "2"]),
    }
}

/// How long a command takes that nobody kills.
fn duration(project: &Project, command: &str) -> Duration {
    let args = arguments(project, command, u32::MAX);
    let began = Instant::now();
    start(project, &args.iter().map(String::as_str).collect::<Vec<_>>()).wait().unwrap();
    began.elapsed()
}

#[test]
fn whatever_is_killed_one_version_is_served() {
    let project = Project::new();
    project.compile();
    let root = PathBuf::from(project.path("out"));
    let (is_over, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                // Between the record and the directory two commands may have ended, of which one removes what the first replaced.
                let found = active(&root).or_else(|_| active(&root));
                found.unwrap_or_else(|error| panic!("{error}"));
                reads.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(2));
            }
        });
        let killed = thread::Builder::new().spawn_scoped(scope, || {
            let mut killed = 0;
            for command in COMMANDS {
                let whole = duration(&project, command);
                for number in 0..KILLS {
                    // Something to go back to, and something to remove.
                    if matches!(command, "rollback" | "gc") {
                        let args = arguments(&project, "activate", number);
                        let args: Vec<_> = args.iter().map(String::as_str).collect();
                        assert!(start(&project, &args).wait().unwrap().success());
                    }
                    let args = arguments(&project, command, number);
                    let args: Vec<_> = args.iter().map(String::as_str).collect();
                    let mut child = start(&project, &args);
                    thread::sleep(whole * number / KILLS);
                    killed += usize::from(child.try_wait().unwrap().is_none());
                    child.kill().unwrap();
                    child.wait().unwrap();
                    active(&root).unwrap_or_else(|error| panic!("{command} {number}: {error}"));
                }
            }
            killed
        });
        let killed = killed.unwrap().join();
        is_over.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        let killed = killed.unwrap();
        assert!(
            killed > 100,
            "{killed} of {} were killed before they ended",
            COMMANDS.len() * KILLS as usize
        );
    });
    assert!(reads.into_inner() > 100);

    // It goes on, and nothing is left of those that were killed.
    assert_eq!(project.retort(["compile"]).code, 0);
    let ran = project.retort(["run", "--bundles", "out", "events.ndjson"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(project.retort(["bundles", "gc", "out", "--keep", "0"]).code, 0);
    let mut left: Vec<_> = std::fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    let mut expected = [".lock", &active(&root).unwrap(), ".active.json"].map(str::to_owned);
    expected.sort();
    assert_eq!(left, expected);
}

#[test]
fn what_somebody_holds_stays_whatever_is_killed() {
    let project = Project::new();
    let first = project.compile();
    let root = PathBuf::from(project.path("out"));
    let pipeline = Pipeline::builder().build().unwrap();
    // It is held, and isn't loaded.
    let registry = Registry::open_lazily(&root, &pipeline);
    project.write("rule.md", "Make a node of each order, again.");
    assert_eq!(project.retort(["compile", "--rule", "rule.md"]).code, 0);
    let collect = ["bundles", "gc", "out", "--keep", "0"];
    let began = Instant::now();
    assert_eq!(project.retort(collect).code, 0);
    let whole = began.elapsed();
    let mut killed = 0;
    for number in 0..KILLS {
        project.write("rule.md", format!("Make a node of each order. {number}"));
        let stored = project.retort(["compile", "--rule", "rule.md", "--no-activate"]);
        assert_eq!(stored.code, 0, "{stored:?}");
        killed += u32::from(kill_after(&project, &collect, whole * number / KILLS));
        let found = Catalog::read(&root).unwrap();
        let versions: Vec<_> = found.extractors.iter().flat_map(|it| &it.versions).collect();
        assert!(versions.iter().any(|it| first.ends_with(&it.fingerprint.to_string())));
        for version in versions {
            Bundle::open(&version.path, &pipeline).unwrap();
        }
    }
    assert!(killed > KILLS / 4, "{killed} of {KILLS} were killed before they ended");
    let mut dispatcher = Dispatcher::new(&registry);
    let event = EVENTS.lines().next().unwrap();
    let dispatched = dispatcher.dispatch(event.as_bytes());
    assert!(matches!(dispatched, Ok(Dispatched::Served(_))), "{dispatched:?}");
    drop(dispatcher);
    drop(registry);
    assert_eq!(project.retort(collect).code, 0);
    assert!(Bundle::open(root.join(active(&root).unwrap()), &pipeline).is_ok());
    assert!(!Path::new(&project.path(&first)).exists());
}

/// Starts a command and kills it after this time. Whether it was still at work.
fn kill_after(project: &Project, args: &[&str], time: Duration) -> bool {
    let mut child = start(project, args);
    thread::sleep(time);
    let is_at_work = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    is_at_work
}

#[test]
fn whatever_is_killed_what_is_published_is_whole() {
    let (publish, sync) = (["publish", "out", "store"], ["sync", "store", "here"]);
    let project = Project::new();
    project.write("changed.json", PLAN.replace("\"span_id\"", "\"session_id\""));
    project.compile();
    assert_eq!(project.retort(["compile", "--plan", "changed.json"]).code, 0);
    let began = Instant::now();
    assert_eq!(project.retort(publish).code, 0);
    let publishing = began.elapsed();
    let began = Instant::now();
    assert_eq!(project.retort(sync).code, 0);
    let syncing = began.elapsed();
    let gates = Pipeline::builder().build().unwrap();
    let [out, store, here] = ["out", "store", "here"].map(|it| PathBuf::from(project.path(it)));
    let published = || {
        let text = std::fs::read(store.join("active/read_order.json")).unwrap();
        let activation: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let version = activation["versions"][0].as_str().unwrap().to_owned();
        // Beside the objects lies what the store itself was killed at.
        let whole = tempfile::tempdir().unwrap();
        for file in std::fs::read_dir(store.join("bundles").join(&version)).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            if !name.contains('#') {
                let from = store.join("bundles").join(&version).join(&name);
                std::fs::copy(from, whole.path().join(&name)).unwrap();
            }
        }
        Bundle::open(whole.path(), &gates).unwrap();
        version
    };
    let taken = || {
        let version = active(&here).unwrap();
        Bundle::open(here.join(&version), &gates).unwrap();
        version
    };
    let mut killed = 0;
    for number in 0..2 * KILLS {
        // What is to be published next isn't in the store, nor what is to be taken in the directory.
        let args = arguments(&project, "activate", number);
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        assert!(start(&project, &args).wait().unwrap().success());
        let next = active(&out).unwrap();
        if next != published() {
            let _ = std::fs::remove_dir_all(store.join("bundles").join(&next));
        }
        killed += u32::from(kill_after(&project, &publish, publishing * (number % KILLS) / KILLS));
        published();
        if number % 2 == 0 {
            assert_eq!(project.retort(publish).code, 0);
        }
        let next = published();
        if next != taken() {
            let _ = std::fs::remove_dir_all(here.join(&next));
        }
        killed += u32::from(kill_after(&project, &sync, syncing * (number % KILLS) / KILLS));
        taken();
    }
    assert!(killed > KILLS, "{killed} of {} were killed before they ended", 4 * KILLS);
    assert_eq!(project.retort(publish).code, 0);
    assert_eq!(project.retort(sync).code, 0);
    assert_eq!(taken(), active(&out).unwrap());
    let left = std::fs::read_dir(&here).unwrap();
    let left = left.map(|it| it.unwrap().file_name().into_string().unwrap());
    assert!(left.into_iter().all(|name| !name.starts_with(".staging")), "nothing is left behind");
}
