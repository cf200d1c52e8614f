//! A plan without a model: the rule's names and words against the paths that occur.
//!
//! A draft is made in the order in which a person would make it.
//! 1. *The entity*: the one that the rule names, else the one whose properties the events have.
//! 2. *The events*: of the types that the rule names, those that there are samples of, or the prefix that it gives. A
//!    condition on a value (`content.kind == 'refund'`) narrows the evidence to the samples for which it holds, and becomes
//!    the plan's where the rule says with it which events it applies to.
//! 3. *The object that the entity is*, by where its key and its properties are found best; or the array, where one has the
//!    entity's name, and more of it in its elements.
//! 4. *A path for the key and for each property*: the one that the rule names outright, else the best by [`crate::evidence::matching`].
//!    No path is given twice, unless the rule does so. Values of another type, like moments in seconds since 1970, get the
//!    conversion that suits all of them. A property for which nothing is good enough is left out.
//! 5. *Session, span and free text*: named paths, else the usual ones, else what the rule's words lead to.
//! 6. *Other nodes that the rule asks for*, each in the array or object that is called what it is, and has what it needs; and
//!    the edges that join them.
//!
//! The rule may have any form; the modules `brief` and `children` tell how it is read. The same task gives the same drafts.

mod assign;
mod brief;
mod children;
mod choose;
mod home;
mod lookup;
mod narrative;
mod prose;
mod roles;
mod sketch;

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use thiserror::Error;

use self::assign::{Assigner, Assignment, Within};
use self::brief::Brief;
use self::children::Child;
use self::home::{Elements, Home, Search};
use self::lookup::Lookup;
use self::sketch::{Edge, Node, Sketch};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::Task;
use crate::evidence::effort::{Cancel, Effort};
use crate::evidence::matching::Survey;
use crate::graph::spec::Entity;

/// How many steps the search for a draft may take: to compare a property with a path takes some 600, so there are about three
/// million such comparisons, as those of fifty entities of fifteen properties with four thousand paths.
const STEPS: u64 = 2_000_000_000;

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
    /// The search ended before the key was found.
    #[error(
        "expected a rule, a graph spec and samples that take at most {steps} steps to draft a plan from, found more, and no key among what was looked at"
    )]
    Limit {
        /// How many it may take.
        steps: u64,
    },
}

