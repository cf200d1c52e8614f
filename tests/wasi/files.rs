//! What guests find in a granted directory and are told of it, and how long they have anything open.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use retort::Limits;
use retort::gate::Grant;
use retort::sandbox::Sandbox;

use super::{EVENT, READ, closing_probe, finds, granting, inspected, probe, sandbox};
use crate::support::workspace_root;

#[test]
fn an_open_file_makes_room_when_it_is_closed_and_a_given_descriptor_does_not() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("countries.txt"), "de fr").unwrap();
    let sandbox = sandbox(Limits::default(), granting(folder.path()));
    let found = |closing: &str| {
        let wasm = closing_probe(0, READ, 33, closing);
        finds(&sandbox.load(&inspected(&wasm, Grant::Files)).unwrap(), "countries.txt")
    };
    let its_own = "(if (i32.ne (local.get $opens) (i32.const 1))
        (then (drop (call $fd_close (i32.load (i32.const 2000))))))";
    assert_eq!(found(its_own), ("00".to_owned(), "de fr".to_owned()));
    // The standard ones, after three openings.
    let given = "(if (i32.eq (local.get $opens) (i32.const 31)) (then
        (drop (call $fd_close (i32.const 0)))
        (drop (call $fd_close (i32.const 1)))
        (drop (call $fd_close (i32.const 2)))))";
    assert_eq!(found(given), ("33".to_owned(), String::new()));
}

/// How often this process has the file open.
#[cfg(target_os = "linux")]
fn descriptors_of(file: &Path) -> usize {
    let open = fs::read_dir("/proc/self/fd").unwrap();
    let open = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    open.filter(|target| target == file).count()
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_guest_has_open_is_closed_when_its_event_ends() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("countries.txt");
    fs::write(&file, "de fr").unwrap();
    let here = fs::File::open(&file).unwrap();
    assert_eq!(descriptors_of(&file), 1);
    let sandbox = sandbox(Limits::default(), granting(folder.path()));
    let extractor = sandbox.load(&inspected(&probe(0, READ, 32), Grant::Files)).unwrap();
    let mut runner = extractor.runner();
    let event = br#"{"event_type":"e","path":"countries.txt"}"#;
    assert!(runner.run(event).unwrap().json.windows(5).any(|bytes| bytes == b"de fr"));
    assert_eq!(descriptors_of(&file), 1);
    drop((here, runner));
}

#[cfg(target_os = "linux")]
#[test]
fn a_granted_directory_stays_the_one_that_was_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let above = folder.path().join("above");
    let put = |content: &str| {
        fs::create_dir_all(above.join("data")).unwrap();
        fs::write(above.join("data/countries.txt"), content).unwrap();
    };
    put("de fr");
    let sandbox = sandbox(Limits::default(), granting(&above.join("data")));
    let extractor = sandbox.load(&inspected(&probe(0, READ, 1), Grant::Files)).unwrap();
    let first = ("00".to_owned(), "de fr".to_owned());
    assert_eq!(finds(&extractor, "countries.txt"), first);
    fs::rename(&above, folder.path().join("moved")).unwrap();
    put("another");
    assert_eq!(finds(&extractor, "countries.txt"), first);
    fs::remove_dir_all(&above).unwrap();
    symlink("/etc", &above).unwrap();
    assert_eq!(finds(&extractor, "countries.txt"), first);
    // A directory that is deleted is an empty one.
    fs::remove_dir_all(folder.path().join("moved")).unwrap();
    assert_eq!(finds(&extractor, "countries.txt"), ("44".to_owned(), String::new()));
}

/// What the guest is told that asks for all there is to know of a file, in hexadecimal.
fn told(sandbox: &Sandbox, length: u32, used: u32) -> String {
    let text = fs::read_to_string(workspace_root().join("tests/wasi/stat.wat")).unwrap();
    let text = text.replace("LENGTH)", &format!("{length})")).replace("USED)", &format!("{used})"));
    let module = inspected(&wat::parse_str(text).unwrap(), Grant::Files);
    let mut runner = sandbox.load(&module).unwrap().runner();
    let outcome = runner.run(EVENT).unwrap_or_else(|error| panic!("{error}"));
    let result: serde_json::Value = serde_json::from_slice(outcome.json).unwrap();
    result["partially_handled_span_ids"][0].as_str().unwrap().to_owned()
}

#[test]
fn what_is_told_of_a_file_is_that_of_its_data() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data/a.txt");
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(&file, "de fr").unwrap();
    let sandbox = sandbox(Limits::default(), granting(&folder.path().join("data")));

    let stat = |filetype: u64, size: u64| {
        [0, 0, filetype, 1, size, 0, 0, 0].map(|field| format!("{:016x}", field.swap_bytes()))
    };
    let entry = |next: u64, name: &str, namlen: u32, filetype: u32| {
        let (next, namlen) = (next.swap_bytes(), namlen.swap_bytes());
        let name: String = name.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("{next:016x}{:016x}{namlen:08x}{:08x}{name}", 0, filetype.swap_bytes())
    };
    let stats = [stat(4, 5), stat(4, 5), stat(4, 5), stat(4, 5), stat(3, 0)].concat().concat();
    let list = |first: u32| {
        [entry(1, ".", first, 3), entry(2, "..", 2, 3), entry(3, "a.txt", 5, 4)].concat()
    };
    let expected = |list: &str| format!("{stats}{list:0<256}");
    let instances = || {
        assert_eq!(told(&sandbox, 128, 2000), expected(&list(1)));
        // The length of the list over that of the first name, and lists that end inside an entry.
        assert_eq!(told(&sandbox, 128, 8512 + 16), expected(&list(80)));
        for length in [8, 12, 18, 40, 64] {
            assert_eq!(told(&sandbox, length, 2000), expected(&list(1)[..2 * length as usize]));
        }
    };
    instances();
    // Another file with the same content, of another time, that has two links.
    let other = folder.path().join("other.txt");
    fs::write(&other, "de fr").unwrap();
    fs::hard_link(&other, folder.path().join("link.txt")).unwrap();
    let long_ago = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let times = fs::FileTimes::new().set_accessed(long_ago).set_modified(long_ago);
    fs::File::options().write(true).open(&other).unwrap().set_times(times).unwrap();
    fs::rename(&other, &file).unwrap();
    instances();
}
