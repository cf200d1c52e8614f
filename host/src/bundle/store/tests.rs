//! Storing under failures: every operation fails once, and the writer dies before every one.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::cell::{Cell, RefCell};

use super::*;
use crate::bundle::contents::tests::sample;
use crate::bundle::{
    BundleLoadError, Expect, ExtractorName, Looking, ModuleGate, ModuleRefusal, Part, RECORD_FILE,
    Storing, discover, load, look_at,
};
use crate::diagnostics::problem::Coded as _;
use crate::sandbox::files::LOCK;

/// What happens at one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// The operation fails; those after it work.
    Fails,
    /// The writer is gone: neither it nor anything after it happens.
    Dies,
}

/// The real file system, with a fault at the operation of a given number.
struct FaultyDisk<'a> {
    disk: &'a CapDisk,
    can_exchange: bool,
    fault: Option<(usize, Fault)>,
    count: Cell<usize>,
    log: RefCell<Vec<String>>,
}

impl<'a> FaultyDisk<'a> {
    fn new(disk: &'a CapDisk, can_exchange: bool, fault: Option<(usize, Fault)>) -> Self {
        Self { disk, can_exchange, fault, count: Cell::new(0), log: RefCell::default() }
    }

    fn step(&self, operation: String) -> io::Result<()> {
        let number = self.count.replace(self.count.get() + 1);
        self.log.borrow_mut().push(operation);
        match self.fault {
            Some((at, Fault::Fails)) if number == at => Err(io::Error::other("no space left")),
            Some((at, Fault::Dies)) if number >= at => Err(io::Error::other("dead")),
            _ => Ok(()),
        }
    }
}

impl Disk for FaultyDisk<'_> {
    fn create_dir(&self, name: &str) -> io::Result<()> {
        self.step(format!("create_dir {name}"))?;
        self.disk.create_dir(name)
    }

    fn write_file(&self, dir: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        let died_before = matches!(self.fault, Some((at, Fault::Dies)) if self.count.get() > at);
        if let Err(error) = self.step(format!("write_file {dir}/{name}")) {
            if !died_before {
                // A write that fails or dies has written a part.
                self.disk.write_file(dir, name, &bytes[..bytes.len() / 2]).unwrap();
            }
            return Err(error);
        }
        self.disk.write_file(dir, name, bytes)
    }

    // Flushing has no effect that a test could see, and takes most of a put's time.

    fn sync_file(&self, dir: &str, name: &str) -> io::Result<()> {
        self.step(format!("sync_file {dir}/{name}"))
    }

    fn sync_dir(&self, name: &str) -> io::Result<()> {
        self.step(format!("sync_dir {name}"))
    }

    fn sync_root(&self) -> io::Result<()> {
        self.step("sync_root".to_owned())
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        self.step(format!("exists {name}"))?;
        self.disk.exists(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.step(format!("rename {from} {to}"))?;
        self.disk.rename(from, to)
    }

    fn exchange(&self, a: &str, b: &str) -> io::Result<bool> {
        self.step(format!("exchange {a} {b}"))?;
        if self.can_exchange { self.disk.exchange(a, b) } else { Ok(false) }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.step(format!("remove {name}"))?;
        self.disk.remove(name)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        self.step("names".to_owned())?;
        self.disk.names()
    }

    fn manifest(&self, name: &str) -> Option<Manifest> {
        self.disk.manifest(name)
    }
}

struct AnyModule;

impl ModuleGate for AnyModule {
    type Module = ();

    fn admit(&self, _: &[u8], _: Option<&[u8]>, _: &Manifest) -> Result<(), ModuleRefusal> {
        Ok(())
    }
}

const OLD_TIME: i64 = 1;
const NEW_TIME: i64 = 2;

fn manifest(contents: &Contents<'_>, second: i64) -> Manifest {
    Manifest::new(contents, jiff::Timestamp::from_second(second).unwrap()).unwrap()
}

