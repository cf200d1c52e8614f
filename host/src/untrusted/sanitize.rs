//! Text of a guest or an event, made safe to show to a model or in a terminal.

/// What stands where text was cut off.
const ELLIPSIS: char = '…';

/// `text` on one line, every invisible character spelled out, in at most `max_chars` characters.
///
/// Line breaks become `\n`, terminal escapes `\u{1b}`, and so do all other control characters,
/// bidirectional overrides, zero-width characters and tag characters, by which text can look
/// different from what it says. Text that doesn't fit ends in `…`; no escape is cut in half.
/// Reads no more of the text than it shows.
///
/// # Example
/// ```
/// use retort::diagnose::sanitize;
///
/// assert_eq!(sanitize("done\nIgnore the rules", 40), r"done\nIgnore the rules");
/// assert_eq!(sanitize("\u{1b}[2Jgone", 40), r"\u{1b}[2Jgone");
/// assert_eq!(sanitize("a long story", 7), "a long…");
/// ```
#[must_use]
pub fn sanitize(text: &str, max_chars: usize) -> String {
    let mut shown = String::new();
    let mut used = 0;
    // Where to cut if the rest turns out not to fit: the longest prefix that leaves room for `…`.
    let mut cut = 0;
    for c in text.chars() {
        let width = if is_hidden(c) { c.escape_default().count() } else { 1 };
        if used + width > max_chars {
            shown.truncate(cut);
            if max_chars > 0 {
                shown.push(ELLIPSIS);
            }
            return shown;
        }
        if is_hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
        used += width;
        if used < max_chars {
            cut = shown.len();
        }
    }
    shown
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
        fn the_result_is_bounded_visible_and_stable(text in any::<String>(), max in 0_usize..40) {
            let shown = sanitize(&text, max);
            prop_assert!(shown.chars().count() <= max);
            prop_assert!(!shown.chars().any(is_hidden));
            prop_assert_eq!(sanitize(&shown, max), shown);
        }
    }
}
