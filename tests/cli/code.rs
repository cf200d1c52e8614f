//! Extractors that are code: through the gates, and as bundles without a plan.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::project::{Ended, Project};

/// Compiles the project's plan and `source`, into a directory each, and says where the bundles are.
fn compiled(project: &Project, source: &str) -> [String; 2] {
    let of_plan = project.retort(["compile", "--out", "planned"]);
    let of_code = project.retort(["compile", "--source", source, "--out", "coded"]);
    [of_plan, of_code].map(|ended| {
        assert_eq!(ended.code, 0, "{ended:?}");
        ended.stdout.trim().to_owned()
    })
}

/// The text that the project's plan is rendered to, in a file.
fn rendered(project: &Project) -> &'static str {
    let text = project.retort(["render", "plan.json"]);
    assert_eq!(text.code, 0, "{text:?}");
    project.write("mine.wat", &text.stdout);
    "mine.wat"
}

fn names(project: &Project, bundle: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(project.path(bundle)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// What the events give, by the bundles of a directory.
fn results(project: &Project, root: &str) -> Vec<Value> {
    let ended = project.retort(["run", "--bundles", root, "events.ndjson"]);
    let lines =
        passes(&ended).stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| line["result"].clone()).collect()
}

#[track_caller]
fn passes(ended: &Ended) -> &Ended {
    assert_eq!(ended.code, 0, "{ended:?}");
    ended
}

#[test]
fn a_bundle_of_text_serves_as_that_of_the_plan_does() {
    let project = Project::new();
    let [planned, coded] = compiled(&project, rendered(&project));
    let files = names(&project, &coded);
    assert!(files.contains("extractor.wat") && !files.contains("plan.json"), "{files:?}");

    assert_eq!(results(&project, "coded"), results(&project, "planned"));
    let check = project.retort(["check", &coded, "--samples", "events.ndjson", "--json"]);
    let report: Value = serde_json::from_str(&passes(&check).stdout).unwrap();
    let stages: Vec<_> = report["stages"].as_array().unwrap().iter().collect();
    assert!(stages.iter().all(|stage| stage["stage"] != "plan"), "{report}");
    passes(&project.retort(["inspect", &coded]));
    passes(&project.retort(["bench", &coded, "events.ndjson", "--events", "10"]));
    // The same again is the same bundle.
    let again = project.retort(["compile", "--source", "mine.wat", "--out", "coded"]);
    assert_eq!(passes(&again).stdout.trim(), coded);
    assert_ne!(planned.rsplit('/').next(), coded.rsplit('/').next());
}

#[test]
fn a_bundle_of_a_module_holds_no_source() {
    let project = Project::new();
    let [planned, _] = compiled(&project, rendered(&project));
    let module = project.path(&format!("{planned}/extractor.wasm"));
    fs::copy(module, project.path("mine.wasm")).unwrap();
    let stored = project.retort(["compile", "--source", "mine.wasm", "--out", "modules"]);
    let files = names(&project, passes(&stored).stdout.trim());
    assert!(!files.iter().any(|name| name.ends_with(".wat") || name == "plan.json"), "{files:?}");
    assert_eq!(results(&project, "modules"), results(&project, "planned"));
}

#[test]
fn a_project_names_its_code() {
    let project = Project::new();
    let text = fs::read_to_string(project.path("retort.toml")).unwrap();
    rendered(&project);
    let named = text.replace("plan = \"plan.json\"", "source = \"mine.wat\"");
    assert_ne!(named, text);
    project.write("retort.toml", &named);
    let stored = project.retort(["compile", "--json"]);
    let report: Value = serde_json::from_str(&passes(&stored).stdout).unwrap();
    let stages: Vec<_> = report["stages"].as_array().unwrap().iter().collect();
    let names: Vec<_> = stages.iter().map(|stage| stage["stage"].as_str().unwrap()).collect();
    assert_eq!(names, ["input", "compile", "inspect", "policy", "load", "smoke", "bundle"]);
    passes(&project.retort(["label", "--all"]));
    assert!(project.tree().contains(&"expected.ndjson".to_owned()));

    project.write("retort.toml", format!("{text}source = \"mine.wat\"\n"));
    let both = project.retort(["compile"]);
    assert_eq!(both.code, 2, "{both:?}");
    assert!(both.stderr.contains("found `plan` and `source`"), "{both:?}");
    // What a flag names is the one.
    passes(&project.retort(["compile", "--source", "mine.wat"]));
}

#[test]
fn what_a_gate_refuses_of_code_is_reported_with_its_place() {
    let project = Project::new();
    project.write("mine.wat", "(module\n  (func (i32.cosnt 1)))");
    let refused = project.retort(["compile", "--source", "mine.wat", "--json"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    let report: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!(report["problems"][0]["code"], "syntax_error");
    assert_eq!(report["problems"][0]["path"], "2:10");
    let unknown = project.retort(["compile", "--source", "plan.json"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(
        unknown.stderr.contains("expected a file that ends in .wasm, .wat or .rs"),
        "{unknown:?}"
    );
}

/// Text has no lines of a source, but functions have names.
#[test]
fn where_code_fails_without_a_source_is_said_by_function() {
    let project = Project::new();
    let section = r#"{\"abi\":1,\"function\":\"read\",\"event_types\":[\"a\"],\"inputs\":[]}"#;
    project.write(
        "mine.wat",
        format!(
            r#"(module
                (memory (export "memory") 1 1)
                (func (export "retort_buffer") (param i32) (result i32) (i32.const 8))
                (func $spin (result i64) (loop $again (br $again)) unreachable)
                (func $read (export "read") (param i32 i32) (result i64) (call $spin))
                (@custom "retort" "{section}"))"#
        ),
    );
    project.write("mine.ndjson", "{\"event_type\": \"a\"}\n{\"event_type\": \"b\"}\n");
    let refused = project.retort(["check", "mine.wat", "--samples", "mine.ndjson", "--json"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    let report: Value = serde_json::from_str(&refused.stdout).unwrap();
    let first = &report["problems"][0];
    assert_eq!((&first["code"], &first["path"]), (&json!("out_of_fuel"), &Value::Null));
    let message = first["message"].as_str().unwrap();
    assert!(message.ends_with("; in `spin`, called from `read`"), "{message}");
}
