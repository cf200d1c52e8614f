//! What policies are held against, from JSON.

use retort::evidence::Evidence;
use retort::gate::FieldPolicy;
use retort::internal::section::Section;
use retort::{EventSchema, Samples};
use serde_json::{Value, json};

pub(crate) fn evidence(samples: &[Value], schema: Option<Value>) -> Evidence {
    let lines: Vec<String> = samples.iter().map(Value::to_string).collect();
    let samples = Samples::parse(&lines.join("\n"), "samples").unwrap();
    let schema = schema.map(|schema| EventSchema::from_value(schema).unwrap());
    Evidence::new(&samples, schema.as_ref())
}

pub(crate) fn section(inputs: &Value, rows: Option<&Value>) -> Section {
    let mut section = json!({"abi": 1, "function": "f", "event_types": ["e"], "inputs": inputs});
    if let Some(rows) = rows {
        section["rows"] = rows.clone();
    }
    Section::parse(section.to_string().as_bytes()).unwrap()
}

pub(crate) fn policy(value: &Value) -> FieldPolicy {
    FieldPolicy::parse(&value.to_string(), "policy.json").unwrap()
}
