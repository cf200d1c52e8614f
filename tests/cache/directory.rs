//! The directory of the cache: this user's alone, or not used.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;

use retort::Coded as _;
use retort::sandbox::{Cache, CacheReport, Options, Sandbox};

use super::{Host, names, serve};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Serves with a cache in this directory.
fn serve_in(host: &Host, directory: &Path) -> CacheReport {
    let cache = Some(Cache::new(directory));
    let sandbox = Sandbox::with_options(options!(Options { cache, ..Options::default() })).unwrap();
    serve(&sandbox, &host.extractor, "E")
}

#[test]
fn what_is_made_is_private() {
    let host = Host::new();
    let directory = host.directory().join("deeper/still");
    let report = serve_in(&host, &directory);
    assert!(report.warnings.is_empty(), "{report:?}");
    for path in [&host.directory(), &host.directory().join("deeper"), &directory] {
        assert_eq!(mode(path), 0o700, "{}", path.display());
    }
    for name in names(&directory) {
        assert_eq!(mode(&directory.join(&name)), 0o600, "{name:?}");
    }
    assert_eq!(names(&directory).len(), 3, "an entry, the key and the lock");
}

/// Things done to the directory before the cache is opened, with what it says of them.
#[test]
fn a_directory_that_others_have_a_hand_in_is_not_used() {
    type Attack = fn(&Host);
    let attacks: [(&str, Attack, &str); 8] = [
        ("open to all", |host| set_mode(host, 0o777), "expected the mode 0700, found 0777"),
        ("read by a group", |host| set_mode(host, 0o750), "expected the mode 0700, found 0750"),
        ("searched by others", |host| set_mode(host, 0o701), "expected the mode 0700, found 0701"),
        ("a file", |host| fs::write(moved(host), "x").unwrap(), "expected a directory"),
        ("a link", |host| symlink(host.root.path(), moved(host)).unwrap(), "expected a directory"),
        (
            "a link to the very directory",
            |host| symlink(host.root.path().join("moved"), moved(host)).unwrap(),
            "expected a directory",
        ),
        ("a dangling link", |host| symlink("/nothing", moved(host)).unwrap(), ""),
        (
            "a pipe",
            |host| {
                let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
                let fifo = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, moved(host), fifo, mode, 0).unwrap();
            },
            "expected a directory",
        ),
    ];
    for (name, go, says) in attacks {
        let host = Host::warmed();
        go(&host);
        assert_unused(&host, name, says);
        // A separator at the end would have a link followed.
        let report = serve_in(&host, &host.directory().join(""));
        assert_eq!(report.hits, 0, "{name}");
        assert_eq!(report.warnings[0].code(), "cache_unusable", "{name}");
    }
}

fn assert_unused(host: &Host, name: &str, says: &str) {
    let before = fs::symlink_metadata(host.directory()).unwrap();
    let report = host.serve();
    let [warning] = report.warnings.as_slice() else { panic!("{name}: {report:?}") };
    assert_eq!(warning.code(), "cache_unusable", "{name}");
    assert!(warning.to_string().contains(says), "{name}: {warning}");
    assert_eq!((report.hits, report.misses), (0, 0), "{name}");
    let after = fs::symlink_metadata(host.directory()).unwrap();
    assert_eq!((before.ino(), before.mode()), (after.ino(), after.mode()), "{name}: left alone");
}

fn set_mode(host: &Host, mode: u32) {
    fs::set_permissions(host.directory(), Permissions::from_mode(mode)).unwrap();
}

/// The directory's path, after what was there has gone elsewhere.
fn moved(host: &Host) -> std::path::PathBuf {
    fs::rename(host.directory(), host.root.path().join("moved")).unwrap();
    host.directory()
}

#[test]
fn what_belongs_to_another_user_is_not_used() {
    const NOBODY: u32 = 65534;
    let host = Host::warmed();
    if chown(host.entry(), Some(NOBODY), None).is_err() {
        eprintln!("skipped: only root can give files away");
        return;
    }
    let warnings = host.rebuilt();
    assert_eq!(warnings[0].0, "cache_entry_refused");
    assert!(warnings[0].1.contains("found user 65534"), "{warnings:?}");

    chown(host.key(), Some(NOBODY), None).unwrap();
    let warnings = host.rebuilt();
    assert_eq!(warnings[0].0, "cache_key_replaced");

    chown(host.directory(), Some(NOBODY), None).unwrap();
    assert_unused(&host, "another's directory", "found user 65534");
}

#[test]
fn a_writer_that_never_ends_costs_the_entry_and_not_the_answer() {
    let host = Host::warmed();
    fs::remove_file(host.entry()).unwrap();
    let lock = File::options().write(true).open(host.directory().join(".lock")).unwrap();
    lock.lock().unwrap();
    let report = host.serve();
    let [warning] = report.warnings.as_slice() else { panic!("{report:?}") };
    assert_eq!(warning.code(), "cache_entry_not_kept");
    assert!(host.entries().is_empty());
    drop(lock);
    assert!(host.serve().warnings.is_empty());
    assert_eq!(host.serve().hits, 1);
}

#[test]
fn a_lock_that_is_not_a_private_file_is_not_waited_for() {
    for plant in [
        |lock: &Path| symlink("/dev/null", lock).unwrap(),
        |lock: &Path| fs::create_dir(lock).unwrap(),
        |lock: &Path| {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            let fifo = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, lock, fifo, mode, 0).unwrap();
        },
    ] {
        let host = Host::warmed();
        fs::remove_file(host.entry()).unwrap();
        let lock = host.directory().join(".lock");
        fs::remove_file(&lock).unwrap();
        plant(&lock);
        let report = host.serve();
        let [warning] = report.warnings.as_slice() else { panic!("{report:?}") };
        assert_eq!(warning.code(), "cache_entry_not_kept", "{warning}");
    }
}

#[test]
fn what_a_crashed_writer_left_is_cleared_away() {
    let host = Host::warmed();
    fs::remove_file(host.entry()).unwrap();
    fs::write(host.directory().join(".staging"), vec![0; 1 << 20]).unwrap();
    assert!(host.serve().warnings.is_empty());
    assert!(!host.directory().join(".staging").exists());
    assert_eq!(host.serve().hits, 1);
}

#[test]
fn files_of_others_in_the_directory_stay() {
    let host = Host::warmed();
    let note = host.directory().join("note.txt");
    fs::write(&note, "x").unwrap();
    fs::remove_file(host.entry()).unwrap();
    assert!(host.serve().warnings.is_empty());
    assert_eq!(fs::read_to_string(note).unwrap(), "x");
}
