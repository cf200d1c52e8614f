//! Rules over a corpus: their plans, events, gold and graph specs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use retort::GraphSpec;
use retort::plan::{self, Plan};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::support::workspace_root;

use super::gold::Gold;

/// Corpora for which there are plans.
const CORPORA: [&str; 3] = ["github_webhooks", "agent_telemetry", "security_logs"];

/// A rule, with all that belongs to it.
pub(crate) struct Rule {
    corpus: &'static str,
    pub(super) name: String,
    pub(crate) plan: Plan,
    pub(crate) events: Vec<Event>,
    /// What results have to equal, in the order of the events.
    pub(super) gold: Option<Vec<Gold>>,
    /// What results have to fit.
    pub(super) graph: Option<GraphSpec>,
    /// Properties that hold JSON as text, which the gold spaces and orders in its own way.
    pub(super) json_text: Vec<String>,
    /// Values that no conversion can read.
    pub(super) unreadable: Vec<Unreadable>,
    declined: Vec<Declined>,
}

/// An entry of `rules.json`; files of the corpus are relative to it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listing {
    events: String,
    gold: Option<String>,
    /// The rule's own, beside the plan, where there is none here.
    graph: Option<Graph>,
    #[serde(default)]
    json_text: Vec<String>,
    #[serde(default)]
    unreadable: Vec<Unreadable>,
    #[serde(default)]
    declined: Vec<Declined>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Graph {
    Spec(String),
    Bound { ontology: String, binding: String },
}

/// Values of a property that no conversion can read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Unreadable {
    pub(super) property: String,
    /// How many events have one.
    pub(super) events: u64,
    pub(super) cause: String,
}

/// Why events are declined that are of the rule's types.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declined {
    cause: String,
    /// The paths at which such an event has nothing.
    lacks: Vec<Vec<String>>,
}

/// An event, with what tells it from others.
#[derive(Deserialize)]
pub(crate) struct Event {
    pub(super) event_type: String,
    pub(super) session_id: Option<String>,
    pub(super) span_id: Option<String>,
    #[serde(skip)]
    pub(crate) text: String,
}

impl Event {
    fn read(line: &str) -> Self {
        let event: Self = parsed(line, line);
        Self { text: line.to_owned(), ..event }
    }

    /// What messages call it.
    pub(super) fn name(&self) -> &str {
        self.span_id.as_deref().unwrap_or("an event without a span id")
    }
}

impl Rule {
    /// Of which corpus there is a rule of which name.
    pub(crate) fn listed() -> Vec<(&'static str, String)> {
        let mut listed = Vec::new();
        for corpus in CORPORA {
            let listings = listings(corpus);
            assert!(!listings.is_empty());
            listed.extend(listings.into_keys().map(|name| (corpus, name)));
        }
        listed
    }

    pub(crate) fn read(corpus: &'static str, name: String, corpora: &Path) -> Self {
        let listing = listings(corpus).remove(&name).unwrap();
        Self::new(corpus, name, listing, &plans(corpus), &corpora.join(corpus))
    }

    fn new(
        corpus: &'static str,
        name: String,
        listing: Listing,
        plans: &Path,
        data: &Path,
    ) -> Self {
        let plan = plan::parse(&read(&plans.join(format!("{name}.json"))));
        let plan = plan.unwrap_or_else(|error| panic!("{corpus}/{name}: {error}"));
        let events: Vec<Event> =
            read(&data.join(&listing.events)).lines().map(Event::read).collect();
        let causes = listing.declined.iter().map(|it| &it.cause);
        let mut causes = causes.chain(listing.unreadable.iter().map(|it| &it.cause));
        assert!(causes.all(|cause| !cause.is_empty()), "{corpus}/{name}: a cause");
        let gold = listing
            .gold
            .map(|file| read(&data.join(file)).lines().map(|line| parsed(line, line)).collect());
        let graph = match listing.graph {
            Some(Graph::Spec(file)) => Some(GraphSpec::parse(&read(&data.join(&file)), &file)),
            Some(Graph::Bound { ontology, binding }) => Some(GraphSpec::from_ontology(
                &read(&data.join(ontology)),
                &read(&data.join(binding)),
            )),
            None => {
                let file = plans.join(format!("{name}.graph.yaml"));
                file.exists().then(|| GraphSpec::parse(&read(&file), "graph.yaml"))
            }
        };
        let graph = graph.map(|it| it.unwrap_or_else(|error| panic!("{corpus}/{name}: {error}")));
        let rule = Self {
            corpus,
            name,
            plan,
            events,
            gold,
            graph,
            json_text: listing.json_text,
            unreadable: listing.unreadable,
            declined: listing.declined,
        };
        assert!(rule.events_of_plan().next().is_some(), "{}: no events", rule.path());
        rule
    }

    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.corpus, self.name)
    }

    /// The events of its types.
    pub(super) fn events_of_plan(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|it| self.plan.event_types().matches(&it.event_type))
    }

    /// Why there is nothing to be extracted from an event.
    pub(super) fn cause_of_declining(&self, event: &Event) -> Option<&str> {
        let value: Value = parsed(&event.text, &event.text);
        let lacks = |path: &Vec<String>| {
            path.iter().try_fold(&value, |value, key| value.get(key)).is_none_or(Value::is_null)
        };
        let cause = self.declined.iter().find(|it| it.lacks.iter().all(lacks));
        cause.map(|it| it.cause.as_str())
    }

    /// Why events may be declined: each of these has to occur.
    pub(super) fn causes_of_declining(&self) -> impl Iterator<Item = &str> {
        self.declined.iter().map(|it| it.cause.as_str())
    }
}

/// Where the plans for a corpus are.
fn plans(corpus: &str) -> PathBuf {
    workspace_root().join("tests/plans").join(corpus)
}

fn listings(corpus: &str) -> BTreeMap<String, Listing> {
    json_of(&plans(corpus).join("rules.json"))
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn json_of<T: DeserializeOwned>(file: &Path) -> T {
    parsed(&read(file), &file.display().to_string())
}

fn parsed<T: DeserializeOwned>(text: &str, origin: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{origin}: {error}"))
}