/// The time at which the one bundle in `root` was made.
fn stored(root: &Path, fingerprint: Digest) -> Result<String, BundleLoadError> {
    let loaded = load(&root.join(fingerprint.to_string()), &Expect::default(), &AnyModule)?;
    assert_eq!(loaded.fingerprint(), fingerprint);
    Ok(loaded.manifest().created_at().to_owned())
}

/// Names in `root` besides the lock and the bundle.
fn leftovers(root: &Path, fingerprint: Digest) -> Vec<String> {
    let names = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name());
    names
        .map(|name| name.into_string().unwrap())
        .filter(|name| *name != LOCK && *name != fingerprint.to_string())
        .collect()
}

/// What is under the fingerprint before the put.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Before {
    Nothing,
    Bundle,
    /// Something that isn't a bundle and was not made by a store.
    File,
}

/// Runs a put with a fault; `None` if the put has no such operation.
fn run(before: Before, can_exchange: bool, at: usize, fault: Fault) -> Option<()> {
    let context = format!("{before:?}, exchange {can_exchange}, {fault:?} at {at}");
    let types = ["order".to_owned()];
    let contents = sample(&types);
    let fingerprint = contents.fingerprint();
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path();
    let store = Store::open(root).unwrap();
    match before {
        Before::Nothing => {}
        Before::Bundle => {
            let disk = FaultyDisk::new(&store.disk, true, None);
            put(&disk, &contents, &manifest(&contents, OLD_TIME)).unwrap();
        }
        Before::File => std::fs::write(store.path_of(fingerprint), "x").unwrap(),
    }

    let disk = FaultyDisk::new(&store.disk, can_exchange, Some((at, fault)));
    let result = put(&disk, &contents, &manifest(&contents, NEW_TIME));
    if disk.count.get() <= at {
        assert!(result.is_ok(), "{context}: {result:?}");
        return None;
    }
    let last_flush_failed =
        matches!(&result, Err(failure) if failure.action == "flush the directory of bundles");
    if fault == Fault::Fails && result.is_err() && !last_flush_failed {
        assert_eq!(leftovers(root, fingerprint), [""; 0], "{context}");
        assert_ne!(stored(root, fingerprint).ok(), Some(time(NEW_TIME)), "{context}");
    }

    drop(Store::open(root).unwrap());
    assert_eq!(leftovers(root, fingerprint), [""; 0], "{context}");
    let target = store.path_of(fingerprint);
    let found = stored(root, fingerprint);
    let is_new = found.as_ref().is_ok_and(|found| *found == time(NEW_TIME));
    let is_old = match before {
        Before::Nothing => !target.exists(),
        Before::Bundle => found.as_ref().is_ok_and(|found| *found == time(OLD_TIME)),
        Before::File => std::fs::read(&target).is_ok_and(|bytes| bytes == b"x"),
    };
    assert!(is_new || is_old, "{context}: {found:?}");
    assert!(is_new || result.is_err(), "{context}: reported as stored, but it is not");
    Some(())
}

fn time(second: i64) -> String {
    manifest(&sample(&["order".to_owned()]), second).created_at().to_owned()
}

#[test]
fn any_single_failure_and_any_crash_leave_the_old_or_the_new() {
    for before in [Before::Nothing, Before::Bundle, Before::File] {
        for can_exchange in [true, false] {
            for fault in [Fault::Fails, Fault::Dies] {
                let runs = (0..).take_while(|at| run(before, can_exchange, *at, fault).is_some());
                // Names, create, seven files written and flushed, flush, exists, rename, flush.
                assert!(runs.count() >= 19, "{before:?} {can_exchange} {fault:?}");
            }
        }
    }
}

