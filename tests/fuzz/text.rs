//! What holds for all text that is shown.

/// Asserts that a text is one line of characters that show, as whatever repeats foreign text has to be.
pub(super) fn assert_one_line(text: &str) {
    let hidden = text.chars().find(|c| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    });
    assert!(hidden.is_none(), "{hidden:?} in {text:?}");
}

/// Asserts that a text is lines of characters that show, at most so many bytes of them.
pub(super) fn assert_lines(text: &str, most: usize) {
    text.split('\n').for_each(assert_one_line);
    assert!(text.len() <= most, "{} bytes: {text}", text.len());
}
