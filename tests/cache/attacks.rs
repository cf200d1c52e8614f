//! Entries and keys that somebody had a hand in: ignored, told and replaced.

use std::fs::{self, File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::{Host, extractor, serve};

/// Bytes before the native code: 16 that say what it is, and the code over it.
const HEAD: usize = 48;

/// A thing done to the entry of a host, and what the cache has to say of it.
struct Attack {
    name: &'static str,
    says: &'static str,
    go: fn(&Host, &Path),
}

fn overwrite(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// Moves a file out of the directory, to where it can be linked to.
fn aside(host: &Host, path: &Path) -> std::path::PathBuf {
    let aside = host.root.path().join("aside");
    fs::rename(path, &aside).unwrap();
    aside
}

/// What a compiler makes of the module, with nothing that vouches for it.
fn native_code(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap().split_off(HEAD)
}

const FORGED: &str = "its authentication code is not that of this host, engine and module";

const ON_ENTRIES: &[Attack] = &[
    Attack { name: "empty", says: "found 0 bytes", go: |_, entry| overwrite(entry, Vec::clear) },
    Attack {
        name: "cut off within the head",
        says: "expected a head of 48 bytes, found 47",
        go: |_, entry| overwrite(entry, |bytes| bytes.truncate(HEAD - 1)),
    },
    Attack {
        name: "nothing but a head",
        says: FORGED,
        go: |_, entry| overwrite(entry, |bytes| bytes.truncate(HEAD)),
    },
    Attack {
        name: "without its last byte",
        says: FORGED,
        go: |_, entry| overwrite(entry, |bytes| bytes.truncate(bytes.len() - 1)),
    },
    Attack {
        name: "with a byte more",
        says: FORGED,
        go: |_, entry| overwrite(entry, |bytes| bytes.push(0)),
    },
    Attack {
        name: "native code alone",
        says: "it doesn't begin as an entry does",
        go: |_, entry| fs::write(entry, native_code(entry)).unwrap(),
    },
    Attack {
        name: "native code with a code of zeros",
        says: FORGED,
        go: |_, entry| overwrite(entry, |bytes| bytes[16..HEAD].fill(0)),
    },
    Attack {
        name: "another program",
        says: "it doesn't begin as an entry does",
        go: |_, entry| {
            // As much of one as an entry may have.
            let mut program = File::open(std::env::current_exe().unwrap()).unwrap().take(1 << 20);
            io::copy(&mut program, &mut File::create(entry).unwrap()).unwrap();
            fs::set_permissions(entry, Permissions::from_mode(0o600)).unwrap();
        },
    },
    Attack {
        name: "the entry of another module",
        says: FORGED,
        go: |host, entry| {
            serve(&host.sandbox(), &extractor("F"), "F");
            let other = host.entries().into_iter().find(|path| path != entry).unwrap();
            fs::rename(other, entry).unwrap();
        },
    },
    Attack {
        name: "native code of another module under this one's code",
        says: FORGED,
        go: |host, entry| {
            serve(&host.sandbox(), &extractor("F"), "F");
            let other = host.entries().into_iter().find(|path| path != entry).unwrap();
            let code = native_code(&other);
            overwrite(entry, |bytes| bytes.splice(HEAD.., code).for_each(drop));
        },
    },
    Attack {
        name: "the entry of another host's cache",
        says: FORGED,
        go: |_, entry| {
            fs::copy(Host::warmed().entry(), entry).unwrap();
        },
    },
    Attack {
        name: "another version of the form",
        says: "it doesn't begin as an entry does",
        go: |_, entry| overwrite(entry, |bytes| bytes[14] = b'2'),
    },
    Attack {
        name: "open to others",
        says: "expected the mode 0600, found 0604",
        go: |_, entry| fs::set_permissions(entry, Permissions::from_mode(0o604)).unwrap(),
    },
    Attack {
        name: "a symbolic link to the very entry",
        says: "expected a regular file",
        go: |host, entry| symlink(aside(host, entry), entry).unwrap(),
    },
    Attack {
        name: "a dangling link",
        says: "expected a regular file",
        go: |host, entry| {
            fs::remove_file(entry).unwrap();
            symlink(host.root.path().join("nothing"), entry).unwrap();
        },
    },
    Attack {
        name: "a hard link",
        says: "found 2 links",
        go: |host, entry| fs::hard_link(entry, host.root.path().join("other")).unwrap(),
    },
    Attack {
        name: "a directory",
        says: "expected a regular file",
        go: |_, entry| {
            fs::remove_file(entry).unwrap();
            fs::create_dir(entry).unwrap();
            fs::write(entry.join("file"), "x").unwrap();
        },
    },
    Attack {
        name: "a pipe that nobody writes to",
        says: "expected a regular file",
        go: |_, entry| {
            fs::remove_file(entry).unwrap();
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            let fifo = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, entry, fifo, mode, 0).unwrap();
        },
    },
    Attack {
        name: "larger than the cache may be",
        says: "expected at most 268435456 bytes, found 1099511627776",
        go: |_, entry| {
            File::options().write(true).open(entry).unwrap().set_len(1 << 40).unwrap();
        },
    },
];

#[test]
fn an_entry_that_this_host_did_not_write_is_refused_told_and_replaced() {
    for Attack { name, says, go } in ON_ENTRIES {
        let host = Host::warmed();
        go(&host, &host.entry());
        let warnings = host.rebuilt();
        let [(code, message)] = warnings.as_slice() else { panic!("{name}: {warnings:?}") };
        assert_eq!(*code, "cache_entry_refused", "{name}: {message}");
        assert!(message.contains(says), "{name}: {message}");
    }
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    let host = Host::warmed();
    let entry = host.entry();
    let good = fs::read(&entry).unwrap();
    let sandbox = host.sandbox();
    let within_head = 0..HEAD;
    let all_over = (0..64).map(|i| HEAD + i * (good.len() - HEAD - 1) / 63);
    let places: Vec<usize> = within_head.chain(all_over).collect();
    for (i, at) in places.iter().enumerate() {
        let mut bad = good.clone();
        bad[*at] ^= 1 << (i % 8);
        fs::write(&entry, &bad).unwrap();
        let report = serve(&sandbox, &host.extractor, "E");
        assert_eq!((report.hits, report.misses), (0, i as u64 + 1), "byte {at}");
        assert_eq!(fs::read(&entry).unwrap(), good, "byte {at}: the same bytes are there again");
    }
    // A sandbox that runs for long doesn't collect warnings without end.
    let report = sandbox.cache_report();
    assert_eq!(report.warnings.len(), 32);
    assert_eq!(report.warnings.len() as u64 + report.more_warnings, places.len() as u64);
}

/// Things done to the key, with what the cache says of it. What was written under the old key counts no more.
const ON_KEYS: &[Attack] = &[
    Attack { name: "empty", says: "found 0", go: |_, key| overwrite(key, Vec::clear) },
    Attack { name: "short", says: "found 31", go: |_, key| overwrite(key, |k| k.truncate(31)) },
    Attack {
        name: "long",
        says: "expected at most 32 bytes, found 33",
        go: |_, key| overwrite(key, |bytes| bytes.push(0)),
    },
    Attack {
        name: "readable by others",
        says: "expected the mode 0600, found 0644",
        go: |_, key| fs::set_permissions(key, Permissions::from_mode(0o644)).unwrap(),
    },
    Attack {
        name: "a symbolic link",
        says: "expected a regular file",
        go: |host, key| symlink(aside(host, key), key).unwrap(),
    },
    Attack {
        name: "a hard link",
        says: "found 2 links",
        go: |host, key| fs::hard_link(key, host.root.path().join("other")).unwrap(),
    },
    Attack {
        name: "a directory",
        says: "expected a regular file",
        go: |_, key| {
            fs::remove_file(key).unwrap();
            fs::create_dir(key).unwrap();
        },
    },
    Attack {
        name: "a pipe",
        says: "expected a regular file",
        go: |_, key| {
            fs::remove_file(key).unwrap();
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            let fifo = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, key, fifo, mode, 0).unwrap();
        },
    },
];

