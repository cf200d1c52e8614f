//! What holds for every graph spec and every result that is validated. Cases are in `cases/graph.rs`.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use retort::graph::{Extraction, SpecProblem, ValidateOptions, validate};
use retort::{Coded, GraphSpec};
use serde_json::{Value, json};

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
        let options = options!(ValidateOptions { allow_external_endpoints: external, ..ValidateOptions::default() });
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
