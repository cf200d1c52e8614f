//! Plans, drafts and fixes against many names, paths and samples.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::Attack;

/// About as much as an input may be, and a rule.
const BYTES: usize = 1_000_000;
const RULE_CHARS: usize = 31_000;

pub(crate) fn attacks() -> Vec<Attack> {
    let (mut all, check) = (plans(), "check plan.json --graph graph.json --samples samples.ndjson");
    let samples = samples();
    for (name, samples) in &samples {
        let prompt = "prompt --rule rule.md --graph graph.json --samples samples.ndjson";
        for (what, args) in [("prompt", prompt), ("draft", DRAFT), ("check", check)] {
            let attack = Attack::new(&format!("evidence/{what}: {name}"), args);
            all.push(
                attack
                    .file("samples.ndjson", samples.clone())
                    .file("rule.md", "Every order.")
                    .file("graph.json", graph(1, 20))
                    .file("plan.json", plan(&nodes(1, 20, |it| json!([format!("x{it}"), "id"])))),
            );
        }
    }
    let rules: [(&str, String); 5] = [
        ("of many sentences", "a. ".repeat(RULE_CHARS / 3)),
        ("of paths", lines(RULE_CHARS, |it| format!("take a.b{it}, a.f0 and a.f1. "))),
        ("of quoted names", lines(RULE_CHARS, |it| format!("`n{it}` "))),
        ("of conditions", lines(RULE_CHARS, |it| format!("only if a.f{} is 'v{it}'. ", it % 50))),
        ("of words", lines(RULE_CHARS, |it| format!("word{it} entity{} ", it % 64))),
    ];
    for (name, rule) in rules {
        let attack = Attack::new(&format!("evidence/draft: a rule {name}"), DRAFT);
        let attack = attack.file("graph.json", graph(64, 10)).file("rule.md", rule);
        all.push(attack.file("samples.ndjson", wide(100, 50, "a")));
    }
    all.extend(drafts(DRAFT));
    all.extend(drafts(&format!("{DRAFT} --time-budget 1")));
    all.extend(conversions());
    all
}

const DRAFT: &str =
    "compile --model draft --rule rule.md --graph graph.json --samples samples.ndjson --out out";
const REPAIR: &str =
    "repair plan.json --graph graph.json --samples samples.ndjson --schema schema.json";

fn lines(bytes: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < bytes {
        text.push_str(&line(number));
        number += 1;
    }
    text
}

/// Entities `Entity0`, .., each with the properties `p0`, .., the first of which is the key.
fn graph(entities: usize, properties: usize) -> String {
    let property = |it| json!({"name": format!("p{it}_name"), "type": TYPES[it % TYPES.len()]});
    let properties: Vec<Value> = (0..properties).map(property).collect();
    let entity = |it| {
        json!({
            "name": format!("Entity{it}"), "keys": {"primary": ["p0_name"]}, "properties": properties,
        })
    };
    json!({"entities": (0..entities).map(entity).collect::<Vec<_>>()}).to_string()
}

const TYPES: [&str; 5] = ["string", "int64", "timestamp", "double", "date"];

/// Nodes with the properties of such a graph, read from the paths that are given.
fn nodes(nodes: usize, properties: usize, path: impl Fn(usize) -> Value) -> Vec<Value> {
    let mapping = |node: usize, it: usize| json!({"property_name": format!("p{it}_name"), "source_path": path(node * properties + it)});
    let node = |node: usize| {
        let rest: Vec<Value> = (1..properties).map(|it| mapping(node, it)).collect();
        json!({
            "entity_name": format!("Entity{node}"), "key_fields": [mapping(node, 0)],
            "property_fields": rest,
        })
    };
    (0..nodes).map(node).collect()
}

fn plan(nodes: &[Value]) -> String {
    json!({"event_type": "order", "function_name": "read", "nodes": nodes}).to_string()
}

/// A schema that declares so many paths.
fn schema(paths: usize, name: impl Fn(usize) -> String) -> String {
    let fields: Map<String, Value> = (0..paths).map(|it| (name(it), json!("string"))).collect();
    json!({"event_type": "string", "content": {"data": fields}}).to_string()
}

/// Samples with so many fields in one object.
fn wide(count: usize, fields: usize, object: &str) -> String {
    let fields: Map<String, Value> =
        (0..fields).map(|it| (format!("f{it}"), json!(format!("v{it}")))).collect();
    let sample = json!({"event_type": "order", "p0_name": "a", object: fields});
    format!("{sample}\n").repeat(count)
}

/// Letters in an order of their own for each number: no two words of them can be told apart by the letters that they have.
fn anagram(mut number: usize) -> String {
    let mut letters: Vec<char> =
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz".chars().collect();
    let mut word = String::new();
    while !letters.is_empty() {
        word.push(letters.remove(number % letters.len()));
        number = number / 7 + number * 31 % 1_000_003;
    }
    word
}

