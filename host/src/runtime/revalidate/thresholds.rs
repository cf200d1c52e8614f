//! What a report has to come to.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::report::RevalidationReport;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::sanitize;

/// What a report has to come to: parts of 1, of which those that are left out, or null, ask for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Thresholds {
    /// At least this part of the events has a result that is right as a whole.
    pub min_compiled_unchanged_rate: Option<f64>,
    /// At most this part of the events has a result of which only a part is right.
    pub max_compiled_filtered_rate: Option<f64>,
    /// At most this part of the events would need a fallback.
    pub max_fallback_for_event_rate: Option<f64>,
    /// At most for this part of the events the bundle fails.
    pub max_compiled_path_fault_rate: Option<f64>,
    /// At least of this part of the events that are compared bundle and reference give the same.
    pub min_parity_match_rate: Option<f64>,
}

/// Why something is no [`Thresholds`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected thresholds: {message}")]
pub struct ThresholdsError {
    message: String,
}

impl Coded for ThresholdsError {
    fn entry(&self) -> Code {
        codes::THRESHOLDS_INVALID
    }
}

/// Whether a report comes to what it has to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThresholdCheck {
    /// Whether it does.
    pub ok: bool,
    /// In what it doesn't: all of it, in the order of [`Thresholds`].
    pub violations: Vec<String>,
}

/// Which way a threshold holds.
#[derive(Clone, Copy)]
enum Bound {
    Min,
    Max,
}

impl Thresholds {
    /// Reads them as JSON.
    ///
    /// # Errors
    /// [`ThresholdsError`] for an unknown field, and for what is no number from 0 to 1.
    pub fn parse(text: &[u8]) -> Result<Self, ThresholdsError> {
        let refused = |message| ThresholdsError { message };
        let thresholds: Self = serde_json::from_slice(text)
            .map_err(|error| refused(sanitize(&error.to_string(), 240)))?;
        for (name, _, threshold, _) in thresholds.rules(&RevalidationReport::default()) {
            if let Some(found) = threshold.filter(|it| !(0.0..=1.0).contains(it)) {
                return Err(refused(format!("`{name}`: expected 0 to 1, found {found}")));
            }
        }
        Ok(thresholds)
    }

    /// Checks a report.
    #[must_use]
    pub fn check(&self, report: &RevalidationReport) -> ThresholdCheck {
        let mut violations = Vec::new();
        for (name, bound, threshold, found) in self.rules(report) {
            let Some(threshold) = threshold else { continue };
            let (is_kept, sign, bound) = match bound {
                Bound::Min => (found >= threshold, '<', "min"),
                Bound::Max => (found <= threshold, '>', "max"),
            };
            if !is_kept {
                let rate = name.trim_start_matches("min_").trim_start_matches("max_");
                violations.push(format!("{rate} {found:.4} {sign} {bound} {threshold:.4}"));
            }
        }
        ThresholdCheck { ok: violations.is_empty(), violations }
    }

    /// Each with its name, and what a report comes to.
    fn rules(&self, report: &RevalidationReport) -> [(&'static str, Bound, Option<f64>, f64); 5] {
        [
            (
                "min_compiled_unchanged_rate",
                Bound::Min,
                self.min_compiled_unchanged_rate,
                report.compiled_unchanged_rate(),
            ),
            (
                "max_compiled_filtered_rate",
                Bound::Max,
                self.max_compiled_filtered_rate,
                report.compiled_filtered_rate(),
            ),
            (
                "max_fallback_for_event_rate",
                Bound::Max,
                self.max_fallback_for_event_rate,
                report.fallback_for_event_rate(),
            ),
            (
                "max_compiled_path_fault_rate",
                Bound::Max,
                self.max_compiled_path_fault_rate,
                report.compiled_path_fault_rate(),
            ),
            (
                "min_parity_match_rate",
                Bound::Min,
                self.min_parity_match_rate,
                report.parity_match_rate(),
            ),
        ]
    }
}
