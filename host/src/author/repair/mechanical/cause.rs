//! Why a plan gives nothing.

use serde_json::Value;

use super::origin::source;
use super::smoke::{eval_steps, proposed, samples};
use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::Task;
use crate::evidence::effort::Cancel;
use crate::evidence::{Kind, SampleEvents, Seen, at, dotted};
use crate::gate::fit::nearest::{Search, Sought};
use crate::gate::fit::{Efforts, Known, is_scalar, likely_event_type, smallest};
use crate::plan::{FieldMapping, Form, Plan, eval};

const CODE: &str = "nonempty_floor";

/// Why a plan gives nothing, or too little, for the samples: a finding with the code `nonempty_floor`, or `None` where it
/// gives something for every sample of its event types.
#[must_use]
pub fn likely_cause(plan: &Plan, task: &Task) -> Option<Finding> {
    likely_cause_within(plan, task, &Efforts::new(&Cancel::default()))
}

/// The same, within these efforts: of very many samples, the last ones aren't looked at.
pub(super) fn likely_cause_within(plan: &Plan, task: &Task, efforts: &Efforts) -> Option<Finding> {
    if samples(plan, task).next().is_none() {
        return Some(no_sample(plan, task, efforts));
    }
    let barren: Vec<&Seen> =
        samples(plan, task).filter(|seen| gives_nothing(plan, seen, efforts)).collect();
    if barren.is_empty() {
        return None;
    }
    let all = samples(plan, task).count();
    let mut finding = ruled_out(plan, &barren, efforts)
        .or_else(|| no_elements(plan, task))
        .or_else(|| no_key(plan, task, efforts))
        .unwrap_or_else(|| {
            let observed = format!("nothing for {} of {all} samples", barren.len());
            Finding::new(Stage::Smoke, CODE, "", "a node for each sample", observed)
        });
    finding.event = finding.event.or_else(|| smallest(barren.into_iter()));
    Some(finding)
}

/// Whether a plan gives nothing for a sample; no where there is no effort left to tell.
fn gives_nothing(plan: &Plan, seen: &Seen, efforts: &Efforts) -> bool {
    if !efforts.values.take(eval_steps(plan, seen)) {
        return false;
    }
    let result = eval::eval(plan, &seen.event().to_string());
    result.is_ok_and(|it| it.nodes.is_empty() && it.edges.is_empty())
}

fn no_sample(plan: &Plan, task: &Task, efforts: &Efforts) -> Finding {
    let written: Vec<String> =
        plan.event_types().patterns().iter().map(|it| quoted(&it.to_string())).collect();
    let observed = format!("{}, so no sample is read at all", written.join(", "));
    let finding = Finding::new(
        Stage::Smoke,
        CODE,
        "/event_type",
        "an event type that a sample has",
        observed,
    );
    let mappings =
        || plan.nodes().iter().flat_map(|it| it.key_fields().iter().chain(it.property_fields()));
    let path = |it: &'_ FieldMapping| it.reference().filter(|it| it.level.is_event()).cloned();
    let paths: Vec<Vec<String>> = mappings().filter_map(path).map(|it| it.path).collect();
    let slices: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
    let text = match plan.event_types().patterns() {
        [only] => Some(only.to_string()),
        _ => None,
    };
    let (key, evidence) = (slices.first().copied(), task.evidence());
    let likely = likely_event_type(text.as_deref(), key, &slices, evidence, &efforts.searches);
    likely
        .map_or(finding.clone(), |(name, certain)| proposed(finding, "/event_type", name, certain))
}

/// A condition without which the plan would give something: its own, or that of a node.
fn ruled_out(plan: &Plan, barren: &[&Seen], efforts: &Efforts) -> Option<Finding> {
    let value = serde_json::to_value(plan).ok()?;
    let nodes = (0..plan.nodes().len()).map(|it| plan.node_pointer(it));
    let mut places: Vec<String> = std::iter::once(String::new()).chain(nodes).collect();
    places.dedup();
    places.into_iter().find_map(|at| {
        let mut without = value.clone();
        without.pointer_mut(&at)?.as_object_mut()?.remove("when")?;
        let without = crate::plan::from_value(&without).ok()?;
        let gives = barren.iter().filter(|seen| !gives_nothing(&without, seen, efforts)).count();
        efforts.values.whole(Some(()))?;
        let observed = format!("one that rules out {gives} of {} that give nothing", barren.len());
        (gives == barren.len()).then(|| {
            let at = only_path(plan, &format!("{at}/when"));
            Finding::new(Stage::Smoke, CODE, at, "a condition that holds for a sample", observed)
        })
    })
}

/// The path that a condition reads, where it reads one alone; else the condition.
fn only_path(plan: &Plan, condition: &str) -> String {
    let reads = plan.reads();
    let mut there = reads.iter().filter(|read| read.pointer.starts_with(&format!("{condition}/")));
    match (there.next(), there.next()) {
        (Some(only), None) => only.pointer.clone(),
        _ => condition.to_owned(),
    }
}

