//! Events in which something is missing: what corpora hold is only a part of what occurs.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::rule::Rule;

/// Events of a rule that are taken, evenly spread.
const EVENTS: usize = 3;

/// Events of a rule, each with one value removed, null, or emptied, of those that the plan might read.
pub(super) fn variants(rule: &Rule) -> BTreeSet<String> {
    let plan = serde_json::to_string(&rule.plan).unwrap();
    let events: Vec<_> = rule.events_of_plan().collect();
    let mut variants = BTreeSet::new();
    for event in events.iter().step_by(events.len().div_ceil(EVENTS)) {
        let event: Value = serde_json::from_str(&event.text).unwrap();
        let mut pointers = Vec::new();
        pointers_in(&event, "", &plan, &mut pointers);
        for pointer in pointers {
            let emptied = match event.pointer(&pointer).unwrap() {
                Value::Array(_) => json!([]),
                Value::Object(_) => json!({}),
                _ => Value::Null,
            };
            variants
                .extend([Value::Null, emptied].map(|it| with(&event, &pointer, it).to_string()));
            variants.insert(without(&event, &pointer).to_string());
        }
    }
    variants
}

/// Pointers to what is inside of a value. What has a key that isn't in the plan's text can't be read, nor what is below it.
fn pointers_in(value: &Value, at: &str, plan: &str, pointers: &mut Vec<String>) {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(fields) => {
            let read = fields.iter().filter(|(key, _)| plan.contains(key.as_str()));
            read.map(|(key, it)| (key.clone(), it)).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(i, it)| (i.to_string(), it)).collect()
        }
        _ => Vec::new(),
    };
    for (key, value) in below {
        let pointer = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        pointers_in(value, &pointer, plan, pointers);
        pointers.push(pointer);
    }
}

fn with(event: &Value, pointer: &str, value: Value) -> Value {
    let mut event = event.clone();
    *event.pointer_mut(pointer).unwrap() = value;
    event
}

fn without(event: &Value, pointer: &str) -> Value {
    let mut event = event.clone();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match event.pointer_mut(parent).unwrap() {
        Value::Object(fields) => {
            fields.remove(&key.replace("~1", "/").replace("~0", "~"));
        }
        Value::Array(items) => {
            items.remove(key.parse().unwrap());
        }
        _ => {}
    }
    event
}
