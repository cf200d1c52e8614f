//! Findings of the parser and of the gate of fit, and what their fixes make of the plan.

use serde_json::{Value, json};

use super::{apply_fixes, plan_findings};
use crate::diagnostics::finding::{Finding, patch};
use crate::evidence::Samples;
use crate::evidence::Task;
use crate::gate::fit::fit;
use crate::graph::GraphSpec;
use crate::plan;

const GRAPH: &str = "entities:
- name: Order
  keys: {primary: [order_id]}
  properties:
  - {name: order_id, type: string}
  - {name: status, type: string}
";

const SAMPLE: &str = r#"{"event_type":"order_placed","content":{"order":{"id":"A"},"customer_id":"C","status":"new"}}"#;

fn task() -> Task {
    let graph = GraphSpec::parse(GRAPH, "graph.yaml").expect("a graph");
    Task::new(graph, Samples::parse(SAMPLE, "samples").expect("samples"))
}

fn right() -> Value {
    json!({
        "event_type": "order_placed", "target_entity_name": "Order", "function_name": "f",
        "key_field": {"property_name": "order_id", "source_path": ["content", "order", "id"]},
        "property_fields": [{"property_name": "status", "source_path": ["content", "status"]}]
    })
}

fn found(value: &Value, task: &Task) -> Vec<Finding> {
    match plan::from_value(value) {
        Err(_) => plan_findings(value, &plan::problems(&value.to_string()), task),
        Ok(plan) => fit(&plan, task).map_or_else(|unfit| unfit.findings().to_vec(), |_| Vec::new()),
    }
}

/// What is left of the findings when nothing more can be fixed, and the plan then.
fn fixed(value: Value) -> (Value, Vec<Finding>) {
    let task = task();
    let mut value = value;
    loop {
        let findings = found(&value, &task);
        match apply_fixes(&value.to_string(), &findings) {
            Some(fixed) => value = serde_json::from_str(&fixed.text).expect("JSON"),
            None => return (value, findings),
        }
    }
}

fn with(at: &str, new: Value) -> Value {
    let mut plan = right();
    *plan.pointer_mut(at).expect("a place of the plan") = new;
    plan
}

#[test]
fn a_plan_for_something_else_is_not_made_one_for_the_only_thing_there_is() {
    let plan = json!({
        "event_type": "shipment_cancelled", "target_entity_name": "Customer", "function_name": "f",
        "key_field": {"property_name": "customer_id", "source_path": ["content", "customer_id"]},
        "property_fields": [{"property_name": "name", "source_path": ["content", "status"]}]
    });
    let (fixed, left) = fixed(plan);
    assert_eq!(fixed["target_entity_name"], "Customer");
    assert!(
        left.iter()
            .any(|it| it.code == "unknown_entity" && !it.is_certain() && it.patch().is_some())
    );
}

#[test]
fn patterns_of_remedies_share_the_budget_of_a_plan() {
    let fixable = |pattern: &str| {
        let steps = vec![json!({"regex": pattern}); 60];
        let property = json!({"property_name": "status", "source_path": ["a"], "convert": steps});
        let plan = with("/property_fields", json!([property, property]));
        found(&plan, &task()).iter().filter(|it| it.is_certain() && it.patch().is_some()).count()
    };
    assert_eq!(fixable("x"), 64);
    // Eight classes of all code points, whose case is folded: a plan has room for four of these.
    assert_eq!(fixable(&format!("(?i){}", r"[\s\S]".repeat(8))), 4);
}

#[test]
fn the_key_is_renamed_where_name_or_path_say_that_it_is_meant() {
    let at = "/key_field/property_name";
    for name in ["orderid", "oder_id", "Order.order_id", "number"] {
        assert_eq!(fixed(with(at, json!(name))), (right(), vec![]), "{name}");
    }
    let customer =
        json!({"property_name": "customer_id", "source_path": ["content", "customer_id"]});
    let (plan, left) = fixed(with("/key_field", customer));
    assert_eq!(plan["key_field"]["property_name"], "customer_id");
    assert_eq!((left[0].code.name, left[0].is_certain()), ("wrong_key", false));
    // Twice the same name, and a name that is none.
    for name in ["status", "customer-id"] {
        let key = json!({"property_name": name, "source_path": ["content", "customer_id"]});
        let (plan, left) = fixed(with("/key_field", key));
        assert_eq!(plan["key_field"]["property_name"], name);
        assert!(left.iter().any(|it| it.patch().is_some() && !it.is_certain()), "{left:#?}");
    }
}

