//! What the sample run says, as findings about the plan.

use std::collections::BTreeMap;

use crate::finding::{Finding, patch};
use crate::gate::fit::nearest::{Search, Sought};
use crate::gate::fit::{Known, is_scalar, likely_event_type, smallest};
use crate::gate::smoke::SmokeFailed;
use crate::graph::validate::{Failure, FailureCode, ValidateOptions, validate};
use crate::plan::{Plan, eval};
use crate::problem::{Problem, Stage};
use crate::task::Task;
use crate::task::evidence::{Kind, Seen, at, dotted};
use crate::untrusted::quoted;

/// The failures of a sample run as findings about the plan: what the graph validator says of a node, at the mapping that
/// gave the value; too few results, with their likely cause; anything else at the plan as a whole.
///
/// One finding for each place and code, however many samples show it, with the smallest of them.
#[must_use]
pub fn smoke_findings(plan: &Plan, failed: &SmokeFailed, task: &Task) -> Vec<Finding> {
    let mut findings = Vec::new();
    if failed.problems().iter().any(|problem| problem.stage == Stage::Graph) {
        findings.extend(of_results(plan, task));
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
                caused(problem.code, &problem.message, plan, task)
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

/// What the validator says of what the plan means for each sample, by place in the plan.
fn of_results(plan: &Plan, task: &Task) -> Vec<Finding> {
    let samples = task.evidence().of(plan.event_type());
    let mut found: BTreeMap<(String, &'static str), (Failure, Vec<&Seen>)> = BTreeMap::new();
    for seen in samples.into_iter().flat_map(|samples| samples.samples()) {
        // A module that doesn't do what its plan means has problems of another kind.
        let Ok(result) = eval::eval(plan, &seen.event().to_string()) else { continue };
        for failure in validate(task.graph(), &result, ValidateOptions::default()).into_failures() {
            let place = place(plan, &failure, &result);
            let key = (place, failure.code.as_str());
            found.entry(key).or_insert_with(|| (failure, Vec::new())).1.push(seen);
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

/// Where in the plan the value is from that a failure is about.
fn place(plan: &Plan, failure: &Failure, result: &crate::graph::Extraction) -> String {
    let mapping = |name: &str| {
        let index = plan.property_fields().iter().position(|it| it.property_name() == name);
        index.map_or("/key_field".to_owned(), |index| format!("/property_fields/{index}"))
    };
    match failure.code {
        FailureCode::UnknownEntity => return "/target_entity_name".to_owned(),
        FailureCode::MissingKey | FailureCode::KeyMismatch | FailureCode::MissingNodeId => {
            return "/key_field".to_owned();
        }
        _ => {}
    }
    let index = failure.path.split_once(".properties[").and_then(|(_, rest)| rest.split_once(']'));
    let index = index.and_then(|(index, _)| index.parse::<usize>().ok());
    let property = index.and_then(|index| result.nodes.first()?.properties.get(index));
    let field =
        if failure.code == FailureCode::UnknownProperty { "property_name" } else { "source_path" };
    property.map_or_else(String::new, |it| format!("{}/{field}", mapping(&it.name)))
}

/// Why a plan gives nothing, or too little, for the samples: a finding with the code `nonempty_floor`, or `None` where it
/// gives a node for every sample of its event type.
#[must_use]
pub fn likely_cause(plan: &Plan, task: &Task) -> Option<Finding> {
    let known = Known::new(task.evidence(), plan.event_type());
    let path = plan.key_field().source_path();
    let at_key = |expected: &str, observed: String| {
        Finding::new(Stage::Smoke, "nonempty_floor", "/key_field/source_path", expected, observed)
    };
    let Some(samples) = known.samples() else {
        let expected = "an event type that a sample has";
        let observed = format!("{}, so no sample is read at all", quoted(plan.event_type()));
        let finding =
            Finding::new(Stage::Smoke, "nonempty_floor", "/event_type", expected, observed);
        let others = plan.property_fields().iter().map(|it| it.source_path());
        let paths: Vec<&[String]> = std::iter::once(path).chain(others).collect();
        let likely =
            likely_event_type(Some(plan.event_type()), Some(path), &paths, task.evidence());
        return Some(likely.map_or(finding.clone(), |(name, certain)| {
            proposed(finding, "/event_type", name, certain)
        }));
    };
    let (count, shown) = (samples.count(), quoted(&dotted(path)));
    let barren: Vec<&Seen> =
        samples.samples().filter(|it| !at(it.event(), path).is_some_and(is_scalar)).collect();
    if barren.is_empty() {
        return None;
    }
    let there: Vec<Kind> =
        barren.iter().filter_map(|it| at(it.event(), path)).map(Kind::of).collect();
    let expected = "a string, a number or a boolean, without which an event gives no node";
    let finding = if there.is_empty() {
        at_key(
            expected,
            format!("{shown} absent in {} of {count} samples of the event type", barren.len()),
        )
    } else {
        let mut kinds: Vec<&str> = there.iter().map(|kind| kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let absent = barren.len() - there.len();
        at_key(
            expected,
            format!(
                "{shown} is {} in {} and absent in {absent} of {count} samples of the event type",
                kinds.join(" or "),
                there.len()
            ),
        )
    };
    let mut finding = finding;
    finding.event = smallest(barren.iter().copied());
    if barren.len() < count {
        return Some(finding);
    }
    let entity = task.graph().entity(plan.target_entity_name());
    let property = entity.and_then(|it| it.property(plan.key_field().property_name()));
    let taken = plan.property_fields().iter().map(|it| it.source_path());
    let search = Search::new(&known, plan.target_entity_name(), taken);
    let nearest = search.slip(&Sought {
        given: path,
        name: Some(plan.key_field().property_name()),
        property_type: property.map(|it| &it.property_type),
        is_key: true,
    });
    // That the path is declared speaks for it: what is proposed instead is never more than a suggestion.
    Some(match nearest {
        Some(nearest) => proposed(finding, "/key_field/source_path", &nearest.path, false),
        None => finding,
    })
}

fn caused(code: &'static str, message: &str, plan: &Plan, task: &Task) -> Finding {
    match likely_cause(plan, task) {
        Some(mut cause) => {
            cause.code = code;
            cause.observed = format!("{message}: {}", cause.observed);
            cause
        }
        None => {
            Finding::new(Stage::Smoke, code, "", "enough samples of the plan's event type", message)
        }
    }
}

fn proposed(finding: Finding, at: &str, value: impl serde::Serialize, certain: bool) -> Finding {
    let patch = patch::replace(at, value);
    if certain { finding.mended_by(patch) } else { finding.perhaps(patch) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::likely_cause;
    use crate::graph::GraphSpec;
    use crate::task::Samples;
    use crate::task::Task;

    #[test]
    fn nothing_has_a_cause() {
        let graph = "entities: [{name: Order, keys: {primary: [id]}, properties: [{name: id, type: string}]}]";
        for (event_type, sample, pointer, observed) in [
            ("b", r#"{"event_type":"a","id":"1"}"#, "/event_type", "no sample is read at all"),
            (
                "a",
                r#"{"event_type":"a","other":1}"#,
                "/key_field/source_path",
                "\"id\" absent in 1 of 1",
            ),
            (
                "a",
                r#"{"event_type":"a","id":null}"#,
                "/key_field/source_path",
                "\"id\" is null in 1",
            ),
            (
                "a",
                r#"{"event_type":"a","id":[1]}"#,
                "/key_field/source_path",
                "\"id\" is array in 1",
            ),
        ] {
            let plan = crate::plan::from_value(&json!({
                "event_type": event_type, "target_entity_name": "Order", "function_name": "f",
                "key_field": {"property_name": "id", "source_path": ["id"]}
            }));
            let graph = GraphSpec::parse(graph, "graph.yaml").expect("a graph");
            let samples = Samples::parse(sample, "samples").expect("samples");
            let cause =
                likely_cause(&plan.expect("a plan"), &Task::new(graph, samples, None, None));
            let cause = cause.expect("a cause");
            assert_eq!(cause.pointer, pointer, "{sample}");
            assert!(cause.observed.contains(observed), "{sample}: {}", cause.observed);
        }
    }
}
