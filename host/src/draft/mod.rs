//! A plan without a model: the rule's names and words against the paths that occur.
//!
//! A draft is made in the order in which a person would make it.
//! 1. *The entity*: the one that the rule names, else the one whose properties the events have.
//! 2. *The events*: of the types that the rule names, those that there are samples of. A plan is about one type, the one
//!    with the most samples; the others are evidence too. A condition on a value (`content.kind == 'refund'`) narrows the
//!    evidence to the samples for which it holds.
//! 3. *The object that the entity is*, by where its key and its properties are found best.
//! 4. *A path for the key and for each property*: the one that the rule names outright, else the best by [`crate::matching`].
//!    No path is given twice, unless the rule does so. A property for which nothing is good enough is left out, and so is
//!    one whose values aren't of its type, like a timestamp that events write in seconds since 1970.
//! 5. *Session, span and free text*: named paths, else the usual ones, else what the rule's words lead to.
//!
//! The rule may have any form; the module `brief` tells how it is read. The same task gives the same drafts.

mod assign;
mod brief;
mod choose;
mod narrative;
mod prose;
mod roles;

use serde_json::{Map, Value, json};
use thiserror::Error;

use self::assign::{Assignment, Choice};
use self::brief::Brief;
use self::roles::Roles;
use crate::matching::{Survey, words};
use crate::plan::{is_identifier, is_reserved};
use crate::problem::Coded;
use crate::task::Task;
use crate::task::evidence::Path;
use crate::untrusted::quoted;

/// Why there is no draft.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DraftError {
    /// The graph spec has no entity with a key.
    #[error("expected the graph spec to have an entity with a key, found none")]
    NoEntity,
    /// Nothing in the events can be the key.
    #[error("expected a path in the events for {key}, the key of {entity}, found none that suits")]
    NoKey {
        /// The entity.
        entity: String,
        /// Its key property.
        key: String,
    },
}

impl DraftError {
    /// Every code of this error.
    pub const CODES: &'static [&'static str] = &["draft_no_entity", "draft_no_key"];
}

impl Coded for DraftError {
    fn code(&self) -> &'static str {
        match self {
            Self::NoEntity => "draft_no_entity",
            Self::NoKey { .. } => "draft_no_key",
        }
    }
}

/// The plan that suits a task best, as JSON of the plan schema.
///
/// # Errors
/// [`DraftError`], when no entity or no key can be found.
pub fn draft(task: &Task) -> Result<Value, DraftError> {
    Drafts::new(task).map(|drafts| drafts.best().clone())
}

/// The plans that suit a task, best first.
#[derive(Clone, Debug)]
pub struct Drafts {
    best: Value,
    others: Vec<Value>,
}

impl Drafts {
    /// Works them out.
    ///
    /// # Errors
    /// [`DraftError`], when no entity or no key can be found.
    pub fn new(task: &Task) -> Result<Self, DraftError> {
        let empty = Map::new();
        let rule = task.rule().map_or(&empty, crate::task::Rule::value);
        let texts = choose::texts(rule);
        let entity = choose::entity(task.graph(), &texts, task.evidence())
            .filter(|entity| entity.key_properties().next().is_some())
            .ok_or(DraftError::NoEntity)?;
        let events = choose::events(task, &texts, entity);
        let brief = Brief::read(rule, task.graph(), entity, &events.evidence);
        let event_types: Vec<&str> = events.event_types.iter().map(String::as_str).collect();
        let survey = Survey::new(&events.evidence, &event_types);
        let no_key = || DraftError::NoKey {
            entity: quoted(&entity.name),
            key: entity
                .key_properties()
                .next()
                .map_or_else(String::new, |it| quoted(&it.logical_name)),
        };
        let assignment = assign::assign(&brief, entity, &survey).ok_or_else(no_key)?;
        let roles = roles::roles(&brief, &entity.name, &assignment, &survey, &events.evidence);
        let event_type = event_types.first().copied().unwrap_or_default();
        let write = |assignment: &Assignment| plan(event_type, &entity.name, assignment, &roles);
        Ok(Self {
            best: write(&assignment),
            others: alternatives(&assignment).iter().map(write).collect(),
        })
    }

    /// The best one.
    #[must_use]
    pub fn best(&self) -> &Value {
        &self.best
    }

    /// The draft to try after `earlier` others: the best one first, then those in which one mapping is another, the least
    /// certain mapping first. `None` when there are no more.
    #[must_use]
    pub fn after(&self, earlier: usize) -> Option<&Value> {
        match earlier.checked_sub(1) {
            None => Some(&self.best),
            Some(index) => self.others.get(index),
        }
    }
}