fn plans() -> Vec<Attack> {
    let wrong = |it: usize| json!(["content", "data", format!("feild_number_{it}")]);
    let known = |it: usize| format!("field_number_{it}");
    let sample = r#"{"event_type":"order","content":{"data":{"field_number_1":"a"}}}"#;
    let sample = format!("{sample}\n").repeat(6);
    let mut all = Vec::new();
    for paths in [1_000, 4_000, 20_000] {
        let attack = Attack::new(&format!("evidence/repair: wrong paths, {paths} known"), REPAIR);
        all.push(
            attack
                .file("plan.json", plan(&nodes(17, 60, wrong)))
                .file("graph.json", graph(20, 60))
                .file("schema.json", schema(paths, known))
                .file("samples.ndjson", sample.clone()),
        );
    }
    all.push(
        Attack::new("evidence/repair: wrong paths, anagrams", REPAIR)
            .file("plan.json", plan(&nodes(17, 60, |it| json!([anagram(it), anagram(it + 9_000)]))))
            .file("graph.json", graph(20, 60))
            .file("schema.json", schema(4_000, anagram))
            .file("samples.ndjson", sample.clone()),
    );
    let deep: Vec<Value> = (0..31).map(|it| json!(format!("key_{it}"))).collect();
    let deep = move |it: usize| {
        let last = json!(format!("x{it}"));
        Value::Array(deep.iter().cloned().chain([last]).collect())
    };
    let inner =
        (0..31).rev().fold(json!({"x": 1}), |inner, it| json!({ format!("key_{it}"): inner }));
    all.push(
        Attack::new("evidence/repair: wrong paths, 32 keys deep", REPAIR)
            .file("plan.json", plan(&nodes(6, 60, deep)))
            .file("graph.json", graph(6, 60))
            .file("schema.json", schema(4_000, known))
            .file("samples.ndjson", {
                let mut sample = json!({"event_type": "order"});
                sample["key_0"] = inner["key_0"].clone();
                format!("{sample}\n").repeat(6)
            }),
    );
    // Every path leads through an array, of which there are many in one another.
    let inner: Map<String, Value> =
        (0..48).map(|it| (format!("b{it}"), json!([{"c": [1, 2]}]))).collect();
    let outer: Map<String, Value> = (0..48).map(|it| (format!("a{it}"), json!([inner]))).collect();
    let mut lists = Value::Object(outer);
    lists["event_type"] = json!("order");
    all.push(
        Attack::new("evidence/repair: arrays in arrays", REPAIR)
            .file(
                "plan.json",
                plan(&nodes(34, 30, |it| json!([format!("a{}", it % 48), "b1", "d"]))),
            )
            .file("graph.json", graph(40, 30))
            .file("schema.json", schema(10, known))
            .file("samples.ndjson", format!("{lists}\n").repeat(12)),
    );
    let text = json!({"a": "x".repeat(10_000)}).to_string();
    let json_text = json!({"event_type": "order", "content": {"text": text}});
    all.push(
        Attack::new("evidence/repair: paths into JSON in strings", REPAIR)
            .file(
                "plan.json",
                plan(&nodes(17, 60, |it| json!(["content", "text", format!("y{it}")]))),
            )
            .file("graph.json", graph(20, 60))
            .file("schema.json", schema(10, known))
            .file("samples.ndjson", format!("{json_text}\n").repeat(90)),
    );
    all.push(
        Attack::new("evidence/repair: properties that nobody has", REPAIR)
            .file("plan.json", plan(&nodes(17, 60, wrong)))
            .file("graph.json", {
                let property = |it| json!({"name": format!("q{it}_nane"), "type": "string"});
                let properties: Vec<Value> = (0..800).map(property).collect();
                let entity = |it| {
                    json!({
                        "name": format!("Entity{it}"), "keys": {"primary": ["q0_nane"]},
                        "properties": properties,
                    })
                };
                json!({"entities": (0..20).map(entity).collect::<Vec<_>>()}).to_string()
            })
            .file("schema.json", schema(1_000, known))
            .file("samples.ndjson", sample),
    );
    let read = |it: usize| json!(["a", format!("f{}", (it * 7) % 1_000)]);
    all.push(
        Attack::new(
            "evidence/check: properties that might be swapped",
            "check plan.json --graph graph.json --samples samples.ndjson",
        )
        .file("plan.json", plan(&nodes(12, 1_000, read)))
        .file("graph.json", graph(12, 1_000))
        .file("samples.ndjson", wide(60, 1_000, "a")),
    );
    all
}

