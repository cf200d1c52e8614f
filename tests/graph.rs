//! Graph specs and the validation of results.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use retort::diagnostics::problem::Coded;
use retort::graph::spec::{PropertyType, SpecProblem};
use retort::graph::{Extraction, GraphSpec, ValidateOptions, validate};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{shared, workspace_root};

/// Cases of the conformance data in which a raw `:` in a session id or a raw `,` in a key value
/// was the failure. Ids are read by the names that the spec declares, so these are no failures.
const CHANGED: &[(&str, &str)] = &[
    ("session_with_colon_shifts_entity_segment", "the id ends in the node's own entity and key"),
    ("key_mismatch_comma_truncates", "the id ends in the node's own key value, comma included"),
    ("external_session_with_colon", "the entity is found by its name, whatever the session id"),
];

#[derive(Deserialize)]
struct Case {
    name: String,
    #[serde(default)]
    spec: Value,
    graph: Value,
    #[serde(default)]
    allow_external_endpoints: bool,
    expect: Value,
}

/// Runs a case and gives what differs from what it expects.
fn run(case: &Case) -> Option<String> {
    let spec = GraphSpec::parse(&case.spec.to_string(), &case.name).unwrap();
    assert_eq!(serde_json::to_value(&spec).unwrap(), case.spec, "{}: round trip", case.name);
    let mut graph = case.graph.clone();
    for spans in ["fully_handled_span_ids", "partially_handled_span_ids"] {
        graph.as_object_mut().unwrap().entry(spans).or_insert_with(|| json!([]));
    }
    let result: Extraction = serde_json::from_value(graph).unwrap();
    let options = ValidateOptions { allow_external_endpoints: case.allow_external_endpoints };
    let mut report = serde_json::to_value(validate(&spec, &result, options)).unwrap();
    for failure in report["failures"].as_array_mut().unwrap() {
        let detail = failure.as_object_mut().unwrap().remove("detail").unwrap();
        let detail = detail.as_str().unwrap();
        assert!(detail.contains("expected ") && detail.contains("found "), "{detail}");
    }
    (report != case.expect).then(|| format!("{}: {report}\n  not {}", case.name, case.expect))
}

