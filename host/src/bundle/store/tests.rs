//! Storing under failures: every operation fails once, and the writer dies before every one.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::cell::{Cell, RefCell};

use super::*;
use crate::bundle::contents::tests::sample;
use crate::bundle::{BundleLoadError, Expect, ModuleGate, ModuleRefusal, load};
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
            put(&disk, &contents, &manifest(&contents, OLD_TIME), &[]).unwrap();
        }
        Before::File => std::fs::write(store.path_of(fingerprint), "x").unwrap(),
    }

    let disk = FaultyDisk::new(&store.disk, can_exchange, Some((at, fault)));
    let result = put(&disk, &contents, &manifest(&contents, NEW_TIME), &[]);
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
    put(&disk, &contents, &manifest(&contents, NEW_TIME), &[]).unwrap();
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

/// The bundles that a reader finds, each by when it was made.
fn visible(root: &Path) -> Vec<String> {
    let names = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name());
    let bundles = names.filter(|name| name.to_str().unwrap().parse::<Digest>().is_ok());
    let created = |name| {
        let loaded = load(&root.join(name), &Expect::default(), &AnyModule).unwrap();
        loaded.manifest().created_at().to_owned()
    };
    bundles.map(created).collect()
}

/// Puts another version of a bundle in its place, with a fault; `None` if that has no such operation.
fn run_replacing(can_exchange: bool, at: usize, fault: Fault) -> Option<()> {
    let context = format!("exchange {can_exchange}, {fault:?} at {at}");
    let types = ["order".to_owned()];
    let earlier = sample(&types);
    let later = Contents { plan: Some(b"{\"changed\": true}\n"), ..earlier };
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path();
    let store = Store::open(root).unwrap();
    put(&store.disk, &earlier, &manifest(&earlier, OLD_TIME), &[]).unwrap();

    let disk = FaultyDisk::new(&store.disk, can_exchange, Some((at, fault)));
    let names = [earlier.fingerprint().to_string()];
    let result = put(&disk, &later, &manifest(&later, NEW_TIME), &names);
    if disk.count.get() <= at {
        assert!(result.is_ok(), "{context}: {result:?}");
        assert!(store.path_of(later.fingerprint()).is_dir(), "{context}");
        return None;
    }
    if can_exchange {
        assert_eq!(visible(root).len(), 1, "{context}: at each instant there is one");
    }
    drop(Store::open(root).unwrap());
    let found = visible(root);
    assert!(found == [time(OLD_TIME)] || found == [time(NEW_TIME)], "{context}: {found:?}");
    assert!(found == [time(NEW_TIME)] || result.is_err(), "{context}: reported as stored");
    Some(())
}

#[test]
fn another_version_takes_the_place_of_the_earlier_one_whatever_fails() {
    for can_exchange in [true, false] {
        for fault in [Fault::Fails, Fault::Dies] {
            let runs = (0..).take_while(|at| run_replacing(can_exchange, *at, fault).is_some());
            assert!(runs.count() >= 19, "{can_exchange} {fault:?}");
        }
    }
}

#[test]
fn versions_of_one_extractor_replace_each_other_and_others_stay() {
    let at = |second| jiff::Timestamp::from_second(second).unwrap();
    let (orders, parcels) = (["order".to_owned()], ["parcel".to_owned()]);
    let first = sample(&orders);
    let second = Contents { plan: Some(b"{\"changed\": true}\n"), ..first };
    let elsewhere = Contents { event_types: &parcels, ..first };
    let named_otherwise = Contents { function_name: "of_another_name", ..first };
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path();
    let store = Store::open(root).unwrap();
    let paths = |contents: &[&Contents<'_>]| -> Vec<PathBuf> {
        contents.iter().map(|it| store.path_of(it.fingerprint())).collect()
    };
    let supersede = |store: &Store, contents| store.supersede(contents, at(1)).unwrap().1;

    assert_eq!(supersede(&store, &first), Others::default());
    assert_eq!(supersede(&store, &elsewhere), Others::default());
    assert_eq!(supersede(&store, &second).replaced, paths(&[&first]));
    let others = supersede(&store, &named_otherwise);
    assert_eq!((others.replaced, others.colliding), (vec![], paths(&[&second])));

    let keeping = Store::open(root).unwrap().keeping_earlier();
    let kept = supersede(&keeping, &first);
    assert_eq!((kept.replaced.len(), kept.colliding.len()), (0, 2));
    assert_eq!(visible(root).len(), 4);
    let found = manifest(&first, 1);
    assert_eq!(store.retire_earlier(&found).unwrap().replaced, paths(&[&second]));
    assert_eq!(visible(root).len(), 3);
}
