//! Fields that mean nothing without another one: they go.

use super::super::context::Context;
use super::super::pointer::split;
use super::super::remedy::Remedy;
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::ranking::Likely;

/// The plan without the field. That of a path which isn't there may have been meant, unless it says what holds anyway.
pub(super) fn remedy(context: &Context<'_, '_>, at: &str) -> Remedy {
    let (parent, name) = split(at)?;
    let says_nothing = name != "from"
        || context.plan.get(at)?.as_str() == Some("event")
        || context.plan.get(parent)?.get("constant").is_some();
    Some(Likely::new(patch::remove(at), says_nothing))
}