/// Samples of about a megabyte, each shape by its name.
fn samples() -> Vec<(&'static str, String)> {
    let keys = |count: usize| -> Map<String, Value> {
        (0..count).map(|it| (format!("k{it}"), json!(0))).collect()
    };
    let mut chain = json!(1);
    for _ in 0..110 {
        chain = json!({"a": chain, "b": 1, "c": 2});
    }
    let mut maps = json!(1);
    for _ in 0..4 {
        let inner: Map<String, Value> =
            (0..18).map(|it| (format!("{}", 10_000_000 + it), maps.clone())).collect();
        maps = Value::Object(inner);
    }
    let arrays: Map<String, Value> = (0..40)
        .map(|it| (format!("a{it}"), json!(vec![json!({"b": [{"c": [1]}]}); 300])))
        .collect();
    let with = |mut sample: Value| {
        sample["event_type"] = json!("order");
        sample["p0_name"] = json!("a");
        format!("{sample}\n")
    };
    let mut types = String::new();
    for it in 0..30_000 {
        let _ = writeln!(types, r#"{{"event_type":"t{it}","p0_name":0}}"#);
    }
    vec![
        ("a key of 400 KB above 20,000", with(json!({"k".repeat(400_000): keys(20_000)}))),
        ("100,000 keys", with(Value::Object(keys(90_000)))),
        ("30,000 event types", types),
        ("maps in maps", with(json!({ "m": maps }))),
        ("arrays in arrays", with(json!({ "m": arrays }))),
        ("many small events", lines(BYTES, |_| with(json!({"a": 1})))),
        ("nested deep", with(json!({ "m": chain })).repeat(300)),
        ("an array of objects", with(json!({ "m": vec![json!({"a": 0}); 120_000] }))),
        (
            "long texts",
            with(json!({"id": "x y ".repeat(2_500), "p1_name": "-".repeat(9_000)})).repeat(50),
        ),
    ]
}

fn drafts(args: &str) -> Vec<Attack> {
    let time = if args == DRAFT { "" } else { ", a time budget of 1 s" };
    let many = |name: fn(usize) -> String| {
        let fields: Map<String, Value> = (0..4_000).map(|it| (name(it), json!(it))).collect();
        let sample =
            json!({"event_type": "order", "session_id": "s", "p0_name": "a", "content": fields});
        format!("{sample}\n").repeat(3)
    };
    let plain = many(|it| format!("field_{}_of_part_{}", it % 63, it / 63));
    let anagrams = many(anagram);
    let mut all = Vec::new();
    for (name, samples) in [("4,000 paths", plain), ("4,000 anagrams", anagrams)] {
        let attack = Attack::new(&format!("evidence/draft: {name}, 64 entities{time}"), args);
        all.push(
            attack
                .file("rule.md", "What was said.")
                .file("graph.json", graph(64, 12))
                .file("samples.ndjson", samples),
        );
    }
    let rule = lines(RULE_CHARS, |it| {
        format!("Each `Entity{}` that is a part of it is wanted. ", it % 64)
    });
    let objects: Map<String, Value> = (0..2_000)
        .map(|it| {
            (format!("entity{it}"), json!({"p0_name": "a", "p1_name": 1, "x": [{"p0_name": "b"}]}))
        })
        .collect();
    let sample = json!({"event_type": "order", "content": objects});
    all.push(
        Attack::new(&format!("evidence/draft: 63 other nodes, 2,000 objects{time}"), args)
            .file("rule.md", format!("Every `Entity0`. {rule}"))
            .file("graph.json", graph(64, 12))
            .file("samples.ndjson", format!("{sample}\n").repeat(6)),
    );
    all
}

fn conversions() -> Vec<Attack> {
    let chain = json!(["lower", "upper", "trim", {"regex": {"pattern": "[a-z ]{0,60}(ab|ba){0,40}c", "group": 0}}]);
    let property = |it: usize| json!({"property_name": format!("p{it}_name"), "source_path": ["text"], "convert": chain});
    let plan = json!({
        "event_type": "order", "target_entity_name": "Entity0", "function_name": "read",
        "key_field": {"property_name": "p0_name", "source_path": ["id"]},
        "property_fields": (1..60).map(property).collect::<Vec<_>>(),
    });
    let sample = |it: usize| json!({"event_type": "order", "id": format!("i{it}"), "text": "abab ab.".repeat(120)});
    let mut all = Vec::new();
    for (name, bytes) in [("1 MB", BYTES), ("2.4 MB", 2_400_000)] {
        let samples = lines(bytes, |it| format!("{}\n", sample(it)));
        for (what, args) in [
            ("check", "check plan.json --graph graph.json --samples samples.ndjson"),
            ("repair", "repair plan.json --graph graph.json --samples samples.ndjson"),
        ] {
            all.push(
                Attack::new(&format!("evidence/{what}: conversions over {name}"), args)
                    .file("plan.json", plan.to_string())
                    .file(
                        "graph.json",
                        graph(1, 60).replace("int64", "string").replace("double", "string"),
                    )
                    .file("samples.ndjson", samples.clone()),
            );
        }
    }
    all
}
