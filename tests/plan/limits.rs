//! Limits, hostile plans, and what a plan can put into a message.

use std::time::Instant;

use retort::internal::codes;
use retort::plan;
use serde_json::{Map, Value, json};

use super::{long_plan, schema};

/// A plan in the long form, with `count` entries in the list at a pointer.
fn with_list(pointer: &str, entry: &Value, count: usize) -> Value {
    let mut plan = long_plan();
    let list: Vec<Value> = (0..count)
        .map(|index| match entry {
            Value::String(text) => json!(text.replace('#', &index.to_string())),
            Value::Object(fields) if fields.contains_key("property_name") => {
                let mut fields = fields.clone();
                fields.insert("property_name".to_owned(), json!(format!("p{index}")));
                Value::Object(fields)
            }
            other => other.clone(),
        })
        .collect();
    *plan.pointer_mut(pointer).unwrap() = json!(list);
    plan
}

#[test]
fn lists_have_a_limit_and_are_read_no_further() {
    let property = json!({"property_name": "p", "source_path": ["a"]});
    let test = json!({"source_path": ["a"], "exists": true});
    let edge = json!({"relationship_name": "R", "from": "order", "to": "order"});
    for (pointer, entry, limit) in [
        ("/event_type", json!("t#"), 64),
        ("/when/all", test.clone(), 64),
        ("/when/all/1/any", test.clone(), 64),
        ("/when/all/0/one_of", json!("v#"), 64),
        ("/nodes", long_plan()["nodes"][0].clone(), 64),
        ("/nodes/0/key_fields", property.clone(), 64),
        ("/nodes/0/property_fields", property.clone(), 1024),
        ("/nodes/1/property_fields/0/coalesce", json!({"constant": 1}), 64),
        ("/nodes/1/property_fields/0/convert", json!("trim"), 64),
        ("/edges", edge, 64),
        ("/edges/1/to/key_fields", property.clone(), 64),
        ("/edges/0/property_fields", property, 1024),
        ("/span_handling", json!({}), 64),
    ] {
        let follow_on = |problem: &plan::PlanParseError| {
            matches!(problem.code, codes::UNKNOWN_NODE | codes::DUPLICATE_NODE_NAME)
        };
        let mut fits = plan::problems_of_value(&with_list(pointer, &entry, limit));
        fits.retain(|problem| !follow_on(problem));
        assert_eq!(fits, [], "{pointer}");
        let mut large = with_list(pointer, &entry, limit + 1);
        if let Some(Value::Array(list)) = large.pointer_mut(pointer) {
            list[limit] = json!(null);
        }
        let mut problems = plan::problems_of_value(&large);
        problems.retain(|problem| !follow_on(problem));
        let [problem] = problems.as_slice() else { panic!("{pointer}: {problems:?}") };
        assert_eq!(problem.code, codes::TOO_MANY_ITEMS, "{pointer}");
        assert_eq!(problem.pointer, pointer);
        let found = format!("expected at most {limit} entries, found {}", limit + 1);
        assert_eq!(problem.message, found, "{pointer}");
        assert!(!schema().is_valid(&large), "{pointer}");
    }
}

#[test]
fn an_event_type_has_a_limit() {
    for at in ["/event_type", "/event_type/1"] {
        let plan = |bytes: usize| {
            let mut plan = with_list("/event_type", &json!("t#"), 2);
            *plan.pointer_mut(at).unwrap() = json!("e".repeat(bytes));
            plan::problems_of_value(&plan)
        };
        assert_eq!(plan(1_024), [], "{at}");
        let problems = plan(1_025);
        let [problem] = problems.as_slice() else { panic!("{at}: {problems:?}") };
        assert_eq!((problem.code, problem.pointer.as_str()), (codes::INVALID_VALUE, at));
        assert_eq!(problem.message, "expected at most 1024 bytes, found 1025");
    }
}

#[test]
fn a_hostile_plan_is_read_in_time_in_proportion_to_its_size() {
    let entry = json!({"property_name": 1, "source_path": [1, 2], "convert": ["none"]});
    let node = json!({"entity_name": "", "key_fields": vec![entry.clone(); 10_000]});
    let many = json!({"nodes": vec![node; 3], "event_type": vec![json!(1); 100_000]});
    let started = Instant::now();
    // Each property has four problems, and each list as many entries as it may have.
    assert_eq!(plan::problems_of_value(&many).len(), 1 + 1 + 64 + 3 * (2 + 64 * 4));
    let names: Value =
        (0..10_000).map(|index| (format!("field_{index}"), json!(1))).collect::<Map<_, _>>().into();
    assert_eq!(plan::problems_of_value(&names).len(), 10_000 + 4);
    let mut deep = json!({"source_path": ["a"], "exists": true});
    for _ in 0..100 {
        deep = json!({"all": [deep.clone(), {"not": deep}]});
        if deep.to_string().len() > 1_000_000 {
            break;
        }
    }
    let when = json!({"event_type": "e", "function_name": "f", "nodes": [], "when": deep});
    assert!(
        plan::problems_of_value(&when)
            .iter()
            .all(|it| it.code == codes::TOO_DEEP || it.pointer == "/nodes")
    );
    // Some four milliseconds each, all of them a minute.
    let step = json!({"regex": {"pattern": r"\w{5}"}});
    let property = json!({"property_name": "p", "source_path": ["a"], "convert": vec![step; 64]});
    let patterns = json!({"property_fields": vec![property; 200]});
    let too_large = |problem: &&plan::PlanParseError| problem.code == codes::PATTERN_TOO_LARGE;
    assert_eq!(plan::problems_of_value(&patterns).iter().filter(too_large).count(), 1);
    // As many milliseconds, and hardly a program.
    let step = json!({"regex": {"pattern": r"(?i)[\s\S]"}});
    let property = json!({"property_name": "p", "source_path": ["a"], "convert": vec![step; 64]});
    let patterns = json!({"property_fields": vec![property; 200]});
    assert_eq!(plan::problems_of_value(&patterns).iter().filter(too_large).count(), 1);
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[test]
fn text_that_is_nested_deeply_is_refused() {
    for depth in [128, 1_000, 1_000_000] {
        for text in ["[".repeat(depth), "{\"key_field\":".repeat(depth)] {
            assert_eq!(plan::parse(&text).unwrap_err().code, codes::INVALID_JSON);
        }
    }
}

#[test]
fn messages_are_bounded_and_printable() {
    let name = "\u{1b}[31m\u{202e}\n\"".repeat(1_000);
    let plan = json!({
        "event_type": "e", "target_entity_name": name, "function_name": name, &name: 1,
        "key_field": {"property_name": "k", "source_path": ["k"], &name: 1},
        "property_fields": [{"property_name": "p", "source_path": ["p"], "nulls": name}],
    });
    let problems = plan::problems_of_value(&plan);
    assert_eq!(problems.len(), 5, "{problems:?}");
    for problem in problems {
        for text in [problem.message.clone(), problem.to_string()] {
            // 80 characters, each at most `\u{10ffff}`, and what is said about them.
            assert!(text.len() < 80 * 10 * 2 + 200, "{text}");
            assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}");
        }
    }
}
