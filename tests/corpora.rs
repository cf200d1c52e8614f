//! Hand-written plans over real events, compared with gold extractions.
//!
//! `tests/plans/<corpus>/<rule>.json` is a plan, `rules.json` beside it says for each rule which
//! events and gold belong to it, and which gaps there are: what the gold holds and a plan can't
//! say. A difference that isn't listed fails, and so does a listed one that no longer occurs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use retort::graph::extraction::{Extraction, Node};
use retort::plan::eval::eval;
use retort::plan::{self, Plan};
use retort::sandbox::{Limits, Runner, Sandbox};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::support::{rendered, shared, workspace_root};

/// Corpora for which there are plans.
pub(crate) const CORPORA: &[&str] = &["github_webhooks", "agent_telemetry"];

/// A rule, and the files that belong to it, relative to its corpus.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    events: String,
    gold: String,
    event_types: EventTypes,
    gaps: Vec<Gap>,
}

/// A plan names one event type; a rule may be about several, and its plan is tried for each.
#[derive(Deserialize)]
#[serde(untagged)]
enum EventTypes {
    These(Vec<String>),
    /// Those of the `event_types` list in this file.
    InFile(String),
}

/// Something that the gold holds and the plan can't say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gap {
    kind: Kind,
    /// A property, entity or relationship.
    name: String,
    #[serde(default)]
    reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// The value as it stands in the event is there, the gold's converted one isn't.
    Conversion,
    /// A property of the node that isn't there.
    MissingProperty,
    /// A node beside the event's own.
    ChildNode,
    Edge,
    /// What no gap may explain: wrong or superfluous nodes, properties and spans.
    Wrong,
}

/// The gold extraction of one event, of either form that corpora use.
#[derive(Deserialize)]
struct Gold {
    event_type: String,
    session_id: Option<String>,
    span_id: Option<String>,
    nodes: Vec<GoldNode>,
    #[serde(default, alias = "edges")]
    extended_edges: Vec<GoldEdge>,
    #[serde(default)]
    extended_nodes: Vec<GoldNode>,
    #[serde(alias = "fully_handled_span_ids")]
    fully_handled: Vec<String>,
    #[serde(alias = "partially_handled_span_ids")]
    partially_handled: Vec<String>,
}

#[derive(Deserialize)]
struct GoldNode {
    node_id: String,
    #[serde(alias = "entity_name")]
    entity: String,
    properties: GoldProperties,
    /// The values before conversion, where they are given.
    #[serde(default)]
    raw: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum GoldProperties {
    Map(Map<String, Value>),
    List(Vec<retort::graph::extraction::Property>),
}

#[derive(Deserialize)]
struct GoldEdge {
    #[serde(alias = "relationship_name")]
    relationship: String,
}

#[derive(Deserialize)]
struct Routing {
    event_type: String,
    session_id: Option<String>,
    span_id: Option<String>,
}

impl Routing {
    fn is_of(&self, gold: &Gold) -> bool {
        self.event_type == gold.event_type
            && self.session_id == gold.session_id
            && self.span_id == gold.span_id
    }
}

/// What was compared for one rule, and how much of it was equal.
#[derive(Default)]
struct Tally {
    /// Events of the rule's types.
    events: usize,
    nodes: [usize; 2],
    properties: [usize; 2],
    spans: [usize; 2],
    gaps: BTreeMap<(Kind, String), usize>,
}

impl Tally {
    fn note(&mut self, kind: Kind, name: impl Into<String>) {
        *self.gaps.entry((kind, name.into())).or_default() += 1;
    }

    fn count(counter: &mut [usize; 2], equal: bool) {
        counter[0] += usize::from(equal);
        counter[1] += 1;
    }