impl Coded for DraftError {
    fn entry(&self) -> Code {
        match self {
            Self::NoEntity => codes::DRAFT_NO_ENTITY,
            Self::NoKey { .. } => codes::DRAFT_NO_KEY,
            Self::Limit { .. } => codes::DRAFT_LIMIT,
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
    compared: u64,
    is_whole: bool,
}

impl Drafts {
    /// Works them out.
    ///
    /// # Errors
    /// [`DraftError`], when no entity or no key can be found.
    pub fn new(task: &Task) -> Result<Self, DraftError> {
        Self::within(task, &Effort::new(STEPS, &Cancel::default()))
    }

    /// The same, ended before its time where somebody cancels it: what comes of that is of no use.
    ///
    /// # Errors
    /// As [`Drafts::new`].
    pub fn until(task: &Task, cancel: &Cancel) -> Result<Self, DraftError> {
        Self::within(task, &Effort::new(STEPS, cancel))
    }

    fn within(task: &Task, effort: &Effort) -> Result<Self, DraftError> {
        let empty = Map::new();
        let rule = task.rule().map_or(&empty, crate::evidence::Rule::value);
        let texts = choose::texts(rule);
        let lookup = Lookup { evidence: task.evidence(), effort };
        let entity = choose::entity(task.graph(), &texts, lookup)
            .filter(|entity| entity.key_properties().next().is_some())
            .ok_or(DraftError::NoEntity)?;
        let events = choose::events(task, rule, &texts, entity, effort);
        let (evidence, graph) = (events.evidence.as_ref(), task.graph());
        let lookup = Lookup { evidence, effort };
        let event_types: Vec<&str> = events.event_types.iter().map(String::as_str).collect();
        let survey = Survey::new(evidence, &event_types, effort);
        let children = children::children(rule, graph, entity, lookup);
        let brief = Brief::read(rule, graph, entity, lookup);
        let assigner = Assigner {
            brief: &brief,
            entity,
            survey: &survey,
            within: Within::Event,
            elsewhere: &|_| None,
        };
        let no_key = || match effort.is_over() {
            true => DraftError::Limit { steps: STEPS },
            false => DraftError::NoKey {
                entity: quoted(&entity.name),
                key: entity
                    .key_properties()
                    .next()
                    .map_or_else(String::new, |it| quoted(&it.logical_name)),
            },
        };
        let (elements, has_all_elements) = home::elements(evidence, &event_types, effort);
        let is_looked_at = |it: &&Elements| !children.is_empty() || it.are(entity, &survey);
        let surveys: Vec<(&Elements, Survey<'_>)> = elements
            .iter()
            .filter(is_looked_at)
            .map(|it| (it, Survey::new(&it.evidence, &event_types, effort)))
            .collect();
        let surveyed: Vec<(&Elements, &Survey<'_>)> =
            surveys.iter().map(|(it, survey)| (*it, survey)).collect();
        let search = Search { survey: &survey, elements: &surveyed, main: None };
        let main = main(entity, assigner.assign(), brief.clone(), &search).ok_or_else(no_key)?;
        let found = main.assignment().ok_or_else(no_key)?;
        let roles = roles::roles(&brief, &entity.name, found, &survey, lookup);
        let search = Search { main: Some((entity, found)), ..search };
        let homes: Vec<Vec<Home>> = children.iter().map(|child| search.homes(child)).collect();
        let (mut nodes, mut edges) = (vec![main], Vec::new());
        for (child, homes) in children.iter().zip(homes) {
            if !homes.is_empty() {
                nodes.push(Node { entity: child.entity.name.clone(), homes });
                edges.extend(edge(child, &nodes));
            }
        }
        let (event_types, when) = (events.patterns, events.when);
        let sketch = Sketch { event_types, when, nodes, edges, roles };
        let best = sketch.plan();
        // Two places for a node may come to the same paths.
        let mut seen = BTreeSet::from([best.to_string()]);
        let mut others: Vec<Value> = sketch.alternatives().iter().map(Sketch::plan).collect();
        others.retain(|plan| seen.insert(plan.to_string()));
        let compared = effort.counted();
        Ok(Self { best, others, compared, is_whole: has_all_elements && !effort.is_over() })
    }

    /// Whether all was looked at that rule, graph spec and samples hold. Where that takes too many steps, what would come last
    /// is left out, and the draft is made of the rest.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// How many properties were compared with paths, each with each.
    #[must_use]
    pub fn compared(&self) -> u64 {
        self.compared
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

/// By how much what is in an array has to be ahead of what is in the event itself.
const ELEMENTS_LEAD: f64 = 0.15;

/// The node that the rule is about: one for the event, unless events hold several under its name that have more of it.
fn main(
    entity: &Entity,
    of_event: Option<Assignment>,
    brief: Brief,
    search: &Search<'_>,
) -> Option<Node> {
    let main = Child { entity, relationship: None, brief, hint: String::new(), path: None };
    let homes = search.homes_of_main(&main);
    let best = homes.first().map_or(0.0, |home| home.assignment.quality());
    match of_event {
        Some(found) if best - found.quality() <= ELEMENTS_LEAD => Some(Node::event(entity, found)),
        _ if homes.is_empty() => None,
        _ => Some(Node { entity: entity.name.clone(), homes }),
    }
}

/// The edge that joins the last of the nodes, which is this child, to another one.
fn edge(child: &Child<'_>, nodes: &[Node]) -> Option<Edge> {
    let relationship = child.relationship?;
    let last = nodes.len().checked_sub(1)?;
    let others = nodes.get(..last)?;
    let other = |entity: &str| others.iter().position(|node| node.entity == entity);
    let (from, to) = if relationship.to_entity == child.entity.name {
        (other(&relationship.from_entity)?, last)
    } else {
        (last, other(&relationship.to_entity)?)
    };
    let joins_child = [&relationship.from_entity, &relationship.to_entity]
        .into_iter()
        .any(|end| *end == child.entity.name);
    joins_child.then(|| Edge { relationship: relationship.name.clone(), from, to })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{DraftError, Drafts, STEPS, draft};
    use crate::diagnostics::problem::Coded;
    use crate::evidence::Samples;
    use crate::evidence::effort::{Cancel, Effort};
    use crate::evidence::{Rule, Task};
    use crate::graph::GraphSpec;
    use crate::plan;

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
            let key = &drafted["key_field"]["source_path"];
            assert_eq!((plan.nodes().len(), key), (1, &json!(["order", "id"])), "{rule}");
        }
    }

    #[test]
    fn a_moment_in_seconds_is_a_timestamp_by_conversion_and_a_count_is_none() {
        let total = json!({"property_name": "total", "source_path": ["order", "total"]});
        let placed = json!({"property_name": "placed_at", "source_path": ["order", "placed"], "convert": ["timestamp"]});
        for (at, expected) in [("1", vec![total.clone()]), ("1767225600", vec![total, placed])] {
            let sample = SAMPLE.replace("\"total\"", &format!("\"placed\":{at},\"total\""));
            let drafts = Drafts::new(&task(json!({}), &sample)).expect("a draft");
            assert_eq!(drafts.best()["property_fields"], json!(expected));
        }
    }

    #[test]
    fn what_events_hold_several_of_is_gone_over() {
        let sample = r#"{"event_type":"batch","size":2,"orders":[{"id":"a","total":1.5},{"id":"b","total":2.5}]}"#;
        let drafted = draft(&task(json!({}), sample)).expect("a draft");
        let node = json!({
            "entity_name": "Order",
            "for_each": {"array": ["orders"]},
            "key_fields": [{"property_name": "order_id", "source_path": ["id"]}],
            "property_fields": [{"property_name": "total", "source_path": ["total"]}],
        });
        assert_eq!(drafted["nodes"], json!([node]));
        plan::from_value(&drafted).expect("a plan");
    }

    #[test]
    fn a_draft_is_made_of_what_was_looked_at() {
        let fields: Vec<String> = (0..50).map(|it| format!(r#""field_{it}":{it}"#)).collect();
        let more = format!("\"total\":1.5,{}", fields.join(","));
        let task = task(json!({}), &SAMPLE.replace("\"total\":1.5", &more));
        let drafts = |steps| {
            let effort = Effort::new(steps, &Cancel::default());
            (Drafts::within(&task, &effort), effort.taken())
        };
        let (whole, steps) = drafts(STEPS);
        let whole = whole.expect("a draft");
        assert!(whole.is_whole() && whole.compared() > 100);
        let again = drafts(steps).0.expect("a draft");
        assert_eq!((again.best(), again.is_whole()), (whole.best(), true));
        let part = drafts(steps - 1).0.expect("a draft");
        assert!(!part.is_whole() && part.compared() <= whole.compared());
        for steps in (0..40).map(|it| steps * it / 40) {
            match (drafts(steps).0, drafts(steps).0) {
                (Ok(part), Ok(same)) => {
                    assert!(!part.is_whole());
                    assert_eq!((part.best(), &part.others), (same.best(), &same.others));
                    plan::from_value(part.best()).expect("a plan");
                }
                (Err(error), Err(_)) => assert_eq!(error.code(), "draft_limit"),
                different => panic!("{different:?}"),
            }
        }
        let cancel = Cancel::default();
        cancel.cancel();
        let effort = Effort::new(STEPS, &cancel);
        assert!(Drafts::within(&task, &effort).is_err() && effort.taken() == 0);
        assert!(Drafts::until(&task, &cancel).is_err());
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
