//! Graph specs.

use serde_json::{Value, json};

use super::Attack;
use super::sealed::bundle;

const RESULT: &str =
    r#"{"nodes":[],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#;

pub(crate) fn attacks() -> Vec<Attack> {
    let mut attacks = Vec::new();
    for (name, spec) in specs() {
        attacks.extend([
            Attack::new(&format!("graph/check/{name}"), "graph check --graph g.yaml result.json")
                .file("g.yaml", spec.as_str())
                .file("result.json", RESULT),
            Attack::new(
                &format!("graph/prompt/{name}"),
                "prompt --rule rule.md --schema schema.json --graph g.yaml --samples events.ndjson",
            )
            .file("g.yaml", spec.as_str())
            .file("rule.md", "Extract everything.")
            .file("schema.json", r#"{"type":"object"}"#)
            .file("events.ndjson", r#"{"event_type":"e","k":"1"}"#),
        ]);
    }
    let nodes: Vec<_> = (0..3_000)
        .map(|index| {
            let entity = format!("B{}", index % 1_900);
            json!({"node_id": format!("s:{entity}:k={index}"), "entity_name": entity,
                "labels": [], "properties": vec![json!({"name": "q", "value": 1}); 8]})
        })
        .collect();
    let result = json!({"nodes": nodes, "edges": [], "fully_handled_span_ids": [],
        "partially_handled_span_ids": []});
    attacks.push(
        Attack::new("graph/many_failures", "graph check --graph g.yaml result.json")
            .file("g.yaml", wide())
            .file("result.json", result.to_string()),
    );
    let (ontology, binding) = bound();
    attacks.push(
        Attack::new("graph/bound", "graph check --ontology o.yaml --binding b.yaml result.json")
            .file("o.yaml", ontology)
            .file("b.yaml", binding)
            .file("result.json", RESULT),
    );
    for (name, types) in [("100_types", 100), ("1000_types", 1_000)] {
        let mut attack =
            Attack::new(&format!("graph/run/{name}"), "run --bundles bundles e.ndjson")
                .file("e.ndjson", r#"{"event_type":"e0"}"#);
        let types: Vec<String> = (0..types).map(|index| format!("e{index}")).collect();
        let section = json!({"abi": 1, "function": "extract", "event_types": types, "inputs": []});
        attack.files.extend(bundle(&section.to_string(), &types, &wide_json()));
        attacks.push(attack);
    }
    attacks
}

/// Entities that extend the one called `A`.
fn heirs(count: usize) -> String {
    (0..count).map(|index| format!("- {{name: B{index}, extends: A}}\n")).collect()
}

fn properties(names: impl Iterator<Item = String>) -> String {
    names.map(|name| format!("  - {{name: {name}, type: string}}\n")).collect()
}

/// As many properties as a spec may come to, of a few lines.
fn wide() -> String {
    let own = properties((0..25).map(|index| format!("p{index}")));
    format!("ontology: o\nentities:\n- name: A\n  properties:\n{own}{}", heirs(1_900))
}

/// The same as JSON, which is what a bundle holds.
fn wide_json() -> String {
    let own: Vec<Value> =
        (0..25).map(|index| json!({"name": format!("p{index}"), "type": "string"})).collect();
    let heirs = (0..1_900).map(|index| json!({"name": format!("B{index}"), "extends": "A"}));
    let entities: Vec<Value> =
        [json!({"name": "A", "properties": own})].into_iter().chain(heirs).collect();
    json!({"entities": entities}).to_string()
}

fn specs() -> Vec<(&'static str, String)> {
    let long = |bytes: usize| move |index: usize| format!("c{index}{}", "x".repeat(bytes));
    let entity = |bytes: usize| {
        let keys: Vec<String> = (0..32).map(long(bytes)).collect();
        let own = properties(keys.iter().cloned());
        format!(
            "ontology: o\nentities:\n- name: A\n  keys: {{primary: [{}]}}\n  properties:\n{own}",
            keys.join(", ")
        )
    };
    let edges = |count: usize| -> String {
        (0..count).map(|index| format!("- {{name: R{index}, from: A, to: A}}\n")).collect()
    };
    let chain = |of: &str| -> String {
        (0..1_999)
            .map(|index| format!("- {{name: {of}{index}, extends: {of}{}}}\n", index + 1))
            .collect()
    };
    let own = |bytes: usize| properties(std::iter::once("n".repeat(bytes)));
    let types: String = (0..20)
        .map(|index| format!("  - {{name: p{index}, sdk_type: {}}}\n", "t".repeat(20_000)))
        .collect();
    let labels = format!("&x {}{}", "l".repeat(900), ", *x".repeat(900));
    vec![
        ("wide", wide()),
        (
            "long_name",
            format!("entities:\n- name: A\n  properties:\n{}{}", own(400_000), heirs(1_999)),
        ),
        ("names", format!("entities:\n- name: A\n  properties:\n{}{}", own(1_000), heirs(1_999))),
        ("names_of_keys", format!("{}relationships:\n{}", entity(1_000), edges(1_999))),
        ("long_names_of_keys", format!("{}relationships:\n{}", entity(9_000), edges(1_999))),
        ("inherited_keys", format!("{}{}", entity(1_000), heirs(1_400))),
        ("types", format!("entities:\n- name: A\n  properties:\n{types}{}", heirs(1_900))),
        ("labels", format!("entities:\n- name: A\n  labels: [{labels}]\n")),
        ("chain", format!("entities:\n{}- name: B1999\n  properties:\n{}", chain("B"), own(9))),
        (
            "chain_of_edges",
            format!(
                "{}relationships:\n{}- {{name: R1999, from: A, to: A}}\n",
                entity(0),
                chain("R")
            ),
        ),
        ("cycle", format!("entities:\n{}- {{name: B1999, extends: B0}}\n", chain("B"))),
        ("many_entities", format!("entities:\n{}", "- {name: A}\n".repeat(80_000))),
    ]
}

/// An ontology, and a binding that gives all relationships a key of long columns.
fn bound() -> (String, String) {
    let names: Vec<String> = (0..32).map(|index| format!("k{index}")).collect();
    let columns: String = names
        .iter()
        .map(|name| format!("  - {{name: {name}, column: {name}{}}}\n", "c".repeat(1_000)))
        .collect();
    let edges = |rest: &str| -> String {
        (0..1_999).map(|index| format!("- {{name: R{index}{rest}}}\n")).collect()
    };
    let ontology = format!(
        "ontology: o\nentities:\n- name: A\n  keys: {{primary: [{}]}}\n  properties:\n{}relationships:\n{}",
        names.join(", "),
        properties(names.iter().cloned()),
        edges(", from: A, to: A")
    );
    let binding = format!(
        "binding: b\nontology: o\nentities:\n- name: A\n  properties:\n{columns}relationships:\n{}",
        edges("")
    );
    (ontology, binding)
}
