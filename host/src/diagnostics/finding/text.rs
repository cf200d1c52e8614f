//! Findings as text, for a person or a model.

use std::fmt::Write as _;

use json_patch::Patch;

use super::Finding;
use crate::diagnostics::fence::compact;
use crate::diagnostics::untrusted::quotable;

/// How many findings a text names; the remainder is counted.
const MAX_LISTED: usize = 10;

/// How much of a place, of what was expected or of what was observed is shown, in characters.
const SHOWN_CHARS: usize = 1_000;

/// How long a patch may be that is written out, in characters.
const MAX_PATCH_CHARS: usize = 500;

/// A heading with the number of findings, then each with what would fix it. At most ten are written out.
/// What doesn't show is spelled out, in a patch as in all else; a patch of more than 500 characters is left out, which the text says.
#[must_use]
pub fn describe(heading: &str, findings: &[Finding]) -> String {
    let issues = if findings.len() == 1 { "issue" } else { "issues" };
    let mut text = format!("{heading} ({} {issues}):", findings.len());
    for finding in findings.iter().take(MAX_LISTED) {
        // Writing to a string doesn't fail.
        let _ = write_finding(&mut text, finding);
    }
    if let Some(more @ 1..) = findings.len().checked_sub(MAX_LISTED) {
        let _ = write!(text, "\n  ... and {more} more (truncated)");
    }
    text
}

fn write_finding(text: &mut String, finding: &Finding) -> std::fmt::Result {
    let Finding { code, pointer, expected, observed, event, suggestion, .. } = finding;
    let place = if pointer.is_empty() { "<root>" } else { &*quotable(pointer, SHOWN_CHARS) };
    let (expected, observed) = (quotable(expected, SHOWN_CHARS), quotable(observed, SHOWN_CHARS));
    write!(text, "\n  {place}: {code}: expected {expected}; found {observed}")?;
    if let Some(event) = event {
        let shown = quotable(&event.text, SHOWN_CHARS);
        write!(text, "\n    sample on line {}: {shown}", event.line)?;
    }
    if let Some(suggestion) = suggestion {
        let word = if suggestion.is_certain() { "mended by" } else { "perhaps mended by" };
        match shown(&suggestion.patch) {
            Ok(patch) => write!(text, "\n    {word} this JSON Patch of the plan: {patch}")?,
            Err(chars) => write!(
                text,
                "\n    {word} a JSON Patch of the plan, left out here for its {chars} characters"
            )?,
        }
    }
    Ok(())
}

/// A patch as a text shows it: JSON on one line, with what doesn't show spelled out.
///
/// # Errors
/// The number of its characters, if there are more than 500: cut off, it would be none.
pub(crate) fn shown(patch: &Patch) -> Result<String, usize> {
    // Of patches, none fails to serialise.
    let text = compact(&serde_json::to_value(patch).unwrap_or_default());
    let chars = text.chars().count();
    if chars > MAX_PATCH_CHARS { Err(chars) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::describe;
    use crate::diagnostics::codes;
    use crate::diagnostics::finding::{Finding, patch};
    use crate::diagnostics::problem::Stage;

    #[test]
    fn patches_are_shown_escaped_and_not_at_any_length() {
        let described = |value: &str| {
            let finding =
                Finding::new(Stage::Fit, codes::UNKNOWN_PATH, "/a", "one thing", "another");
            describe("Heading", &[finding.with_fix(patch::replace("/a", [value]))])
        };
        let text = described("a\u{202e}\u{2028}\u{85}b");
        assert!(
            text.ends_with(r#"{"op":"replace","path":"/a","value":["a\u202e\u2028\u0085b"]}]"#),
            "{text}"
        );
        let text = described(&"x".repeat(50_000));
        assert!(text.len() < 300 && text.contains("left out here for its 50"), "{text}");
    }
}
