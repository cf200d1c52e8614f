//! Names that aren't identifiers.

use serde_json::json;

use super::{Context, Remedy, derived, edge_end, fix, replace};
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::ranking::Likely;
use crate::plan::language::Shape;
use crate::plan::{is_identifier, is_reserved};

/// How much of a name is kept, in characters.
const MAX_CHARS: usize = 100;

/// The name that is meant by the rest of the plan and the task, or else an identifier that is made of what is written.
pub(super) fn remedy(context: &Context<'_, '_>, at: &str) -> Remedy {
    let written = context.plan.get(at)?.as_str()?;
    if at == "/function_name" {
        return fix(patch::replace(at, identifier(written, "extract_")));
    }
    if context.plan.shape(at) == Some(Shape::End) {
        return edge_end::unknown_node(context, at);
    }
    let made = || Likely::new(json!(identifier(written, "_")), false);
    replace(at, derived(context, at).unwrap_or_else(made))
}

/// A name made an identifier that isn't reserved.
fn identifier(name: &str, prefix: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let joined: String = name.chars().map(allowed).take(MAX_CHARS).collect();
    let trimmed = joined.trim_matches('_');
    match is_identifier(trimmed) && !is_reserved(trimmed) {
        true => trimmed.to_owned(),
        false => format!("{prefix}{trimmed}"),
    }
}