fn cases(path: &Path) -> Vec<Case> {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn conformance_cases_hold() {
    let Some(path) = shared("conformance/graph_validation.json") else { return };
    let cases = cases(&path);
    let changed: BTreeSet<&str> = CHANGED.iter().map(|(name, _)| *name).collect();
    let mut wrong = Vec::new();
    for case in &cases {
        if changed.contains(case.name.as_str()) {
            let tolerant = Case {
                name: case.name.clone(),
                spec: case.spec.clone(),
                graph: case.graph.clone(),
                allow_external_endpoints: case.allow_external_endpoints,
                expect: json!({"ok": true, "failures": []}),
            };
            assert_ne!(case.expect, tolerant.expect, "{} is not changed", case.name);
            wrong.extend(run(&tolerant));
        } else {
            wrong.extend(run(case));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert!(changed.is_subset(&names));
}

/// What ids and values may hold: cases as those of the conformance data, of one spec.
#[test]
fn validation_cases_hold() {
    #[derive(Deserialize)]
    struct Cases {
        spec: Value,
        cases: Vec<Case>,
    }
    let path = workspace_root().join("tests/cases/graph_validation.json");
    let Cases { spec, cases } = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let wrong: Vec<String> =
        cases.into_iter().filter_map(|case| run(&Case { spec: spec.clone(), ..case })).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each case is a spec whose first line says what is expected: `ok`, or a code with a path. A
/// file `NAME.binding.yaml` makes the case an ontology with a binding. An accepted case may end
/// in its resolved form.
#[test]
fn spec_cases_hold() {
    let folder = workspace_root().join("tests/cases/graph_spec");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut wrong = Vec::new();
    for path in paths.iter().filter(|path| !path.to_string_lossy().ends_with(".binding.yaml")) {
        let text = fs::read_to_string(path).unwrap();
        let expect = text.lines().next().unwrap().strip_prefix("# expect: ").unwrap();
        let parsed = match fs::read_to_string(path.with_extension("binding.yaml")) {
            Ok(binding) => GraphSpec::from_ontology(&text, &binding),
            Err(_) => GraphSpec::parse(&text, "spec.yaml"),
        };
        let found = match &parsed {
            Ok(_) => "ok".to_owned(),
            Err(error) => format!("{} {}", error.code(), error.path().unwrap_or_default()),
        };
        if found.trim() != expect {
            let message = parsed.as_ref().map_or_else(ToString::to_string, |_| String::new());
            wrong.push(format!("{}: {found}, not {expect}: {message}", path.display()));
            continue;
        }
        let resolved = text.lines().find_map(|line| line.strip_prefix("# resolved: "));
        if let (Ok(spec), Some(resolved)) = (parsed, resolved) {
            let resolved: Value = serde_json::from_str(resolved).unwrap();
            assert_eq!(serde_json::to_value(&spec).unwrap(), resolved, "{}", path.display());
            let again = GraphSpec::parse(&serde_json::to_string(&spec).unwrap(), "again.json");
            assert_eq!(again.unwrap(), spec, "{}", path.display());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn read(path: &str) -> Option<String> {
    shared(path).map(|path| fs::read_to_string(path).unwrap())
}

#[test]
fn an_ontology_with_its_binding_equals_the_combined_form() {
    let folder = "corpora/agent_telemetry/ontology";
    let Some(ontology) = read(&format!("{folder}/test_ontology.yaml")) else { return };
    let binding = read(&format!("{folder}/test_binding.yaml")).unwrap();
    let combined = read(&format!("{folder}/test_combined_spec.yaml")).unwrap();
    let bound = GraphSpec::from_ontology(&ontology, &binding).unwrap();
    let combined = GraphSpec::parse(&combined, "combined.yaml").unwrap();
    // The combined form has columns alone, and labels besides.
    let mut bound = serde_json::to_value(&bound).unwrap();
    for entity in bound["entities"].as_array_mut().unwrap() {
        entity["labels"] = json!([entity["name"]]);
        for property in entity["properties"].as_array_mut().unwrap() {
            property["logical_name"] = property["column"].clone();
        }
    }
    assert_eq!(bound, serde_json::to_value(&combined).unwrap());
}

#[test]
fn the_same_spec_as_yaml_and_json_is_equal() {
    let Some(yaml) = read("corpora/github_webhooks/graph_spec.yaml") else { return };
    let json = read("corpora/github_webhooks/graph_spec.json").unwrap();
    let yaml = GraphSpec::parse(&yaml, "graph_spec.yaml").unwrap();
    assert_eq!(yaml, GraphSpec::parse(&json, "graph_spec.json").unwrap());
    let push = yaml.entity("Push").unwrap();
    assert_eq!(push.key_columns, ["after_sha"]);
    assert_eq!(push.property("forced").unwrap().property_type, PropertyType::Boolean);
}

#[test]
fn an_entity_of_the_combined_form_may_extend_one_of_another_ontology() {
    let Some(text) = read("corpora/agent_telemetry/ontology/ymgo_graph_spec.yaml") else { return };
    let spec = GraphSpec::parse(&text, "ymgo_graph_spec.yaml").unwrap();
    assert_eq!(spec.entity("sup_YahooAdUnit").unwrap().key_columns, ["adUnitId"]);
    let edge = spec.relationship("CandidateEdge").unwrap();
    assert_eq!(edge.property("mako_scoreValue").unwrap().property_type, PropertyType::Double);
    assert_eq!(edge.to_columns[0].key(), "adUnitId");
}

/// Results of hand-written extractors, whose keys hold colons and whose edges lead to nodes of
/// earlier events.
#[test]
fn reference_results_fit_their_ontology() {
    let Some(ontology) = read("corpora/agent_telemetry/ontology/mako.ontology.yaml") else {
        return;
    };
    let binding = read("corpora/agent_telemetry/ontology/mako.binding.yaml").unwrap();
    let spec = GraphSpec::from_ontology(&ontology, &binding).unwrap();
    let evolved = spec.relationship("evolvedFrom").unwrap();
    assert_eq!(evolved.from_columns[0].column, "src_decision_execution_id");
    assert_eq!(evolved.from_columns[0].key(), "decision_execution_id");

    let results = read("corpora/agent_telemetry/gold/mako_tools.reference.ndjson").unwrap();
    let options = ValidateOptions { allow_external_endpoints: true };
    let (mut nodes, mut edges) = (0, 0);
    for line in results.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let result: Extraction = serde_json::from_value(json!({
            "nodes": row["nodes"],
            "edges": row["edges"],
            "fully_handled_span_ids": row["fully_handled_span_ids"],
            "partially_handled_span_ids": row["partially_handled_span_ids"],
        }))
        .unwrap();
        let report = validate(&spec, &result, options);
        assert!(report.ok(), "{:?}", report.failures());
        nodes += result.nodes.len();
        edges += result.edges.len();
    }
    assert!(nodes > 1000 && edges > 1000, "{nodes} nodes, {edges} edges");
}

#[test]
fn hostile_specs_are_errors() {
    let mut bomb = String::from("entities: []\nname: x\nannotations:\n- &a0 [x, x, x, x, x, x]\n");
    for i in 1..40 {
        let alias = format!("*a{}, ", i - 1).repeat(8);
        bomb.push_str(&format!("- &a{i} [{alias}]\n"));
    }
    let deep = |open: &str, close: &str| {
        format!(
            "{{\"entities\": [], \"annotations\": {}{}}}",
            open.repeat(90_000),
            close.repeat(90_000)
        )
    };
    let many = format!("entities:\n{}", "- {name: A}\n".repeat(2_001));
    let mut chain = String::from("entities:\n");
    for i in 0..1_500 {
        let parent = if i > 0 { format!("  extends: E{}\n", i - 1) } else { String::new() };
        chain.push_str(&format!("- name: E{i}\n{parent}  properties:\n"));
        for j in 0..4 {
            chain.push_str(&format!("  - {{name: p{i}_{j}, type: string}}\n"));
        }
    }
    let long = format!("entities: []\nname: {}", "x".repeat(1 << 20));
    for (origin, text, code) in [
        ("bomb.yaml", &bomb, "graph_spec_syntax"),
        ("deep.yaml", &deep("[", "]"), "graph_spec_syntax"),
        (
            "deep.yaml",
            &format!("entities: []\nannotations:\n{}x", "- ".repeat(5_000)),
            "graph_spec_syntax",
        ),
        ("many.yaml", &many, "graph_spec_too_large"),
        ("chain.yaml", &chain, "graph_spec_too_large"),
        ("long.yaml", &long, "graph_spec_too_large"),
        ("cut.json", &"{\"entities\": [".to_owned(), "graph_spec_syntax"),
        ("empty.yaml", &String::new(), "graph_spec_wrong_form"),
        ("scalar.yaml", &"just text".to_owned(), "graph_spec_syntax"),
    ] {
        let error = GraphSpec::parse(text, origin).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().starts_with(origin) && error.to_string().len() < 800, "{error}");
        if code == "graph_spec_syntax" {
            assert!(matches!(error.problem(), SpecProblem::Syntax { line: 1.., .. }), "{error:?}");
        }
    }
}

/// What is written once arrives at each heir.
#[test]
fn what_a_spec_comes_to_is_bounded() {
    let too_large = |text: &str, binding: Option<&str>| {
        let parsed = match binding {
            None => GraphSpec::parse(text, "spec.yaml"),
            Some(binding) => GraphSpec::from_ontology(text, binding),
        };
        let error = parsed.err()?;
        let SpecProblem::TooLarge { what, used, allowed, .. } = error.problem() else {
            panic!("{error}")
        };
        assert!(used > allowed && error.code() == "graph_spec_too_large");
        Some((*what, error.path().unwrap_or_default()))
    };
    let heirs = |count: usize, parent: &str| -> String {
        (0..count).map(|i| format!("- {{name: B{i}, extends: {parent}}}\n")).collect()
    };

    let named = |bytes: usize| {
        let name = "n".repeat(bytes);
        format!("entities:\n- name: A\n  properties:\n  - {{name: {name}, type: string}}\n")
    };
    assert_eq!(too_large(&named(1_024), None), None);
    let path = "entities[0].properties[0].name".to_owned();
    assert_eq!(too_large(&named(1_025), None), Some(("bytes of a name", path.clone())));
    let inherited = named(400_000) + &heirs(1_999, "A");
    assert_eq!(too_large(&inherited, None), Some(("bytes of a name", path)));

    // A column, a name and a type for each.
    let properties = |bytes: usize| {
        let property =
            |i: usize| format!("  - {{name: p{i}{}, type: string}}\n", "n".repeat(bytes));
        format!("entities:\n- name: A\n  properties:\n{}", (0..3).map(property).collect::<String>())
    };
    let held = |bytes: usize| 3 * (2 * (bytes + 2) + "string".len());
    let (most, heirs_of) = (4 << 20, 1_000);
    let names: usize = 1 + (0..heirs_of).map(|i| format!("B{i}").len()).sum::<usize>();
    let bytes = (0..1_000).rev().find(|it| held(*it) * (heirs_of + 1) + names <= most).unwrap();
    let spec = |bytes: usize| properties(bytes) + &heirs(heirs_of, "A");
    assert_eq!(too_large(&spec(bytes), None), None);
    let found = too_large(&spec(bytes + 1), None).unwrap();
    assert!(found.0 == "bytes of names" && found.1.starts_with("entities["), "{found:?}");

    let described = |bytes: usize| {
        let description = "d".repeat(bytes);
        format!(
            "entities:\n- name: A\n  properties:\n  - {{name: p, type: string, description: {description}}}\n"
        )
    };
    let heirs_of = 1_023;
    let spec = |bytes: usize| described(bytes) + &heirs(heirs_of, "A");
    assert_eq!(too_large(&spec((4 << 20) / (heirs_of + 1)), None), None);
    let found = too_large(&spec((4 << 20) / (heirs_of + 1) + 1), None).unwrap();
    assert!(found.0 == "bytes of descriptions" && found.1.starts_with("entities["), "{found:?}");

    // Types that this version doesn't know are kept as they are written.
    let types = format!(
        "entities:\n- name: A\n  properties:\n  - {{name: p, sdk_type: {}}}\n",
        "t".repeat(1_025)
    );
    let path = "entities[0].properties[0].sdk_type".to_owned();
    assert_eq!(too_large(&types, None), Some(("bytes of a name", path)));
    let labels = format!("entities:\n- name: A\n  labels: [a, {}]\n", "l".repeat(1_025));
    let path = "entities[0].labels[1]".to_owned();
    assert_eq!(too_large(&labels, None), Some(("bytes of a name", path)));

    // The columns of a key arrive at each relationship, and once more where it is bound.
    let keys: Vec<String> = (0..32).map(|i| format!("k{i}{}", "c".repeat(1_000))).collect();
    let property = |key: &String| format!("  - {{name: {key}, type: string}}\n");
    let entity = format!(
        "ontology: o\nentities:\n- name: A\n  keys: {{primary: [{}]}}\n  properties:\n{}",
        keys.join(", "),
        keys.iter().map(property).collect::<String>()
    );
    let edges = |count: usize| -> String {
        (0..count).map(|i| format!("- {{name: R{i}, from: A, to: A}}\n")).collect()
    };
    let spec = |count: usize| format!("{entity}relationships:\n{}", edges(count));
    assert_eq!(too_large(&spec(60), None), None);
    let found = too_large(&spec(70), None).unwrap();
    assert!(found.0 == "bytes of names" && found.1.starts_with("relationships["), "{found:?}");
    let short: String = (0..32).map(|i| format!("  - {{name: k{i}, type: string}}\n")).collect();
    let ontology = format!(
        "ontology: o\nentities:\n- name: A\n  keys: {{primary: [{}]}}\n  properties:\n{short}relationships:\n{}",
        (0..32).map(|i| format!("k{i}")).collect::<Vec<_>>().join(", "),
        edges(70)
    );
    let bound: String = keys
        .iter()
        .enumerate()
        .map(|(i, key)| format!("  - {{name: k{i}, column: {key}}}\n"))
        .collect();
    let edges: String = (0..70).map(|i| format!("- {{name: R{i}}}\n")).collect();
    let binding = format!(
        "binding: b\nontology: o\nentities:\n- name: A\n  properties:\n{bound}relationships:\n{edges}"
    );
    let found = too_large(&ontology, Some(&binding)).unwrap();
    assert!(found.0 == "bytes of names" && found.1.starts_with("relationships["), "{found:?}");
}

/// Names that the spec of the properties below knows, separators, and anything else.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["Line", "Order", "order_id", "orderId", "line_no", "PartOf"])
            .prop_map(str::to_owned),
        1 => prop::sample::select(vec!["", ":", ",", "=", ":Line:", ":Order:order_id="])
            .prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(prop_oneof![name(), Just(":".to_owned())], 0..8)
            .prop_map(|parts| parts.concat()),
        prop::sample::select(vec!["s:Order:order_id=1", "s:Line:order_id=1,line_no=2"])
            .prop_map(str::to_owned),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        name().prop_map(Value::from),
        "[0-9TZ: .+-]{0,30}".prop_map(Value::from),
        Just(json!([1])),
        Just(json!({"a": 1})),
    ]
}

fn properties() -> impl Strategy<Value = Value> {
    prop::collection::vec((name(), value()), 0..5).prop_map(|pairs| {
        pairs.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
    })
}

fn extraction() -> impl Strategy<Value = Extraction> {
    let node = (id(), name(), properties()).prop_map(|(id, entity, properties)| {
        json!({"node_id": id, "entity_name": entity, "properties": properties})
    });
    let edge = (id(), name(), id(), id(), properties()).prop_map(|(id, name, from, to, given)| {
        json!({"edge_id": id, "relationship_name": name, "from_node_id": from,
            "to_node_id": to, "properties": given})
    });
    let nodes = prop::collection::vec(node, 0..6);
    (nodes, prop::collection::vec(edge, 0..6)).prop_map(|(nodes, edges)| {
        serde_json::from_value(json!({"nodes": nodes, "edges": edges})).unwrap()
    })
}

fn lines() -> GraphSpec {
    let text = "entities:
- name: Order
  key_columns: [order_id]
  properties: [{column: order_id, logical_name: orderId, sdk_type: string}]
- name: Line
  key_columns: [order_id, line_no]
  properties:
  - {column: order_id, logical_name: order, sdk_type: string}
  - {column: line_no, logical_name: line_no, sdk_type: int64}
  - {column: at, logical_name: orderId, sdk_type: timestamp}
relationships:
- {name: PartOf, from: Line, to: Order, properties: [{name: order_id, type: date}]}
";
    GraphSpec::parse(text, "lines.yaml").unwrap()
}

proptest! {
    /// Whatever a guest returns, there is a verdict, and its failures are well formed.
    #[test]
    fn validation_never_panics(result in extraction(), external in any::<bool>()) {
        let options = ValidateOptions { allow_external_endpoints: external };
        let report = validate(&lines(), &result, options);
        prop_assert_eq!(report.ok(), report.failures().is_empty());
        for failure in report.failures() {
            let root = failure.path.split(['[', ']']).collect::<Vec<_>>();
            let listed = if root[0] == "nodes" { result.nodes.len() } else { result.edges.len() };
            prop_assert!(root[1].parse::<usize>().unwrap() < listed, "{}", failure);
            prop_assert!(failure.detail.len() < 2_000, "{}", failure.detail);
        }
    }

    /// An id built as rendered extractors build it is never at fault, whatever it holds.
    #[test]
    fn canonical_ids_are_valid(
        session in any::<String>(),
        order in prop_oneof![any::<String>(), name(), id()],
        line in any::<i64>(),
        by_column in any::<bool>(),
    ) {
        prop_assume!(!order.is_empty());
        let order_name = if by_column { "order_id" } else { "orderId" };
        let order_id = format!("{session}:Order:{order_name}={order}");
        let line_id = format!("{session}:Line:order_id={order},line_no={line}");
        let result: Extraction = serde_json::from_value(json!({
            "nodes": [
                {"node_id": order_id, "entity_name": "Order",
                    "properties": [{"name": order_name, "value": order}]},
                {"node_id": line_id, "entity_name": "Line", "properties": [
                    {"name": "order_id", "value": order}, {"name": "line_no", "value": line}]},
            ],
            "edges": [{"edge_id": "e", "relationship_name": "PartOf",
                "from_node_id": line_id, "to_node_id": order_id}],
        })).unwrap();
        // In the entity `Line` the name `orderId` is another property's logical name.
        let report = validate(&lines(), &result, ValidateOptions::default());
        prop_assert!(report.ok(), "{:?}", report.failures());
    }

    /// No text makes the reader panic, and what it accepts it reads again from its own output.
    #[test]
    fn parsing_never_panics(
        text in prop_oneof![any::<String>(), "[-a-z:{}\\[\\], \n&*\"]{0,80}"],
        origin in prop::sample::select(vec!["s.json", "s.yaml", "s"]),
    ) {
        if let Ok(spec) = GraphSpec::parse(&text, origin) {
            let again = GraphSpec::parse(&serde_json::to_string(&spec).unwrap(), "again.json");
            prop_assert_eq!(again.unwrap(), spec);
        }
    }
}

#[test]
fn names_are_found_in_time_that_does_not_grow_with_their_number() {
    let start = Instant::now();
    // A chain in which every entity declares the same properties again.
    let properties: String =
        (0..14).map(|j| format!("  - {{name: p{j}, type: string}}\n")).collect();
    let mut chain = String::from("entities:\n");
    for i in 0..1_900 {
        let parent = if i > 0 { format!("extends: E{}", i - 1) } else { "labels: []".to_owned() };
        chain.push_str(&format!("- name: E{i}\n  {parent}\n  properties:\n{properties}"));
    }
    let spec = GraphSpec::parse(&chain, "chain.yaml").unwrap();
    assert_eq!(spec.entity("E1899").unwrap().properties.len(), 14);

    // Many types, many properties of the last of them, and many names in a result.
    let types: Vec<String> = (0..40_000).map(|i| format!("t{i:05}")).collect();
    let properties: Vec<Value> =
        (0..14_000).map(|i| json!({"name": format!("p{i}"), "type": "t39999"})).collect();
    let document = json!({
        "property_types": types,
        "entities": [{"name": "E", "keys": {"primary": ["p0"]}, "properties": properties}],
    });
    let spec = GraphSpec::parse(&document.to_string(), "wide.json").unwrap();
    let unknown = vec![json!({"name": "q13999", "value": "x"}); 30_000];
    let result = json!({
        "nodes": [{"node_id": "s:E:p0=1", "entity_name": "E", "properties": unknown}], "edges": [],
    });
    let result = serde_json::from_value(result).unwrap();
    let report = validate(&spec, &result, ValidateOptions::default());
    assert_eq!(report.failures().len(), 1 + 30_000);
    // Going through all names for each takes minutes in an unoptimised build; this is no measurement.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn a_large_spec_is_read_again_from_the_form_that_bundles_hold() {
    let properties: String =
        (0..12_000).map(|i| format!("  - {{name: p{i}, type: string}}\n")).collect();
    let text =
        format!("entities:\n- name: E\n  keys: {{primary: [p0]}}\n  properties:\n{properties}");
    let spec = GraphSpec::parse(&text, "spec.yaml").unwrap();
    let resolved = serde_json::to_string_pretty(&spec).unwrap();
    assert!(resolved.len() > 1 << 20 && text.len() < 1 << 20);
    assert!(GraphSpec::parse(&resolved, "graph.json").unwrap() == spec);
}
