//! The plan against what is known of events and graph, before anything is rendered or run.

mod check;
mod declared;
mod mapping;
mod scope;
pub(crate) mod suggest;
mod unseen;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::diagnostics::codes::{
    Code, EVENT_TYPE_WITHOUT_SAMPLE, FIT_LIMIT, UNKNOWN_PATH, WRONG_ENDPOINT,
};
use crate::diagnostics::finding::{self, FailingEvent, Finding};
use crate::diagnostics::problem::{Coded, Stage};
use crate::evidence::effort::{Cancel, SEARCH_STEPS, StepBudgets, VALUE_STEPS};
use crate::evidence::{Seen, Task};
use crate::plan::{EdgeRule, Endpoint, Plan};
use check::Checks;
pub(crate) use declared::{declared_warnings, fit_declared};
pub(crate) use scope::{Elements, Scopes};
pub(crate) use unseen::warnings as unseen_warnings;

/// How many findings are reported of one plan: nobody fixes more at once.
const MAX_FINDINGS: usize = 1_000;

/// A plan that speaks of things that exist. Made by [`fit`] alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    plan: Plan,
    is_whole: bool,
}

impl Fitted {
    /// The plan, as it was.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether all values of the samples were checked. Of very many values, the last ones are left to the sample run.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }
}

/// A plan, or what other code declares, that doesn't fit what is known: at least one finding.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{} doesn't fit: {}", if *.is_code { "the declaration" } else { "the plan" }, .findings.first().map_or_else(String::new, |it| format!(
    "{}: expected {}, found {}", it.pointer, it.expected, it.observed)))]
pub struct Unfit {
    findings: Vec<Finding>,
    is_code: bool,
}

impl Unfit {
    fn of_plan(findings: Vec<Finding>) -> Self {
        Self { findings, is_code: false }
    }

    fn of_code(findings: Vec<Finding>) -> Self {
        Self { findings, is_code: true }
    }

    /// What is wrong, in the order: event types, each node with its entity, key and properties, edges, what each `for_each`
    /// goes over, conditions, session, spans. Of more than a thousand faults, the first ones. Where that is so, or what would
    /// fix them could not be looked for to the end, the second finding says so, with the code `fit_limit`.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What a model is shown: every finding with its pointer, what was expected and observed, the smallest event that
    /// shows it and the patch that may fix it; ten at most, the remainder counted.
    #[must_use]
    pub fn diagnostic(&self) -> String {
        let heading = match self.is_code {
            false => "Plan does not fit events and graph",
            true => "The extractor declares what events do not have",
        };
        finding::describe(heading, &self.findings)
    }
}

impl Coded for Unfit {
    fn entry(&self) -> Code {
        self.findings.first().map_or(UNKNOWN_PATH, |finding| finding.code)
    }
}

/// Checks a plan against the task's samples, event schema and graph spec.
///
/// Samples and event schema say which event types and paths there are and of which types the values are, the graph spec
/// which entities, keys and properties. A plan that speaks of something else can't be right, and what it should speak of
/// can often be known: each [`Finding`] carries a patch where that is so.
///
/// The gate never rejects what may be right: a path that occurs in one sample of the event type, or that the schema
/// declares, is fine, whatever it is called. Where there are only a few samples, so is one that samples of another type
/// have, and without a schema, one that is unlike any of theirs. Of what a plan says `unseen` it isn't asked to be there. What it can't know
/// is whether a path that exists is the one that was meant.
///
/// Inside of a `for_each` the same is asked of the elements: each of them is an event of its own, as far as paths that start
/// there are concerned. What a property's value is made of is judged by the values that samples have there, as the
/// conversions make them; values for which a condition doesn't hold, and events and elements without a key, don't count.
///
/// # Example
///
/// ```
/// use retort::{GraphSpec, Samples, Task};
/// use retort::gate::fit;
///
/// let plan = retort::plan::parse(r#"{
///     "event_type": "order_placed", "target_entity_name": "Order", "function_name": "read_order",
///     "key_field": {"property_name": "order_id", "source_path": ["content", "Id"]}
/// }"#)?;
/// let graph = "entities: [{name: Order, keys: {primary: [order_id]}, properties: [{name: order_id, type: string}]}]";
/// let graph = GraphSpec::parse(graph, "graph.yaml")?;
/// let samples = Samples::parse(r#"{"event_type": "order_placed", "content": {"id": "A-7"}}"#, "samples")?;
///
/// let unfit = fit(&plan, &Task::new(graph, samples)).unwrap_err();
/// let finding = &unfit.findings()[0];
/// assert_eq!((finding.code.name, finding.pointer.as_str()), ("unknown_path", "/key_field/source_path"));
/// assert!(finding.is_certain());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Unfit`], with everything that is wrong. What follows from another problem is left out: without a known event type
/// nothing is said about paths, without a known entity nothing about properties.
pub fn fit(plan: &Plan, task: &Task) -> Result<Fitted, Unfit> {
    fit_within(plan, task, &StepBudgets::new(&Cancel::default()))
}

