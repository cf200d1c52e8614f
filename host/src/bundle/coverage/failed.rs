//! Which conversions failed, and on what.
//!
//! A run counts failed conversions and doesn't say which they were. Here the samples in question are looked at again, natively: a
//! mapping at fault is one for which the plan turns the event down once it is told to, and what it failed on is what the mapping
//! gives without its conversions.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Value, json};

use super::given::EXAMPLE_CHARS;
use crate::diagnostics::untrusted::sanitize;
use crate::evidence::{Sample, Samples};
use crate::graph::extraction::{Extraction, Node, Property};
use crate::plan::{self, OracleError, Plan, oracle};

/// How many values are shown of a conversion.
const MAX_EXAMPLES: usize = 3;

/// How many mappings are looked at, and how many bytes of a sample.
const MAX_MAPPINGS: usize = 200;
const MAX_SAMPLE_BYTES: usize = 256 << 10;

/// A mapping whose conversions fail in some samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FailedConversion {
    /// The entity or relationship.
    pub of: String,
    /// The property.
    pub property: String,
    /// JSON Pointer to its mapping in the plan.
    pub pointer: String,
    /// Some of the samples, with what it failed on where that is a scalar.
    pub examples: Vec<FailedValue>,
}

/// What a conversion failed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FailedValue {
    /// The line of the sample, from 1.
    pub line: usize,
    /// The value, as JSON, escaped and cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// A mapping with its place.
struct Place {
    pointer: String,
    of: String,
    property: String,
    is_edge: bool,
}

/// The mappings that fail in the samples on these lines.
pub(super) fn conversions(
    plan: &Plan,
    samples: &Samples,
    lines: &[usize],
) -> Vec<FailedConversion> {
    if lines.is_empty() {
        return Vec::new();
    }
    // A plan that was made of JSON is JSON again.
    let Ok(value) = serde_json::to_value(plan) else { return Vec::new() };
    let failed: Vec<(&Sample, Option<Extraction>)> = samples
        .iter()
        .filter(|it| lines.contains(&it.line()) && it.text().len() <= MAX_SAMPLE_BYTES)
        .map(|it| (it, oracle::eval(plan, it.text()).ok()))
        .collect();
    let converts =
        |place: &Place| value.pointer(&place.pointer).is_some_and(|mapping| may_fail(mapping, 16));
    let places = places(plan).into_iter().filter(converts).take(MAX_MAPPINGS);
    places.filter_map(|place| conversion(&value, place, &failed)).collect()
}

fn conversion(
    plan: &Value,
    place: Place,
    samples: &[(&Sample, Option<Extraction>)],
) -> Option<FailedConversion> {
    let altered = |alter: &dyn Fn(&mut Value)| {
        let mut plan = plan.clone();
        alter(plan.pointer_mut(&place.pointer)?);
        plan::from_value(&plan).ok()
    };
    let strict = altered(&|mapping| mapping["on_error"] = json!("reject"))?;
    let plain = altered(&|mapping| {
        if let Some(mapping) = mapping.as_object_mut() {
            mapping.remove("convert");
            mapping.remove("on_error");
        }
    });
    let mut examples: Vec<FailedValue> = Vec::new();
    for (sample, result) in samples {
        let fails = matches!(
            oracle::eval(&strict, sample.text()),
            Err(OracleError::ConversionFailed { .. })
        );
        if !fails {
            continue;
        }
        let line = sample.line();
        let raw = plain.as_ref().and_then(|plain| oracle::eval(plain, sample.text()).ok());
        let value = raw.and_then(|raw| failed_on(&place, &raw, result.as_ref()));
        if examples.len() < MAX_EXAMPLES && !examples.iter().any(|it| it.value == value) {
            examples.push(FailedValue { line, value });
        }
    }
    let Place { pointer, of, property, .. } = place;
    (!examples.is_empty()).then_some(FailedConversion { of, property, pointer, examples })
}

/// The first value that there is without the conversions and not with them.
fn failed_on(place: &Place, raw: &Extraction, converted: Option<&Extraction>) -> Option<String> {
    let has = |properties: &[Property]| properties.iter().any(|it| it.name == place.property);
    let value_of = |properties: &[Property]| {
        let property = properties.iter().find(|it| it.name == place.property)?;
        Some(sanitize(&property.value.to_string(), EXAMPLE_CHARS))
    };
    if place.is_edge {
        let made = converted.map(|it| it.edges.as_slice()).unwrap_or_default();
        let fine: HashSet<&str> =
            made.iter().filter(|it| has(&it.properties)).map(|it| it.edge_id.as_str()).collect();
        let mut edges = raw.edges.iter().filter(|it| it.relationship_name == place.of);
        return edges
            .find(|it| !fine.contains(it.edge_id.as_str()) && has(&it.properties))
            .and_then(|it| value_of(&it.properties));
    }
    let made = converted.map(|it| it.nodes.as_slice()).unwrap_or_default();
    let fine: HashSet<&str> =
        made.iter().filter(|it| has(&it.properties)).map(|it| it.node_id.as_str()).collect();
    let is_of = |it: &&Node| it.entity_name == place.of;
    let mut nodes = raw.nodes.iter().filter(is_of);
    nodes
        .find(|it| !fine.contains(it.node_id.as_str()) && has(&it.properties))
        .and_then(|it| value_of(&it.properties))
}

/// Whether there is something in a mapping that can fail.
fn may_fail(mapping: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    match mapping {
        Value::Object(fields) => fields.iter().any(|(name, value)| {
            matches!(name.as_str(), "convert" | "expression") || may_fail(value, depth)
        }),
        Value::Array(items) => items.iter().any(|item| may_fail(item, depth)),
        _ => false,
    }
}

fn places(plan: &Plan) -> Vec<Place> {
    let mut all = Vec::new();
    for (index, rule) in plan.nodes().iter().enumerate() {
        let keys = rule.key_fields().iter().enumerate();
        let keys = keys.map(|(key, it)| (plan.key_pointer(index, key), it));
        let others = rule.property_fields().iter().enumerate();
        let others = others.map(|(other, it)| (plan.property_pointer(index, other), it));
        all.extend(keys.chain(others).map(|(pointer, it)| Place {
            pointer,
            of: rule.entity_name().to_owned(),
            property: it.property_name().to_owned(),
            is_edge: false,
        }));
    }
    for (index, rule) in plan.edges().iter().enumerate() {
        let at = plan.edge_pointer(index);
        all.extend(rule.property_fields().iter().enumerate().map(|(property, it)| Place {
            pointer: format!("{at}/property_fields/{property}"),
            of: rule.relationship_name().to_owned(),
            property: it.property_name().to_owned(),
            is_edge: true,
        }));
    }
    all
}
