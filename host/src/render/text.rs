//! Data in the WebAssembly text format: string literals and comments that nothing can break out of.

use std::fmt::Write as _;

/// Bytes as the content of a string literal: printable ASCII as it is, all else as `\hh`.
pub(super) fn literal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => {
                // Writing to a string can't fail.
                let _ = write!(text, "\\{byte:02x}");
            }
        }
    }
    text
}

/// Text as part of a line comment: ASCII on one line, at most 120 characters of the original.
pub(super) fn comment(text: &str) -> String {
    const MOST: usize = 120;
    let mut shown: String = text.chars().take(MOST).flat_map(char::escape_default).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push_str("...");
    }
    shown
}

/// A path for a comment: its segments, quoted.
pub(super) fn path(path: &[String]) -> String {
    let segments: Vec<String> =
        path.iter().map(|segment| format!("\"{}\"", comment(segment))).collect();
    format!("[{}]", segments.join(", "))
}

/// Appends `text` with each line that isn't empty indented by `depth` steps of two spaces.
pub(super) fn indent(out: &mut String, depth: usize, text: &str) {
    for line in text.lines() {
        for _ in 0..if line.is_empty() { 0 } else { depth } {
            out.push_str("  ");
        }
        out.push_str(line);
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::{comment, literal};

    #[test]
    fn nothing_breaks_out() {
        assert_eq!(
            literal("a\"\\\n\0;;é\u{1f642}".as_bytes()),
            r#"a\"\\\0a\00;;\c3\a9\f0\9f\99\82"#
        );
        assert_eq!(comment("a\n;)\u{202e}"), "a\\n;)\\u{202e}");
    }
}