/// The same, within these efforts.
pub(crate) fn fit_within(plan: &Plan, task: &Task, efforts: &StepBudgets) -> Result<Fitted, Unfit> {
    let evidence = task.evidence();
    let mut findings = check::event_type::check(plan, evidence, &efforts.searches);
    let types = evidence.event_types().map(|(name, _)| name);
    let types: Vec<&str> = types.filter(|name| plan.event_types().matches(name)).collect();
    // Where all its types are unseen, so is everything in their events.
    let has_samples = findings.is_empty() && !types.is_empty();
    let elements = Elements::new(plan, evidence);
    let scopes = Scopes::new(evidence, &elements, &types, efforts).read_by(plan);
    // Of plans, none fails to serialise.
    let written = serde_json::to_value(plan).unwrap_or_default();

    let checks =
        Checks { plan, graph: task.graph(), scopes: &scopes, written: &written, has_samples };
    let nodes = (0..plan.nodes().len()).flat_map(|index| checks.node(index));
    let edges = (0..plan.edges().len()).flat_map(|index| checks.edge(index));
    let room = (MAX_FINDINGS + 1).saturating_sub(findings.len());
    findings.extend(nodes.chain(edges).take(room));
    if has_samples {
        findings.extend(check::for_each::check(plan, &scopes));
        findings.extend(check::path::roles(plan, &scopes));
        findings.retain(|finding| !is_said_unseen(plan, finding));
        check::wrong_iteration::check(plan, &scopes, &mut findings);
    }
    without_follow_ons(&mut findings);
    if findings.is_empty() {
        return Ok(Fitted { plan: plan.clone(), is_whole: !efforts.values.is_over() });
    }
    let left_out = findings.len().saturating_sub(MAX_FINDINGS);
    findings.truncate(MAX_FINDINGS);
    one_path_each(&mut findings);
    if let Some(limited) = limited(left_out > 0, efforts) {
        findings.insert(1, limited);
    }
    Err(Unfit::of_plan(findings))
}

/// Whether a finding says no more than that no sample shows what the plan says no sample shows.
fn is_said_unseen(plan: &Plan, finding: &Finding) -> bool {
    let is_about_samples = matches!(finding.code, UNKNOWN_PATH | EVENT_TYPE_WITHOUT_SAMPLE);
    is_about_samples && plan.unseen_at(&finding.pointer).is_some()
}

/// That not all is reported that could be.
fn limited(is_cut: bool, efforts: &StepBudgets) -> Option<Finding> {
    let cut = is_cut.then_some("more that is wrong than is reported");
    let values = efforts.values.is_over().then_some("values that weren't looked at");
    let searches = efforts.searches.is_over();
    let searches =
        searches.then_some("findings for which nothing more was looked for that fixes them");
    let observed: Vec<&str> = [cut, values, searches].into_iter().flatten().collect();
    let expected = format!(
        "a plan with at most {MAX_FINDINGS} faults, for which samples and names take at most {VALUE_STEPS} and {SEARCH_STEPS} steps"
    );
    let finding = || Finding::new(Stage::Fit, FIT_LIMIT, "", expected, observed.join(", and "));
    (!observed.is_empty()).then(finding)
}

/// Whether a pointer leads into what is at another one.
fn is_in(pointer: &str, at: &str) -> bool {
    pointer.strip_prefix(at).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether an edge has a node of the plan at one of its ends.
fn joins(edge: &EdgeRule, node: usize) -> bool {
    [edge.from(), edge.to()].contains(&&Endpoint::Node(node))
}

/// Where an edge names the wrong node, its paths start elsewhere, and an end of another entity has another key: what is said
/// of those follows.
fn without_follow_ons(findings: &mut Vec<Finding>) {
    let wrong: Vec<String> = findings
        .iter()
        .filter(|it| it.code == WRONG_ENDPOINT)
        .map(|it| it.pointer.clone())
        .collect();
    let follows = |finding: &Finding| {
        wrong.iter().any(|end| {
            let edge = end.rsplit_once('/').map_or("", |(edge, _)| edge);
            is_in(&finding.pointer, end)
                || (finding.code == UNKNOWN_PATH && is_in(&finding.pointer, edge))
        })
    };
    findings.retain(|finding| !follows(finding));
}

/// Two mappings that are to read the same path can't both mean it.
fn one_path_each(findings: &mut [Finding]) {
    let target = |finding: &Finding| -> Option<String> {
        let paths = finding.patch().into_iter().flat_map(|patch| patch.0.iter());
        let mut values = paths.filter_map(|operation| match operation {
            json_patch::PatchOperation::Replace(replace)
                if replace.path.last().is_some_and(|token| token.decoded() == "source_path") =>
            {
                Some(Value::to_string(&replace.value))
            }
            _ => None,
        });
        values.next().filter(|_| finding.is_certain())
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for target in findings.iter().filter_map(target) {
        *counts.entry(target).or_default() += 1;
    }
    for finding in findings {
        if target(finding).is_some_and(|target| counts.get(&target).is_some_and(|count| *count > 1))
        {
            finding.doubt();
        }
    }
}

/// The sample with the shortest text, the first of equals: an event to show.
pub(crate) fn smallest<'s>(samples: impl Iterator<Item = &'s Seen>) -> Option<FailingEvent> {
    let smallest = samples.min_by_key(|seen| seen.bytes())?;
    Some(FailingEvent::new(smallest.line(), smallest.text()))
}

#[cfg(test)]
mod tests;
