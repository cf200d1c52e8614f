//! A host that has no memory and no files to give: that is its own matter, and no fault of a plan.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::project::{EVENTS, Ended, PLAN, Project};

/// Runs a command in a process with less address space than one instance reserves.
fn starved(project: &Project, args: &[&str]) -> Ended {
    limited("-v 3000000", project, args)
}

/// Runs a command in a process that may have no more of something.
fn limited(limit: &str, project: &Project, args: &[&str]) -> Ended {
    let script = format!(r#"ulimit {limit} && exec "$0" "$@""#);
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_retort")]).args(args);
    let output = command.current_dir(Path::new(&project.path(""))).output().unwrap();
    Ended {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_host_without_memory_turns_no_plan_down() {
    let project = Project::new();
    for args in [
        &["compile"][..],
        &["compile", "--json"],
        &["check", "plan.json", "--samples", "events.ndjson"],
        &["check", "plan.json", "--samples", "events.ndjson", "--json"],
    ] {
        let ended = starved(&project, args);
        assert_eq!(ended.code, 2, "{args:?}: {ended:?}");
        assert!(ended.stderr.contains("error[host_failed]: the host could not run"), "{ended:?}");
        assert!(!ended.stderr.contains("trap") && !ended.stderr.contains("floor"), "{ended:?}");
        assert!(!ended.stdout.contains("problems"), "{ended:?}");
    }
}

#[test]
fn a_host_without_memory_asks_no_model_again() {
    let project = Project::new();
    project.write("rule.md", "Every `order_placed` event becomes one Order.\n");
    let answer = serde_json::json!({ "text": PLAN }).to_string() + "\n";
    project.write("answers.ndjson", answer.repeat(3));
    let args = [
        "compile",
        "--rule",
        "rule.md",
        "--graph",
        "graph.yaml",
        "--samples",
        "events.ndjson",
        "--model",
        "replay:answers.ndjson",
        "--json",
    ];
    let ended = starved(&project, &args);
    assert_eq!(ended.code, 2, "{ended:?}");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["reason"], "host_failed");
    assert_eq!(report["attempts"].as_array().unwrap().len(), 1, "{report}");
}

#[test]
fn an_event_that_the_host_could_not_serve_says_so() {
    let project = Project::new();
    project.compile();
    let ended = starved(&project, &["run", "--bundles", "out", "events.ndjson"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains(r#""code":"host_failed""#), "{ended:?}");
}

#[test]
fn bundles_leave_files_for_each_other() {
    const BUNDLES: usize = 60;
    let project = Project::new();
    let mut events = String::new();
    for number in 0..BUNDLES {
        let event_type = format!("order_{number}");
        let event = EVENTS.lines().next().unwrap();
        events += &(event.replace("order_placed", &event_type) + "\n");
        project.write("plan.json", PLAN.replace("order_placed", &event_type));
        project.write("events.ndjson", event.replace("order_placed", &event_type));
        project.compile();
    }
    project.write("events.ndjson", &events);
    let args = ["run", "--bundles", "out", "--threads", "1", "events.ndjson"];
    // Two files for each would be too many.
    let ended = limited("-n 125", &project, &args);
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, BUNDLES), "{ended:?}");
    // And here one is.
    let ended = limited("-n 60", &project, &args);
    let served = ended.stdout.lines().count();
    let refused = ended.stderr.matches(r#""code":"host_failed""#).count();
    assert_eq!((ended.code, served + refused), (1, BUNDLES), "{ended:?}");
    assert!(served > 0, "{ended:?}");
}
