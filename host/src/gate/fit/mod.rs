//! The plan against what is known of events and graph, before anything is rendered or run.
//!
//! Samples and event schema say which event types and paths there are and of which types the values are, the graph spec
//! which entities, keys and properties. A plan that speaks of something else can't be right, and what it should speak of
//! can often be told: each [`Finding`] carries a patch where that is so.
//!
//! The gate never turns down what may be right: a path that occurs in one sample of the event type, or that the schema
//! declares, is fine, whatever it is called. Where there are only a few samples, so is one that samples of another type
//! have, and without a schema, one that is unlike any of theirs. What it can't know is whether a path that exists is the one that was meant.
//!
//! # Example
//!
//! ```
//! use retort::gate::fit::fit;
//! use retort::gate::smoke::Samples;
//! use retort::graph::GraphSpec;
//! use retort::task::Task;
//!
//! let plan = retort::plan::parse(r#"{
//!     "event_type": "order_placed", "target_entity_name": "Order", "function_name": "read_order",
//!     "key_field": {"property_name": "order_id", "source_path": ["content", "Id"]}
//! }"#)?;
//! let graph = "entities: [{name: Order, keys: {primary: [order_id]}, properties: [{name: order_id, type: string}]}]";
//! let graph = GraphSpec::parse(graph, "graph.yaml")?;
//! let samples = Samples::parse(r#"{"event_type": "order_placed", "content": {"id": "A-7"}}"#, "samples")?;
//!
//! let unfit = fit(&plan, &Task::new(graph, samples, None, None)).unwrap_err();
//! let finding = &unfit.findings()[0];
//! assert_eq!((finding.code, finding.pointer.as_str()), ("unknown_path", "/key_field/source_path"));
//! assert!(finding.certain);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod event_type;
mod known;
pub(crate) mod likeness;
mod misread;
pub(crate) mod names;
pub(crate) mod nearest;
mod paths;

use std::collections::BTreeMap;

use serde_json::Value;

pub(crate) use event_type::likely as likely_event_type;
pub(crate) use known::{Known, is_scalar, smallest};

use crate::finding::{self, Finding};
use crate::graph::spec::{Entity, Property, PropertyType};
use crate::plan::{FieldMapping, Plan};
use crate::problem::Coded;
use crate::task::Task;

/// No sample has the plan's event type.
pub(crate) const EVENT_TYPE_WITHOUT_SAMPLE: &str = "event_type_without_sample";
/// The graph spec has no such entity.
const UNKNOWN_ENTITY: &str = "unknown_entity";
/// The entity has no such property.
const UNKNOWN_PROPERTY: &str = "unknown_property";
/// The key is another property than the entity's key.
const WRONG_KEY: &str = "wrong_key";
/// The entity is identified by several properties.
const COMPOSITE_KEY: &str = "composite_key";
/// A path that neither occurs nor is declared.
const UNKNOWN_PATH: &str = "unknown_path";
/// A path of a key, a session or a span where no scalar ever is.
const PATH_NOT_SCALAR: &str = "path_not_scalar";
/// A value that isn't of the property's type.
const TYPE_MISMATCH: &str = "type_mismatch";
/// A value that is an array or object, or a type that nothing is of.
const UNSUPPORTED_TYPE: &str = "unsupported_type";
/// Two properties each read the path that has the other's name.
const FIELDS_SWAPPED: &str = "fields_swapped";
/// Two properties read one path, and one of them has a path of its own name.
const PATH_READ_TWICE: &str = "path_read_twice";

/// Every code of this gate, sorted.
pub const CODES: &[&str] = &[
    COMPOSITE_KEY,
    EVENT_TYPE_WITHOUT_SAMPLE,
    FIELDS_SWAPPED,
    PATH_NOT_SCALAR,
    PATH_READ_TWICE,
    TYPE_MISMATCH,
    UNKNOWN_ENTITY,
    UNKNOWN_PATH,
    UNKNOWN_PROPERTY,
    UNSUPPORTED_TYPE,
    WRONG_KEY,
];

/// A plan that speaks of things that exist. Made by [`fit`] alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    plan: Plan,
}

impl Fitted {
    /// The plan, as it was.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// A plan that doesn't fit what is known: at least one finding.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the plan doesn't fit: {}", .findings.first().map_or_else(String::new, |it| format!(
    "{}: expected {}, found {}", it.pointer, it.expected, it.observed)))]
