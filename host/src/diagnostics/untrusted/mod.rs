//! Text that came from a guest or an event, made fit for a message.

mod sanitize;

pub(crate) use sanitize::{is_hidden, is_tick_too_many, quotable, quotable_lines, spell_in_json};
pub use sanitize::{sanitize, visible, visible_json};

/// Longest text that a message repeats, in characters of the original.
const MAX_CHARS: usize = 120;

/// `text` with everything that isn't printable escaped, cut to `max_chars` characters of the original.
///
/// Control characters, newlines and invisible formatting become `\u{..}` or the usual short escapes,
/// so that the text stays on one line and can't pose as part of the message around it.
pub(crate) fn bounded(text: &str, max_chars: usize) -> String {
    let mut chars = text.chars();
    let mut kept: String = chars.by_ref().take(max_chars).flat_map(char::escape_debug).collect();
    if chars.next().is_some() {
        kept.push_str("...");
    }
    kept
}

/// The same, cut to 120 characters: a name or a value.
pub(crate) fn escaped(text: &str) -> String {
    bounded(text, MAX_CHARS)
}

/// The same in double quotes: `"env"`.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

#[cfg(test)]
mod tests {
    use super::{escaped, quoted};

    #[test]
    fn hostile_text_stays_on_one_bounded_line() {
        assert_eq!(quoted("a\n\"b\u{202e}"), r#""a\n\"b\u{202e}""#);
        assert_eq!(escaped(&"x".repeat(120)), "x".repeat(120));
        assert_eq!(escaped(&"é".repeat(121)), format!("{}...", "é".repeat(120)));
    }
}
