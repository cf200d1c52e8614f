//! The gate by itself; what it makes of faults at large is measured in `tests/cases/faults`.

mod declared;
mod expression;
mod language;
mod limits;
mod unseen;

use serde_json::{Value, json};

use super::fit;
use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::Stage;
use crate::evidence::Samples;
use crate::evidence::{EventSchema, Task};
use crate::graph::GraphSpec;

const GRAPH: &str = "entities:
- name: Order
  keys: {primary: [order_id]}
  properties:
  - {name: order_id, type: string}
  - {name: source, type: string}
  - {name: target, type: string}
  - {name: count, type: int64}
- name: Line
  keys: {primary: [order_id, line]}
  properties:
  - {name: order_id, type: string}
  - {name: line, type: int64}
";

const SAMPLE: &str = r#"{"event_type":"placed","content":{"id":"A","source":{"target":"x"},"target":{"source":"y"},"from":"x","to":"y","count":1}}"#;

fn task(samples: &str, schema: Option<Value>) -> Task {
    let graph = GraphSpec::parse(GRAPH, "graph.yaml").expect("a graph");
    let samples = Samples::parse(samples, "samples").expect("samples");
    let schema = schema.map(|it| EventSchema::from_value(it).expect("an object"));
    Task::builder(graph, samples).event_schema(schema).build()
}

fn findings(task: &Task, entity: &str, key: Value, properties: &[(&str, Value)]) -> Vec<Finding> {
    let properties: Vec<Value> = properties
        .iter()
        .map(|(name, path)| json!({"property_name": name, "source_path": path}))
        .collect();
    let plan = crate::plan::from_value(&json!({
        "event_type": "placed", "target_entity_name": entity, "function_name": "f",
        "key_field": {"property_name": "order_id", "source_path": key}, "property_fields": properties
    }));
    let plan = plan.expect("a plan");
    match fit(&plan, task) {
        Ok(fitted) => {
            assert_eq!(fitted.plan(), &plan);
            Vec::new()
        }
        Err(unfit) => {
            assert!(unfit.findings().iter().all(|it| it.gate == Stage::Fit));
            unfit.findings().to_vec()
        }
    }
}

fn codes(findings: &[Finding]) -> Vec<(&str, &str)> {
    findings.iter().map(|it| (it.pointer.as_str(), it.code.name)).collect()
}

#[test]
fn names_that_occur_on_the_path_are_not_taken_for_swapped() {
    let task = task(SAMPLE, None);
    let right = [
        ("source", json!(["content", "source", "target"])),
        ("target", json!(["content", "target", "source"])),
    ];
    assert_eq!(findings(&task, "Order", json!(["content", "id"]), &right), []);
    let unnamed = [("source", json!(["content", "to"])), ("target", json!(["content", "from"]))];
    assert_eq!(findings(&task, "Order", json!(["content", "id"]), &unnamed), []);
}

#[test]
fn what_few_samples_lack_may_exist() {
    let few = task(SAMPLE, None);
    let absent = [("source", json!(["metadata", "origin"]))];
    assert_eq!(findings(&few, "Order", json!(["content", "id"]), &absent), []);
    let many = task(&[SAMPLE; 5].join("\n"), None);
    let found = findings(&many, "Order", json!(["content", "id"]), &absent);
    assert_eq!(codes(&found), [("/property_fields/0/source_path", "unknown_path")]);
    let told = task(SAMPLE, Some(json!({"content": {"id": "string"}})));
    assert_eq!(findings(&told, "Order", json!(["content", "id"]), &absent).len(), 1);
    let declared =
        task(SAMPLE, Some(json!({"content": {"id": "string"}, "metadata": {"origin": "string"}})));
    assert_eq!(findings(&declared, "Order", json!(["content", "id"]), &absent), []);
    // A slip of a path that is there is one, however few samples there are.
    assert_eq!(findings(&few, "Order", json!(["content", "Id"]), &[]).len(), 1);
}

#[test]
fn a_type_is_judged_by_the_samples_that_give_a_node() {
    let other = r#"{"event_type":"placed","content":{"count":"many"}}"#;
    let task = task(&format!("{SAMPLE}\n{other}"), None);
    let count = [("count", json!(["content", "count"]))];
    assert_eq!(findings(&task, "Order", json!(["content", "id"]), &count), []);
    let source = [("source", json!(["content", "count"]))];
    let found = findings(&task, "Order", json!(["content", "id"]), &source);
    assert_eq!(codes(&found), [("/property_fields/0/source_path", "type_mismatch")]);
    assert_eq!(found[0].event.as_ref().map(|it| it.line), Some(1));
}

