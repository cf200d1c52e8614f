//! A first sketch of a plan, from names and types, without a model.
//!
//! It reads no English. What it goes by is the graph spec, the samples, and what the rule writes literally: names and paths in
//! quotation marks or with dots, and in a JSON rule the hints beside property names.
//! 1. *The entity*: the one that the rule names, else the one whose properties the events have.
//! 2. *The events*: of the types that the rule names; else of the type that has the entity's properties.
//! 3. *The object that the entity is*: the one that its key is in.
//! 4. *A path for the key and for each property*: the one that the rule names, else the best by
//!    [`crate::evidence::matching`]. Values of another type get the conversion that suits all of them. A property for which
//!    nothing is good enough, or two paths suit alike, is left out. An entity is proposed only with its key and at least half
//!    of its properties.
//! 5. *Session, span and free text*: named paths, else those of that name, and long text that nothing else reads.
//! 6. *Other entities that a JSON rule lists*, each in the array or object that is called what it is and has its properties,
//!    and the edges that join them.
//!
//! Conditions, and whatever else a rule says in sentences, aren't read.
//!
//! What it rests on comes with it, and what a person should look at ([`Sketch`]). The same task gives the same sketches.

mod assign;
mod choose;
mod doubt;
mod handling;
mod home;
mod literal;
mod outline;
mod sketch;

use serde_json::Map;
use thiserror::Error;

use self::assign::{Assigner, Lack};
use self::choose::Events;
pub use self::doubt::Doubt;
use self::home::{Elements, Home, Search};
use self::literal::{Lookup, Named, Subject};
use self::outline::{Edge, Node, Outline};
pub use self::sketch::{Mapping, Sketch};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::Task;
use crate::evidence::effort::{Cancel, StepBudget};
use crate::evidence::matching::Survey;
use crate::graph::spec::Entity;

/// How many steps the search for a draft may take: to compare a property with a path takes some 600, so there are about three
/// million such comparisons, as those of fifty entities of fifteen properties with four thousand paths.
const STEPS: u64 = 2_000_000_000;

/// Why there is no sketch.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DraftError {
    /// The graph spec has no entity with a key.
    #[error("expected the graph spec to have an entity with a key, found none")]
    NoEntity,
    /// Nothing in the events is clearly the key.
    #[error(
        "expected a path in the events for {key}, the key of {entity}, found none that clearly suits"
    )]
    NoKey {
        /// The entity.
        entity: String,
        /// Its key property.
        key: String,
    },
    /// The events hold too little of the entity for the sketch to be of any use.
    #[error(
        "expected paths in the events for most properties of {entity}, found some that clearly suit for {found} of {wanted}"
    )]
    FewProperties {
        /// The entity.
        entity: String,
        /// For how many properties there is a path.
        found: usize,
        /// How many are wanted, the key not counted.
        wanted: usize,
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
            // What to do is the same: name paths in the rule, or use a model.
            Self::NoKey { .. } | Self::FewProperties { .. } => codes::DRAFT_NO_KEY,
            Self::Limit { .. } => codes::DRAFT_LIMIT,
        }
    }
}

/// A first sketch of a plan for a task.
///
/// # Errors
/// [`DraftError`], where there is no entity, or where the samples don't support its key and most of its properties.
pub fn draft(task: &Task) -> Result<Sketch, DraftError> {
    draft_within(task, &StepBudget::new(STEPS, &Cancel::default()))
}

/// The same, ended before its time where somebody cancels it: what comes of that is of no use.
///
/// # Errors
/// As [`draft`].
pub fn draft_until(task: &Task, cancel: &Cancel) -> Result<Sketch, DraftError> {
    draft_within(task, &StepBudget::new(STEPS, cancel))
}