#[test]
fn everything_is_flushed_before_the_rename_and_the_rename_after_it() {
    let types = ["order".to_owned()];
    let contents = sample(&types);
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    let disk = FaultyDisk::new(&store.disk, true, None);
    put(&disk, &contents, &manifest(&contents, NEW_TIME)).unwrap();
    let log = disk.log.into_inner();
    let position = |start: &str| log.iter().rposition(|line| line.starts_with(start)).unwrap();
    for start in ["write_file", "sync_file"] {
        assert_eq!(log.iter().filter(|line| line.starts_with(start)).count(), 7, "{log:?}");
    }
    assert!(position("write_file") < position("sync_file"), "{log:?}");
    assert!(position("sync_file") < position("sync_dir .staging-"), "{log:?}");
    assert!(position("sync_dir .staging-") < position("rename .staging-"), "{log:?}");
    assert!(position("rename .staging-") < position("sync_root"), "{log:?}");
}

#[test]
fn a_living_writers_staging_directory_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    store.disk.create_dir(".staging-x").unwrap();
    {
        let _writer = store.disk.lock().unwrap();
        Store::open(root.path()).unwrap();
        assert!(store.disk.exists(".staging-x").unwrap());
    }
    Store::open(root.path()).unwrap();
    assert!(!store.disk.exists(".staging-x").unwrap());
}

#[test]
fn names_that_no_store_made_are_left_alone() {
    let root = tempfile::tempdir().unwrap();
    for name in [".old-", ".old-x", ".git", "notes"] {
        std::fs::create_dir(root.path().join(name)).unwrap();
    }
    Store::open(root.path()).unwrap();
    for name in [".old-", ".old-x", ".git", "notes"] {
        assert!(root.path().join(name).is_dir(), "{name}");
    }
}

#[test]
fn writers_in_threads_take_turns() {
    let types = ["order".to_owned()];
    let root = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for second in 0..8 {
            let (root, types) = (root.path(), &types);
            scope.spawn(move || {
                let time = jiff::Timestamp::from_second(second).unwrap();
                Store::open(root).unwrap().put(&sample(types), time).unwrap();
            });
        }
    });
    let fingerprint = sample(&types).fingerprint();
    stored(root.path(), fingerprint).unwrap();
    assert_eq!(leftovers(root.path(), fingerprint), [""; 0]);
}

#[test]
fn a_place_that_cannot_hold_bundles_is_named() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    std::fs::write(&file, "").unwrap();
    let below = file.join("bundles");
    let error = Store::open(&below).unwrap_err();
    assert_eq!(error.code(), "bundle_write_failed");
    assert!(error.to_string().starts_with(&below.display().to_string()), "{error}");

    let gone = root.path().join("gone");
    let store = Store::open(&gone).unwrap();
    std::fs::remove_dir_all(&gone).unwrap();
    let types = ["order".to_owned()];
    let error = store.put(&sample(&types), jiff::Timestamp::UNIX_EPOCH).unwrap_err();
    assert_eq!(error.code(), "bundle_write_failed");
    assert!(error.to_string().contains("No such file"), "{error}");
}

#[test]
fn what_no_loader_would_read_is_not_stored() {
    let types = ["order".to_owned()];
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    let limits = vec![b' '; 70 << 10];
    let large = Contents { limits: &limits, ..sample(&types) };
    let unnamed = Contents { function_name: "", ..sample(&types) };
    for (contents, code) in [(large, "bundle_too_large"), (unnamed, "bundle_invalid")] {
        let error = store.put(&contents, jiff::Timestamp::UNIX_EPOCH).unwrap_err();
        assert_eq!(error.code(), code);
        assert_eq!(leftovers(root.path(), contents.fingerprint()), [""; 0]);
    }
}

/// Writes another record, with a fault; `None` if that has no such operation.
fn run_recording(at: usize, fault: Fault) -> Option<()> {
    let context = format!("{fault:?} at {at}");
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    switch::write(&store.disk, "old").unwrap();
    let disk = FaultyDisk::new(&store.disk, true, Some((at, fault)));
    let result = switch::write(&disk, "new");
    if disk.count.get() <= at {
        assert!(result.is_ok(), "{context}: {result:?}");
        return None;
    }
    drop(Store::open(root.path()).unwrap());
    let found = std::fs::read_to_string(root.path().join(RECORD_FILE)).unwrap();
    assert!(["old", "new"].contains(&found.as_str()), "{context}: {found}");
    assert!(found == "new" || result.is_err(), "{context}: reported as written");
    let names = std::fs::read_dir(root.path()).unwrap().count();
    assert_eq!(names, 2, "{context}: the lock and the record");
    Some(())
}