/// A `for_each` that goes over nothing in any sample, in a plan that makes all nodes of elements.
fn no_elements(plan: &Plan, task: &Task) -> Option<Finding> {
    if plan.nodes().iter().any(|node| node.for_each().is_none()) {
        return None;
    }
    let types = types(plan, task);
    plan.nodes().iter().enumerate().find_map(|(index, node)| {
        let evidence = task.evidence().elements(&types, node.for_each()?);
        let mut events = evidence.event_types().map(|(_, events)| events.count());
        let observed = "none in any sample";
        events.all(|count| count == 0).then(|| {
            let at = format!("{}/for_each", plan.node_pointer(index));
            Finding::new(Stage::Smoke, CODE, at, "something that has elements", observed)
        })
    })
}

fn types<'t>(plan: &Plan, task: &'t Task) -> Vec<&'t str> {
    let types = task.evidence().event_types().map(|(name, _)| name);
    types.filter(|name| plan.event_types().matches(name)).collect()
}

/// The first property of a key that isn't a scalar in every sample: of the node of the event, else of the first one.
fn no_key(plan: &Plan, task: &Task, efforts: &Efforts) -> Option<Finding> {
    let nodes = plan.nodes();
    let index = nodes.iter().position(|it| it.for_each().is_none()).unwrap_or_default();
    let node = nodes.get(index)?;
    node.key_fields().iter().enumerate().find_map(|(key, mapping)| {
        let at = plan.key_pointer(index, key);
        let pointer = format!("{at}/{}", source(mapping));
        unusable(plan, task, (index, mapping), &pointer, efforts)
    })
}

fn unusable(
    plan: &Plan,
    task: &Task,
    (node, mapping): (usize, &FieldMapping),
    pointer: &str,
    efforts: &Efforts,
) -> Option<Finding> {
    let node = plan.nodes().get(node)?;
    let reference = mapping.reference()?;
    let path = reference.path.as_slice();
    let types = types(plan, task);
    let elements;
    let evidence = match node.for_each().filter(|_| !reference.level.is_event()) {
        None => task.evidence(),
        Some(for_each) if reference.level == for_each.level() => {
            elements = task.evidence().elements(&types, for_each);
            &elements
        }
        Some(for_each) => {
            elements = task.evidence().elements(&types, &for_each.outer());
            &elements
        }
    };
    let all: Vec<&Seen> =
        types.iter().filter_map(|it| evidence.of(it)).flat_map(SampleEvents::samples).collect();
    let barren: Vec<&Seen> =
        all.iter().copied().filter(|it| !at(it.event(), path).is_some_and(is_scalar)).collect();
    if barren.is_empty() {
        return None;
    }
    let (count, shown) = (all.len(), quoted(&dotted(path)));
    let there: Vec<&Value> = barren.iter().filter_map(|it| at(it.event(), path)).collect();
    let what = if plan.form() == Form::Short || node.for_each().is_none() {
        "samples of the event type"
    } else {
        "elements"
    };
    let observed = if there.is_empty() {
        format!("{shown} absent in {} of {count} {what}", barren.len())
    } else {
        let mut kinds: Vec<&str> = there.iter().map(|it| Kind::of(it).as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let (kinds, absent) = (kinds.join(" or "), barren.len() - there.len());
        format!("{shown} is {kinds} in {} and absent in {absent} of {count} {what}", there.len())
    };
    let expected = "a string, a number or a boolean, without which an event gives no node";
    let mut finding = Finding::new(Stage::Smoke, CODE, pointer, expected, observed);
    finding.event = smallest(barren.iter().copied());
    if barren.len() < count {
        return Some(finding);
    }
    let known = Known::of_types(evidence, types.clone(), efforts);
    let entity = task.graph().entity(node.entity_name());
    let property = entity.and_then(|it| it.property(mapping.property_name()));
    let others = node.property_fields().iter().filter_map(FieldMapping::reference);
    let taken = others.filter(|it| it.level == reference.level).map(|it| it.path.as_slice());
    let search = Search::new(&known, node.entity_name(), taken);
    let nearest = search.slip(&Sought {
        given: path,
        name: Some(mapping.property_name()),
        property_type: property.map(|it| &it.property_type),
        is_key: true,
    });
    // That the path is declared speaks for it: what is proposed instead is never more than a suggestion.
    Some(match nearest {
        Some(nearest) => proposed(finding, pointer, &nearest.path, false),
        None => finding,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::likely_cause;
    use crate::evidence::{Samples, Task};
    use crate::graph::GraphSpec;

    const GRAPH: &str =
        "entities: [{name: Order, keys: {primary: [id]}, properties: [{name: id, type: string}]}]";

    fn cause(plan: &serde_json::Value, sample: &str) -> (String, String) {
        let plan = crate::plan::from_value(plan).expect("a plan");
        let graph = GraphSpec::parse(GRAPH, "graph.yaml").expect("a graph");
        let samples = Samples::parse(sample, "samples").expect("samples");
        let cause = likely_cause(&plan, &Task::new(graph, samples, None, None)).expect("a cause");
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
