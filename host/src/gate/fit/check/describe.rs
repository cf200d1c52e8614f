//! Paths and values as findings show them.

use serde_json::Value;

use crate::diagnostics::codes::PATH_NOT_SCALAR;
use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::{PathIndex, dotted};
use crate::gate::fit::smallest;
use crate::graph::spec::PropertyType;
use crate::plan::expr::Conversion;

/// A path as a finding shows it.
pub(super) fn shown(path: &[String]) -> String {
    if path.is_empty() { "the element itself".to_owned() } else { quoted(&dotted(path)) }
}

/// A value of an event, as far as a finding repeats it: of text, only how long it is.
pub(super) fn described(value: &Value) -> String {
    match value {
        Value::String(text) => format!("a string of {} characters", text.chars().count()),
        value => crate::graph::described(value),
    }
}

/// A session or span id, or a key, that is never a scalar.
pub(super) fn no_scalar(at: &str, path: &[String], known: &PathIndex<'_>) -> Finding {
    let found = known
        .values(path)
        .next()
        .map_or_else(|| known.declared_kinds(path).to_string(), |(_, value)| described(value));
    let mut finding = Finding::new(
        Stage::Fit,
        PATH_NOT_SCALAR,
        at,
        "a path at which a string, a number or a boolean is",
        format!("{found} at {}", shown(path)),
    );
    finding.event = smallest(known.values(path).map(|(seen, _)| seen));
    finding
}

/// What a chain gives, in words.
pub(super) fn chain_described(chain: &[Conversion]) -> String {
    let last = chain.last().map_or("no conversion", Conversion::name);
    let given = match chain.last().and_then(Conversion::gives) {
        Some(PropertyType::String) => "a text".to_owned(),
        Some(PropertyType::Int64) => "an integer".to_owned(),
        Some(PropertyType::Double) => "a number".to_owned(),
        Some(other) => format!("a {}", other.as_str()),
        None => "a value".to_owned(),
    };
    format!("{given} by {last}")
}
