//! Characters that a reader of the source wouldn't see.

use proc_macro2::LineColumn;

use super::problem::{SourceFault, SourceProblems};
use crate::diagnostics::untrusted::is_hidden;

/// Reports what doesn't show, or changes how its neighbours show: what a person reads has to be what is compiled.
pub(super) fn check(text: &str, problems: &mut SourceProblems) {
    for (index, line) in text.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let hidden = line.chars().enumerate().filter(|(_, c)| *c != '\t' && is_hidden(*c));
        for (column, c) in hidden {
            let at = LineColumn { line: index.saturating_add(1), column };
            problems.push_at(at, SourceFault::Character(format!("U+{:04X}", u32::from(c))));
        }
    }
}
