//! Gold extractions, of either form that corpora have, and how results differ from them.

use std::collections::{BTreeMap, BTreeSet};

use retort::graph::{Extraction, Property};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::rule::Event;

/// The gold extraction of one event.
#[derive(Deserialize)]
pub(super) struct Gold {
    event_type: String,
    session_id: Option<String>,
    span_id: Option<String>,
    nodes: Vec<GoldNode>,
    /// Nodes beside the event's own.
    #[serde(default)]
    extended_nodes: Vec<GoldNode>,
    #[serde(default, alias = "edges")]
    extended_edges: Vec<GoldEdge>,
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
    labels: Option<Vec<String>>,
    properties: GoldProperties,
}

#[derive(Deserialize)]
struct GoldEdge {
    /// Where there is none, any will do.
    edge_id: Option<String>,
    #[serde(alias = "relationship_name")]
    relationship: String,
    #[serde(alias = "from_node_id")]
    from: String,
    #[serde(alias = "to_node_id")]
    to: String,
    #[serde(default)]
    properties: GoldProperties,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum GoldProperties {
    Map(Map<String, Value>),
    List(Vec<Property>),
}

impl Default for GoldProperties {
    fn default() -> Self {
        Self::Map(Map::new())
    }
}

impl Gold {
    pub(super) fn is_of(&self, event: &Event) -> bool {
        self.event_type == event.event_type
            && self.session_id == event.session_id
            && self.span_id == event.span_id
    }
}

/// What is compared: nodes and edges by id, and the spans.
#[derive(Default)]
struct Graph {
    nodes: BTreeMap<String, Value>,
    /// By relationship and ends; an edge without an id is found under no other.
    edges: BTreeMap<[String; 3], Value>,
    repeated: BTreeSet<String>,
    spans: [Vec<String>; 2],
}

impl Graph {
    fn of_result(found: &Extraction, json_text: &[String]) -> Self {
        let mut graph = Self::default();
        for node in &found.nodes {
            let properties = by_name(&node.properties, json_text);
            graph.node(&node.node_id, &node.entity_name, &node.labels, properties);
        }
        let mut ids = BTreeSet::new();
        for edge in &found.edges {
            let ends = [&edge.relationship_name, &edge.from_node_id, &edge.to_node_id];
            let properties = by_name(&edge.properties, json_text);
            graph.edge(ends, Some(&edge.edge_id), properties);
            if !ids.insert(&edge.edge_id) {
                graph.repeated.insert(edge.edge_id.clone());
            }
        }
        let Extraction { fully_handled_span_ids, partially_handled_span_ids, .. } = found;
        graph.spans = [fully_handled_span_ids.clone(), partially_handled_span_ids.clone()];
        graph
    }

    fn of_gold(gold: &Gold, json_text: &[String]) -> Self {
        let mut graph = Self::default();
        for node in gold.nodes.iter().chain(&gold.extended_nodes) {
            // A node's label is its entity, where the gold doesn't speak of labels.
            let labels = node.labels.clone().unwrap_or_else(|| vec![node.entity.clone()]);
            graph.node(&node.node_id, &node.entity, &labels, node.properties.by_name(json_text));
        }
        for edge in &gold.extended_edges {
            let ends = [&edge.relationship, &edge.from, &edge.to];
            graph.edge(ends, edge.edge_id.as_ref(), edge.properties.by_name(json_text));
        }
        graph.spans = [gold.fully_handled.clone(), gold.partially_handled.clone()];
        graph
    }

    fn node(&mut self, id: &str, entity: &str, labels: &[String], properties: Value) {
        let node =
            serde_json::json!({"entity": entity, "labels": labels, "properties": properties});
        if self.nodes.insert(id.to_owned(), node).is_some() {
            self.repeated.insert(id.to_owned());
        }
    }

    fn edge(&mut self, ends: [&String; 3], id: Option<&String>, properties: Value) {
        let edge = serde_json::json!({"id": id, "properties": properties});
        if self.edges.insert(ends.map(String::clone), edge).is_some() {
            self.repeated.insert(ends.map(String::as_str).join(" "));
        }
    }
}

impl GoldProperties {
    fn by_name(&self, json_text: &[String]) -> Value {
        match self {
            Self::Map(map) => {
                let list = map
                    .iter()
                    .map(|(name, value)| Property { name: name.clone(), value: value.clone() });
                by_name(&list.collect::<Vec<_>>(), json_text)
            }
            Self::List(list) => by_name(list, json_text),
        }
    }
}

/// Properties by name; of those that hold JSON as text, what the text says, as spacing and the order of keys are free.
fn by_name(properties: &[Property], json_text: &[String]) -> Value {
    let property = |it: &Property| {
        let value = match &it.value {
            Value::String(text) if json_text.contains(&it.name) => serde_json::from_str(text)
                .unwrap_or_else(|error| panic!("{}: {error}: {text}", it.name)),
            value => value.clone(),
        };
        (it.name.clone(), value)
    };
    properties.iter().map(property).collect::<Map<_, _>>().into()
}

/// How a result differs from its gold; no gold means that there is to be no result.
pub(super) fn differences(
    found: &Extraction,
    gold: Option<&Gold>,
    json_text: &[String],
) -> Vec<String> {
    let found = Graph::of_result(found, json_text);
    let mut wanted = gold.map(|gold| Graph::of_gold(gold, json_text)).unwrap_or_default();
    for (ends, edge) in &mut wanted.edges {
        if edge["id"].is_null()
            && let Some(found) = found.edges.get(ends)
        {
            edge["id"] = found["id"].clone();
        }
    }
    let mut differences: Vec<String> =
        found.repeated.iter().map(|id| format!("{id} is there twice")).collect();
    differences.extend(unequal(&found.nodes, &wanted.nodes));
    differences.extend(unequal(&found.edges, &wanted.edges));
    if found.spans != wanted.spans {
        differences.push(format!("spans {:?}, the gold has {:?}", found.spans, wanted.spans));
    }
    differences
}

fn unequal<K: Ord + std::fmt::Debug>(
    found: &BTreeMap<K, Value>,
    wanted: &BTreeMap<K, Value>,
) -> Vec<String> {
    let ids: BTreeSet<&K> = found.keys().chain(wanted.keys()).collect();
    let show = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    ids.into_iter()
        .map(|id| (id, found.get(id), wanted.get(id)))
        .filter(|(_, found, wanted)| found != wanted)
        .map(|(id, found, wanted)| {
            format!("{id:?}: {}, the gold has {}", show(found), show(wanted))
        })
        .collect()
}
