//! In what a result differs from what was expected.

use serde_json::Value;

use crate::diagnostics::codes::Code;
use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::{Problem, Stage};
use crate::diagnostics::untrusted::escaped;
use crate::evidence::redact::redacted;

/// One thing in which a result differs from what was expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The line of the sample, from 1.
    pub line: usize,
    /// The stable code.
    pub code: Code,
    /// JSON Pointer to what in the plan made it; empty where there is no telling.
    pub pointer: String,
    /// What was expected.
    pub expected: Told,
    /// What was found.
    pub observed: Told,
    /// The value that was expected, where it is about one.
    pub value: Option<Value>,
}

/// A text that repeats values of events and results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// With the values, for whoever has the samples. Each is escaped and bounded.
    pub plain: String,
    /// With their shapes where they look personal, for a model.
    pub shown: String,
}

impl Told {
    /// A text that repeats values by the function that it is given.
    pub(super) fn new(text: impl Fn(&dyn Fn(&str, &Value) -> String) -> String) -> Self {
        let plain = |_: &str, value: &Value| escaped_json(value);
        Self { plain: text(&plain), shown: text(&shape) }
    }

    /// A text without any.
    pub(super) fn plain(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { shown: text.clone(), plain: text }
    }
}

fn escaped_json(value: &Value) -> String {
    // A string's quotes and escapes are those of JSON already.
    crate::diagnostics::untrusted::sanitize(&value.to_string(), 120)
}

fn shape(name: &str, value: &Value) -> String {
    match redacted(&[name.to_owned()], value) {
        Value::String(shape) if Value::String(shape.clone()) != *value => shape,
        shown => escaped_json(&shown),
    }
}

impl Difference {
    /// As a finding for a model.
    #[must_use]
    pub fn shown(&self) -> Finding {
        let Self { code, pointer, expected, observed, line, .. } = self;
        let observed = format!("{}, for the sample on line {line}", observed.shown);
        Finding::new(Stage::Expected, *code, pointer.clone(), expected.shown.clone(), observed)
    }
}

impl From<&Difference> for Problem {
    fn from(difference: &Difference) -> Self {
        let Difference { line, code, pointer, expected, observed, .. } = difference;
        let message =
            format!("sample on line {line}: expected {}, found {}", expected.plain, observed.plain);
        Self::new(Stage::Expected, *code, message).at(pointer.clone())
    }
}

/// A node, as a text names it: by its entity and what there is of its key, or its id.
pub(super) fn named(
    show: &dyn Fn(&str, &Value) -> String,
    entity: &str,
    key: &[(&str, &Value)],
    node_id: Option<&str>,
) -> String {
    let pairs: Vec<String> = key
        .iter()
        .map(|(name, value)| format!("{}={}", escaped(name), show(name, value)))
        .collect();
    match (node_id, pairs.is_empty()) {
        (_, false) => format!("{} with {}", escaped(entity), pairs.join(", ")),
        (Some(id), true) => {
            format!("{} with the id {}", escaped(entity), show("node_id", &id.into()))
        }
        (None, true) => escaped(entity),
    }
}
