//! Lists of which the first entries are shown, and the others counted.

use std::fmt::Display;

/// Entries that a list shows before it counts the rest.
pub(crate) const MAX_LISTED: usize = 10;

/// Appends the first of `total` entries, each on a line of its own, and the number of those left out.
pub(crate) fn push_list(
    text: &mut String,
    indent: &str,
    bullet: &str,
    total: usize,
    entries: impl IntoIterator<Item = impl Display>,
) {
    for entry in entries.into_iter().take(MAX_LISTED) {
        text.push_str(&format!("\n{indent}{bullet}{entry}"));
    }
    if let Some(more @ 1..) = total.checked_sub(MAX_LISTED) {
        text.push_str(&format!("\n{indent}... and {more} more (truncated)"));
    }
}

/// Appends a list with bullets below a heading, after an empty line; nothing, if it has no entries.
pub(crate) fn push_section(
    text: &mut String,
    indent: &str,
    heading: &str,
    total: usize,
    entries: impl IntoIterator<Item = impl Display>,
) {
    if total > 0 {
        text.push_str(&format!("\n\n{indent}{heading}:"));
        push_list(text, &format!("{indent}  "), "- ", total, entries);
    }
}