#[test]
fn a_record_is_the_old_one_or_the_new_one_whatever_fails() {
    for fault in [Fault::Fails, Fault::Dies] {
        let runs = (0..).take_while(|at| run_recording(*at, fault).is_some());
        assert!(runs.count() >= 7, "names, create, write, flush, rename, remove, flush");
    }
}

/// Adds a bundle as a compilation does.
fn add(store: &Store, contents: &Contents<'_>, storing: Storing) -> switch::Added {
    store.add(contents, &storing, || None).unwrap()
}

fn at(second: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(second).unwrap()
}

/// The versions that are served, as a reader finds them.
fn served(root: &Path) -> Vec<Digest> {
    let found = discover(root, &Expect::default(), None, &AnyModule);
    assert_eq!(found.failures, []);
    found.loaded.iter().map(|loaded| loaded.fingerprint()).collect()
}

fn sorted(versions: &[Digest]) -> Vec<Digest> {
    let mut versions = versions.to_vec();
    versions.sort_unstable();
    versions
}

#[test]
fn one_version_of_an_extractor_is_served_and_earlier_ones_stay() {
    let (orders, parcels) = (["order".to_owned()], ["parcel".to_owned()]);
    let first = sample(&orders);
    let second = Contents { plan: Some(b"{\"changed\": true}\n"), ..first };
    let elsewhere = Contents { event_types: &parcels, ..first };
    let named_otherwise = Contents { function_name: "of_another_name", ..first };
    let [one, two, three, other] =
        [&first, &second, &elsewhere, &named_otherwise].map(Contents::fingerprint);
    let name: ExtractorName = "extract_order".parse().unwrap();
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();

    assert!(add(&store, &first, at(1).into()).is_active);
    let added = add(&store, &second, at(2).into());
    assert_eq!(added.others.replaced, [store.path_of(one)]);
    assert_eq!(served(root.path()), [two]);
    // Of the same function's name alone, and of other events.
    add(&store, &elsewhere, at(3).into());
    assert_eq!(served(root.path()), sorted(&[two, three]));
    // What would take events from another extractor isn't activated.
    let added = add(&store, &named_otherwise, at(4).into());
    assert!(!added.is_active && added.others.colliding == [store.path_of(two)], "{added:?}");
    assert_eq!(served(root.path()), sorted(&[two, three]));
    let activated =
        store.activate(&"of_another_name".parse().unwrap(), &other.to_string(), at(5), "test");
    assert_eq!(activated.unwrap_err().code(), "event_type_taken");

    let after = store.roll_back(&name, at(6), "test").unwrap().after;
    assert_eq!((after, served(root.path())), (vec![two], vec![two]));
    store.roll_back(&name, at(6), "test").unwrap();
    assert_eq!(served(root.path()), [one]);
    let error = store.roll_back(&name, at(7), "test").unwrap_err();
    assert_eq!(error.code(), "no_earlier_version");
    store.activate(&name, &two.to_string()[..12], at(8), "test").unwrap();
    store.retire(&name, at(9), "test").unwrap();
    assert_eq!(served(root.path()), []);
    store.activate(&"of_another_name".parse().unwrap(), &other.to_string(), at(5), "test").unwrap();
    assert_eq!(served(root.path()), [other]);
    assert_eq!(store.roll_back(&name, at(9), "test").unwrap_err().code(), "event_type_taken");
    // In one step, there and back.
    let switched = store.replace(&name, &two.to_string(), at(9), "test").unwrap();
    assert_eq!(switched.retired, ["of_another_name".parse().unwrap()]);
    assert_eq!((switched.after, served(root.path())), (vec![two], vec![two]));
    let again = store.replace(&name, &two.to_string(), at(9), "test").unwrap();
    assert_eq!((again.before, again.retired), (vec![two], vec![]));
    store.replace(&"of_another_name".parse().unwrap(), &other.to_string(), at(9), "test").unwrap();
    assert_eq!(served(root.path()), [other]);
    for (version, code) in
        [("abc", "version_unknown"), ("", "version_unknown"), ("zzzz", "version_unknown")]
    {
        assert_eq!(store.activate(&name, version, at(9), "test").unwrap_err().code(), code);
    }
    let unknown = "nobody".parse().unwrap();
    assert_eq!(store.retire(&unknown, at(9), "test").unwrap_err().code(), "name_unknown");
    assert_eq!(store.roll_back(&unknown, at(9), "test").unwrap_err().code(), "name_unknown");
}