    fn compare(&mut self, found: &Extraction, gold: &Gold) {
        let mut unclaimed: Vec<&Node> = found.nodes.iter().collect();
        for node in &gold.nodes {
            let same = |it: &&Node| it.node_id == node.node_id && it.entity_name == node.entity;
            let found = unclaimed.iter().position(same).map(|place| unclaimed.remove(place));
            Self::count(&mut self.nodes, found.is_some());
            match found {
                Some(found) => self.compare_properties(found, node),
                None => self.note(Kind::Wrong, format!("no {}", node.node_id)),
            }
        }
        for node in unclaimed {
            self.note(Kind::Wrong, format!("unexpected {}", node.node_id));
        }
        for node in &gold.extended_nodes {
            self.note(Kind::ChildNode, &node.entity);
        }
        for edge in &gold.extended_edges {
            self.note(Kind::Edge, &edge.relationship);
        }
        let spans = found.fully_handled_span_ids == gold.fully_handled
            && found.partially_handled_span_ids == gold.partially_handled;
        Self::count(&mut self.spans, spans);
        if !spans {
            self.note(Kind::Wrong, format!("spans of {:?}", gold.span_id));
        }
    }

    fn compare_properties(&mut self, found: &Node, gold: &GoldNode) {
        let mut found: BTreeMap<&str, &Value> =
            found.properties.iter().map(|it| (it.name.as_str(), &it.value)).collect();
        let wanted: BTreeMap<&str, &Value> = match &gold.properties {
            GoldProperties::Map(map) => map.iter().map(|(name, it)| (name.as_str(), it)).collect(),
            GoldProperties::List(list) => {
                list.iter().map(|it| (it.name.as_str(), &it.value)).collect()
            }
        };
        for (name, wanted) in wanted {
            let found = found.remove(name);
            Self::count(&mut self.properties, found == Some(wanted));
            match found {
                Some(found) if found == wanted => {}
                Some(found) if gold.raw.get(name) == Some(found) => {
                    self.note(Kind::Conversion, name);
                }
                Some(_) => self.note(Kind::Wrong, format!("{name} of {}", gold.node_id)),
                None => self.note(Kind::MissingProperty, name),
            }
        }
        for name in found.keys() {
            self.note(Kind::Wrong, format!("unexpected {name} of {}", gold.node_id));
        }
    }

