//! `retort run` and the signals that end it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::project::{EVENTS, Project};
use super::threads::mixed_events;

fn start(project: &Project, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_retort"))
        .args(["run", "--bundles", "out"].iter().chain(args))
        .current_dir(project.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn tell(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// The exit code, which there is before long, and what was said.
fn ended(mut child: Child) -> (Option<i32>, String) {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(60), "it goes on");
        thread::sleep(Duration::from_millis(5));
    }
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    (child.wait().unwrap().code(), stderr)
}

#[test]
fn a_signal_ends_a_stream_that_waits_for_input() {
    let project = Project::new();
    project.compile();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        for threads in ["1", "3"] {
            let mut child = start(&project, &["--threads", threads]);
            let mut input = child.stdin.take().unwrap();
            let mut output = BufReader::new(child.stdout.take().unwrap());
            // The last line is begun and never ended: it is no event.
            write!(input, "{EVENTS}{{\"event_type\":\"order_placed\"").unwrap();
            input.flush().unwrap();
            for number in 1..=2 {
                let mut line = String::new();
                output.read_line(&mut line).unwrap();
                assert!(line.starts_with(&format!("{{\"line\":{number},")), "{line}");
            }
            tell(&child, signal);
            let (found, said) = ended(child);
            assert_eq!(found, Some(code), "{said}");
            assert!(
                said.starts_with("4 events: 2 results, 1 empty, 1 unrouted, 0 rejected\n"),
                "{said}"
            );
            drop(input);
        }
    }
}

#[test]
fn a_signal_ends_a_wait_for_who_writes_to_a_pipe() {
    let project = Project::new();
    project.compile();
    let pipe = project.path("pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &*pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let child = start(&project, &["pipe"]);
    thread::sleep(Duration::from_millis(500));
    tell(&child, Signal::INT);
    assert_eq!(ended(child).0, Some(130));
    // Who comes late is waited for, and who goes away without a word is the end.
    for events in [EVENTS, ""] {
        let child = start(&project, &["pipe", "--out", "r.ndjson"]);
        thread::sleep(Duration::from_millis(300));
        let mut writer = File::options().write(true).open(&pipe).unwrap();
        thread::sleep(Duration::from_millis(100));
        writer.write_all(events.as_bytes()).unwrap();
        drop(writer);
        let (code, said) = ended(child);
        assert_eq!(code, Some(0), "{said}");
        let found = fs::read_to_string(project.path("r.ndjson")).unwrap();
        assert_eq!(found.lines().count(), if events.is_empty() { 0 } else { 2 });
    }
}

#[test]
fn what_a_signal_leaves_are_whole_lines_in_order() {
    let project = Project::new();
    project.compile();
    project.write("long.ndjson", mixed_events(30_000));
    let whole =
        project.retort(["run", "--bundles", "out", "long.ndjson", "--rejects", "/dev/null"]);
    for threads in ["1", "4"] {
        project.write("r.ndjson", "");
        let child = start(
            &project,
            &["--threads", threads, "long.ndjson", "--out", "r.ndjson", "--rejects", "j.ndjson"],
        );
        let began = Instant::now();
        while fs::metadata(project.path("r.ndjson")).map_or(0, |found| found.len()) == 0 {
            assert!(began.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(2));
        }
        tell(&child, Signal::INT);
        let (code, said) = ended(child);
        assert_eq!(code, Some(130), "{said}");
        let found = fs::read_to_string(project.path("r.ndjson")).unwrap();
        assert!(found.ends_with('\n') && whole.stdout.starts_with(&found));
        assert!(found.len() < whole.stdout.len(), "it was over before");
        let rejects = fs::read_to_string(project.path("j.ndjson")).unwrap();
        assert!(rejects.ends_with('\n'));
        let told = format!("{} results, ", found.lines().count());
        assert!(said.contains(&told) && said.contains(" rejected\n"), "{said}");
    }
}

#[test]
fn a_signal_ends_a_line_that_goes_on_and_on() {
    let project = Project::new();
    project.compile();
    let long = File::create(project.path("zeros")).unwrap();
    // It takes no room on the disk, and minutes to read.
    long.set_len(1 << 40).unwrap();
    let child = start(&project, &["zeros", "--threads", "2"]);
    thread::sleep(Duration::from_millis(500));
    tell(&child, Signal::INT);
    let (code, said) = ended(child);
    assert_eq!(code, Some(130), "{said}");
    assert!(said.starts_with("0 events: "), "{said}");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let project = Project::new();
    project.compile();
    project.write("long.ndjson", mixed_events(30_000));
    // Nobody reads what it writes, so that it can't end by itself.
    let child = start(&project, &["long.ndjson", "--rejects", "/dev/null"]);
    thread::sleep(Duration::from_millis(1_000));
    tell(&child, Signal::INT);
    thread::sleep(Duration::from_millis(300));
    let mut child = child;
    assert!(child.try_wait().unwrap().is_none(), "results are lost that were there");
    tell(&child, Signal::TERM);
    let status = child.wait().unwrap();
    assert_eq!((status.code(), status.signal()), (Some(143), None));
}
