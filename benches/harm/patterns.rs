//! Plans and modules with regular expressions.

use serde_json::{Value, json};

use super::Attack;
use super::sealed::{bundle, module};

/// A class of nearly all code points, in nine bytes; gone through one by one where case is folded.
const WIDE: &str = "[é-\u{10fffd}]";

pub(crate) fn attacks() -> Vec<Attack> {
    let folded = |classes: usize| format!("(?i){}", WIDE.repeat(classes));
    let nested = |inner: &str, levels: usize| {
        let item = |level: usize| char::from(b"abcdefgh0123456789"[level % 18]);
        let ends: String = (0..levels).map(|level| format!("{}]", item(level))).collect();
        format!("(?i){}{inner}{ends}", "[".repeat(levels))
    };
    let all_of = |text: &str| text.repeat(4_000 / text.len());
    let mut attacks = Vec::new();
    for (name, patterns) in [
        ("folded", vec![folded(440); 4]),
        ("folded_as_far_as_may_be", vec![folded(8); 4]),
        ("folded_in_groups", vec![all_of(r"(?i:\S[\s\S])"); 4]),
        ("folded_and_nested", vec![nested(r"\p{Lu}", 120); 4]),
        ("wide_folded_and_nested", vec![nested("é-\u{10fffd}", 120); 4]),
        ("negated_and_nested", vec![nested("[^é]", 120); 4]),
        ("differences", vec![format!("(?i)[{}a]", r"\p{Lu}~~\p{Ll}--".repeat(100)); 4]),
        ("versions_of_unicode", vec![all_of(r"\p{age=16.0}"); 4]),
        ("names_of_classes", vec![format!("[{}]", all_of(r"\pL\pN")); 4]),
        ("not_repeated", vec![format!("(?:{}){{0}}", all_of(r"\w\d")); 4]),
        ("as_large_as_may_be", vec![r"\w{14}".to_owned(); 16]),
        ("too_large", vec![r"\w{58}".to_owned(); 64]),
        ("counted", vec!["((a{1000}){1000}){1000}".to_owned(); 64]),
        ("optional", vec!["a?".repeat(2_000); 4]),
        ("alternatives", vec!["|".repeat(4_000), "a|b|".repeat(1_000), all_of("[ab]|[cd]|")]),
        ("groups", vec!["(a)".repeat(1_300); 4]),
        ("groups_with_names", vec!["(?<a>".repeat(800); 4]),
        ("brackets", vec!["[".repeat(4_000); 4]),
        ("no_pattern_on_many_lines", vec!["\n".repeat(4_000) + "("; 4]),
    ] {
        let plan = plan(&patterns).to_string();
        let section = section(&patterns).to_string();
        attacks.extend([
            Attack::new(&format!("patterns/plan/{name}"), "plan check plan.json")
                .file("plan.json", plan),
            Attack::new(&format!("patterns/module/{name}"), "inspect module.wat")
                .file("module.wat", module(&section)),
        ]);
        let mut run =
            Attack::new(&format!("patterns/run/{name}"), "run --bundles bundles e.ndjson")
                .file("e.ndjson", r#"{"event_type":"e","v":"a"}"#);
        run.files.extend(bundle(&section, &["e".to_owned()], r#"{"entities":[]}"#));
        attacks.push(run);
    }
    // Four times what a plan may have.
    let all: Vec<String> = (0..256).map(|index| format!("(?i){index}{WIDE}")).collect();
    attacks.push(
        Attack::new("patterns/module/of_all_that_it_may_have", "inspect module.wat")
            .file("module.wat", module(&section(&all).to_string())),
    );
    // Steps of another form, each of which is read alone before it is proposed.
    for (name, count) in [("repair", 1_400), ("repair_many", 10_000)] {
        let steps: Vec<Value> =
            (0..count).map(|index| json!({"regex": format!("{}{index}", folded(8))})).collect();
        let properties: Vec<Value> = steps
            .chunks(60)
            .enumerate()
            .map(|(index, steps)| {
                json!({"property_name": format!("p{index}"), "source_path": ["v"], "convert": steps})
            })
            .collect();
        let plan = json!({
            "event_type": "e", "target_entity_name": "A", "function_name": "f",
            "key_field": {"property_name": "k", "source_path": ["k"]},
            "property_fields": properties,
        });
        attacks.push(
            Attack::new(
                &format!("patterns/{name}"),
                "repair --graph graph.yaml --samples events.ndjson plan.json",
            )
            .file("graph.yaml", GRAPH)
            .file("events.ndjson", r#"{"event_type":"e","k":"1","v":"x"}"#)
            .file("plan.json", plan.to_string()),
        );
    }
    attacks
}

const GRAPH: &str = "
entities:
- name: A
  keys: {primary: [k]}
  properties:
  - {name: k, type: string}
  - {name: v, type: string}
";

fn step(pattern: &str) -> Value {
    json!([{"regex": {"pattern": pattern}}])
}

fn plan(patterns: &[String]) -> Value {
    let property = |(index, pattern): (usize, &String)| json!({"property_name": format!("p{index}"), "source_path": ["v"], "convert": step(pattern)});
    let properties: Vec<Value> = patterns.iter().enumerate().map(property).collect();
    json!({
        "event_type": "e", "target_entity_name": "A", "function_name": "f",
        "key_field": {"property_name": "k", "source_path": ["k"]}, "property_fields": properties,
    })
}

/// The patterns four times over, as a section may have them.
fn section(patterns: &[String]) -> Value {
    let input = |pattern: &String| json!({"path": ["v"], "as": step(pattern)});
    let inputs: Vec<Value> = patterns.iter().cycle().take(4 * patterns.len()).map(input).collect();
    json!({"abi": 1, "function": "extract", "event_types": ["e"], "inputs": inputs})
}
