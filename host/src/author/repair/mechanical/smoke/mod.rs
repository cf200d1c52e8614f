//! What the sample run finds, as findings about the plan.

mod cause;
mod origin;
mod trial;

use std::collections::BTreeMap;

use crate::bundle::smoke::SmokeFailed;
use crate::diagnostics::codes;
use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::{Problem, Stage};
use crate::evidence::effort::{Cancel, StepBudgets};
use crate::evidence::{Seen, Task};
use crate::gate::fit::smallest;
use crate::graph::validate::{Failure, ValidateOptions, validate};
use crate::plan::Plan;
use cause::likely_cause;
use origin::origin;
use trial::Trial;

/// The failures of a sample run as findings about the plan: what the graph validator finds in a node or an edge, at the place
/// in the plan that it is from; too few results, with their likely cause; anything else at the plan as a whole.
///
/// One finding for each place and code, however many samples show it, with the smallest of them.
#[must_use]
pub fn smoke_findings(plan: &Plan, failed: &SmokeFailed, task: &Task) -> Vec<Finding> {
    smoke_findings_within(plan, failed, task, &StepBudgets::new(&Cancel::default()))
}

/// The same, within these efforts: without any, too few results have no cause.
pub(crate) fn smoke_findings_within(
    plan: &Plan,
    failed: &SmokeFailed,
    task: &Task,
    efforts: &StepBudgets,
) -> Vec<Finding> {
    let trial = Trial { plan, task, efforts };
    let mut findings = Vec::new();
    let of_graph = &failed.report().validation_failures;
    if !of_graph.is_empty() {
        let is_unresolved = |code: &str| code == codes::UNRESOLVED_ENDPOINT;
        let allow_external_endpoints = !of_graph.iter().any(|it| is_unresolved(&it.code));
        findings.extend(of_results(&trial, ValidateOptions { allow_external_endpoints }));
    }
    let mut others: Vec<&Problem> = Vec::new();
    for problem in failed.problems().iter().filter(|it| it.stage != Stage::Graph) {
        let is_same = |it: &&Problem| (it.code, &it.message) == (problem.code, &problem.message);
        if !others.iter().any(is_same) {
            others.push(problem);
        }
    }
    // Samples that a limit ended gave nothing for that, and say nothing of what the plan reads.
    let is_limited = others.iter().any(|it| it.code.limit.is_some());
    if is_limited && !trial.samples().all(|seen| trial.gives_nothing(seen)) {
        others.retain(|problem| !is_of_floor(problem));
    }
    findings.extend(others.into_iter().map(|problem| of_whole(&trial, problem)));
    findings
}

/// Whether it is that too few samples gave anything.
fn is_of_floor(problem: &Problem) -> bool {
    matches!(problem.code, codes::NONEMPTY_FLOOR | codes::EVENT_TYPE_WITHOUT_RESULT)
}

/// What the validator finds in what the plan means for each sample, by place in the plan.
fn of_results(trial: &Trial<'_>, options: ValidateOptions) -> Vec<Finding> {
    let graph = trial.task.graph();
    let mut found: BTreeMap<(String, &'static str), (Failure, Vec<&Seen>)> = BTreeMap::new();
    for seen in trial.samples().take_while(|seen| trial.affords(seen)) {
        let Some(result) = trial.evaluate(seen) else { continue };
        for failure in validate(graph, &result, options).into_failures() {
            let origin = origin(trial.plan, &failure, &result, graph).unwrap_or_default();
            let key = (origin, failure.code.name);
            let (_, shown_by) = found.entry(key).or_insert_with(|| (failure, Vec::new()));
            if !shown_by.last().is_some_and(|last| std::ptr::eq(*last, seen)) {
                shown_by.push(seen);
            }
        }
    }
    let finding = |((pointer, _), (failure, samples)): (_, (Failure, Vec<&Seen>))| {
        let observed = format!("{}, in {} samples", failure.observed, samples.len());
        let mut finding =
            Finding::new(Stage::Graph, failure.code, pointer, failure.expected, observed);
        finding.event = smallest(samples.into_iter());
        finding
    };
    found.into_iter().map(finding).collect()
}

/// A problem of the whole run: of too few results, with their likely cause.
fn of_whole(trial: &Trial<'_>, problem: &Problem) -> Finding {
    let Problem { code, message, .. } = problem;
    let code = *code;
    if !is_of_floor(problem) {
        let expected = "the result that the plan means";
        return Finding::new(problem.stage, code, "", expected, message).limited_as(problem);
    }
    match likely_cause(trial) {
        Some(cause) => {
            let observed = format!("{message}: {}", cause.observed);
            Finding { code, observed, ..cause }
        }
        None => {
            let expected = "enough samples of the plan's event types";
            Finding::new(Stage::Smoke, code, "", expected, message)
        }
    }
}
