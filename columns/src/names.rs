//! Names of tables and columns that every warehouse takes.
//!
//! Warehouses fold the case of names, cut them, or keep some for themselves, each in its own way. What is named here is named the same in
//! all of them: ASCII letters, digits and underscores, at most 63 bytes, no two names alike whatever their case.

use std::collections::{HashMap, HashSet};

/// The most bytes of a name: those that Postgres keeps.
const MAX_BYTES: usize = 63;

/// What no name of BigQuery may begin with, in lower case.
const RESERVED: [&str; 6] =
    ["_table_", "_file_", "_partition", "_row_timestamp", "__root__", "_colidentifier"];

/// Names that are given out.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// In lower case.
    taken: HashSet<String>,
    /// The number that was tried last for a name in lower case.
    tried: HashMap<String, usize>,
}

impl Names {
    /// Names that none of these is among.
    pub(crate) fn without<'n>(taken: impl IntoIterator<Item = &'n str>) -> Self {
        let taken = taken.into_iter().map(str::to_ascii_lowercase).collect();
        Self { taken, ..Self::default() }
    }

    /// The name for what is called `wanted`: that itself where it can be; with `_2`, `_3`, .. where it is taken.
    pub(crate) fn give(&mut self, wanted: &str) -> String {
        let plain = plain(wanted);
        let mut name = cut(&plain, MAX_BYTES).to_owned();
        if self.taken.insert(name.to_ascii_lowercase()) {
            return name;
        }
        let number = self.tried.entry(plain.to_ascii_lowercase()).or_insert(1);
        while !self.taken.insert(name.to_ascii_lowercase()) {
            *number += 1;
            let suffix = format!("_{number}");
            name = format!("{}{suffix}", cut(&plain, MAX_BYTES - suffix.len()));
        }
        name
    }
}

/// An identifier of ASCII, with an underscore for each other character.
fn plain(wanted: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
    let name: String = wanted.chars().map(|it| if is_plain(&it) { it } else { '_' }).collect();
    let folded = name.to_ascii_lowercase();
    if RESERVED.iter().any(|reserved| folded.starts_with(reserved)) {
        return format!("c{name}");
    }
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        return format!("_{name}");
    }
    name
}

/// The first bytes of what is ASCII.
fn cut(name: &str, bytes: usize) -> &str {
    name.get(..bytes).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(wanted: &[&str]) -> Vec<String> {
        let mut names = Names::without(["_line"]);
        wanted.iter().map(|wanted| names.give(wanted)).collect()
    }

    #[test]
    fn names_differ_in_any_case() {
        assert_eq!(
            given(&["Order", "order", "ORDER", "order_2"]),
            ["Order", "order_2", "ORDER_3", "order_2_2"]
        );
        assert_eq!(given(&["_LINE", "_line"]), ["_LINE_2", "_line_3"]);
    }

    #[test]
    fn names_are_identifiers_that_nobody_keeps_for_himself() {
        assert_eq!(
            given(&["select", "größe", "a b", "1st", ""]),
            ["select", "gr__e", "a_b", "_1st", "_"]
        );
        assert_eq!(
            given(&["_PARTITIONTIME", "_file_name", "../x"]),
            ["c_PARTITIONTIME", "c_file_name", "___x"]
        );
    }

    #[test]
    fn names_are_cut_and_differ_all_the_same() {
        let long = "a".repeat(70);
        let names = given(&[&long, &long]);
        assert_eq!(names[0], "a".repeat(63));
        assert_eq!(names[1], format!("{}_2", "a".repeat(61)));
    }
}
