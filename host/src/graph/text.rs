//! Text of other people in messages: escaped and bounded.

use serde_json::Value;

/// How many characters of a name or value a message shows.
const SHOWN_CHARS: usize = 80;

/// `text` in double quotes, control characters and quotes escaped, cut after [`SHOWN_CHARS`].
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(SHOWN_CHARS) + 2);
    out.push('"');
    out.push_str(&bounded(text, SHOWN_CHARS));
    out.push('"');
    out
}

/// `text` escaped and cut after `limit` characters, without quotes.
pub(super) fn bounded(text: &str, limit: usize) -> String {
    let mut chars = text.chars();
    let mut out: String = chars.by_ref().take(limit).flat_map(char::escape_debug).collect();
    if chars.next().is_some() {
        out.push_str("...");
    }
    out
}

/// A value as a message names it: its type, and for a scalar what it is.
pub(super) fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => format!("boolean {flag}"),
        Value::Number(number) => format!("number {number}"),
        Value::String(text) => format!("string {}", quoted(text)),
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Object(members) => format!("an object of {} members", members.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_cut() {
        assert_eq!(quoted("a\"b\n"), r#""a\"b\n""#);
        let long = "ä".repeat(500);
        let shown = quoted(&long);
        assert_eq!(shown.chars().count(), SHOWN_CHARS + 5);
        assert!(shown.ends_with("...\""));
    }
}
