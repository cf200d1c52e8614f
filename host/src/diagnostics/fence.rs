//! Data inside of text that a model reads: written so that it can't pass for the text around it.
//!
//! What is in a block is JSON, or lines that are put together from JSON: no line of it is begun by foreign text, and
//! whatever doesn't show is spelled out, and so is every third backtick of a run. A fence is longer than any run of
//! backticks in its block: of JSON, three are enough.

use serde_json::Value;

use crate::diagnostics::untrusted::{is_hidden, is_tick_too_many, spell_in_json};

/// Which characters JSON is written with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// All that show; the others are spelled out.
    Hidden,
    /// ASCII alone.
    Ascii,
}

impl Escape {
    fn applies(self, c: char) -> bool {
        is_hidden(c) || (self == Self::Ascii && !c.is_ascii())
    }
}

/// JSON over several lines: keys sorted, indented by two.
pub(crate) fn pretty(value: &Value, escape: Escape) -> String {
    escaped(&format!("{:#}", sorted(value)), escape)
}

/// The text of a JSON value as it was laid out, in ASCII: lines end in a line feed, and two spaces stand for a tab.
pub(crate) fn as_written(json: &str) -> String {
    // Neither is in a string as it is.
    escaped(&json.trim().replace('\r', "").replace('\t', "  "), Escape::Ascii)
}

/// JSON on one line, keys sorted.
pub(crate) fn compact(value: &Value) -> String {
    escaped(&sorted(value).to_string(), Escape::Hidden)
}

/// A value with the keys of its objects in the order of code points, whatever order they were read in.
fn sorted(value: &Value) -> Value {
    let mut sorted = value.clone();
    sorted.sort_all_objects();
    sorted
}

/// A path as a plan writes it.
pub(crate) fn path(path: &[String]) -> String {
    escaped(&serde_json::to_string(path).unwrap_or_default(), Escape::Hidden)
}

/// Spells characters out. In JSON they can only be parts of strings, save the line breaks that lay it out.
fn escaped(json: &str, escape: Escape) -> String {
    let mut text = String::with_capacity(json.len());
    let mut ticks = 0;
    for c in json.chars() {
        let is_too_many = is_tick_too_many(c, &mut ticks);
        if is_too_many || (c != '\n' && escape.applies(c)) {
            spell_in_json(c, &mut text);
        } else {
            text.push(c);
        }
    }
    text
}

/// As much of a text as a JSON string of at most `max_chars` characters of ASCII holds (the quotes not counted), and how
/// many characters of the text were left out.
pub(crate) fn quoted(text: &str, max_chars: usize) -> (String, usize) {
    let mut json = "\"".to_owned();
    let mut shown = text.len();
    let mut ticks = 0;
    for (at, c) in text.char_indices() {
        let before = json.len();
        let is_too_many = is_tick_too_many(c, &mut ticks);
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\n' => json.push_str("\\n"),
            c if is_too_many || Escape::Ascii.applies(c) => spell_in_json(c, &mut json),
            c => json.push(c),
        }
        if json.len() > max_chars + 1 {
            json.truncate(before);
            shown = at;
            break;
        }
    }
    json.push('"');
    (json, text[shown..].chars().count())
}

/// A block of data, ending in a line break. `kind` is what follows the opening fence.
pub(crate) fn block(kind: &str, content: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for byte in content.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{kind}\n{content}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{Escape, block, compact, path, pretty, quoted};

    #[test]
    fn what_does_not_show_is_spelled_out() {
        let value = json!({"b": "é\u{202e}\u{7f}😀", "a": ["\n"]});
        assert_eq!(compact(&value), r#"{"a":["\n"],"b":"é\u202e\u007f😀"}"#);
        assert_eq!(
            pretty(&value, Escape::Ascii),
            "{\n  \"a\": [\n    \"\\n\"\n  ],\n  \"b\": \"\\u00e9\\u202e\\u007f\\ud83d\\ude00\"\n}"
        );
        assert_eq!(
            compact(&json!(["````", "``", "`````````"])),
            r#"["``\u0060`","``","``\u0060``\u0060``\u0060"]"#
        );
        assert_eq!(quoted("a```\"``\n`", 99).0, r#""a``\u0060\"``\n`""#);
        assert_eq!(path(&["a\u{85}".to_owned(), "b".to_owned()]), r#"["a\u0085","b"]"#);
    }

    #[test]
    fn a_text_is_cut_between_characters_and_the_rest_is_counted() {
        assert_eq!(quoted("é\"x", 8), (r#""\u00e9\"""#.to_owned(), 1));
        assert_eq!(quoted("é\"x", 7), (r#""\u00e9""#.to_owned(), 2));
        assert_eq!(quoted("", 0), ("\"\"".to_owned(), 0));
    }

    #[test]
    fn a_fence_is_longer_than_any_in_its_block() {
        assert_eq!(block("json", "{}"), "```json\n{}\n```\n");
        assert_eq!(block("text", "```` ``"), "`````text\n```` ``\n`````\n");
    }

    proptest! {
        #[test]
        fn escaping_changes_no_value(text in "(`{0,5}|\\PC|[\u{0}-\u{ff}]){0,8}") {
            let value = json!({"k": text});
            for json in [compact(&value), pretty(&value, Escape::Ascii), pretty(&value, Escape::Hidden)] {
                prop_assert!(!json.chars().any(|c| c != '\n' && crate::diagnostics::untrusted::is_hidden(c)));
                prop_assert!(!json.contains("```"));
                prop_assert_eq!(&serde_json::from_str::<Value>(&json).unwrap(), &value);
            }
        }

        #[test]
        fn a_quoted_text_is_json_of_its_beginning(text in any::<String>(), max in 0_usize..40) {
            let (json, left_out) = quoted(&text, max);
            prop_assert!(json.is_ascii() && json.len() <= max + 2);
            let shown: String = serde_json::from_str(&json).unwrap();
            prop_assert!(text.starts_with(&shown));
            prop_assert_eq!(shown.chars().count() + left_out, text.chars().count());
        }
    }
}