#[test]
fn what_was_given_a_name_is_that_extractor_whatever_its_events() {
    let (orders, parcels) = (["order".to_owned()], ["parcel".to_owned()]);
    let name: ExtractorName = "shop".parse().unwrap();
    let first = Contents { name: Some(&name), ..sample(&orders) };
    let second = Contents { event_types: &parcels, function_name: "read_parcel", ..first };
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    add(&store, &first, at(1).into());
    add(&store, &second, at(2).into());
    assert_eq!(served(root.path()), [second.fingerprint()]);
}

#[test]
fn a_directory_without_a_record_goes_on_serving_what_is_in_it() {
    let (orders, parcels) = (["order".to_owned()], ["parcel".to_owned()]);
    let (first, other) =
        (sample(&orders), Contents { function_name: "of_parcels", ..sample(&parcels) });
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    for contents in [&first, &other] {
        store.put(contents, at(1)).unwrap();
    }
    // What isn't named as a version is nobody's version.
    let types = ["letter".to_owned()];
    let copied = Contents { event_types: &types, ..first };
    std::fs::rename(store.put(&copied, at(1)).unwrap(), root.path().join("copied")).unwrap();
    let all = sorted(&[first.fingerprint(), other.fingerprint(), copied.fingerprint()]);
    assert_eq!(sorted(&served(root.path())), all);
    let inactive = Contents { plan: Some(b"{\"changed\": true}\n"), ..first };
    assert!(!add(&store, &inactive, Storing::at(at(2)).activate(false)).is_active);
    assert_eq!(sorted(&served(root.path())), all);
    let catalog = Catalog::read(root.path()).unwrap();
    let states: Vec<_> = catalog.extractors[0].versions.iter().map(|it| it.state).collect();
    assert_eq!(states, [VersionState::Active, VersionState::Stored]);
    assert!(catalog.has_record && catalog.unreadable.is_empty());
}

#[test]
fn what_nobody_goes_back_to_is_removed() {
    let types = ["order".to_owned()];
    let plans: Vec<String> = (0..5).map(|it| format!("{{\"plan\": {it}}}\n")).collect();
    let versions: Vec<Contents<'_>> = plans
        .iter()
        .map(|plan| Contents { plan: Some(plan.as_bytes()), ..sample(&types) })
        .collect();
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    for contents in &versions {
        store.put(contents, at(1)).unwrap();
    }
    assert_eq!(store.collect(Some(0), false).unwrap().removed.len(), 0, "all of it is served");
    for contents in &versions {
        std::fs::remove_dir_all(store.path_of(contents.fingerprint())).unwrap();
    }
    for contents in &versions[..4] {
        add(&store, contents, at(2).into());
    }
    add(&store, &versions[4], Storing::at(at(3)).activate(false));

    let would = store.collect(None, true).unwrap();
    assert_eq!(would.removed, [store.path_of(versions[4].fingerprint())]);
    let looking = Looking::begin(root.path());
    assert_eq!(store.collect(None, false).unwrap_err().code(), "bundles_in_use");
    drop(looking);
    assert_eq!(store.collect(None, false).unwrap(), would);
    let collected = store.collect(Some(1), false).unwrap();
    assert_eq!((collected.removed.len(), collected.left), (2, 2));
    let name = "extract_order".parse().unwrap();
    store.roll_back(&name, at(4), "test").unwrap();
    assert_eq!(served(root.path()), [versions[2].fingerprint()]);
    assert_eq!(store.collect(Some(0), false).unwrap().left, 1);
}

