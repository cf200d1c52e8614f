//! A plan, rendered.

use super::RenderError;
use super::extractor;
use crate::plan::Plan;

/// A rendered plan. Made by [`render`] alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    text: String,
    plan: Plan,
}

impl Source {
    /// The module in the WebAssembly text format.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The plan that it was rendered from.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// Renders `plan` to source.
///
/// ```
/// let plan = retort::plan::parse(
///     r#"{"event_type": "order", "target_entity_name": "Order", "function_name": "read_order",
///         "key_field": {"property_name": "id", "source_path": ["id"]}}"#,
/// )?;
/// let source = retort::render::render(&plan)?;
/// assert!(source.text().contains("(func $read (export \"read_order\")"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RenderError`], for plans beyond what the ABI or a result can hold.
pub fn render(plan: &Plan) -> Result<Source, RenderError> {
    Ok(Source { text: extractor::module(plan)?, plan: plan.clone() })
}
