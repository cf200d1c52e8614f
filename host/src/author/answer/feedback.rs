//! All that is wrong with an answer, for the model that gave it.

use crate::diagnostics::fence;
use crate::diagnostics::listing::push_section;
use crate::diagnostics::untrusted::sanitize;
use crate::plan::PlanParseError;

/// How much of a place is repeated, in characters.
const QUOTED_CHARS: usize = 200;

/// How much of a line of text is shown on either side of where it goes wrong, in bytes.
const NEAR_BYTES: usize = 40;

/// Adds the problems after the first one, which has been reported.
pub(super) fn others(problems: &[PlanParseError], text: &mut String) {
    let others = problems.get(1..).unwrap_or_default();
    let entries = others.iter().map(|it| format!("{}: {}", place(&it.path), it.message));
    let heading = format!("Other problems ({})", others.len());
    push_section(text, "", &heading, others.len(), entries);
}

/// Adds what is around the place where a text stops being JSON.
pub(super) fn surroundings(text: &str, fault: &serde_json::Error, diagnostic: &mut String) {
    let Some(line) = fault.line().checked_sub(1).and_then(|index| text.lines().nth(index)) else {
        return;
    };
    let from = line.floor_char_boundary(fault.column().saturating_sub(NEAR_BYTES));
    let to = line.ceil_char_boundary(fault.column().saturating_add(NEAR_BYTES).min(line.len()));
    let near = line.get(from..to).unwrap_or_default().trim();
    if !near.is_empty() {
        let (near, _) = fence::quoted(near, 6 * NEAR_BYTES);
        diagnostic.push_str(&format!("\n\nThat is near {near}."));
    }
}

fn place(path: &str) -> String {
    if path.is_empty() { "the plan".to_owned() } else { sanitize(path, QUOTED_CHARS) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::others;
    use crate::plan::problems_of_value;

    fn reported(value: &Value) -> String {
        let mut text = String::new();
        others(&problems_of_value(value), &mut text);
        text
    }

    #[test]
    fn only_ten_problems_are_listed() {
        let text = reported(&json!({"property_fields": vec![json!(null); 20]}));
        assert!(text.starts_with("\n\nOther problems ("), "{text}");
        assert!(text.ends_with(" more (truncated)"), "{text}");
        assert_eq!(text.matches("\n  - ").count(), 10);
    }
}