/// The assignment with one mapping changed, the change that costs least first: the next path that is free, or for a
/// property none.
fn alternatives(assignment: &Assignment) -> Vec<Assignment> {
    let choices = || std::iter::once(&assignment.key).chain(&assignment.properties);
    let is_free = |path: &Path| !choices().any(|choice| choice.path() == Some(path));
    let mut changes: Vec<(f64, usize, Option<usize>)> = Vec::new();
    for (index, choice) in choices().enumerate() {
        let Some(chosen) = choice.chosen else { continue };
        let score = |at: usize| choice.candidates.get(at).map_or(0.0, |it| it.score);
        let next = choice.candidates.iter().enumerate().skip(chosen + 1);
        let next = next.filter(|(_, it)| is_free(&it.path)).map(|(at, _)| at).next();
        match next {
            Some(next) => changes.push((score(chosen) - score(next), index, Some(next))),
            None if index > 0 => changes.push((score(chosen), index, None)),
            None => {}
        }
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let change = |(_, index, next): (f64, usize, Option<usize>)| {
        let mut other = assignment.clone();
        let choice = match index.checked_sub(1) {
            None => Some(&mut other.key),
            Some(property) => other.properties.get_mut(property),
        };
        if let Some(choice) = choice {
            choice.chosen = next;
        }
        other
    };
    changes.into_iter().map(change).collect()
}

fn plan(event_type: &str, entity: &str, assignment: &Assignment, roles: &Roles) -> Value {
    let mapping = |choice: &Choice| {
        choice.path().map(|path| json!({"property_name": choice.name, "source_path": path}))
    };
    let mut plan = json!({
        "event_type": event_type,
        "target_entity_name": entity,
        "function_name": function_name(entity),
        "key_field": mapping(&assignment.key),
        "property_fields": assignment.properties.iter().filter_map(mapping).collect::<Vec<_>>(),
    });
    if let Some(path) = &roles.session {
        plan["session_id_path"] = json!(path);
    }
    if let Some(path) = &roles.span {
        plan["span_handling"] = json!({"span_id_path": path});
        if let Some(partial) = &roles.partial {
            plan["span_handling"]["partial_when_path"] = json!(partial);
        }
    }
    plan
}

/// `extract_` and the entity's name in lower case.
fn function_name(entity: &str) -> String {
    let parts: Vec<String> = words(entity).iter().map(|word| word.text().to_owned()).collect();
    let name = format!("extract_{}", parts.join("_"));
    if is_identifier(&name) && !is_reserved(&name) { name } else { "extract_node".to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{DraftError, Drafts, draft};
    use crate::graph::GraphSpec;
    use crate::plan;
    use crate::problem::Coded;
    use crate::task::Samples;
    use crate::task::{Rule, Task};

    const GRAPH: &str = "ontology: shop
entities:
- name: Order
  keys: {primary: [order_id]}
  properties:
  - {name: order_id, type: string}
  - {name: total, type: double}
  - {name: placed_at, type: timestamp}
";

    fn task(rule: Value, samples: &str) -> Task {
        let graph = GraphSpec::parse(GRAPH, "graph").expect("a graph spec");
        let samples = Samples::parse(samples, "samples").expect("samples");
        Task::new(graph, samples, Some(Rule::from_value(rule).expect("an object")), None)
    }

    const SAMPLE: &str =
        r#"{"event_type":"order","session_id":"s","at":1,"order":{"id":"a","total":1.5}}"#;

    #[test]
    fn rules_that_say_nothing_of_use_are_read_all_the_same() {
        let mut deep = json!("`");
        for _ in 0..100 {
            deep = json!([{ "order_id": deep, "name": "total", "path": [[]] }]);
        }
        for rule in [
            json!({}),
            json!({"rule": ". .. ``'\u{201c}*\u{301}' == `"}),
            json!({"order_id": ["", 1], "total": {"path": ""}, "span": [null], "session": {}}),
            json!({ "deep": deep }),
        ] {
            let drafted = draft(&task(rule.clone(), SAMPLE)).expect("a draft");
            let plan = plan::from_value(&drafted).expect("a plan");
            assert_eq!(plan.key_field().source_path(), ["order", "id"], "{rule}");
        }
    }

    #[test]
    fn a_moment_in_seconds_is_no_timestamp() {
        let drafts = Drafts::new(&task(json!({}), SAMPLE)).expect("a draft");
        let fields = drafts.best()["property_fields"].as_array().expect("a list");
        assert_eq!(fields, &[json!({"property_name": "total", "source_path": ["order", "total"]})]);
    }

    #[test]
    fn without_a_key_there_is_no_draft() {
        let error = draft(&task(json!({}), r#"{"event_type":"ping","n":1}"#)).expect_err("no key");
        assert!(matches!(error, DraftError::NoKey { .. }), "{error}");
    }

    #[test]
    fn what_every_event_has_is_no_key() {
        let graph = "entities: [{name: Order, keys: {primary: [order_id]}, properties: [{name: order_id, type: string}]}]";
        let graph = GraphSpec::parse(graph, "graph.yaml").expect("a graph spec");
        let samples = r#"{"event_type":"order","session_id":"s","span_id":"p","content":{}}"#;
        let samples = Samples::parse(samples, "samples").expect("samples");
        let error = draft(&Task::new(graph, samples, None, None)).expect_err("there is no key");
        assert_eq!(error.code(), "draft_no_key");
    }
}
