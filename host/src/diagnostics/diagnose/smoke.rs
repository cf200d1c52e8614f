//! What a diagnostic of a sample run is made from.

use serde::{Deserialize, Serialize};

/// The report of the sample run. Fields and their order are a public contract.
///
/// The lists hold at least one entry wherever their counter is above zero; they may hold fewer entries than the counter
/// says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SmokeReport {
    /// Sample events that were run.
    pub events_processed: u64,
    /// Events at which the run failed: an event that isn't one, a trap, a limit.
    pub events_with_exception: u64,
    /// What happened at each of them. Only the last line that isn't blank is shown.
    pub exceptions: Vec<String>,
    /// Events whose result was not a result of the ABI.
    pub events_with_wrong_return_type: u64,
    /// What was wrong with each of them.
    pub wrong_return_types: Vec<String>,
    /// Events that gave a node, an edge or a handled span.
    pub events_with_nonempty_result: u64,
    /// How many such events the gate asks for.
    pub min_nonempty_results: u64,
    /// What the graph validator found, event by event.
    pub validation_failures: Vec<ValidationFailure>,
    /// Event types with at least one event that gave something, sorted.
    #[serde(default)]
    pub nonempty_event_types: Vec<String>,
}

impl SmokeReport {
    /// Whether the gate passed: no exception, no wrong return type, no validation failure, and enough results.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.exceptions.is_empty()
            && self.wrong_return_types.is_empty()
            && self.events_with_nonempty_result >= self.min_nonempty_results
            && self.validation_failures.is_empty()
    }
}

/// One failure of the graph validator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidationFailure {
    /// What the failure is about: `node`, `field`, `edge` or `event`.
    pub scope: String,
    /// The validator's stable code.
    pub code: String,
    /// Path into the result, like `nodes[0].properties[1].value`.
    pub path: String,
    /// What was expected and what was found.
    pub detail: String,
}
