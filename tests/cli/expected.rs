//! What samples are expected to give, what came out of them, and what looks wrong about it.

use std::fs;

use quick_junit::{Report, TestCaseStatus};
use serde_json::{Value, json};

use super::project::{Ended, PLAN, Project};
use crate::support::workspace_root;

const SWAPPED: &str = r#"{"event_type":"order_placed","session_id":"s1","content":{"id":"o1","net":1.0,"total":1.5}}
{"event_type":"order_placed","session_id":"s1","content":{"id":"o2","net":2.0,"total":2.5}}
{"event_type":"order_shipped","session_id":"s1"}
"#;

const EXPECTED: &str = r#"{"line":1,"nodes":[{"entity":"Order","key":{"order_id":"o1"},"properties":{"total":1.5}}]}
{"line":2,"nodes":[{"entity":"Order","key":{"order_id":"o2"},"properties":{"total":2.5}}],"exact":true}
{"line":3,"exact":true}
"#;

/// A project whose plan reads the total from where something else of the type is.
fn swapped() -> Project {
    let project = Project::new();
    project.write("events.ndjson", SWAPPED);
    project.write("expected.ndjson", EXPECTED);
    project.write("plan.json", PLAN.replace(r#"["content", "total"]"#, r#"["content", "net"]"#));
    project
}

fn json_of(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

fn codes(report: &Value, field: &str) -> Vec<(String, String)> {
    let list = report.pointer(field).and_then(Value::as_array).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    list.iter().map(|it| (text(&it["code"]), text(&it["path"]))).collect()
}

fn told(code: &str, path: &str) -> (String, String) {
    (code.to_owned(), path.to_owned())
}

#[test]
fn a_plan_that_gives_something_else_is_rejected_by_every_command() {
    let project = swapped();
    // Nothing is wrong with it but by what is expected.
    assert_eq!(project.retort(["compile", "--out", "elsewhere"]).code, 0);
    let config = fs::read_to_string(project.path("retort.toml")).unwrap();
    project.write("retort.toml", config + "expected = \"expected.ndjson\"\n");
    let ended = project.retort(["compile", "--json"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let report = json_of(&ended);
    let at = "/property_fields/0";
    let both = [told("other_value", at), told("other_value", at)];
    assert_eq!(codes(&report, "/problems"), both);
    let message = report["problems"][0]["message"].as_str().unwrap();
    assert_eq!(
        message,
        "sample on line 1: expected 1.5 as `total` of Order with order_id=\"o1\", found 1.0"
    );
    let last = report["stages"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["stage"], &last["ok"]), (&json!("expected"), &json!(false)));
    assert!(!fs::exists(project.path("out")).unwrap(), "nothing is stored");

    let flags =
        ["--samples", "events.ndjson", "--graph", "graph.yaml", "--expected", "expected.ndjson"];
    let junit = ["--junit", "report.xml"];
    let ended = project.retort([&["check", "plan.json"][..], &flags, &junit].concat());
    assert_eq!(ended.code, 1, "{ended:?}");
    let text = fs::read_to_string(project.path("report.xml")).unwrap();
    let found = Report::deserialize_from_str(&text).unwrap();
    let suite = found.test_suites.last().unwrap();
    assert_eq!(suite.name.as_str(), "plan.json: expected");
    let passed = |status: &TestCaseStatus| matches!(status, TestCaseStatus::Success { .. });
    let cases: Vec<_> =
        suite.test_cases.iter().map(|it| (it.name.as_str(), passed(&it.status))).collect();
    assert_eq!(
        cases,
        [
            ("line 1: order_placed", false),
            ("line 2: order_placed", false),
            ("line 3: order_shipped", true)
        ]
    );

    let ended = project.retort([&["repair", "plan.json", "--json"][..], &flags].concat());
    assert_eq!(ended.code, 1, "{ended:?}");
    assert_eq!(json_of(&ended)["problems"][0]["code"], "other_value");

    project.write("plan.json", PLAN);
    let ended = project.retort(["compile"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    // Who has said what to expect needs no table.
    assert!(!ended.stderr.contains("what came out"), "{ended:?}");
    let flags = ["--samples", "events.ndjson", "--expected", "expected.ndjson"];
    let ended = project.retort([&["check", ended.stdout.trim()][..], &flags].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    // A module names no plan, so there is no place in one.
    let source = project.retort(["render", "plan.json"]);
    project.write("extractor.wat", source.stdout);
    let ended = project.retort([&["check", "extractor.wat"][..], &flags].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[test]
fn each_difference_has_its_code() {
    let project = Project::new();
    project.write("events.ndjson", SWAPPED);
    for (expected, found) in [
        (
            r#"{"line":1,"nodes":[{"entity":"Order","key":{"order_id":"o9"}}]}"#,
            told("missing_node", "/key_field"),
        ),
        (
            r#"{"line":3,"nodes":[{"entity":"Order","key":{"order_id":"o9"}}]}"#,
            told("missing_node", "/event_type"),
        ),
        (
            r#"{"line":1,"nodes":[{"node_id":"s1:Order:order_id=o1","properties":{"total":null}}]}"#,
            told("other_value", "/property_fields/0"),
        ),
        (
            r#"{"line":1,"nodes":[{"entity":"Order","key":{"order_id":"o1"}}],"exact":true}"#,
            told("unwanted_property", "/property_fields/0"),
        ),
        (r#"{"line":1,"exact":true}"#, told("unwanted_node", "")),
        (r#"{"line":1,"session":"s2"}"#, told("other_session", "/session_id_path")),
        (r#"{"line":1,"fully_handled_span_ids":["a"]}"#, told("other_spans", "/span_handling")),
    ] {
        project.write("expected.ndjson", expected);
        let ended = project.retort(["compile", "--expected", "expected.ndjson", "--json"]);
        assert_eq!(codes(&json_of(&ended), "/problems"), [found], "{expected}: {ended:?}");
    }
    for fine in [
        r#"{"line":1,"nodes":[{"entity":"Order","key":{"order_id":"o1"},"properties":{"total":1.50}}],"exact":true}"#,
        r#"{"line":1,"nodes":[{"entity":"Order","properties":{"total":1.5}}],"session":"s1"}"#,
        r#"{"line":1,"nodes":[{"node_id":"s1:Order:order_id=o1"}],"fully_handled_span_ids":[]}"#,
        r#"{"line":3,"exact":true,"nodes":[],"edges":[]}"#,
    ] {
        project.write("expected.ndjson", fine);
        let ended = project.retort(["compile", "--expected", "expected.ndjson"]);
        assert_eq!(ended.code, 0, "{fine}: {ended:?}");
    }
}

#[test]
fn edges_are_found_by_their_ends() {
    let example = workspace_root().join("examples/shop-orders");
    let file = |name: &str| example.join(name).to_str().unwrap().to_owned();
    let project = Project::new();
    let text = fs::read_to_string(file("expected.ndjson")).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let found = |change: &dyn Fn(&mut Value)| {
        let mut expected = first.clone();
        change(&mut expected);
        project.write("expected.ndjson", expected.to_string());
        let (plan, samples, graph) =
            (file("plan.json"), file("samples.ndjson"), file("graph.yaml"));
        let args = ["check", &plan, "--samples", &samples, "--graph", &graph];
        let schema = file("schema.json");
        let more = [
            "--schema",
            &schema,
            "--expected",
            "expected.ndjson",
            "--allow-external-endpoints",
            "--json",
        ];
        codes(&json_of(&project.retort([&args[..], &more].concat())), "/problems")
    };
    assert_eq!(found(&|_| {}), []);
    // The customer is a node of another event: its entity and key say as much as its id.
    let customer = |key: Value| json!({"entity": "Customer", "key": {"customer_id": key}});
    assert_eq!(found(&|it| it["edges"][2]["to"] = customer(json!(501))), []);
    assert_eq!(
        found(&|it| it["edges"][2]["to"] = customer(json!(502))),
        [told("missing_edge", "/edges/2/to")]
    );
    assert_eq!(
        found(&|it| it["edges"].as_array_mut().unwrap().truncate(2)),
        [told("unwanted_edge", "/edges/2")]
    );
    assert_eq!(found(&|it| it["edges"][0]["properties"] = json!({})), [], "it has none");
    assert_eq!(
        found(&|it| it["nodes"][2]["key"]["line_no"] = json!(7)),
        [told("missing_node", "/nodes/1/key_fields/1")]
    );
}

#[test]
fn the_report_says_what_came_out_of_the_samples() {
    let project = Project::new();
    project.write(
        "rule.md",
        "Every order_placed event becomes an Order, by its id, with its total and the coupon.",
    );
    project.write(
        "graph.yaml",
        "ontology: shop
entities:
- name: Order
  keys: {primary: [order_id]}
  properties:
  - {name: order_id, type: string}
  - {name: total, type: double}
  - {name: placed_at, type: timestamp}
  - {name: coupon, type: string}
  - {name: note, type: string}
",
    );
    project.write(
        "events.ndjson",
        r#"{"event_type":"order_placed","session_id":"s1","content":{"id":"o1","total":1.5,"at":"2026-01-01T00:00:00Z"}}
{"event_type":"order_placed","session_id":"s1","content":{"id":"o2","total":1.5,"at":"yester\u001b[2Jday"}}
{"event_type":"order_placed","session_id":"s1","content":{"id":"o3"}}
"#,
    );
    let mut plan: Value = serde_json::from_str(PLAN).unwrap();
    plan["property_fields"].as_array_mut().unwrap().push(json!(
        {"property_name": "placed_at", "source_path": ["content", "at"], "convert": ["timestamp"]}
    ));
    project.write("plan.json", plan.to_string());
    let ended = project.retort(["compile", "--rule", "rule.md", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let coverage = &json_of(&ended)["coverage"];
    let gist = |it: &Value| (it["property"].clone(), it["samples"].clone(), it["distinct"].clone());
    let properties: Vec<_> = coverage["properties"].as_array().unwrap().iter().map(gist).collect();
    assert_eq!(
        properties,
        [
            (json!("order_id"), json!(3), json!(3)),
            (json!("total"), json!(2), json!(1)),
            (json!("placed_at"), json!(1), json!(1)),
        ]
    );
    assert_eq!(coverage["properties"][0]["examples"], json!(["\"o1\"", "\"o2\"", "\"o3\""]));
    assert_eq!(
        coverage["left_out"],
        json!([
            {"of": "Order", "property": "coupon", "in_rule": true},
            {"of": "Order", "property": "note", "in_rule": false}
        ])
    );
    let failed = &coverage["failed_conversions"][0];
    assert_eq!(
        (&failed["property"], &failed["pointer"]),
        (&json!("placed_at"), &json!("/property_fields/1"))
    );
    assert_eq!(failed["examples"][0]["line"], 2);
    let found = codes(coverage, "/warnings");
    let warned = [told("property_left_out", ""), told("conversions_failed", "/property_fields/1")];
    assert_eq!(found, warned);

    let ended = project.retort(["compile", "--rule", "rule.md"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("warning[property_left_out]"), "{ended:?}");
    assert!(ended.stderr.contains("failed: Order.placed_at on"), "{ended:?}");
    assert!(!ended.stderr.contains('\u{1b}'), "{ended:?}");

    let strict = project.retort(["compile", "--rule", "rule.md", "--strict", "--out", "strict"]);
    assert_eq!((strict.code, strict.stdout.as_str()), (1, ""), "{strict:?}");
    assert!(strict.stderr.contains("error[conversions_failed]"), "{strict:?}");
    assert!(!fs::exists(project.path("strict")).unwrap(), "nothing is stored");
    let bundle = ended.stdout.trim();
    let flags = ["--samples", "events.ndjson", "--strict", "--junit", "report.xml"];
    let checked = project.retort([&["check", bundle][..], &flags].concat());
    assert_eq!(checked.code, 1, "{checked:?}");
    let report = fs::read_to_string(project.path("report.xml")).unwrap();
    assert!(report.contains("property_left_out"), "the bundle holds the rule: {report}");
}

#[test]
fn what_gives_the_same_for_all_looks_wrong() {
    let project = Project::new();
    project.write("plan.json", PLAN.replace(r#"["content", "id"]"#, r#"["session_id"]"#));
    project.write(
        "events.ndjson",
        r#"{"event_type":"order_placed","session_id":"s1","content":{"id":"o1","total":1.5}}
{"event_type":"order_placed","session_id":"s1","content":{"id":"o2","total":1.5}}
"#,
    );
    let ended = project.retort(["compile", "--strict"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("error[identical_results]"), "{ended:?}");
    let ended = project.retort(["compile"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("warning[identical_results]"), "{ended:?}");
}

#[test]
fn what_a_model_cannot_express_is_reported() {
    let project = Project::new();
    project.write("rule.md", "Every order becomes an Order, with a forecast.");
    project.write(
        "retort.toml",
        "rule = \"rule.md\"\ngraph = \"graph.yaml\"\nsamples = \"events.ndjson\"\noutput = \"out\"\n",
    );
    let mut plan: Value = serde_json::from_str(PLAN).unwrap();
    plan["cannot_express"] = json!(["the forecast, \u{1b}[2Jsince plans predict nothing"]);
    let answers = |answer: &Value| format!("{}\n", json!({"text": answer.to_string()}));
    project.write("answers.ndjson", answers(&plan));
    let args = ["compile", "--model", "replay:answers.ndjson"];
    let ended = project.retort(args);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("warning[partly_expressed]"), "{ended:?}");
    assert!(!ended.stderr.contains('\u{1b}'), "{ended:?}");
    let report = json_of(&project.retort([&args[..], &["--json"]].concat()));
    assert_eq!(report["attempts"][0]["cannot_express"].as_array().unwrap().len(), 1);
    let strict = project.retort([&args[..], &["--strict", "--out", "strict", "--json"]].concat());
    assert_eq!(strict.code, 1, "{strict:?}");
    assert_eq!(json_of(&strict)["reason"], "partly_expressed");
    assert!(!fs::exists(project.path("strict")).unwrap());

    project.write("answers.ndjson", answers(&json!({"cannot_express": ["plans predict nothing"]})));
    let ended = project.retort([&args[..], &["--json"]].concat());
    assert_eq!(ended.code, 1, "{ended:?}");
    let report = json_of(&ended);
    assert_eq!(report["reason"], "cannot_express");
    assert_eq!(report["attempts"][0]["failure"]["code"], "cannot_express");
    assert_eq!(report["attempts"][0]["cannot_express"], json!(["plans predict nothing"]));
    let ended = project.retort(args);
    assert!(ended.stderr.contains("plans predict nothing [cannot_express]"), "{ended:?}");
}
