//! Expressions that call a function that there is none of.

use super::{Context, Remedy, fix};
use crate::diagnostics::codes::UNKNOWN_FUNCTION;
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::ranking::{best, only};
use crate::evidence::similarity::slip::{Slip, slip};
use crate::evidence::similarity::spelling;
use crate::plan::Query;
use crate::plan::expr::query::Function;

/// How many calls of one expression are put right.
const MAX_CALLS: usize = 16;

/// The expression with the functions that are meant, where each name is one of theirs misspelt and no other.
pub(super) fn remedy(context: &Context<'_, '_>, at: &str) -> Remedy {
    let mut text = context.plan.get(at)?.as_str()?.to_owned();
    let level = context.plan.scope(at)?.level();
    for _ in 0..MAX_CALLS {
        let error = match Query::parse(&text, level) {
            Ok(_) => return fix(patch::replace(at, text)),
            Err(error) if error.code == UNKNOWN_FUNCTION => error,
            // What else is wrong is said once the names are right.
            Err(_) => return fix(patch::replace(at, text)),
        };
        let (start, _) = text.char_indices().nth(error.column.checked_sub(1)?)?;
        let rest = text.get(start..)?;
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        let written = rest.get(..length).filter(|name| !name.is_empty())?;
        let is_slip = |name: &&str| slip(written, name).is_some_and(|it| it != Slip::Doubtful);
        let alike = |name| (spelling::names(written, name, context.searches()), name);
        let near = || best(Function::names().map(alike)).filter(|it| it.is_clear_typo());
        let meant = only(Function::names().filter(is_slip)).or_else(|| Some(near()?.item))?;
        text.replace_range(start..start + length, meant);
    }
    None
}
