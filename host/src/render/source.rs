//! A plan, rendered.

use std::sync::Arc;

use super::RenderError;
use super::extractor;
use crate::abi::result::ResultForm;
use crate::plan::Plan;

/// A rendered plan. Made by [`render`] alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    text: String,
    plan: Plan,
    form: Option<Arc<ResultForm>>,
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

    /// The form of all results of the module, if it is known.
    pub(crate) fn form(&self) -> Option<&Arc<ResultForm>> {
        self.form.as_ref()
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
    let (text, form) = extractor::module(plan)?;
    Ok(Source { text, plan: plan.clone(), form: form.map(Arc::new) })
}
