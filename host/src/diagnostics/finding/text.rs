//! Findings as text, for a person or a model.

use json_patch::Patch;

use super::Finding;
use crate::diagnostics::fence::compact;
use crate::diagnostics::listing::push_list;
use crate::diagnostics::untrusted::quotable;

/// How much of a place, of what was expected or of what was observed is shown, in characters.
const SHOWN_CHARS: usize = 1_000;

/// How long a patch may be that is written out, in characters.
const MAX_PATCH_CHARS: usize = 500;

/// A heading with the number of findings, then each with what would fix it. At most ten are written out.
/// What doesn't show is spelled out, in a patch as in all else; a patch of more than 500 characters is left out, which the text says.
#[must_use]
pub(crate) fn describe(heading: &str, findings: &[Finding]) -> String {
    let issues = if findings.len() == 1 { "issue" } else { "issues" };
    let mut text = format!("{heading} ({} {issues}):", findings.len());
    push_list(&mut text, "  ", "", findings.len(), findings.iter().map(entry));
    text
}

fn entry(finding: &Finding) -> String {
    let Finding { code, pointer, expected, observed, event, suggestion, .. } = finding;
    let place = if pointer.is_empty() { "<root>" } else { &*quotable(pointer, SHOWN_CHARS) };
    let (expected, observed) = (quotable(expected, SHOWN_CHARS), quotable(observed, SHOWN_CHARS));
    let mut text = format!("{place}: {code}: expected {expected}; found {observed}");
    if let Some(event) = event {
        let shown = quotable(&event.text, SHOWN_CHARS);
        text.push_str(&format!("\n    sample on line {}: {shown}", event.line));
    }
    if let Some(suggestion) = suggestion {
        let word = if suggestion.is_certain() { "fixed by" } else { "perhaps fixed by" };
        let patch = match shown(&suggestion.patch) {
            Ok(patch) => format!("this JSON Patch of the plan: {patch}"),
            Err(chars) => {
                format!("a JSON Patch of the plan, left out here for its {chars} characters")
            }
        };
        text.push_str(&format!("\n    {word} {patch}"));
    }
    text
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