#[test]
fn what_somebody_holds_is_not_removed() {
    let types = ["order".to_owned()];
    let (root, others) = (tempfile::tempdir().unwrap(), [b"{\"plan\": 1}\n", b"{\"plan\": 2}\n"]);
    let store = Store::open(root.path()).unwrap();
    add(&store, &sample(&types), at(1).into());
    let [loaded, found] = others.map(|plan| {
        let contents = Contents { plan: Some(plan), ..sample(&types) };
        add(&store, &contents, Storing::at(at(1)).activate(false));
        store.path_of(contents.fingerprint())
    });
    let held = load(&loaded, &Expect::default(), &AnyModule).unwrap();
    let other = held.with_module(());
    let looked_at = look_at(&found).unwrap();
    let all = sorted_paths([&loaded, &found]);
    for dry_run in [true, false] {
        let collected = store.collect(None, dry_run).unwrap();
        assert_eq!((collected.removed, collected.in_use, collected.left), (vec![], all.clone(), 3));
    }
    drop(held);
    drop(looked_at);
    let collected = store.collect(None, false).unwrap();
    assert_eq!((collected.removed, collected.in_use), (vec![found.clone()], vec![loaded.clone()]));
    assert!(other.read(Part::Graph).unwrap().is_some() && !found.exists());
    drop(other);
    assert_eq!(store.collect(None, false).unwrap().removed, [loaded]);
}

fn sorted_paths(paths: [&PathBuf; 2]) -> Vec<PathBuf> {
    let mut paths = paths.map(PathBuf::clone).to_vec();
    paths.sort();
    paths
}

#[test]
fn what_is_opened_while_versions_are_removed_is_whole_or_not_there() {
    let types = ["order".to_owned()];
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    add(&store, &sample(&types), at(1).into());
    let contents = Contents { plan: Some(b"{\"plan\": 1}\n"), ..sample(&types) };
    let path = store.path_of(contents.fingerprint());
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let is_at_work = || !is_over.load(std::sync::atomic::Ordering::Relaxed);
    std::thread::scope(|scope| {
        let readers = [(); 2].map(|()| {
            scope.spawn(|| {
                let mut opened = 0;
                while is_at_work() {
                    std::thread::sleep(std::time::Duration::from_millis(2));
                    let Ok(held) = load(&path, &Expect::default(), &AnyModule) else { continue };
                    assert!(held.read(Part::Graph).is_ok(), "it is removed under its reader");
                    opened += 1;
                }
                opened
            })
        });
        let mut removed = 0;
        for _ in 0..300 {
            // One that is there would be exchanged for another.
            if !path.exists() {
                add(&store, &contents, Storing::at(at(1)).activate(false));
            }
            removed += store.collect(None, false).unwrap().removed.len();
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        let opened: u32 = readers.map(|it| it.join().unwrap()).into_iter().sum();
        assert!(opened > 0 && removed > 0, "{opened} {removed}");
    });
}

#[test]
fn a_record_that_is_none_stops_writers_and_readers() {
    let types = ["order".to_owned()];
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    add(&store, &sample(&types), at(1).into());
    std::fs::write(root.path().join(RECORD_FILE), "{").unwrap();
    let found = discover(root.path(), &Expect::default(), None, &AnyModule);
    assert_eq!((found.loaded.len(), found.failures.len()), (0, 1));
    assert_eq!(found.failures[0].code(), "activation_record_invalid");
    let name = "extract_order".parse().unwrap();
    for error in [
        store.add(&sample(&types), &at(2).into(), || None).unwrap_err(),
        store.retire(&name, at(2), "test").unwrap_err(),
        store.collect(None, false).unwrap_err(),
        Catalog::read(root.path()).unwrap_err(),
    ] {
        assert_eq!(error.code(), "activation_record_invalid");
    }
    assert_eq!(std::fs::read(root.path().join(RECORD_FILE)).unwrap(), b"{");
}
