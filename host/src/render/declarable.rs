//! Whether what a plan says can be declared, in the plan's own terms.

use super::RenderError;
use crate::abi::section::{
    MAX_ENTRIES, MAX_INPUTS, MAX_PATH_KEYS, MAX_PATH_SEGMENTS, MAX_ROWS, SectionError,
};
use crate::plan::Plan;

/// Refuses the first part of a plan that is more than an input can be.
pub(super) fn check(plan: &Plan) -> Result<(), RenderError> {
    let paths = plan.reads().into_iter().map(|read| {
        beyond(read.pointer, "keys in a path", read.reference.path.len(), MAX_PATH_SEGMENTS)
    });
    let templates = plan.templates().into_iter().map(|(pointer, template)| {
        beyond(pointer, "pieces in a template", template.pieces().len(), MAX_ENTRIES)
    });
    paths.chain(templates).collect()
}

fn beyond(
    pointer: String,
    of: &'static str,
    found: usize,
    allowed: usize,
) -> Result<(), RenderError> {
    if found > allowed {
        return Err(RenderError::Part { pointer, of, found, allowed });
    }
    Ok(())
}

/// What is wrong with a declaration, as far as it is the whole plan that is too much.
pub(super) fn refused(error: SectionError) -> RenderError {
    let (of, found, allowed) = match error {
        SectionError::TooManyInputs { found } => {
            ("different values and conditions", found, MAX_INPUTS)
        }
        SectionError::TooManyKeys { found } => ("keys in all paths together", found, MAX_PATH_KEYS),
        SectionError::TooManyRows { found } => ("different iterations", found, MAX_ROWS),
        other => return RenderError::Declaration(other),
    };
    RenderError::Part { pointer: String::new(), of, found, allowed }
}
