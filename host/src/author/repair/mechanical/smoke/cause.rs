//! Why a plan gives nothing.

use std::collections::BTreeSet;

use serde_json::Value;

use super::origin::source_field;
use super::trial::Trial;
use crate::diagnostics::codes;
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::similarity::ranking::only;
use crate::evidence::{Evidence, Seen, at, dotted, is_scalar};
use crate::gate::fit::suggest::{PathSearch, Sought, likely_event_type_of};
use crate::gate::fit::{Elements, Scopes, smallest};
use crate::json::JsonKind;
use crate::plan::expr::ForEach;
use crate::plan::{FieldMapping, Form};

/// Why a plan gives nothing, or too little, for the samples: a finding with the code `nonempty_floor`, or `None` where it
/// gives something for every sample of its event types. Of very many samples, the last ones aren't looked at.
pub(super) fn likely_cause(trial: &Trial<'_>) -> Option<Finding> {
    let samples: Vec<&Seen> = trial.samples().collect();
    if samples.is_empty() {
        return Some(no_sample(trial));
    }
    let barren: Vec<&Seen> =
        samples.iter().copied().filter(|seen| trial.gives_nothing(seen)).collect();
    if barren.is_empty() {
        return None;
    }
    let mut finding = ruled_out(trial, &barren)
        .or_else(|| no_elements(trial))
        .or_else(|| no_key(trial))
        .unwrap_or_else(|| {
            let observed = format!("nothing for {} of {} samples", barren.len(), samples.len());
            cause("", "a node for each sample", observed)
        });
    finding.event = finding.event.or_else(|| smallest(barren.into_iter()));
    Some(finding)
}

fn cause(at: &str, expected: &str, observed: impl Into<String>) -> Finding {
    Finding::new(Stage::Smoke, codes::NONEMPTY_FLOOR, at, expected, observed)
}

fn no_sample(trial: &Trial<'_>) -> Finding {
    let patterns = trial.plan.event_types().patterns();
    let written: Vec<String> = patterns.iter().map(|it| quoted(&it.to_string())).collect();
    let observed = format!("{}, so no sample is read at all", written.join(", "));
    let finding = cause("/event_type", "an event type that a sample has", observed);
    let text = match patterns {
        [only] => Some(only.to_string()),
        _ => None,
    };
    let (evidence, searches) = (trial.task.evidence(), &trial.efforts.searches);
    let meant = likely_event_type_of(trial.plan, text.as_deref(), evidence, searches);
    // Its author knows that there are none.
    let meant = meant.filter(|_| !patterns.iter().any(|it| trial.plan.is_unseen_type(it)));
    finding.suggesting(meant.map(|it| it.replacing("/event_type")))
}

/// A condition without which the plan would give something: its own, or that of a node.
fn ruled_out(trial: &Trial<'_>, barren: &[&Seen]) -> Option<Finding> {
    let value = serde_json::to_value(trial.plan).ok()?;
    let nodes = (0..trial.plan.nodes().len()).map(|it| trial.plan.node_pointer(it));
    let mut places: Vec<String> = std::iter::once(String::new()).chain(nodes).collect();
    places.dedup();
    places.into_iter().find_map(|at| {
        let mut without = value.clone();
        without.pointer_mut(&at)?.as_object_mut()?.remove("when")?;
        let without = crate::plan::from_value(&without).ok()?;
        let without = Trial { plan: &without, ..*trial };
        let gives = barren.iter().filter(|seen| !without.gives_nothing(seen)).count();
        trial.efforts.values.whole(Some(()))?;
        let observed = format!("one that rules out {gives} of {} that give nothing", barren.len());
        let at = only_path(trial, format!("{at}/when"));
        (gives == barren.len()).then(|| cause(&at, "a condition that holds for a sample", observed))
    })
}

/// The path that a condition reads, where it reads one alone; else the condition.
fn only_path(trial: &Trial<'_>, condition: String) -> String {
    let inside = format!("{condition}/");
    let reads = trial.plan.reads().into_iter().map(|read| read.pointer);
    only(reads.filter(|pointer| pointer.starts_with(&inside))).unwrap_or(condition)
}

/// A `for_each` that goes over nothing in any sample, in a plan that makes all nodes of elements.
fn no_elements(trial: &Trial<'_>) -> Option<Finding> {
    let iterations = trial.plan.nodes().iter().map(|node| node.for_each());
    let iterations: Vec<_> = iterations.collect::<Option<_>>()?;
    let types = trial.types();
    let is_empty = |evidence: Evidence| evidence.event_types().all(|(_, it)| it.count() == 0);
    let empty = iterations
        .iter()
        .position(|for_each| is_empty(trial.task.evidence().elements(&types, for_each)))?;
    let at = format!("{}/for_each", trial.plan.node_pointer(empty));
    Some(cause(&at, "something that has elements", "none in any sample"))
}

/// The first property of a key that isn't a scalar in every sample: of the node of the event, else of the first one.
fn no_key(trial: &Trial<'_>) -> Option<Finding> {
    let nodes = trial.plan.nodes();
    let node = nodes.iter().position(|it| it.for_each().is_none()).unwrap_or_default();
    let keys = nodes.get(node)?.key_fields().len();
    (0..keys).find_map(|key| unusable_key(trial, node, key))
}

