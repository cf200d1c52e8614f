//! `retort run` on several threads.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use wait4::Wait4;

use super::project::{Ended, Project};

/// Events of all kinds, of more than a million bytes: some that give something, one in three, and others that are declined, that
/// nobody serves, that are blank, cut off, too long, or no text. The last line has no end.
pub(super) fn mixed_events(lines: usize) -> Vec<u8> {
    let mut events = Vec::new();
    let padding = "x".repeat(300);
    for number in 0..lines {
        match number % 12 {
            0 => events.extend_from_slice(b"{\"event_type\":\"order_placed\",\"content\":{\"id\""),
            1 => events.extend_from_slice(b"\xff\xfe{}"),
            2 => events.extend_from_slice(b" \t\r"),
            3 => {}
            4 if number % 500 == 4 => events.extend_from_slice("y".repeat(400_000).as_bytes()),
            4 => events.extend_from_slice("y".repeat(3_000).as_bytes()),
            5 => write!(events, r#"{{"event_type":"order_shipped","n":{number}}}"#).unwrap(),
            6 => events.extend_from_slice(br#"{"event_type":"order_placed","session_id":"s"}"#),
            _ => {
                let content = format!(r#"{{"id":"{number}","total":0.5,"note":"{padding}"}}"#);
                let session = format!("s{}", number % 7);
                write!(
                    events,
                    r#"{{"event_type":"order_placed","session_id":"{session}","content":{content}}}"#
                )
                .unwrap();
            }
        }
        events.push(b'\n');
    }
    events.extend_from_slice(br#"{"event_type":"order_placed","content":{"id":"last"}}"#);
    events
}

/// Lines of `mixed_events` that are too long, are too long by this.
pub(super) const POLICY: &str = "limits: {event_bytes: 2000}\n";

/// What a run wrote to the files of results and rejects, and what it said of all.
pub(super) fn written(project: &Project) -> (Vec<u8>, Vec<u8>) {
    let read = |name: &str| fs::read(project.path(name)).unwrap();
    (read("r.ndjson"), read("j.ndjson"))
}

/// The summary without what differs from run to run.
fn counts(ended: &Ended) -> Vec<&str> {
    let rate = |line: &&str| line.contains(" events/s, ");
    ended.stderr.lines().filter(|line| !rate(line)).collect()
}

/// A run of the bundles of a project under its policy, into two files.
pub(super) const RUN: [&str; 9] = [
    "run",
    "--bundles",
    "out",
    "--policy",
    "policy.yaml",
    "--out",
    "r.ndjson",
    "--rejects",
    "j.ndjson",
];

#[test]
fn the_same_bytes_come_out_whatever_the_number_of_threads() {
    let project = Project::new();
    project.compile();
    project.write("policy.yaml", POLICY);
    project.write("a.ndjson", mixed_events(6_000));
    project.write("b.ndjson", "{}\n{");
    let runs: [&[&str]; 2] = [&["a.ndjson"], &["b.ndjson", "a.ndjson", "b.ndjson", "a.ndjson"]];
    for inputs in runs {
        let run = |more: &[&'static str]| {
            let ended = project.retort(RUN.iter().chain(inputs).chain(more).copied());
            assert_eq!(ended.code, 1, "{more:?}: {ended:?}");
            (written(&project), ended)
        };
        let (expected, single) = run(&["--threads", "1"]);
        assert!(expected.0.len() > 400_000 && expected.1.len() > 100_000);
        for threads in ["2", "3", "8"] {
            let (found, ended) = run(&["--threads", threads]);
            assert!(found == expected, "{threads} threads write other bytes");
            assert_eq!(counts(&ended), counts(&single));
        }
        // Nor does it matter which results are read in full.
        for more in [["--check-one-in", "1"], ["--check-one-in", "1000000"]] {
            assert!(run(&more).0 == expected, "{more:?} writes other bytes");
        }
        let (found, ended) = run(&["--threads", "3", "--unordered"]);
        for (found, expected) in [(found.0, expected.0), (found.1, expected.1)] {
            let sorted = |text: Vec<u8>| {
                let mut lines: Vec<Vec<u8>> =
                    text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
                lines.sort_unstable();
                lines
            };
            assert!(sorted(found) == sorted(expected));
        }
        assert_eq!(counts(&ended), counts(&single));
    }
}

#[test]
fn memory_stays_as_it_is_however_slowly_results_are_read() {
    const LINE: usize = 100_000;
    let project = Project::new();
    project.compile();
    let mut events = File::create(project.path("large.ndjson")).unwrap();
    let large = "x".repeat(LINE);
    let event = format!(r#"{{"event_type":"order_placed","content":{{"id":"{large}"}}}}"#);
    let lines = 1_500;
    for _ in 0..lines {
        writeln!(events, "{event}").unwrap();
    }
    drop(events);
    project.write("small.ndjson", event + "\n");
    let peak = |input: &str, patience: Duration| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_retort"))
            .args(["run", "--bundles", "out", "--threads", "2", input])
            .current_dir(project.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        thread::sleep(patience);
        let mut written = 0;
        let mut buffer = vec![0; 1 << 20];
        loop {
            match out.read(&mut buffer).unwrap() {
                0 => break,
                read => written += read,
            }
        }
        let ended = child.wait4().unwrap();
        assert!(ended.status.success());
        (written, ended.rusage.maxrss)
    };
    let (_, small) = peak("small.ndjson", Duration::ZERO);
    let (written, large) = peak("large.ndjson", Duration::from_millis(1_500));
    assert!(written > lines * LINE);
    // A third of what was read and written, with what is in flight.
    assert!(large < small + 50_000_000, "{small} grows to {large}");
}

#[test]
fn a_result_that_cannot_be_written_ends_all_threads() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let project = Project::new();
    project.compile();
    project.write("policy.yaml", POLICY);
    project.write("a.ndjson", mixed_events(6_000));
    for (flag, other, told) in [
        ("--out", "--rejects", "error[stream_unwritable]: /dev/full: the results can't be written"),
        ("--rejects", "--out", "/dev/full: the rejected events can't be written"),
    ] {
        for threads in ["1", "3"] {
            let args =
                ["run", "--bundles", "out", "a.ndjson", flag, "/dev/full", other, "w.ndjson"];
            let ended = project.retort(args.into_iter().chain(["--threads", threads]));
            assert_eq!(ended.code, 2, "{ended:?}");
            assert!(ended.stderr.contains(told), "{}", ended.stderr);
            let written = fs::read(project.path("w.ndjson")).unwrap();
            assert!(written.is_empty() || written.ends_with(b"\n"));
        }
    }
}