fn draft_within(task: &Task, effort: &StepBudget) -> Result<Sketch, DraftError> {
    let empty = Map::new();
    let rule = task.rule().map_or(&empty, crate::evidence::Rule::value);
    let texts = literal::texts(rule);
    let lookup = Lookup { evidence: task.evidence(), effort };
    let entity = choose::entity(task.graph(), &texts, lookup)
        .filter(|entity| entity.it.key_properties().next().is_some())
        .ok_or(DraftError::NoEntity)?;
    let mut doubts = Vec::new();
    if !entity.is_named {
        doubts.push(Doubt::new(
            &entity.it.name,
            "the rule doesn't name an entity; its properties suit the samples best",
        ));
    }
    let entity = entity.it;
    let Events { event_types, patterns } = choose::events(&texts, entity, lookup);
    if !event_types.is_named {
        doubts.push(Doubt::new(
            "event_type",
            "the rule doesn't name one; these events have most of the entity",
        ));
    }
    let named = Named::read(rule, task.graph(), entity, lookup);
    let event_types: Vec<&str> = event_types.it.iter().map(String::as_str).collect();
    let survey = Survey::new(task.evidence(), &event_types, effort);
    let (subject, mentioned) = (&named.main, named.paths.as_slice());
    let main = Assigner { subject, mentioned, survey: &survey, object: None }.assign();
    let main = main.map_err(|lack| match effort.is_over() {
        true => DraftError::Limit { steps: STEPS },
        false => error(entity, lack),
    })?;
    doubts.extend(doubt::of_properties(&entity.name, &main));
    let handling = handling::find(&named, &main, &survey, &mut doubts);
    let (elements, has_all_elements) = match named.others.as_slice() {
        [] => (Vec::new(), true),
        _ => home::elements(task.evidence(), &event_types, effort),
    };
    let surveyed: Vec<(&Elements, Survey<'_>)> =
        elements.iter().map(|it| (it, Survey::new(&it.evidence, &event_types, effort))).collect();
    let search = Search { survey: &survey, elements: &surveyed, mentioned, main: (entity, &main) };
    let homes: Vec<Option<Home>> = named.others.iter().map(|it| search.home(it)).collect();
    let main = Node::event(entity, main);
    let (mut nodes, mut edges) = (vec![main], Vec::new());
    for (other, home) in named.others.iter().zip(homes) {
        let name = &other.entity.name;
        let Some(home) = home else {
            let why = "left out: no array or object clearly is it, with its key and most of its properties";
            doubts.push(Doubt::new(name, why));
            continue;
        };
        doubts.extend(doubt::of_properties(name, &home.assignment));
        nodes.push(Node { entity: name.clone(), home });
        edges.extend(edge(other, &nodes));
    }
    let (compared, is_whole) = (effort.counted(), has_all_elements && !effort.is_over());
    if !is_whole {
        let why = format!(
            "the draft is made of a part of rule, graph spec and samples: the search ended at its limit, after {compared} comparisons of a property with a path"
        );
        doubts.push(Doubt::new("samples", why));
    }
    let outline = Outline { event_types: patterns, nodes, edges, handling };
    let (plan, mappings) = (outline.plan(), sketch::mappings(&outline, &survey));
    Ok(Sketch { plan, mappings, doubts, compared, is_whole })
}

fn error(entity: &Entity, lack: Lack) -> DraftError {
    let entity = quoted(&entity.name);
    match lack {
        Lack::Key(key) => DraftError::NoKey { entity, key: quoted(&key) },
        Lack::Properties { found, wanted } => DraftError::FewProperties { entity, found, wanted },
    }
}

/// The edge that joins the last of the nodes, which is this entity's, to another one.
fn edge(child: &Subject<'_>, nodes: &[Node]) -> Option<Edge> {
    let relationship = child.relationship?;
    let last = nodes.len().checked_sub(1)?;
    let others = nodes.get(..last)?;
    let other = |entity: &str| others.iter().position(|node| node.entity == entity);
    let (from, to) = if relationship.to_entity == child.entity.name {
        (other(&relationship.from_entity)?, last)
    } else {
        (last, other(&relationship.to_entity)?)
    };
    // Which element of one array is joined to which of another isn't known.
    let iteration = |index: usize| nodes.get(index).and_then(|it| it.home.iteration.as_ref());
    if let (Some(one), Some(other)) = (iteration(from), iteration(to))
        && one != other
    {
        return None;
    }
    let joins_child = [&relationship.from_entity, &relationship.to_entity]
        .into_iter()
        .any(|end| *end == child.entity.name);
    joins_child.then(|| Edge { relationship: relationship.name.clone(), from, to })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{DraftError, STEPS, draft, draft_until, draft_within};
    use crate::diagnostics::problem::Coded;
    use crate::evidence::Samples;
    use crate::evidence::effort::{Cancel, StepBudget};
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
        Task::builder(graph, samples).rule(Rule::from_value(rule).expect("an object")).build()
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
            let plan = plan::from_value(drafted.plan()).expect("a plan");
            let key = &drafted.plan()["key_field"]["source_path"];
            assert_eq!((plan.nodes().len(), key), (1, &json!(["order", "id"])), "{rule}");
        }
    }

    #[test]
    fn a_moment_in_seconds_is_a_timestamp_by_conversion_and_a_count_is_none() {
        let total = json!({"property_name": "total", "source_path": ["order", "total"]});
        let placed = json!({"property_name": "placed_at", "source_path": ["order", "placed"], "convert": ["timestamp"]});
        for (at, expected) in [("1", vec![total.clone()]), ("1767225600", vec![total, placed])] {
            let sample = SAMPLE.replace("\"total\"", &format!("\"placed\":{at},\"total\""));
            let drafted = draft(&task(json!({}), &sample)).expect("a draft");
            assert_eq!(drafted.plan()["property_fields"], json!(expected));
        }
    }

    #[test]
    fn a_draft_is_made_of_what_was_looked_at() {
        let fields: Vec<String> = (0..50).map(|it| format!(r#""field_{it}":{it}"#)).collect();
        let more = format!("\"total\":1.5,{}", fields.join(","));
        let task = task(json!({}), &SAMPLE.replace("\"total\":1.5", &more));
        let drafts = |steps| {
            let effort = StepBudget::new(steps, &Cancel::default());
            (draft_within(&task, &effort), effort.taken())
        };
        let (whole, steps) = drafts(STEPS);
        let whole = whole.expect("a draft");
        assert!(whole.is_whole() && whole.compared() > 100);
        let again = drafts(steps).0.expect("a draft");
        assert_eq!((again.plan(), again.is_whole()), (whole.plan(), true));
        let part = drafts(steps - 1).0.expect("a draft");
        assert!(!part.is_whole() && part.compared() <= whole.compared());
        for steps in (0..40).map(|it| steps * it / 40) {
            match (drafts(steps).0, drafts(steps).0) {
                (Ok(part), Ok(same)) => {
                    assert!(!part.is_whole());
                    assert_eq!(part, same);
                    plan::from_value(part.plan()).expect("a plan");
                }
                (Err(error), Err(_)) => assert_eq!(error.code(), "draft_limit"),
                different => panic!("{different:?}"),
            }
        }
        let cancel = Cancel::default();
        cancel.cancel();
        let effort = StepBudget::new(STEPS, &cancel);
        assert!(draft_within(&task, &effort).is_err() && effort.taken() == 0);
        assert!(draft_until(&task, &cancel).is_err());
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
        let error = draft(&Task::new(graph, samples)).expect_err("there is no key");
        assert_eq!(error.code(), "draft_no_key");
    }
}
