//! Repair without a model: findings with fixes, and their application.
//!
//! The gate of [`fit`](crate::gate::fit) says what doesn't fit and what would fix it. Here the same is said of what the
//! [plan parser](crate::plan), the [sample run](crate::bundle::smoke) and the gate of [expected results](crate::bundle::confirm) reject, and [`apply_fixes`] applies everything that
//! is certain. What comes out is a text like any other: it has to pass all gates.
//!
//! What can't be parsed is read a second time, as a tolerant plan: whatever part of it can be read, with its place. For each
//! code of the parser there is one remedy, a function of that plan, the task and the pointer of the problem.
//!
//! # Example
//!
//! ```
//! use retort::diagnostics::{Finding, Stage};
//! use retort::internal::{codes::UNKNOWN_FIELD, repair::apply_fixes};
//!
//! let patch = serde_json::from_str(r#"[{"op": "remove", "path": "/notes"}]"#)?;
//! let finding = Finding::new(Stage::Plan, UNKNOWN_FIELD, "/notes", "a field of plans", "`notes`");
//! let fixed = apply_fixes(r#"{"event_type": "a", "notes": []}"#, &[finding.with_fix(patch)]);
//! assert_eq!(fixed.map(|it| it.text).as_deref(), Some("{\n  \"event_type\": \"a\"\n}"));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod apply;
mod context;
mod described;
mod expected;
mod grammar;
mod iteration;
mod path_context;
mod pointer;
mod remedies;
mod remedy;
mod renames;
mod rule;
mod smoke;
mod tolerant;

use serde_json::Value;

pub use apply::{Change, Fixed, apply_fixes};
pub use expected::unconfirmed_findings;
pub use smoke::smoke_findings;
pub(crate) use smoke::smoke_findings_within;

use crate::diagnostics::codes;
use crate::diagnostics::finding::Finding;
use crate::evidence::Task;
use crate::evidence::effort::{Cancel, StepBudgets};
use crate::plan::PlanParseError;
use context::{Context, Target};
use tolerant::TolerantPlan;

/// How many problems become findings.
const MAX_FINDINGS: usize = 100;

/// What is expected in place of a field that may not just be dropped.
const SAYS_MORE: &str = "a field that plans have: what this one says can't be said in a plan, and is lost where it is dropped";

/// The parser's problems as findings, each with what would fix it, where that follows from the plan and the task.
///
/// `value` is what was to be a plan, `problems` are those that [`problems_of_value`](crate::plan::problems_of_value) found
/// in it. A field that is missing because it is there under another name has one finding, that of the other name. Where
/// several fields are missing none is certain. There are at most a hundred: problems beyond that have no finding and are
/// not counted anywhere here.
#[must_use]
pub fn plan_findings(value: &Value, problems: &[PlanParseError], task: &Task) -> Vec<Finding> {
    plan_findings_within(value, problems, task, &StepBudgets::new(&Cancel::default()))
}

/// The same, within these efforts: without any, a problem has no patch that takes a search.
pub(crate) fn plan_findings_within(
    value: &Value,
    problems: &[PlanParseError],
    task: &Task,
    efforts: &StepBudgets,
) -> Vec<Finding> {
    if let Some(finding) = remedies::of_whole_plan(value, problems) {
        return vec![finding];
    }
    let plan = TolerantPlan::read(value, task.graph(), &efforts.searches);
    let target = Target::of(&plan, task.evidence(), &efforts.searches);
    let elements = target.elements(&plan, task.evidence(), efforts);
    let context = Context::new(&plan, problems, task, &target, &elements, efforts);
    let is_there = |problem: &&PlanParseError| {
        problem.code == codes::MISSING_REQUIRED_FIELD && context.renames.supply(&problem.pointer)
    };
    let problems = problems.iter().filter(|problem| !is_there(problem));
    problems.take(MAX_FINDINGS).map(|problem| finding(&context, problem)).collect()
}

fn finding(context: &Context<'_, '_>, problem: &PlanParseError) -> Finding {
    let at = problem.pointer.as_str();
    let mut finding = described::described(problem, at);
    finding.suggestion =
        remedies::of(problem.code).and_then(|remedy| Some(remedy(context, at)?.into()));
    let is_doubtful = finding.suggestion.as_ref().is_some_and(|it| !it.is_certain());
    if problem.code == codes::UNKNOWN_FIELD && is_doubtful {
        SAYS_MORE.clone_into(&mut finding.expected);
    }
    finding
}

#[cfg(test)]
mod tests;
