//! Each command on a small project.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::project::{Ended, PLAN, Project, retort};

fn json_of(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// Whether an object has these keys and no others.
#[track_caller]
fn assert_keys(value: &Value, expected: &[&str]) {
    let found: BTreeSet<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(found, expected.iter().copied().collect(), "{value}");
}

/// The names of the stages of a report, all of which have passed.
fn stages(report: &Value) -> Vec<&str> {
    let stage = |stage: &'_ Value| {
        assert!(stage["ok"] == true && stage["ms"].is_f64(), "{stage}");
        assert_eq!(stage.as_object().unwrap().len(), 3);
    };
    let list = report["stages"].as_array().unwrap();
    list.iter().for_each(stage);
    list.iter().map(|stage| stage["stage"].as_str().unwrap()).collect()
}

#[test]
fn every_help_has_an_example() {
    for command in [
        &[][..],
        &["compile"],
        &["run"],
        &["check"],
        &["label"],
        &["bench"],
        &["plan"],
        &["plan", "check"],
        &["plan", "schema"],
        &["plan", "eval"],
        &["render"],
        &["inspect"],
        &["graph"],
        &["graph", "check"],
        &["diagnose"],
        &["explain"],
        &["selftest"],
    ] {
        let ended = retort(command.iter().chain(&["--help"]));
        let example = format!("\n  retort {}", command.join(" "));
        let examples = ended.stdout.split("Examples:").nth(1).unwrap_or_default().to_owned();
        let piped = format!("| retort {}", command.join(" "));
        assert!(
            ended.code == 0 && (examples.contains(&example) || examples.contains(&piped)),
            "{command:?}: {}",
            ended.stdout
        );
    }
}

#[test]
fn compile_stores_a_bundle_once() {
    let project = Project::new();
    let first = project.retort(["compile"]);
    assert_eq!(first.code, 0, "{first:?}");
    // Below the stages is what came out of the samples.
    let (said, coverage) = first.stderr.split_once("what came out of").unwrap();
    let said: Vec<&str> = said.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let all = "input plan policy fit render compile inspect load smoke bundle";
    assert_eq!(said.join(" "), all);
    assert!(coverage.contains("Order.order_id"), "{first:?}");
    let tree = project.tree();

    let second = project.retort(["compile", "--json"]);
    let report = json_of(&second);
    assert_keys(&report, &["ok", "stages", "problems", "coverage", "bundle"]);
    assert_eq!(stages(&report).join(" "), all);
    assert_eq!(report["bundle"]["cached"], true);
    assert_eq!(report["bundle"]["path"], first.stdout.trim());
    assert_eq!(second.stderr, "");
    assert_eq!(project.tree(), tree);
    let third = project.retort(["compile"]);
    assert!(third.stderr.contains("cached"), "{third:?}");
}

#[test]
fn flags_come_before_the_project_file() {
    let project = Project::new();
    project.write("other.json", PLAN.replace("read_order", "read_other"));
    let ended = project.retort(["compile", "--plan", "other.json", "--out", "elsewhere"]);
    assert!(ended.stdout.starts_with("elsewhere/"), "{ended:?}");
    let shown = project.retort(["inspect", ended.stdout.trim()]);
    assert!(shown.stdout.contains("read_other"), "{shown:?}");

    std::fs::remove_file(project.path("retort.toml")).unwrap();
    let flags = ["compile", "--plan", "plan.json", "--graph", "graph.yaml"];
    let ended = project.retort([&flags[..], &["--samples", "events.ndjson"]].concat());
    assert!(ended.stdout.starts_with("bundles/"), "{ended:?}");
}

#[test]
fn an_ontology_with_its_binding_stands_for_a_graph_spec() {
    let project = Project::new();
    project.write(
        "binding.yaml",
        "binding: b
ontology: shop
target: {backend: x, project: p, dataset: d}
entities:
- name: Order
  source: orders
  properties:
  - {name: order_id, column: order_id}
  - {name: total, column: total}
",
    );
    let flags = ["compile", "--ontology", "graph.yaml", "--binding", "binding.yaml"];
    let ended = project.retort(flags);
    assert_eq!(ended.code, 0, "{ended:?}");
    project.write(
        "retort.toml",
        "plan = \"plan.json\"\nontology = \"graph.yaml\"\nbinding = \"binding.yaml\"\nsamples = \"events.ndjson\"\n",
    );
    assert_eq!(project.retort(["compile"]).code, 0);
}

