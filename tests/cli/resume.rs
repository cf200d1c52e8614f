//! `retort run --resume`: what was begun goes on where it was ended.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::project::{EVENTS, Ended, PLAN, Project};
use super::threads::{POLICY, RUN, mixed_events, written};

/// Three inputs, of which one is packed.
const INPUTS: [&str; 3] = ["a.ndjson", "b.ndjson.gz", "c.ndjson"];

/// A project with these inputs, and what comes out of them.
fn project(lines: usize) -> (Project, (Vec<u8>, Vec<u8>)) {
    let project = Project::new();
    project.compile();
    project.write("policy.yaml", POLICY);
    let events = mixed_events(lines);
    project.write("a.ndjson", &events);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&events[..events.len() / 2]).unwrap();
    project.write("b.ndjson.gz", packed.finish().unwrap());
    project.write("c.ndjson", EVENTS);
    let ended = project.retort(RUN.into_iter().chain(INPUTS));
    assert_eq!(ended.code, 1, "{ended:?}");
    let expected = written(&project);
    fs::remove_file(project.path("r.ndjson")).unwrap();
    fs::remove_file(project.path("j.ndjson")).unwrap();
    (project, expected)
}

fn start(project: &Project, threads: usize) -> Child {
    Command::new(env!("CARGO_BIN_EXE_retort"))
        .args(RUN.into_iter().chain(INPUTS))
        .args(["--resume", "state.json", "--checkpoint-every", "0.01"])
        .args(["--threads", &threads.to_string()])
        .current_dir(project.path(""))
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn resume(project: &Project) -> Ended {
    project.retort(RUN.into_iter().chain(INPUTS).chain(["--resume", "state.json"]))
}

fn state(project: &Project) -> Value {
    serde_json::from_slice(&fs::read(project.path("state.json")).unwrap()).unwrap()
}

/// How often it is killed: `RETORT_KILLS`, or 10 times.
fn kills() -> usize {
    std::env::var("RETORT_KILLS").map_or(10, |text| text.parse().unwrap())
}

/// Kills a run with `--resume state.json` at whatever moment, again and again, and lets it come to its end at last; whenever it does, `done`
/// looks at what is written, and removes it. `start` begins it, or goes on with it, on this many threads; `longest` is how long it is left alone.
pub(super) fn kill_and_go_on(
    project: &Project,
    longest: Duration,
    start: impl Fn(&Project, usize) -> Child,
    done: impl Fn(usize),
) {
    let (mut killed, mut moved, mut completed) = (0, 0, 0);
    let mut random = std::process::id() as usize;
    while killed < kills() || completed == 0 {
        let before = fs::read(project.path("state.json")).ok();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut child = start(project, 1 + random % 4);
        let patience = longest.mul_f64((random >> 33) as f64 / (1_u64 << 31) as f64);
        let began = Instant::now();
        let ended = loop {
            match child.try_wait().unwrap() {
                Some(status) => break Some(status),
                // The last time it may come to its end.
                None if killed < kills() && began.elapsed() > patience => break None,
                None => thread::sleep(Duration::from_micros(500)),
            }
        };
        if let Some(status) = ended {
            assert_eq!(status.code(), Some(1));
            done(killed);
            completed += 1;
            fs::remove_file(project.path("state.json")).unwrap();
            continue;
        }
        // SIGKILL.
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
        moved += usize::from(before != fs::read(project.path("state.json")).ok());
    }
    eprintln!("{killed} times killed, {moved} of them after a step; {completed} times done");
    assert!(moved * 5 >= killed, "{moved} of {killed} came further");
}

#[test]
fn no_line_is_lost_or_doubled_however_often_it_is_killed() {
    let (project, expected) = project(12_000);
    kill_and_go_on(&project, Duration::from_millis(600), start, |killed| {
        let found = written(&project);
        assert!(found.0 == expected.0, "after {killed} kills results differ");
        assert!(found.1 == expected.1, "after {killed} kills rejects differ");
        for name in ["r.ndjson", "j.ndjson"] {
            fs::remove_file(project.path(name)).unwrap();
        }
    });
}

#[test]
fn a_signal_leaves_a_state_that_is_gone_on_from() {
    let (project, expected) = project(12_000);
    let child = start(&project, 2);
    while fs::metadata(project.path("r.ndjson")).map_or(0, |found| found.len()) == 0 {
        thread::sleep(Duration::from_millis(2));
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let status = child.wait_with_output().unwrap().status;
    assert_eq!(status.code(), Some(143));
    // All that was written counts.
    let left = state(&project);
    let found = written(&project);
    assert_eq!(left["out_bytes"].as_u64(), Some(found.0.len() as u64));
    assert_eq!(left["rejects_bytes"].as_u64(), Some(found.1.len() as u64));
    assert_eq!(left["done"], false);
    assert!(found.0.len() < expected.0.len());
    let ended = resume(&project);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(written(&project) == expected);
    let all = project
        .retort(["run", "--bundles", "out", "--policy", "policy.yaml"].into_iter().chain(INPUTS));
    let counts =
        |text: &str| text.lines().find(|line| line.contains(" events: ")).unwrap().to_owned();
    assert_eq!(counts(&ended.stderr), counts(&all.stderr), "the summary is of all runs");

    // Nothing is left to be done.
    assert_eq!(state(&project)["done"], true);
    let before = fs::metadata(project.path("r.ndjson")).unwrap().modified().unwrap();
    let again = resume(&project);
    assert_eq!((again.code, again.stdout.as_str()), (1, ""), "{again:?}");
    assert!(again.stderr.starts_with("note: state.json: all of it is done already\n"), "{again:?}");
    assert_eq!(counts(&again.stderr), counts(&all.stderr));
    assert_eq!(fs::metadata(project.path("r.ndjson")).unwrap().modified().unwrap(), before);
    fs::remove_file(project.path("r.ndjson")).unwrap();
    let lost = resume(&project);
    assert_eq!(lost.code, 2, "{lost:?}");
    assert!(lost.stderr.starts_with("error[state_mismatch]: state.json: "), "{lost:?}");
    assert!(!Path::new(&project.path("r.ndjson")).exists());
}

/// A project in which a run was ended in the middle.
fn interrupted() -> (Project, (Vec<u8>, Vec<u8>)) {
    let (project, expected) = project(300);
    project.write("b.ndjson.gz", {
        let whole = fs::read(project.path("b.ndjson.gz")).unwrap();
        whole[..whole.len() - 6].to_vec()
    });
    let ended = resume(&project);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("error[stream_unreadable]: b.ndjson.gz: "), "{ended:?}");
    assert_eq!(state(&project)["at"]["input"], 1);
    (project, expected)
}

#[test]
fn a_state_of_another_run_is_refused_and_nothing_is_written() {
    let (project, _) = interrupted();
    let kept = ["state.json", "r.ndjson", "j.ndjson", "a.ndjson"];
    let before: Vec<Vec<u8>> =
        kept.iter().map(|name| fs::read(project.path(name)).unwrap()).collect();
    let refused = |ended: &Ended, code: &str, told: &str| {
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
        assert!(ended.stderr.starts_with(&format!("error[{code}]: ")), "{ended:?}");
        assert!(ended.stderr.contains(told), "{told}: {ended:?}");
        for (name, before) in kept.iter().zip(&before) {
            assert!(fs::read(project.path(name)).unwrap() == *before, "{name} was written");
        }
    };
    let with = |more: &[&'static str]| {
        let args = RUN.into_iter().chain(INPUTS).chain(["--resume", "state.json"]);
        project.retort(args.chain(more.iter().copied()))
    };
    refused(&with(&["a.ndjson"]), "state_mismatch", "expected inputs in number 3, found 4");
    refused(&with(&["--no-graph-check"]), "state_mismatch", "the graph check");
    let args =
        RUN.into_iter().chain(["c.ndjson", "b.ndjson.gz", "a.ndjson", "--resume", "state.json"]);
    refused(&project.retort(args), "state_mismatch", "expected the input a.ndjson, found c.ndjson");
    let other = |from: &'static str, to: &'static str| {
        let args = RUN.into_iter().chain(INPUTS).chain(["--resume", "state.json"]);
        project.retort(args.map(move |it| if it == from { to } else { it }))
    };
    refused(
        &other("r.ndjson", "other.ndjson"),
        "state_mismatch",
        "expected --out r.ndjson, found other.ndjson",
    );
    refused(&other("j.ndjson", "other.ndjson"), "state_mismatch", "--rejects");
    project.write("other.yaml", "limits: {event_bytes: 1999}\n");
    refused(&other("policy.yaml", "other.yaml"), "state_mismatch", "a policy");
    let plan = PLAN
        .replace("\"total\", ", "\"total\", \"nulls\": \"keep\", ")
        .replace("read_order", "read_more");
    project.write("p.json", plan.replace("order_placed", "order_moved"));
    project.write("s.ndjson", EVENTS.replace("order_placed", "order_moved"));
    let bundle = project.compile();
    let stored = project.retort(["compile", "--plan", "p.json", "--samples", "s.ndjson"]);
    assert_eq!(stored.code, 0, "{stored:?}");
    refused(&with(&[]), "state_mismatch", "bundles");
    assert_ne!(stored.stdout.trim(), bundle);
    assert_eq!(project.retort(["bundles", "retire", "out", "read_more"]).code, 0);

    let input = fs::read(project.path("c.ndjson")).unwrap();
    project.write("c.ndjson", "{}\n");
    refused(&with(&[]), "state_mismatch", "expected the input c.ndjson with");
    project.write("c.ndjson", &input);
    refused(&with(&[]), "state_mismatch", "expected the input c.ndjson unaltered");

    let (project, _) = interrupted();
    let cut = fs::File::options().write(true).open(project.path("r.ndjson")).unwrap();
    cut.set_len(10).unwrap();
    let ended = resume(&project);
    assert!(ended.stderr.contains("error[state_mismatch]: "), "{ended:?}");
    assert!(ended.stderr.contains("r.ndjson with"), "{ended:?}");
    assert_eq!(fs::metadata(project.path("r.ndjson")).unwrap().len(), 10);
}

#[test]
fn a_file_that_is_no_state_is_refused() {
    let (project, _) = interrupted();
    let whole = fs::read_to_string(project.path("state.json")).unwrap();
    let code = whole.replacen("event_not_json", "no_such_code", 1);
    let altered = [
        String::new(),
        "{}".to_owned(),
        "[]".to_owned(),
        EVENTS.to_owned(),
        whole[..whole.len() / 2].to_owned(),
        whole.replacen("\"format\":1", "\"format\":2", 1),
        whole.replacen("\"input\":1", "\"input\":3", 1),
        whole.replacen("\"input\":1", "\"input\":-1", 1),
        whole.replacen("\"done\":", "\"more\":1,\"done\":", 1),
        code,
    ];
    for text in altered {
        assert_ne!(text, whole);
        project.write("state.json", &text);
        let ended = resume(&project);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(
            ended.stderr.starts_with("error[state_invalid]: state.json: "),
            "{text}: {ended:?}"
        );
        assert_eq!(fs::read_to_string(project.path("state.json")).unwrap(), text);
    }
}

#[test]
fn what_cannot_be_gone_back_to_is_not_resumed() {
    let project = Project::new();
    project.compile();
    let run = |args: &[&'static str]| {
        let ended = project
            .retort(["run", "--bundles", "out", "--resume", "s"].iter().chain(args).copied());
        assert!(!Path::new(&project.path("s")).exists(), "{args:?}");
        (ended.code, ended.stderr)
    };
    for (args, told) in [
        (&["-", "--out", "r", "--rejects", "j"][..], "error[resume_needs_file]: -: "),
        (&["/dev/null", "--out", "r", "--rejects", "j"], "error[resume_needs_file]: /dev/null: "),
        (
            &["events.ndjson", "--out", "/dev/null", "--rejects", "j"],
            "error[resume_needs_file]: /dev/null: ",
        ),
        (
            &["events.ndjson", "--out", "r", "--rejects", "/dev/stdout"],
            "error[resume_needs_file]: ",
        ),
        (&["events.ndjson", "--out", "r"], "--rejects"),
        (&["events.ndjson", "--rejects", "r"], "--out"),
        (&["events.ndjson", "--out", "r", "--rejects", "j", "--unordered"], "--unordered"),
        (&["s", "--out", "r", "--rejects", "j"], "error[file_not_found]: "),
        (&["events.ndjson", "--out", "s", "--rejects", "j"], "error[output_is_input]: "),
        (&["events.ndjson", "--out", "r", "--rejects", "s.new"], "error[output_is_input]: "),
    ] {
        let (code, said) = run(args);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(told), "{told}: {said}");
    }
    let events = project.path("events.ndjson");
    let args =
        ["run", "--bundles", "out", &events, "--out", "r", "--rejects", "j", "--resume", &events];
    let ended = project.retort(args);
    assert!(ended.stderr.contains("output_is_input"), "{ended:?}");
    assert_eq!(fs::read_to_string(events).unwrap(), EVENTS);
}

#[test]
fn two_runs_do_not_go_on_at_one_time() {
    let (project, _) = interrupted();
    let results = fs::File::options().write(true).open(project.path("r.ndjson")).unwrap();
    results.lock().unwrap();
    let ended = resume(&project);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.starts_with("error[state_in_use]: r.ndjson: "), "{ended:?}");
}
