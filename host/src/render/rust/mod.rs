//! Plans rendered to Rust, by the crate `retort-guest`: what a person begins with where a plan is no longer enough.
//!
//! What is declared is what the extractor in WebAssembly text declares: conversions, conditions and expressions stay with the
//! host. What comes out is the same, to the byte, as long as it fits what the other one takes and gives.

mod body;
mod declaration;
mod function;
mod names;
mod places;
mod text;

use super::lower::lower;
use super::text::comment;
use super::{RenderError, declarable, extractor};
use crate::plan::Plan;

/// Renders `plan` to the source of an extractor in Rust, formatted as rustfmt would.
///
/// ```
/// let plan = retort::plan::parse(
///     r#"{"event_type": "order", "target_entity_name": "Order", "function_name": "read_order",
///         "key_field": {"property_name": "id", "source_path": ["id"]}}"#,
/// )?;
/// let source = retort::render::render_rust(&plan)?;
/// assert!(source.contains("fn read_order(event: &Event<'_>, graph: &mut Graph) {"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RenderError`], for plans beyond what the ABI can hold, and those whose function has a name that compilers use for their own.
pub fn render_rust(plan: &Plan) -> Result<String, RenderError> {
    declarable::check(plan)?;
    let function = function::FunctionName::of(plan.function_name())?;
    let lowered = lower(plan);
    let section = extractor::section(plan, &lowered)?;
    let names = names::Names::of(&lowered, &section);
    let types = section.event_types().iter().map(|it| format!("\"{}\"", comment(it)));
    let mut out = format!(
        "//! Rendered by Retort, {version}: events of type {types} to {entities}.\n\n\
         use retort_guest::prelude::*;\n\n",
        version = retort_guest_template::SDK_VERSION,
        types = extractor::listed(types),
        entities = extractor::listed(plan.nodes().iter().map(|node| comment(node.entity_name()))),
    );
    declaration::write(&mut out, plan, &function, &section, &names);
    out.push('\n');
    body::write(&mut out, &function, &lowered, &names);
    Ok(out)
}