#[test]
fn the_event_type_is_told_by_its_name_or_by_all_paths() {
    for name in ["order_place", "shipment"] {
        assert_eq!(fixed(with("/event_type", json!(name))), (right(), vec![]), "{name}");
    }
    let mut other = with("/event_type", json!("shipment"));
    other["property_fields"][0]["source_path"] = json!(["content", "carrier"]);
    let (plan, left) = fixed(other);
    assert_eq!(plan["event_type"], "shipment");
    assert_eq!((left[0].code.name, left[0].is_certain()), ("event_type_without_sample", false));
}

#[test]
fn what_a_field_says_that_plans_lack_is_not_dropped_in_silence() {
    let odd = |name: &str, content: Value| {
        let mut plan = right();
        plan[name] = content;
        plan
    };
    for (name, content) in [
        ("description", json!("orders")),
        ("version", json!(2)),
        ("only_if", Value::Null),
        ("notes", json!([])),
        ("when", json!({})),
    ] {
        assert_eq!(fixed(odd(name, content)), (right(), vec![]), "{name}");
    }
    for (name, content) in [
        ("skip_if", json!({"path": ["content", "status"], "equals": "new"})),
        ("only_if", json!("content.status == 'new'")),
        ("notes", json!(["only new orders"])),
        ("extra", json!({"a": 1})),
    ] {
        let plan = odd(name, content);
        let (same, left) = fixed(plan.clone());
        assert_eq!(same, plan, "{name}");
        assert_eq!(left[0].patch().cloned(), Some(patch::remove(&format!("/{name}"))));
        assert!(left[0].expected.contains("can't be said in a plan"), "{}", left[0].expected);
    }
}

#[test]
fn of_very_many_problems_a_hundred_become_findings() {
    let mut plan = right();
    for i in 0..20_000 {
        plan[format!("x{i}")] = json!([i]);
    }
    let problems = plan::problems_of_value(&plan);
    assert!(problems.len() > 100);
    assert_eq!(plan_findings(&plan, &problems, &task()).len(), 100);
}

#[test]
fn braces_of_templates_are_put_right() {
    for wrong in [
        "content.order.id}-{content.status}",
        "{content.order.id-{content.status}",
        "{content.order.id}-content.status}",
        "{content.order.id}-{content.status",
    ] {
        let mut plan = right();
        plan["property_fields"][0] = json!({"property_name": "status", "template": wrong});
        let findings = plan_findings(&plan, &plan::problems_of_value(&plan), &task());
        let fixed = apply_fixes(&plan.to_string(), &findings).map(|it| it.text).unwrap_or_default();
        assert!(
            fixed.contains("\"{content.order.id}-{content.status}\""),
            "{wrong}: {findings:#?}"
        );
    }
}

#[test]
fn misspelt_functions_of_an_expression_are_put_right() {
    let at = "/property_fields/0";
    let status = |expression: &str| json!({"property_name": "status", "expression": expression});
    for (wrong, right) in [
        ("to_strng(content.status)", "to_string(content.status)"),
        (
            "join(',', [uper(content.status), lowr(content.status)])",
            "join(',', [upper(content.status), lower(content.status)])",
        ),
        ("to_string(to_int46(`12`))", "to_string(to_int64(`12`))"),
        ("  trmi( content.status )", "  trim( content.status )"),
    ] {
        let (plan, left) = fixed(with(at, status(wrong)));
        assert_eq!(left, [], "{wrong}");
        assert_eq!(plan, with(at, status(right)), "{wrong}");
    }
    for unclear in ["concat(content.status)", "to_decimal(content.status)", "x(content.status)"] {
        let (plan, left) = fixed(with(at, status(unclear)));
        assert_eq!(plan, with(at, status(unclear)));
        assert_eq!((left.len(), left[0].code.name), (1, "unknown_function"), "{unclear}");
    }
}

#[test]
fn what_was_changed_is_told_with_what_was_there() {
    let value = json!({"a": ["x", "y"], "b": 1, "c": {"d": 2}});
    let finding = |patch| {
        let code = crate::diagnostics::codes::UNKNOWN_PATH;
        Finding::new(crate::diagnostics::problem::Stage::Fit, code, "", "one", "another")
            .with_fix(patch)
    };
    let findings = [
        finding(patch::replace("/b", 2)),
        finding(patch::remove("/a/0")),
        finding(patch::rename("/c/d", "/c/e")),
        finding(patch::add("/f", "new")),
    ];
    let fixed = apply_fixes(&value.to_string(), &findings).expect("something to do");
    let told: Vec<String> = fixed.changes.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "/b: 1 -> 2",
            "/c/d: 2 -> nothing",
            "/c/e: nothing -> 2",
            "/f: nothing -> \"new\"",
            "/a/0: \"x\" -> nothing",
        ]
    );
}
