//! Codes of what the caller named.

use super::{Explanation, Stage::Input};

pub(super) const TABLE: &[Explanation] = &[
    Explanation::new(
        Input,
        "invalid_report",
        "The saved report does not have the shape of the kind that was named, so there is nothing \
         to render. The message gives the JSON path of the first thing that does not fit.",
        "Name the kind that the report was saved as (parse, ast, smoke or compile), or save it \
         again with this version.",
    ),
    Explanation::new(
        Input,
        "unknown_report_kind",
        "No report is of the kind that was named.",
        "Use one of parse, ast, smoke or compile.",
    ),
];
