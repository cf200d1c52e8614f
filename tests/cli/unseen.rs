//! What a plan says that no sample shows: accepted with a warning, and an error where asked for.

use serde_json::{Value, json};

use super::project::{Ended, PLAN, Project};

fn codes(ended: &Ended) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let warnings = report["coverage"]["warnings"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    warnings.iter().map(|it| (text(&it["code"]), text(&it["path"]))).collect()
}

#[test]
fn what_no_sample_shows_is_accepted_with_a_warning() {
    let project = Project::new();
    let lines = (1..8).map(|n| {
        format!(
            "{{\"event_type\":\"order_placed\",\"content\":{{\"id\":\"o{n}\",\"total\":{n}.5}}}}\n"
        )
    });
    project.write("events.ndjson", lines.collect::<String>());
    let mut plan: Value = serde_json::from_str(PLAN).unwrap();
    plan["event_type"] = json!(["order_placed", "order_returned"]);
    plan["property_fields"][0]["source_path"] = json!(["content", "discount", "net"]);
    project.write("plan.json", plan.to_string());
    let refused = project.retort(["compile"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("error[event_type_without_sample]"), "{refused:?}");

    plan["event_type"][1] = json!({"type": "order_returned", "unseen": true});
    project.write("plan.json", plan.to_string());
    let refused = project.retort(["compile"]);
    assert!(refused.stderr.contains("error[unknown_path]"), "{refused:?}");

    plan["property_fields"][0]["unseen"] = json!(true);
    project.write("plan.json", plan.to_string());
    let told = |code: &str, path: &str| (code.to_owned(), path.to_owned());
    let warned =
        [told("unseen_event_type", "/event_type/1"), told("unseen_path", "/property_fields/0")];
    let compiled = project.retort(["compile", "--json"]);
    assert_eq!(compiled.code, 0, "{compiled:?}");
    assert_eq!(codes(&compiled), warned);
    let shown = project.retort(["compile"]);
    assert!(shown.stderr.contains("warning[unseen_path]"), "{shown:?}");
    assert!(shown.stderr.contains("content.discount.net"), "{shown:?}");
    let strict = project.retort(["compile", "--strict", "--out", "strict"]);
    assert_eq!(strict.code, 1, "{strict:?}");
    assert!(strict.stderr.contains("error[unseen_event_type]"), "{strict:?}");

    let bundle = shown.stdout.trim();
    for artifact in [bundle, "plan.json"] {
        let check = ["check", artifact, "--samples", "events.ndjson", "--graph", "graph.yaml"];
        let checked = project.retort([&check[..], &["--json"]].concat());
        assert_eq!(checked.code, 0, "{checked:?}");
        assert_eq!(codes(&checked), warned, "{artifact}");
        let strict = project.retort([&check[..], &["--strict"]].concat());
        assert_eq!(strict.code, 1, "{strict:?}");
    }

    let seen = r#"{"event_type":"order_returned","content":{"id":"o9","discount":{"net":1.5}}}"#;
    let all = std::fs::read_to_string(project.path("events.ndjson")).unwrap() + seen;
    project.write("events.ndjson", all);
    let compiled = project.retort(["compile", "--json"]);
    let superfluous = warned.map(|(_, path)| told("superfluous_unseen", &path));
    assert_eq!(codes(&compiled), superfluous);
}

#[test]
fn alternatives_that_no_sample_takes_are_told() {
    let project = Project::new();
    let lines = (1..8).map(|n| {
        format!("{{\"event_type\":\"order_placed\",\"content\":{{\"id\":\"o{n}\",\"total\":{n}.5,\"net\":{n}.0}}}}\n")
    });
    project.write("events.ndjson", lines.collect::<String>());
    let mut plan: Value = serde_json::from_str(PLAN).unwrap();
    plan["property_fields"][0] = json!({"property_name": "total", "coalesce": [
        {"coalesce": [{"source_path": ["content", "gross"], "unseen": true}, {"source_path": ["content", "total"]}]},
        {"source_path": ["content", "net"]},
        {"constant": 0.0},
    ]});
    project.write("plan.json", plan.to_string());
    let compiled = project.retort(["compile", "--json"]);
    assert_eq!(compiled.code, 0, "{compiled:?}");
    let told = |code: &str, path: &str| (code.to_owned(), path.to_owned());
    assert_eq!(
        codes(&compiled),
        [
            told("unseen_path", "/property_fields/0/coalesce/0/coalesce/0"),
            told("alternative_never_taken", "/property_fields/0/coalesce/1"),
        ]
    );
    let strict = project.retort(["compile", "--strict", "--out", "strict"]);
    assert_eq!(strict.code, 1, "{strict:?}");
    assert!(strict.stderr.contains("error[alternative_never_taken]"), "{strict:?}");
}

#[test]
fn what_is_repaired_without_asking_is_told() {
    let project = Project::new();
    let plan = PLAN.replace(r#"["content", "total"]"#, r#"["content", "totla"]"#);
    project.write("plan.json", plan);
    let lines = (1..8).map(|n| {
        format!(
            "{{\"event_type\":\"order_placed\",\"content\":{{\"id\":\"o{n}\",\"total\":{n}.5}}}}\n"
        )
    });
    project.write("events.ndjson", lines.collect::<String>());
    let flags = ["repair", "plan.json", "--graph", "graph.yaml", "--samples", "events.ndjson"];
    let change = r#"/property_fields/0/source_path: ["content","totla"] -> ["content","total"]"#;
    let repaired = project.retort(flags);
    assert!(repaired.stderr.contains(change), "{repaired:?}");
    let repaired = project.retort([&flags[..], &["--json"]].concat());
    let report: Value = serde_json::from_str(&repaired.stdout).unwrap();
    let expected = json!([{"pointer": "/property_fields/0/source_path",
        "before": ["content", "totla"], "after": ["content", "total"]}]);
    assert_eq!(report["changes"], expected);
}
