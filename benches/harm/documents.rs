//! Samples, projects, answers and other documents.

use std::fmt::Write as _;

use super::Attack;

/// What a file may have that is made to harm.
const BYTES: usize = 1_000_000;

const GRAPH: &str = "ontology: shop
entities:
- name: Order
  keys: {primary: [order_id]}
  properties:
  - {name: order_id, type: string}
  - {name: total, type: double}
";
const EVENT: &str = r#"{"event_type":"order_placed","content":{"id":"o1","total":1.5}}"#;
const PLAN: &str = r#"{"event_type":"order_placed","target_entity_name":"Order","function_name":"read_order","key_field":{"property_name":"order_id","source_path":["content","id"]},"property_fields":[{"property_name":"total","source_path":["content","total"]}]}"#;

/// An attack with a good project around it.
fn attack(name: &str, args: &str) -> Attack {
    Attack::new(&format!("documents/{name}"), args)
        .file("graph.yaml", GRAPH)
        .file("events.ndjson", EVENT)
        .file("plan.json", PLAN)
        .file("rule.md", "Every order that was placed becomes one Order.")
}

/// A piece as often as it goes into so many bytes.
fn fill(piece: &str, bytes: usize) -> String {
    piece.repeat(bytes / piece.len())
}

/// JSON of many objects with a member each, which takes most as a tree.
fn objects(bytes: usize) -> String {
    format!("[{}0]", fill("{\"\":0},", bytes - 3))
}

/// JSON of many numbers below many brackets, which takes most where it is laid out.
fn deep(bytes: usize) -> String {
    let depth = 100;
    let numbers = fill("0,", bytes - 2 * depth - 1);
    format!("{}{numbers}0{}", "[".repeat(depth), "]".repeat(depth))
}

pub(crate) fn attacks() -> Vec<Attack> {
    let families = [samples(), tasks(), projects(), answers(), policies(), others()];
    families.into_iter().flatten().collect()
}

fn samples() -> Vec<Attack> {
    let event = |value: &str| format!("{EVENT}\n{{\"event_type\":\"order_placed\",\"x\":{value}}}");
    let keys: String = (0..75_000).fold(String::new(), |mut keys, n| {
        let _ = write!(keys, "\"k{n}\":{n},");
        keys
    });
    let shapes = [
        ("objects", event(&objects(BYTES - 200))),
        ("deep", event(&deep(BYTES - 200))),
        ("keys", event(&format!("{{{keys}\"\":0}}"))),
        ("20 MB of objects", event(&objects(20 * BYTES))),
        ("20 MB of text", event(&format!("\"{}\"", "x".repeat(20 * BYTES)))),
        ("15 MB of objects", event(&objects(15 * BYTES))),
        ("lines", fill("{\"event_type\":\"order_placed\"}\n", BYTES)),
        ("types", (0..40_000).map(|n| format!("{{\"event_type\":\"e{n}\"}}\n")).collect()),
        ("empty objects", fill("{}\n", BYTES)),
        ("blank lines", fill("\n", BYTES)),
        ("digits", event(&fill("1", BYTES - 200))),
        ("escapes", event(&format!("\"{}\"", fill("\\u0001", BYTES - 200)))),
    ];
    let commands = [
        ("prompt", "prompt --rule rule.md --graph graph.yaml --samples samples.ndjson"),
        ("check", "check plan.json --graph graph.yaml --samples samples.ndjson --junit report.xml"),
        ("repair", "repair plan.json --graph graph.yaml --samples samples.ndjson"),
    ];
    let pairs =
        shapes.iter().flat_map(|shape| commands.iter().map(move |command| (shape, command)));
    pairs
        .map(|((shape, text), (command, args))| {
            attack(&format!("samples of {shape}, {command}"), args)
                .file("samples.ndjson", text.as_bytes())
        })
        .collect()
}

fn tasks() -> Vec<Attack> {
    let prompt = "prompt --graph graph.yaml --samples events.ndjson --rule";
    let object = |value: &str| format!("{{\"a\":{value}}}");
    let names: String = (0..60_000).map(|n| format!("\"n{n}\":\"s\",")).collect();
    let mut attacks = Vec::new();
    for (shape, text) in [
        ("objects", object(&objects(BYTES - 10))),
        ("deep", object(&deep(BYTES - 10))),
        ("names", format!("{{{names}\"a\":\"s\"}}")),
        ("text", format!("{{\"description\":\"{}\"}}", fill("`", BYTES - 50))),
    ] {
        attacks.push(
            attack(&format!("rule of {shape}"), &format!("{prompt} rule.json"))
                .file("rule.json", text.as_bytes()),
        );
        attacks.push(
            attack(
                &format!("schema of {shape}"),
                &format!("{prompt} rule.md --schema schema.json"),
            )
            .file("schema.json", text.as_bytes()),
        );
    }
    attacks.push(
        attack("rule of words", &format!("{prompt} long.md"))
            .file("long.md", fill("order ", BYTES)),
    );
    attacks
}

