//! `retort label`: from what a plan gives to what is expected.

use std::fs;

use serde_json::{Value, json};

use super::project::{PLAN, Project};

fn lines(project: &Project) -> Vec<Value> {
    let text = fs::read_to_string(project.path("expected.ndjson")).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_is_accepted_by_a_key_is_written_and_the_plan_held_to_it() {
    let project = Project::new();
    // Accept, what isn't an answer and then skip, accept, quit.
    let ended = project.retort_on(["label"], b"a\nwhat?\ns\nA\nq\n");
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.stdout.contains("Order  s1:Order:order_id=o1\n    order_id: \"o1\"\n"),
        "{ended:?}"
    );
    assert!(ended.stdout.contains("gives nothing"), "{ended:?}");
    assert!(ended.stderr.contains("2 written, 0 there already, 1 skipped, 0 failed"), "{ended:?}");
    assert!(ended.stderr.contains("write `expected = \"expected.ndjson\"` into"), "{ended:?}");
    let written = lines(&project);
    assert_eq!(written.len(), 2);
    let digest = written[0]["sha256"].as_str().unwrap();
    assert_eq!(
        written[0],
        json!({
            "line": 1, "sha256": digest, "session": "s1",
            "nodes": [{"entity": "Order", "key": {"order_id": "o1"}, "properties": {"total": 1.5}}],
            "fully_handled_span_ids": ["a"], "partially_handled_span_ids": [], "exact": true,
        })
    );
    assert_eq!((&written[1]["line"], &written[1]["exact"]), (&json!(4), &json!(true)));

    let ended = project.retort(["compile", "--expected", "expected.ndjson"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    project.write(
        "plan.json",
        PLAN.replace("span_id_path\": [\"span_id\"]", "span_id_path\": [\"session_id\"]"),
    );
    let ended = project.retort(["compile", "--expected", "expected.ndjson"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("error[other_spans]"), "{ended:?}");
}

#[test]
fn what_is_there_stays_as_it_is() {
    let project = Project::new();
    // Written by hand, and without a line feed at its end.
    let own = r#"{ "line": 2,   "nodes": [] }"#;
    project.write("expected.ndjson", own);
    let ended = project.retort(["label", "--sample", "1", "--sample", "2", "--json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&report["written"], &report["kept"]), (&json!([1]), &json!([2])));
    let ended = project.retort(["label", "--all"]);
    assert!(ended.stderr.contains("2 written, 2 there already"), "{ended:?}");
    let text = fs::read_to_string(project.path("expected.ndjson")).unwrap();
    assert!(text.starts_with(&format!("{own}\n")), "{text}");
    assert_eq!(lines(&project).len(), 4);
    let before = project.tree();
    let ended = project.retort(["label", "--all"]);
    assert!(ended.stderr.contains("0 written, 4 there already"), "{ended:?}");
    assert_eq!(project.tree(), before);
    // Nobody answers: nothing is accepted.
    fs::remove_file(project.path("expected.ndjson")).unwrap();
    let ended = project.retort(["label"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!fs::exists(project.path("expected.ndjson")).unwrap());
}

#[test]
fn a_bundle_is_labelled_as_a_plan_is() {
    let project = Project::new();
    let bundle = project.compile();
    project.write(
        "retort.toml",
        "rule = \"rule.md\"\ngraph = \"graph.yaml\"\nsamples = \"events.ndjson\"\noutput = \"out\"\nexpected = \"mine.ndjson\"\n",
    );
    project.write("rule.md", "Orders.");
    // The one bundle of the project, then the same by its path.
    let ended = project.retort(["label", "--sample", "1"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!ended.stderr.contains("note"), "{ended:?}");
    let ended = project.retort(["label", "--bundle", &bundle, "--sample", "2"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let text = fs::read_to_string(project.path("mine.ndjson")).unwrap();
    assert_eq!(text.lines().count(), 2);
}

#[test]
fn what_cannot_be_labelled_is_said() {
    let project = Project::new();
    for (args, code, said) in [
        (&["label", "--sample", "3"][..], 2, "error[expected_unknown_sample]: events.ndjson: "),
        (&["label", "--expected", "plan.json", "--all"], 2, "error[output_is_input]"),
        (&["label", "--expected", "-", "--all"], 2, "error[output_is_input]"),
        (&["label", "--samples", "-"], 2, "error[stdin_twice]"),
        (&["label", "--all", "--sample", "1"], 2, "cannot be used with"),
        (&["label", "--json"], 2, "required"),
        (&["label", "--plan", "graph.yaml", "--all"], 1, "error[invalid_json]"),
        (&["label", "--bundle", "nowhere", "--all"], 1, "error["),
    ] {
        let ended = project.retort(args.iter().copied());
        assert_eq!(ended.code, code, "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(said), "{args:?}: {ended:?}");
    }
    assert!(!fs::exists(project.path("expected.ndjson")).unwrap());
}
