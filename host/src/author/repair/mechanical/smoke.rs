//! What the sample run says, as findings about the plan.

use std::collections::BTreeMap;

use super::cause::likely_cause_within;
use super::origin::place;
use crate::bundle::smoke::SmokeFailed;
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::{Problem, Stage};
use crate::evidence::Task;
use crate::evidence::effort::Cancel;
use crate::evidence::{SampleEvents, Seen};
use crate::gate::fit::{Efforts, smallest};
use crate::graph::validate::{Failure, FailureCode, ValidateOptions, validate};
use crate::plan::{NodeRule, Plan, eval};

/// The failures of a sample run as findings about the plan: what the graph validator says of a node or an edge, at the place
/// in the plan that it is from; too few results, with their likely cause; anything else at the plan as a whole.
///
/// One finding for each place and code, however many samples show it, with the smallest of them.
#[must_use]
pub fn smoke_findings(plan: &Plan, failed: &SmokeFailed, task: &Task) -> Vec<Finding> {
    smoke_findings_within(plan, failed, task, &Efforts::new(&Cancel::default()))
}

/// The same, within these efforts: without any, too few results have no cause.
pub(crate) fn smoke_findings_within(
    plan: &Plan,
    failed: &SmokeFailed,
    task: &Task,
    efforts: &Efforts,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let of_graph = &failed.report().validation_failures;
    if !of_graph.is_empty() {
        let is_unresolved = |code: &str| code == FailureCode::UnresolvedEndpoint.as_str();
        let allow_external_endpoints = !of_graph.iter().any(|it| is_unresolved(&it.code));
        let options = ValidateOptions { allow_external_endpoints };
        findings.extend(of_results(plan, task, options, efforts));
    }
    let mut others: Vec<&Problem> = Vec::new();
    for problem in failed.problems() {
        let is_new =
            !others.iter().any(|it| (it.code, &it.message) == (problem.code, &problem.message));
        if problem.stage != Stage::Graph && is_new {
            others.push(problem);
        }
    }
    for problem in others {
        findings.push(match problem.code {
            "nonempty_floor" | "event_type_without_result" => {
                caused(problem.code, &problem.message, plan, task, efforts)
            }
            code => Finding::new(
                problem.stage,
                code,
                "",
                "the result that the plan means",
                problem.message.clone(),
            ),
        });
    }
    findings
}

/// The samples of the types that a plan is for.
pub(super) fn samples<'t>(plan: &Plan, task: &'t Task) -> impl Iterator<Item = &'t Seen> {
    let types = task.evidence().event_types();
    let matching = types.filter(|(name, _)| plan.event_types().matches(name));
    matching.map(|(_, events)| events).flat_map(SampleEvents::samples)
}

/// What it costs to work out what a plan means for a sample, in steps.
pub(super) fn eval_steps(plan: &Plan, seen: &Seen) -> u64 {
    let mappings = |node: &NodeRule| node.key_fields().len() + node.property_fields().len();
    let mappings: usize = plan.nodes().iter().map(mappings).sum();
    20 * seen.bytes() as u64 + 200 * mappings as u64
}

/// What the validator says of what the plan means for each sample, by place in the plan.
fn of_results(
    plan: &Plan,
    task: &Task,
    options: ValidateOptions,
    efforts: &Efforts,
) -> Vec<Finding> {
    let mut found: BTreeMap<(String, &'static str), (Failure, Vec<&Seen>)> = BTreeMap::new();
    for seen in samples(plan, task).take_while(|seen| efforts.values.take(eval_steps(plan, seen))) {
        // A module that doesn't do what its plan means has problems of another kind.
        let Ok(result) = eval::eval(plan, &seen.event().to_string()) else { continue };
        for failure in validate(task.graph(), &result, options).into_failures() {
            let place = place(plan, &failure, &result, task.graph());
            let key = (place, failure.code.as_str());
            let (_, shown_by) = found.entry(key).or_insert_with(|| (failure, Vec::new()));
            if !shown_by.last().is_some_and(|last| std::ptr::eq(*last, seen)) {
                shown_by.push(seen);
            }
        }
    }
    let finding = |((pointer, _), (failure, samples)): (_, (Failure, Vec<&Seen>))| {
        let (expected, observed) =
            failure.detail.split_once(", found ").unwrap_or((&failure.detail, "something else"));
        let expected = expected.strip_prefix("expected ").unwrap_or(expected);
        let observed = format!("{observed}, in {} samples", samples.len());
        let mut finding =
            Finding::new(Stage::Graph, failure.code.as_str(), pointer, expected, observed);
        finding.event = smallest(samples.into_iter());
        finding
    };
    found.into_iter().map(finding).collect()
}

fn caused(
    code: &'static str,
    message: &str,
    plan: &Plan,
    task: &Task,
    efforts: &Efforts,
) -> Finding {
    match likely_cause_within(plan, task, efforts) {
        Some(mut cause) => {
            cause.code = code;
            cause.observed = format!("{message}: {}", cause.observed);
            cause
        }
        None => Finding::new(
            Stage::Smoke,
            code,
            "",
            "enough samples of the plan's event types",
            message,
        ),
    }
}

pub(super) fn proposed(
    finding: Finding,
    at: &str,
    value: impl serde::Serialize,
    certain: bool,
) -> Finding {
    let patch = patch::replace(at, value);
    if certain { finding.with_fix(patch) } else { finding.with_suggestion(patch) }
}