fn projects() -> Vec<Attack> {
    let keys = |count: usize| (0..count).map(|n| format!("k{n} = 1\n")).collect::<String>();
    let tables = |bytes: usize| (0..bytes / 12).map(|n| format!("[t{n}]\n")).collect::<String>();
    [
        ("keys", keys(70_000)),
        ("4 MB of keys", keys(280_000)),
        ("tables", tables(BYTES)),
        ("64 KB of tables", tables(65_000)),
        ("dots", format!("{}a = 1", fill("a.", BYTES))),
        ("64 KB of dots", format!("{}a = 1", fill("a.", 65_000))),
        ("64 KB of brackets", format!("plan = {}", fill("[", 65_000))),
        ("64 KB of inline tables", format!("plan = [{}]", fill("{a=1},", 65_000))),
        ("64 KB of quotes", format!("plan = {}", fill("\"", 65_000))),
    ]
    .into_iter()
    .map(|(name, text)| {
        attack(&format!("project of {name}"), "compile project").file("project/retort.toml", text)
    })
    .collect()
}

fn answers() -> Vec<Attack> {
    let args =
        "compile --rule rule.md --graph graph.yaml --samples events.ndjson --model replay:answers";
    let answer = |text: &str| serde_json::json!({ "text": text }).to_string() + "\n";
    [
        ("objects", answer(&objects(BYTES - 100))),
        ("deep", answer(&deep(BYTES - 100))),
        ("8 MB of objects", answer(&objects(8 * BYTES))),
        ("broken objects", answer(&objects(BYTES - 100).replace(",0]", ",0}"))),
        ("cut off objects", answer(objects(BYTES - 100).trim_end_matches(']'))),
        ("five of deep", answer(&deep(BYTES / 5 - 100)).repeat(5)),
        ("empty answers", fill("{\"text\":\"\"}\n", BYTES)),
        ("errors", fill("{\"error\":{\"code\":\"no\"}}\n", BYTES)),
        ("plans", answer(&format!("[{}{PLAN}]", fill(&format!("{PLAN},"), BYTES / 2)))),
        ("one long line", fill("x", BYTES)),
    ]
    .into_iter()
    .map(|(name, text)| attack(&format!("answers of {name}"), args).file("answers", text))
    .collect()
}

fn policies() -> Vec<Attack> {
    let entries =
        |bytes: usize| (0..bytes / 14).map(|n| format!("- a.b.c{n:05}\n")).collect::<String>();
    let stars = (0..9_000).map(|n| format!("- \"{}x{n}\"\n", "*.".repeat(50))).collect::<String>();
    let shapes = [
        ("entries", format!("deny:\n{}", entries(BYTES))),
        ("stars", format!("deny:\n{stars}")),
        ("flow", format!("deny: [{}a]", fill("a,", BYTES))),
        ("dots", format!("deny: [\"{}a\"]", fill("a.", BYTES - 20))),
        (
            "anchors",
            format!("a: &a [{}x]\ndeny: [{}*a]", fill("x,", 20_000), fill("*a,", BYTES / 2)),
        ),
        ("brackets", fill("[", BYTES)),
        ("text", format!("deny: [{{path: a, reason: \"{}\"}}]", fill("\\e", BYTES - 50))),
    ];
    let commands = [
        ("check", "check plan.json --samples events.ndjson --policy policy.yaml"),
        (
            "prompt",
            "prompt --rule rule.md --graph graph.yaml --samples events.ndjson --policy policy.yaml",
        ),
        ("selftest", "selftest --list --policy policy.yaml"),
    ];
    let pairs =
        shapes.iter().flat_map(|shape| commands.iter().map(move |command| (shape, command)));
    pairs
        .map(|((shape, text), (command, args))| {
            attack(&format!("policy of {shape}, {command}"), args)
                .file("policy.yaml", text.as_bytes())
        })
        .collect()
}

fn others() -> Vec<Attack> {
    let graph = "graph check --graph graph.yaml result.json";
    let result = |nodes: &str| {
        format!(
            "{{\"nodes\":[{nodes}],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}}"
        )
    };
    let node = |properties: &str| {
        format!(
            "{{\"node_id\":\"n\",\"entity_name\":\"Order\",\"labels\":[],\"properties\":[{properties}]}}"
        )
    };
    let property = |value: &str| format!("{{\"name\":\"total\",\"value\":{value}}}");
    let nodes = fill(&format!("{},", node("")), BYTES);
    vec![
        attack("result of a value of objects", graph)
            .file("result.json", result(&node(&property(&objects(BYTES - 300))))),
        attack("result of nodes", graph).file("result.json", result(nodes.trim_end_matches(','))),
        attack("8 MB of a result", graph)
            .file("result.json", result(&node(&property(&objects(8 * BYTES))))),
        attack("report of objects", "diagnose compile report.json")
            .file("report.json", objects(BYTES)),
        attack("4 MB of a report", "diagnose smoke report.json")
            .file("report.json", objects(4 * BYTES)),
        attack("events of nothing", "plan eval plan.json empty.ndjson")
            .file("empty.ndjson", fill("{}\n", BYTES)),
        attack("WAT of functions", "inspect many.wat")
            .file("many.wat", format!("(module {})", fill("(func)", BYTES))),
        attack("4 MB of WAT", "inspect many.wat")
            .file("many.wat", format!("(module {})", fill("(func)", 4 * BYTES))),
        attack("WAT of parentheses", "inspect many.wat").file("many.wat", fill("(", BYTES)),
        attack("plan of objects", "plan check plan.json --json")
            .file("plan.json", format!("{{\"a\":{}}}", objects(BYTES))),
        attack("plan that is broken at its end", "plan check plan.json")
            .file("plan.json", objects(BYTES)[..BYTES - 10].to_owned()),
    ]
}