    fn of_kind(&self, kind: Kind) -> usize {
        self.gaps.iter().filter(|((it, _), _)| *it == kind).map(|(_, count)| count).sum()
    }
}

/// A way to run a plan on the text of an event.
pub(crate) type Run<'r> = &'r mut dyn FnMut(&Plan, &str) -> Extraction;

/// Runs all the plans for a corpus over its events and holds what comes out to the gold and the
/// list of gaps. Gives a table to print; `None` where the corpus isn't there.
///
/// # Panics
/// Where anything differs that isn't listed, or something listed doesn't.
pub(crate) fn check_corpus(corpus: &str, run: Run) -> Option<String> {
    let data = shared("corpora")?.join(corpus);
    let plans = workspace_root().join("tests/plans").join(corpus);
    let rules: BTreeMap<String, Rule> = read_json(&plans.join("rules.json"));
    assert!(!rules.is_empty());
    let mut table = format!(
        "{corpus:<20} events       nodes  properties       spans  converted  missing  children  \
         edges\n"
    );
    let mut failures = String::new();
    for (name, rule) in &rules {
        let plan: Value = read_json(&plans.join(format!("{name}.json")));
        let tally = run_rule(&data, rule, &plan, run);
        let found: BTreeSet<(Kind, String)> = tally.gaps.keys().cloned().collect();
        let listed: BTreeSet<(Kind, String)> =
            rule.gaps.iter().map(|gap| (gap.kind, gap.name.clone())).collect();
        for (what, differing) in [
            ("not listed", found.difference(&listed).collect::<Vec<_>>()),
            ("listed, but not found", listed.difference(&found).collect()),
        ] {
            if !differing.is_empty() {
                writeln!(failures, "{corpus}/{name}: {what}: {differing:?}").unwrap();
            }
        }
        assert!(tally.events > 0, "{corpus}/{name}: no events");
        assert!(rule.gaps.iter().all(|gap| !gap.reason.is_empty()), "{corpus}/{name}: a reason");
        let ratio = |[equal, all]: [usize; 2]| format!("{equal}/{all}");
        writeln!(
            table,
            "  {name:<18} {:>6} {:>11} {:>11} {:>11} {:>10} {:>8} {:>9} {:>6}",
            tally.events,
            ratio(tally.nodes),
            ratio(tally.properties),
            ratio(tally.spans),
            tally.of_kind(Kind::Conversion),
            tally.of_kind(Kind::MissingProperty),
            tally.of_kind(Kind::ChildNode),
            tally.of_kind(Kind::Edge),
        )
        .unwrap();
    }
    assert!(failures.is_empty(), "{failures}");
    Some(table)
}

fn run_rule(data: &Path, rule: &Rule, plan: &Value, run: Run) -> Tally {
    let event_types = match &rule.event_types {
        EventTypes::These(types) => types.clone(),
        EventTypes::InFile(file) => {
            let rule: Value = read_json(&data.join(file));
            serde_json::from_value(rule["event_types"].clone()).unwrap()
        }
    };
    let plans: BTreeMap<String, Plan> =
        event_types.into_iter().map(|it| (it.clone(), instantiate(plan, it))).collect();
    let as_written = plan::from_value(plan).unwrap();
    assert_eq!(plans.get(as_written.event_type()), Some(&as_written), "a type of the rule");

    let gold: Vec<Gold> = read_lines(&data.join(&rule.gold));
    let mut gold = gold.iter().peekable();
    let mut tally = Tally::default();
    for event in std::fs::read_to_string(data.join(&rule.events)).unwrap().lines() {
        let routing: Routing = serde_json::from_str(event).unwrap();
        let plan = plans.get(&routing.event_type);
        tally.events += usize::from(plan.is_some());
        let found = run(plan.unwrap_or(&as_written), event);
        match gold.next_if(|gold| routing.is_of(gold)) {
            Some(gold) => tally.compare(&found, gold),
            None if found.is_empty() => {}
            None => tally.note(Kind::Wrong, format!("a result for {event}")),
        }
    }
    assert_eq!(gold.count(), 0, "gold is in the order of the events");
    tally
}

fn instantiate(plan: &Value, event_type: String) -> Plan {
    let mut plan = plan.clone();
    plan["event_type"] = Value::String(event_type);
    plan::from_value(&plan).unwrap()
}

fn read_json<T: DeserializeOwned>(file: &Path) -> T {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

fn read_lines<T: DeserializeOwned>(file: &Path) -> Vec<T> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let read = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    text.lines().map(read).collect()
}

#[test]
fn the_oracle_extracts_the_gold_where_a_plan_can_say_it() {
    for corpus in CORPORA {
        if let Some(table) = check_corpus(corpus, &mut |plan, event| eval(plan, event).unwrap()) {
            eprintln!("{table}");
        }
    }
}

#[test]
fn rendered_modules_extract_the_gold_where_a_plan_can_say_it() {
    let sandbox = Sandbox::new(Limits::default()).unwrap();
    let mut runners: Vec<(Plan, Runner)> = Vec::new();
    let mut run = |plan: &Plan, event: &str| {
        let known = runners.iter().position(|(known, _)| known == plan);
        let index = known.unwrap_or_else(|| {
            let runner = sandbox.load(&rendered(plan)).unwrap().runner();
            runners.push((plan.clone(), runner));
            runners.len() - 1
        });
        let outcome = runners[index].1.run(event.as_bytes()).unwrap();
        serde_json::from_slice(outcome.json).unwrap()
    };
    for corpus in CORPORA {
        check_corpus(corpus, &mut run);
    }
}