#[test]
fn check_goes_through_all_gates_of_what_it_is_given() {
    let project = Project::new();
    let bundle = project.compile();
    let source = project.retort(["render", "plan.json"]);
    assert!(source.stdout.starts_with("(module") || source.stdout.starts_with(";;"), "{source:?}");
    project.write("extractor.wat", &source.stdout);
    let module = std::fs::read(project.path(&format!("{bundle}/extractor.wasm"))).unwrap();
    project.write("extractor.wasm", module);
    for (path, expected) in [
        (bundle.as_str(), &["bundle", "plan", "graph", "smoke"][..]),
        ("plan.json", &["plan", "policy", "render", "compile", "inspect", "load", "smoke"]),
        ("extractor.wat", &["compile", "inspect", "policy", "load", "smoke"]),
        ("extractor.wasm", &["inspect", "policy", "load", "smoke"]),
    ] {
        let args = ["check", path, "--samples", "events.ndjson"];
        let report = project.retort([&args[..], &["--json"]].concat());
        assert_eq!((report.code, report.stderr.as_str()), (0, ""), "{path}: {report:?}");
        let report = json_of(&report);
        assert_keys(&report, &["ok", "stages", "problems", "coverage"]);
        assert_eq!((&report["ok"], &report["problems"]), (&json!(true), &json!([])));
        assert_eq!(stages(&report), expected, "{path}");
        let ended = project.retort(args);
        assert_eq!((ended.code, ended.stdout), (0, format!("{path}: ok\n")));
    }
}

#[test]
fn check_says_what_a_gate_found() {
    let project = Project::new();
    project.write(
        "events.ndjson",
        r#"{"event_type":"order_placed","content":{"id":"a","total":"x"}}"#,
    );
    let args = ["check", "plan.json", "--samples", "events.ndjson", "--graph", "graph.yaml"];
    let ended = project.retort([&args[..], &["--json"]].concat());
    let report = json_of(&ended);
    assert_eq!((ended.code, &report["ok"]), (1, &json!(false)));
    assert_eq!(
        report["problems"],
        json!([{
            "stage": "fit",
            "code": "type_mismatch",
            "path": "/property_fields/0/source_path",
            "message": report["problems"][0]["message"],
        }])
    );
    let ended = project.retort(args);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, "plan.json: failed with 1 problem\n"));
    assert!(
        ended
            .stderr
            .contains("error[type_mismatch]: plan.json: fit: /property_fields/0/source_path"),
        "{ended:?}"
    );
}

#[test]
fn plan_commands_print_plans_and_what_they_mean() {
    let project = Project::new();
    let checked = project.retort(["plan", "check", "plan.json", "--json"]);
    let report = json_of(&checked);
    assert_eq!(report["ok"], true);
    assert_eq!(report["plan"]["session_id_path"], json!(["session_id"]));
    let text = project.retort(["plan", "check", "plan.json"]);
    let normalised: Value = serde_json::from_str(&text.stdout).unwrap();
    assert_eq!(normalised, report["plan"]);

    project.write(
        "bad.json",
        r#"{"event_type": 1, "target_entity_name": "", "function_name": "f",
        "key_field": {"property_name": "a", "source_path": ["b"]}}"#,
    );
    let refused = project.retort(["plan", "check", "bad.json", "--json"]);
    let report = json_of(&refused);
    assert_eq!(refused.code, 1);
    assert_eq!(
        (&report["ok"], &report["code"], &report["path"]),
        (&json!(false), &json!("wrong_type"), &json!("event_type"))
    );
    assert_eq!(report["problems"][1]["code"], "empty_string");
    let text = project.retort(["plan", "check", "bad.json"]);
    assert!(text.stderr.contains("error[wrong_type]: bad.json: plan: event_type: "), "{text:?}");
    assert!(text.stderr.contains("error[empty_string]"), "{text:?}");
    let diagnostic = project.retort_on(["diagnose", "parse", "-"], refused.stdout.as_bytes());
    assert!(diagnostic.stdout.starts_with("PlanParseError [code=wrong_type]"), "{diagnostic:?}");

    // A plan that no extractor can be rendered from is none that is fine, and `render` says the same of it.
    let template = "{a}-".repeat(300);
    let deep = PLAN
        .replace(r#""source_path": ["content", "id"]"#, &format!(r#""template": "{template}""#));
    project.write("deep.json", deep);
    let refused = project.retort(["plan", "check", "deep.json", "--json"]);
    let report = json_of(&refused);
    assert_eq!(refused.code, 1);
    assert_eq!(
        (&report["code"], &report["path"]),
        (&json!("plan_not_declarable"), &json!("/key_field/template"))
    );
    let text = project.retort(["plan", "check", "deep.json"]);
    assert_eq!((text.code, text.stdout.as_str()), (1, ""));
    assert!(
        text.stderr.contains("deep.json: render: /key_field/template: expected at most 256"),
        "{text:?}"
    );
    assert_eq!(project.retort(["render", "deep.json"]).stderr, text.stderr);
    let diagnostic = project.retort_on(["diagnose", "render", "-"], refused.stdout.as_bytes());
    let told = "RenderError [code=invalid_plan]: /key_field/template: expected at most 256 ";
    assert!(diagnostic.stdout.starts_with(told), "{diagnostic:?}");

    let schema = project.retort(["plan", "schema"]);
    assert_eq!(json_of(&schema), retort::plan::schema());

    let evaluated = project.retort(["plan", "eval", "plan.json", "events.ndjson"]);
    let results: Vec<Value> =
        evaluated.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((evaluated.code, results.len()), (0, 4), "{evaluated:?}");
    assert_eq!(results[0]["nodes"][0]["node_id"], "s1:Order:order_id=o1");
    assert_eq!(results[3]["nodes"], json!([]));
    let mixed = project.retort_on(["plan", "eval", "plan.json"], b"{}\n[]\n{\"a\":\xff}\n{}");
    assert_eq!((mixed.code, mixed.stdout.lines().count()), (1, 2), "{mixed:?}");
    assert!(mixed.stderr.contains("error[event_not_object]: stdin line 2:"), "{mixed:?}");
    assert!(mixed.stderr.contains("error[event_not_utf8]: stdin line 3:"), "{mixed:?}");
}