pub struct Unfit {
    findings: Vec<Finding>,
}

impl Unfit {
    /// All that is wrong, in the order: event type, entity, key, properties, session, span.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What a model is told: every finding with its pointer, what was expected and observed, the smallest event that
    /// shows it and the patch that may mend it; ten at most, the remainder counted.
    #[must_use]
    pub fn diagnostic(&self) -> String {
        finding::describe("Plan does not fit events and graph", &self.findings)
    }
}

impl Coded for Unfit {
    fn code(&self) -> &'static str {
        self.findings.first().map_or(UNKNOWN_PATH, |finding| finding.code)
    }
}

/// Holds a plan to the task's samples, event schema and graph spec.
///
/// # Errors
/// [`Unfit`], with everything that is wrong. What follows from another problem is left out: without a known event type
/// nothing is said about paths, without a known entity nothing about properties.
pub fn fit(plan: &Plan, task: &Task) -> Result<Fitted, Unfit> {
    let mut findings = Vec::new();
    let event_type = event_type::check(plan, task);
    let known = Known::new(task.evidence(), plan.event_type());
    let has_samples = event_type.is_none();
    findings.extend(event_type);

    match task.graph().entity(plan.target_entity_name()) {
        None => findings.push(names::unknown_entity(plan, task.graph())),
        Some(entity) => {
            let mappings = mappings(plan, entity);
            findings.extend(names::check(&mappings, entity, &known));
            if has_samples {
                findings.extend(paths::check(&mappings, entity, &known));
                findings.extend(misread::check(&mappings, entity, &known));
            }
        }
    }
    if has_samples {
        findings.extend(paths::roles(plan, &known));
    }
    if findings.is_empty() {
        return Ok(Fitted { plan: plan.clone() });
    }
    one_path_each(&mut findings);
    Err(Unfit { findings })
}

/// A mapping of the plan, with the property that it is for.
struct Mapping<'a> {
    /// Pointer into the plan.
    at: String,
    field: &'a FieldMapping,
    /// The entity's property of that name.
    property: Option<&'a Property>,
    is_key: bool,
}

impl Mapping<'_> {
    fn path(&self) -> &[String] {
        self.field.source_path()
    }

    fn property_type(&self) -> Option<&PropertyType> {
        self.property.map(|property| &property.property_type)
    }

    /// Whether the path ends in the property's name, or in its column's.
    fn reads_its_name(&self, path: &[String]) -> bool {
        likeness::ends_in(path, self.field.property_name())
            || self.property.is_some_and(|it| {
                likeness::ends_in(path, &it.column) || likeness::ends_in(path, &it.logical_name)
            })
    }

    /// Whether nothing is wrong with it by itself, as far as is known.
    fn is_sound(&self, known: &Known<'_>) -> bool {
        self.property.is_some()
            && known.admits_path(self.path())
            && !known.contradicts(self.path(), self.property_type())
    }
}

/// The key first, then the properties in their order.
fn mappings<'a>(plan: &'a Plan, entity: &'a Entity) -> Vec<Mapping<'a>> {
    let mapping = |at: String, field: &'a FieldMapping, is_key: bool| Mapping {
        at,
        field,
        property: entity.property(field.property_name()),
        is_key,
    };
    let properties = plan.property_fields().iter().enumerate();
    std::iter::once(mapping("/key_field".to_owned(), plan.key_field(), true))
        .chain(properties.map(|(i, field)| mapping(format!("/property_fields/{i}"), field, false)))
        .collect()
}

/// Two mappings that are told to read the same path can't both mean it.
fn one_path_each(findings: &mut [Finding]) {
    let target = |finding: &Finding| -> Option<String> {
        let paths = finding.patch.iter().flat_map(|patch| patch.0.iter());
        let mut values = paths.filter_map(|operation| match operation {
            json_patch::PatchOperation::Replace(replace)
                if replace.path.last().is_some_and(|token| token.decoded() == "source_path") =>
            {
                Some(Value::to_string(&replace.value))
            }
            _ => None,
        });
        values.next().filter(|_| finding.certain)
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for target in findings.iter().filter_map(target) {
        *counts.entry(target).or_default() += 1;
    }
    for finding in findings {
        if target(finding).is_some_and(|target| counts.get(&target).is_some_and(|count| *count > 1))
        {
            finding.certain = false;
        }
    }
}

#[cfg(test)]
mod tests;