#[test]
fn a_key_that_is_not_secret_is_replaced_and_its_entries_with_it() {
    for Attack { name, says, go } in ON_KEYS {
        let host = Host::warmed();
        go(&host, &host.key());
        let warnings = host.rebuilt();
        let [(replaced, message), (refused, _)] = warnings.as_slice() else {
            panic!("{name}: {warnings:?}")
        };
        assert_eq!((*replaced, *refused), ("cache_key_replaced", "cache_entry_refused"), "{name}");
        assert!(message.contains(says), "{name}: {message}");
        let key = fs::symlink_metadata(host.key()).unwrap();
        assert!(key.is_file() && key.permissions().mode() & 0o777 == 0o600, "{name}");
    }
}

#[test]
fn under_another_key_no_entry_counts() {
    for go in [
        |key: &Path| overwrite(key, |bytes| bytes[0] ^= 1),
        |key: &Path| fs::write(key, [0; 32]).unwrap(),
        |key: &Path| fs::remove_file(key).unwrap(),
    ] {
        let host = Host::warmed();
        go(&host.key());
        let warnings = host.rebuilt();
        let [(code, message)] = warnings.as_slice() else { panic!("{warnings:?}") };
        assert_eq!(*code, "cache_entry_refused");
        assert!(message.contains(FORGED), "{message}");
    }
}

#[test]
fn keys_are_random() {
    let keys: Vec<_> =
        [Host::warmed(), Host::warmed()].iter().map(|host| fs::read(host.key()).unwrap()).collect();
    assert_eq!(keys[0].len(), 32);
    assert_ne!(keys[0], keys[1]);
}
