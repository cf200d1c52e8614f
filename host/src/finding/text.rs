//! Findings as text, for a person or a model.

use std::fmt::Write as _;

use super::Finding;

/// How many findings a text names; the remainder is counted.
const MAX_LISTED: usize = 10;

/// A heading with the number of findings, then each with what would mend it. At most ten are written out.
#[must_use]
pub fn describe(heading: &str, findings: &[Finding]) -> String {
    let issues = if findings.len() == 1 { "issue" } else { "issues" };
    let mut text = format!("{heading} ({} {issues}):", findings.len());
    for finding in findings.iter().take(MAX_LISTED) {
        // Writing to a string doesn't fail.
        let _ = one(&mut text, finding);
    }
    if let Some(more @ 1..) = findings.len().checked_sub(MAX_LISTED) {
        let _ = write!(text, "\n  ... and {more} more (truncated)");
    }
    text
}

fn one(text: &mut String, finding: &Finding) -> std::fmt::Result {
    let Finding { code, pointer, expected, observed, event, patch, certain, .. } = finding;
    let place = if pointer.is_empty() { "<root>" } else { pointer };
    write!(text, "\n  {place}: {code}: expected {expected}; found {observed}")?;
    if let Some(event) = event {
        write!(text, "\n    sample on line {}: {}", event.line, event.text)?;
    }
    if let Some(patch) = patch {
        let patch = serde_json::to_string(patch).unwrap_or_default();
        let word = if *certain { "mended by" } else { "perhaps mended by" };
        write!(text, "\n    {word} this JSON Patch of the plan: {patch}")?;
    }
    Ok(())
}
