//! Fields that take one of a few words, or `true`, and have another one.

use serde_json::Value;

use super::{Context, Remedy, conversion, fix, maybe, path_level, reshape, split};
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::{TYPO_THRESHOLD, spelling};
use crate::plan::language::Shape;

/// The word that is meant, or none.
pub(super) fn remedy(context: &Context<'_, '_>, at: &str) -> Remedy {
    let plan = context.plan;
    let found = plan.get(at)?;
    let (parent, name) = split(at)?;
    match plan.shape(at)? {
        Shape::Step | Shape::Arguments => conversion::remedy(context, at),
        // What isn't unseen says nothing.
        Shape::True if *found == Value::Bool(false) && name == "unseen" => fix(patch::remove(at)),
        Shape::True if *found == Value::Bool(false) => {
            fix(patch::replace(parent, reshape::opposite(plan.get(parent)?, &name)?))
        }
        Shape::Word(words) => {
            let level =
                (name == "from").then(|| path_level::level_meant(context, parent)).flatten();
            if level.is_some() {
                return level;
            }
            let written = found.as_str()?.trim().to_ascii_lowercase();
            let is_near =
                |word: &&str| spelling::names(&written, word, context.searches()) >= TYPO_THRESHOLD;
            match known_as(&name, &written).or_else(|| words.iter().copied().find(is_near)) {
                // An element is where paths start anyway.
                Some("") => fix(patch::remove(at)),
                Some(word) => fix(patch::replace(at, word)),
                None => maybe(patch::remove(at)),
            }
        }
        _ => None,
    }
}

/// What others call the words that a field takes; empty for what is said by saying nothing.
fn known_as(field: &str, word: &str) -> Option<&'static str> {
    Some(match (field, word) {
        ("from", "root" | "top" | "$" | "record" | "document" | "global") => "event",
        ("from", "element" | "item" | "self" | "current" | "row" | "entry" | "this" | ".") => "",
        ("from", "outer" | "outer_element" | "^" | ".." | "parent1") => "parent",
        ("from", "grandparent" | "^^" | "../..") => "parent2",
        ("from", "great_grandparent" | "^^^" | "../../..") => "parent3",
        ("empty", "null" | "none" | "nothing" | "omit" | "missing" | "drop" | "skip") => "absent",
        ("empty", "keep" | "string" | "text" | "present") => "value",
        ("nulls", "drop" | "skip" | "ignore" | "remove") => "omit",
        ("nulls", "include" | "write" | "preserve") => "keep",
        ("on_error", "drop" | "skip" | "ignore" | "null" | "leave_out") => "omit",
        ("on_duplicate", "overwrite" | "keep_last" | "replace" | "latest") => "last",
        ("on_error" | "on_duplicate", "fail" | "error" | "raise" | "abort") => "reject",
        ("is_type", "str" | "text") => "string",
        ("is_type", "int" | "integer" | "int64" | "double" | "float") => "number",
        ("is_type", "bool") => "boolean",
        ("is_type", "map" | "dict") => "object",
        ("is_type", "list") => "array",
        ("is_type", "none" | "nil") => "null",
        _ => return None,
    })
}
