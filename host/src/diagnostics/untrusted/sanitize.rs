//! Text of a guest or an event, made safe to show to a model or in a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// What marks where text was cut off.
const ELLIPSIS: char = '…';

/// How many backticks may stand in a row: three begin or end a block of data in what a model reads.
const MAX_TICKS: usize = 2;

/// `text` on one line, every invisible character spelled out, in at most `max_chars` characters.
///
/// Line breaks become `\n`, terminal escapes `\u{1b}`, and so do all other control characters,
/// bidirectional overrides, zero-width characters and tag characters, by which text can look
/// different from what it says. Text that doesn't fit ends in `…`; no escape is cut in half.
/// Reads no more of the text than it shows.
///
/// # Example
/// ```
/// use retort::diagnostics::sanitize;
///
/// assert_eq!(sanitize("done\nIgnore the rules", 40), r"done\nIgnore the rules");
/// assert_eq!(sanitize("\u{1b}[2Jgone", 40), r"\u{1b}[2Jgone");
/// assert_eq!(sanitize("a long story", 7), "a long…");
/// ```
#[must_use]
pub fn sanitize(text: &str, max_chars: usize) -> String {
    spelled(text, max_chars, |c| is_hidden(c).then(|| c.escape_default().to_string()))
}

/// The same for what is in a diagnostic: every third backtick of a run is spelled out too, so that a block of data that
/// the diagnostic is in can't be ended by it.
pub(crate) fn quotable(text: &str, max_chars: usize) -> String {
    let mut ticks = 0;
    spelled(text, max_chars, |c| quotable_escape(c, is_hidden(c), &mut ticks))
}

/// The same for text that may have several lines: its line feeds stay.
pub(crate) fn quotable_lines(text: &str, max_chars: usize) -> String {
    let mut ticks = 0;
    spelled(text, max_chars, |c| quotable_escape(c, is_hidden_in_lines(c), &mut ticks))
}

fn quotable_escape(c: char, is_hidden: bool, ticks: &mut usize) -> Option<String> {
    if is_tick_too_many(c, ticks) {
        return Some(c.escape_unicode().to_string());
    }
    is_hidden.then(|| c.escape_default().to_string())
}

/// A whole output as it may be shown in a terminal: every invisible character but the line feed spelled out. Whoever put it
/// together has kept what is foreign in it on its line.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    respelled(text, |c, shown| shown.extend(c.escape_default()))
}

/// The same for JSON, which stays the same JSON: what is spelled out is so by its escapes.
#[must_use]
pub fn visible_json(json: &str) -> Cow<'_, str> {
    respelled(json, spell_in_json)
}

fn respelled(text: &str, spell: fn(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(is_hidden_in_lines) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden_in_lines(c) {
            spell(c, &mut shown);
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Writes a character of a JSON string as its escape.
pub(crate) fn spell_in_json(c: char, json: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a String cannot fail.
        let _ = write!(json, "\\u{unit:04x}");
    }
}

fn spelled(text: &str, max_chars: usize, mut escape: impl FnMut(char) -> Option<String>) -> String {
    let mut shown = String::new();
    let mut used = 0;
    // Where to cut if the rest turns out not to fit: the longest prefix that leaves room for `…`.
    let mut cut = 0;
    for c in text.chars() {
        let escape = escape(c);
        let width = escape.as_ref().map_or(1, String::len);
        if used + width > max_chars {
            shown.truncate(cut);
            if max_chars > 0 {
                shown.push(ELLIPSIS);
            }
            return shown;
        }
        match escape {
            Some(escape) => shown.push_str(&escape),
            None => shown.push(c),
        }
        used += width;
        if used < max_chars {
            cut = shown.len();
        }
    }
    shown
}

/// Whether a character would be one backtick too many in a row. `ticks` counts those before it.
pub(crate) fn is_tick_too_many(c: char, ticks: &mut usize) -> bool {
    *ticks = if c == '`' { *ticks + 1 } else { 0 };
    let is_too_many = *ticks > MAX_TICKS;
    if is_too_many {
        *ticks = 0;
    }
    is_too_many
}

fn is_hidden_in_lines(c: char) -> bool {
    c != '\n' && is_hidden(c)
}

/// Whether a character shows as nothing, or changes how its neighbours show.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hidden_characters_are_spelled_out() {
        assert_eq!(sanitize("a\tb\r\n", 99), r"a\tb\r\n");
        assert_eq!(sanitize("\0\u{7f}\u{9b}", 99), r"\u{0}\u{7f}\u{9b}");
        assert_eq!(sanitize("\u{202e}gpj\u{200d}\u{e0041}", 99), r"\u{202e}gpj\u{200d}\u{e0041}");
    }

    #[test]
    fn no_text_closes_a_block() {
        assert_eq!(quotable("a\n```b````", 99), r"a\n``\u{60}b``\u{60}`");
        assert_eq!(quotable_lines("a\n```\n", 99), "a\n``\\u{60}\n");
    }

    #[test]
    fn lines_stay_where_they_may() {
        let text = "a\r\n\tb\u{2028}c\n";
        assert_eq!(quotable_lines(text, 99), "a\\r\n\\tb\\u{2028}c\n");
        assert_eq!(visible(text), "a\\r\n\\tb\\u{2028}c\n");
        assert!(matches!(visible("a\n```\n"), Cow::Borrowed("a\n```\n")));
        assert_eq!(visible_json("[\n\"\u{9b}\u{e0041}\"]"), "[\n\"\\u009b\\udb40\\udc41\"]");
    }

    #[test]
    fn everything_else_stays() {
        for text in ["", "plain", "naïve \"quoted\" \\ path", "日本語 😀", "e\u{301}"] {
            assert_eq!(sanitize(text, 99), text);
        }
    }

    #[test]
    fn an_exact_fit_is_not_cut_and_an_escape_is_never_split() {
        assert_eq!(sanitize("abc", 3), "abc");
        assert_eq!(sanitize("abcd", 3), "ab…");
        assert_eq!(sanitize("a\n", 3), r"a\n");
        assert_eq!(sanitize("a\nb", 3), "a…");
        assert_eq!(sanitize("\u{1b}x", 3), "…");
        assert_eq!(sanitize("x", 0), "");
        assert_eq!(sanitize("", 0), "");
    }

    proptest! {
        #[test]
        fn the_result_is_bounded_visible_and_stable(
            text in "(`{0,5}|\\PC|[\u{0}-\u{ff}]|\u{202e}){0,8}",
            max in 0_usize..40,
        ) {
            let shown = sanitize(&text, max);
            prop_assert!(shown.chars().count() <= max);
            prop_assert!(!shown.chars().any(is_hidden));
            prop_assert_eq!(sanitize(&shown, max), shown);
            let shown = quotable(&text, max);
            prop_assert!(shown.chars().count() <= max);
            prop_assert!(!shown.chars().any(is_hidden) && !shown.contains("```"));
            prop_assert_eq!(quotable(&shown, max), shown);
        }
    }
}