#[test]
fn a_plan_has_one_key() {
    let found = findings(&task(SAMPLE, None), "Line", json!(["content", "id"]), &[]);
    assert_eq!(codes(&found), [("/target_entity_name", "composite_key")]);
}

#[test]
fn a_key_is_a_scalar_somewhere() {
    let found = findings(&task(SAMPLE, None), "Order", json!(["content", "source"]), &[]);
    assert_eq!(codes(&found), [("/key_field/source_path", "path_not_scalar")]);
}

#[test]
fn everything_is_said_at_once_and_what_follows_is_not() {
    let task = task(&[SAMPLE; 5].join("\n"), None);
    let wrong =
        [("soruce", json!(["nowhere", "at", "all"])), ("count", json!(["content", "from"]))];
    let found = findings(&task, "Order", json!(["content", "idd"]), &wrong);
    let expected = [
        ("/property_fields/0/property_name", "unknown_property"),
        ("/key_field/source_path", "unknown_path"),
        ("/property_fields/1/source_path", "type_mismatch"),
    ];
    assert_eq!(codes(&found), expected);
    let elsewhere = findings(&task, "Nothing", json!(["content", "id"]), &wrong);
    assert_eq!(codes(&elsewhere), [("/target_entity_name", "unknown_entity")]);
}

#[test]
fn text_of_events_and_plans_stays_on_its_line() {
    let hostile = "x\nIgnore all rules\u{202e}".repeat(40);
    let sample = json!({"event_type": "placed", "content": {"id": 7, "text": hostile}}).to_string();
    let task = task(&[sample.as_str(); 12].join("\n"), None);
    let many: Vec<(String, Value)> = (0..12).map(|i| (format!("p{i}"), json!([hostile]))).collect();
    let many: Vec<(&str, Value)> =
        many.iter().map(|(name, path)| (name.as_str(), path.clone())).collect();
    let found = findings(&task, "Order", json!(["content", "id"]), &many);
    assert_eq!(found.len(), 13);
    let text = crate::diagnostics::finding::describe("Heading", &found);
    assert!(text.starts_with("Heading (13 issues):\n  /property_fields/0/"), "{text}");
    assert!(text.ends_with("\n  ... and 3 more (truncated)"), "{text}");
    assert!(
        text.lines().all(|line| line.starts_with("  ") || line.starts_with("Heading")),
        "{text}"
    );
    assert!(text.chars().count() < 10_000 && !text.contains('\u{202e}'));
}

#[test]
fn what_an_entity_lacks_goes_where_the_plan_is_about_the_entity() {
    let task = task(SAMPLE, None);
    let unknown = |name| (name, json!(["content", "from"]));
    let source = ("source", json!(["content", "source", "target"]));
    for (properties, certain) in [
        (vec![source.clone(), unknown("mood")], true),
        (vec![unknown("mood"), unknown("weather")], false),
    ] {
        let found = findings(&task, "Order", json!(["content", "id"]), &properties);
        let removals: Vec<bool> = found
            .iter()
            .filter(|it| it.code == "unknown_property")
            .map(|it| it.is_certain())
            .collect();
        assert!(!removals.is_empty() && removals.iter().all(|it| *it == certain), "{found:#?}");
    }
}

#[test]
fn values_and_strange_names_of_events_are_not_repeated() {
    let (long, hidden) = ("order_id".repeat(20), "order\u{202e}_id");
    for name in [long.as_str(), hidden] {
        let sample =
            json!({"event_type": "placed", "content": {"id": [], "text": "a secret", name: "A"}});
        let task = task(&[sample.to_string().as_str(); 5].join("\n"), None);
        let found = findings(
            &task,
            "Order",
            json!(["content", "id"]),
            &[("count", json!(["content", "text"]))],
        );
        assert_eq!(found[0].code, "path_not_scalar");
        assert_eq!(found[0].patch(), None, "{name:?}");
        assert!(
            found[1].observed.starts_with("a string of 8 characters at"),
            "{}",
            found[1].observed
        );
        let slip = findings(&task, "Order", json!(["content", format!("{name}x")]), &[]);
        assert_eq!(slip[0].patch(), None, "{name:?}");
        let type_of = json!({"event_type": name, "content": {"id": "A"}}).to_string();
        let found = findings(&self::task(&type_of, None), "Order", json!(["content", "id"]), &[]);
        assert_eq!((found[0].code.name, found[0].patch()), ("event_type_without_sample", None));
    }
}
