//! Policies against samples, and samples that take what a run may.

use serde_json::{Map, Value, json};

use super::Attack;

const CHECK: &str =
    "check plan.json --graph graph.json --samples samples.ndjson --policy policy.json";

pub(crate) fn attacks() -> Vec<Attack> {
    let denials = |count: usize| json!({"deny": (0..count).map(|it| format!("content.*.x{it}")).collect::<Vec<_>>()});
    let keys = |key: fn(usize) -> String, count: usize| -> Map<String, Value> {
        (0..count).map(|it| (key(it), json!("a"))).collect()
    };
    let text = json!({"event_type": "e", "id": "1", "content": {"text": "x".repeat(900_000)}});
    let dotted =
        json!({"event_type": "e", "id": "1", "content": keys(|it| format!("k.{it}"), 50_000)});
    let dots = json!({"event_type": "e", "id": "1", "content": {"a".to_owned(): "x", ".".repeat(900_000): 1}});
    let raw = json!({"property_name": "p", "source_path": ["content", "text"]});
    let parsed = json!({"property_name": "p", "source_path": ["content", "text"], "convert": [{"parse_json": ["a"]}]});
    let stars = json!({"deny": ["*.".repeat(20_000) + "a"]});
    let entries = json!({
        "event_type": "e", "function_name": "f",
        "nodes": [{
            "entity_name": "E", "for_each": {"entries": ["content"]},
            "key_fields": [{"property_name": "id", "source_path": ["key"]}],
        }],
    });
    let mut all = Vec::new();
    for (name, plan, policy, sample) in [
        ("8,000 denials over a long text", short(&[raw]), denials(8_000), &text),
        ("8,000 denials over long JSON", short(&[parsed]), denials(8_000), &text),
        ("8,000 denials over keys with dots", entries.clone(), denials(8_000), &dotted),
        ("a denial over a key of dots", entries.clone(), denials(1), &dots),
        ("a long denial over a key of dots", entries.clone(), stars.clone(), &dots),
        ("a long denial over keys with dots", entries, stars, &dotted),
    ] {
        all.push(
            Attack::new(&format!("policies/{name}"), CHECK)
                .file("plan.json", plan.to_string())
                .file("graph.json", graph(1))
                .file("policy.json", policy.to_string())
                .file("samples.ndjson", format!("{sample}\n")),
        );
    }
    for (name, conversion, value) in [
        ("that take what they may in letters", "lower", "aaaaa"),
        ("that take what they may in times", "timestamp", "2019-05-15T15:20:57Z"),
    ] {
        let property = |it: usize| {
            let steps = vec![conversion; 64 - it % 30];
            json!({"property_name": format!("p{it}"), "source_path": ["t"], "convert": steps})
        };
        let sample = |it: usize| json!({"event_type": "e", "id": it.to_string(), "t": value});
        let samples: String = (0..20_000).map(|it| format!("{}\n", sample(it))).collect();
        all.push(
            Attack::new(&format!("policies/samples {name}"), CHECK)
                .file("plan.json", short(&(0..33).map(property).collect::<Vec<_>>()).to_string())
                .file("graph.json", graph(33))
                .file("policy.json", "{}")
                .file("samples.ndjson", samples),
        );
    }
    all
}

fn short(properties: &[Value]) -> Value {
    json!({
        "event_type": "e", "function_name": "f", "target_entity_name": "E",
        "key_field": {"property_name": "id", "source_path": ["id"]}, "property_fields": properties,
    })
}

/// An entity with so many properties besides its key and `p`.
fn graph(properties: usize) -> String {
    let names = (0..properties).map(|it| format!("p{it}"));
    let names = ["id".to_owned(), "p".to_owned()].into_iter().chain(names);
    let properties: Vec<Value> =
        names.map(|name| json!({"name": name, "type": "string"})).collect();
    json!({"entities": [{"name": "E", "keys": {"primary": ["id"]}, "properties": properties}]})
        .to_string()
}