fn unusable_key(trial: &Trial<'_>, index: usize, key: usize) -> Option<Finding> {
    let (plan, evidence, types) = (trial.plan, trial.task.evidence(), trial.types());
    let node = plan.nodes().get(index)?;
    let mapping = node.key_fields().get(key)?;
    let reference = mapping.reference()?;
    let path = reference.path.as_slice();
    let iterations = ForEach::all_levels(node.for_each());
    let elements = Elements::of(iterations, evidence, &types, &Evidence::room());
    let scopes = Scopes::new(evidence, &elements, &types, trial.efforts);
    let known = scopes.at(node.for_each(), reference.level)?;
    let count = known.seen().count();
    let unusable = || {
        let values = known.seen().map(|seen| (seen, at(seen.event(), path)));
        values.filter(|(_, value)| !value.is_some_and(is_scalar))
    };
    let barren = unusable().count();
    if barren == 0 {
        return None;
    }
    let there: Vec<&Value> = unusable().filter_map(|(_, value)| value).collect();
    let shown = quoted(&dotted(path));
    let what = if plan.form() == Form::Short || node.for_each().is_none() {
        "samples of the event type"
    } else {
        "elements"
    };
    let observed = if there.is_empty() {
        format!("{shown} absent in {barren} of {count} {what}")
    } else {
        let kinds: BTreeSet<&str> = there.iter().map(|it| JsonKind::of(it).as_str()).collect();
        let kinds = Vec::from_iter(kinds).join(" or ");
        let absent = barren - there.len();
        format!("{shown} is {kinds} in {} and absent in {absent} of {count} {what}", there.len())
    };
    let pointer = format!("{}/{}", plan.key_pointer(index, key), source_field(mapping));
    let expected = "a string, a number or a boolean, without which an event gives no node";
    let mut finding = cause(&pointer, expected, observed);
    finding.event = smallest(unusable().map(|(seen, _)| seen));
    if barren < count {
        return Some(finding);
    }
    let entity = trial.task.graph().entity(node.entity_name());
    let property = entity.and_then(|it| it.property(mapping.property_name()));
    let others = node.property_fields().iter().filter_map(FieldMapping::reference);
    let taken = others.filter(|it| it.level == reference.level).map(|it| it.path.as_slice());
    let search = PathSearch::new(known, node.entity_name(), taken);
    let nearest = search.nearest(&Sought {
        given: path,
        name: Some(mapping.property_name()),
        property_type: property.map(|it| &it.property_type),
        is_key: true,
    });
    // That the path is declared speaks for it: what is proposed instead is never more than a suggestion.
    Some(match nearest {
        Some(nearest) => finding.with_suggestion(patch::replace(&pointer, nearest.path.item)),
        None => finding,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::likely_cause;
    use crate::author::repair::mechanical::smoke::trial::Trial;
    use crate::evidence::effort::{Cancel, StepBudgets};
    use crate::evidence::{Samples, Task};
    use crate::graph::GraphSpec;

    const GRAPH: &str =
        "entities: [{name: Order, keys: {primary: [id]}, properties: [{name: id, type: string}]}]";

    fn cause(plan: &serde_json::Value, sample: &str) -> (String, String) {
        let plan = crate::plan::from_value(plan).expect("a plan");
        let graph = GraphSpec::parse(GRAPH, "graph.yaml").expect("a graph");
        let samples = Samples::parse(sample, "samples").expect("samples");
        let task = Task::new(graph, samples);
        let efforts = StepBudgets::new(&Cancel::default());
        let trial = Trial { plan: &plan, task: &task, efforts: &efforts };
        let cause = likely_cause(&trial).expect("a cause");
        (cause.pointer, cause.observed)
    }

    #[test]
    fn nothing_has_a_cause() {
        let key = "/key_field/source_path";
        for (event_type, sample, pointer, observed) in [
            ("b", r#"{"event_type":"a","id":"1"}"#, "/event_type", "no sample is read at all"),
            ("a", r#"{"event_type":"a","other":1}"#, key, "\"id\" absent in 1 of 1"),
            ("a", r#"{"event_type":"a","id":null}"#, key, "\"id\" is null in 1"),
            ("a", r#"{"event_type":"a","id":[1]}"#, key, "\"id\" is array in 1"),
        ] {
            let plan = json!({
                "event_type": event_type, "target_entity_name": "Order", "function_name": "f",
                "key_field": {"property_name": "id", "source_path": ["id"]}
            });
            let (at, said) = cause(&plan, sample);
            assert_eq!(at, pointer, "{sample}");
            assert!(said.contains(observed), "{sample}: {said}");
        }
    }

    #[test]
    fn conditions_and_elements_are_causes() {
        let plan = |node: serde_json::Value, when: serde_json::Value| {
            let mut plan = json!({"event_type": "a", "function_name": "f", "nodes": [node]});
            if !when.is_null() {
                plan["when"] = when;
            }
            plan
        };
        let keys = json!([{"property_name": "id", "source_path": ["id"]}]);
        let never = json!({"source_path": ["id"], "equals": 7});
        let order = json!({"entity_name": "Order", "key_fields": keys});
        let mut guarded = order.clone();
        guarded["when"] = never.clone();
        let mut inside = order.clone();
        inside["for_each"] = json!({"array": ["lines"]});
        let none = serde_json::Value::Null;
        for (plan, pointer) in [
            (plan(order, never), "/when/source_path"),
            (plan(guarded, none.clone()), "/nodes/0/when/source_path"),
            (plan(inside, none), "/nodes/0/for_each"),
        ] {
            let sample = r#"{"event_type":"a","id":"1","lines":[]}"#;
            assert_eq!(cause(&plan, sample).0, pointer, "{plan}");
        }
    }
}