#[test]
fn inspect_shows_a_module() {
    let project = Project::new();
    let bundle = project.compile();
    insta::assert_snapshot!("inspect", project.retort(["inspect", &bundle]).stdout);
    let report = json_of(&project.retort(["inspect", "plan.json", "--json"]));
    assert_keys(&report, &["ok", "section", "facts", "reset_safety", "limits", "wasmtime"]);
    assert_eq!(report["section"]["function"], "read_order");
    project.write("bad.wat", "(module (memory 1 2 3))");
    let refused = project.retort(["inspect", "bad.wat"]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("error[syntax_error]: bad.wat: compile: 1:21: "),
        "{refused:?}"
    );
    project.write("empty.wat", "(module)");
    let refused = project.retort(["inspect", "empty.wat", "--json"]);
    let codes: Vec<Value> = json_of(&refused)["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["code"].clone())
        .collect();
    assert!(refused.code == 1 && codes.contains(&json!("section_missing")), "{refused:?}");
}

#[test]
fn inspect_says_what_is_proven() {
    let project = Project::new();
    let proof = json_of(&project.retort(["inspect", "plan.json", "--proof", "--json"]));
    assert_keys(&proof, &["ok", "reset_safety", "verifier", "fuel_bound", "wasmtime"]);
    assert_eq!(proof["reset_safety"]["proven"]["how"], "rendered");
    assert_eq!(proof["verifier"]["verified"]["template"], "wat-1");

    // As text it is a module that nobody vouches for.
    let source = project.retort(["render", "plan.json"]).stdout;
    project.write("order.wat", &source);
    let shown = project.retort(["inspect", "order.wat", "--proof"]);
    assert!(shown.stdout.contains("reset-safe: verified in the binary"), "{shown:?}");
    project.write(
        "order.wat",
        source.replace("(local.get $quote) (i32.const 1)", "(local.get $quote) (i32.const 0)"),
    );
    let shown = project.retort(["inspect", "order.wat", "--proof"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.stdout.starts_with("proof        none: "), "{shown:?}");
    let why = "unproven_template: func[3] $put_text: expected $put_text of a known template";
    assert!(shown.stdout.contains(why), "{shown:?}");
}

#[test]
fn graph_check_lists_failures() {
    let project = Project::new();
    project.write(
        "result.json",
        r#"{"nodes":[{"node_id":"","entity_name":"Ghost","labels":[],"properties":[]}],"edges":[],
            "fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#,
    );
    let args = ["graph", "check", "--graph", "graph.yaml", "result.json"];
    let ended = project.retort([&args[..], &["--json"]].concat());
    let report = json_of(&ended);
    assert_eq!((ended.code, &report["ok"]), (1, &json!(false)));
    assert_eq!(report["failures"][0]["code"], "unknown_entity");
    assert_eq!(report["failures"][0]["scope"], "node");
    let ended = project.retort(args);
    assert!(ended.stderr.contains("error[unknown_entity]: result.json: nodes[0]"), "{ended:?}");
    project.write("edge.json", r#"{"nodes":[],"edges":[]}"#);
    assert_eq!(project.retort(["graph", "check", "--graph", "graph.yaml", "edge.json"]).code, 0);
}

#[test]
fn explain_knows_every_code() {
    let list = retort(["explain", "--list"]);
    assert_eq!(list.stdout.lines().count(), retort::internal::codes::all().count());
    insta::assert_snapshot!("explain", retort(["explain", "digest_mismatch"]).stdout);
    let one = json_of(&retort(["explain", "--json", "digest_mismatch"]));
    assert_keys(&one, &["code", "stage", "meaning", "action"]);
    let unknown = retort(["explain", "digest_missmatch"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("did you mean `digest_mismatch`?"), "{unknown:?}");
}
