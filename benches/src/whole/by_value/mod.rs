//! The extractions as a person would write them over `serde_json::Value`, and the graph that the hard tasks of evaluation/ fill.

mod casual;
mod directory_changes;
mod kubernetes_audit;
mod otlp_traces;
mod queue_batches;
mod shop_orders;
mod tool_results;

use std::borrow::Cow;
use std::fmt::Display;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// Orders with their lines and parcels.
#[must_use]
pub fn shop_orders(event: &[u8], out: &mut Vec<u8>) -> bool {
    casual::extract(event, out, shop_orders::fill)
}

/// Spans of services.
#[must_use]
pub fn otlp_traces(event: &[u8], out: &mut Vec<u8>) -> bool {
    by_hand(event, out, otlp_traces::fill)
}

/// What an agent's tools gave.
#[must_use]
pub fn tool_results(event: &[u8], out: &mut Vec<u8>) -> bool {
    by_hand(event, out, tool_results::fill)
}

/// Workloads that were written to a cluster.
#[must_use]
pub fn kubernetes_audit(event: &[u8], out: &mut Vec<u8>) -> bool {
    by_hand(event, out, kubernetes_audit::fill)
}

/// What changed in the directory.
#[must_use]
pub fn directory_changes(event: &[u8], out: &mut Vec<u8>) -> bool {
    by_hand(event, out, directory_changes::fill)
}

/// Orders out of a queue.
#[must_use]
pub fn queue_batches(event: &[u8], out: &mut Vec<u8>) -> bool {
    by_hand(event, out, queue_batches::fill)
}

fn by_hand(
    event: &[u8],
    out: &mut Vec<u8>,
    fill: for<'a> fn(&'a Value, &mut Graph<'a>) -> Option<()>,
) -> bool {
    let Ok(event) = serde_json::from_slice::<Value>(event) else { return false };
    let mut graph = Graph::default();
    // What isn't there where it has to be ends it: nothing more comes out then.
    let _ = fill(&event, &mut graph);
    out.clear();
    serde_json::to_writer(out, &graph).is_ok()
}

/// What an event gives.
#[derive(Default, Serialize)]
struct Graph<'a> {
    nodes: Vec<Node<'a>>,
    edges: Vec<Edge<'a>>,
    fully_handled_span_ids: Vec<Cow<'a, str>>,
    partially_handled_span_ids: Vec<Cow<'a, str>>,
}

#[derive(Serialize)]
struct Node<'a> {
    node_id: String,
    entity_name: &'static str,
    labels: [&'static str; 1],
    properties: Vec<Property<'a>>,
}

#[derive(Serialize)]
struct Edge<'a> {
    edge_id: String,
    relationship_name: &'static str,
    from_node_id: String,
    to_node_id: String,
    properties: Vec<Property<'a>>,
}

#[derive(Serialize)]
struct Property<'a> {
    name: &'static str,
    value: Scalar<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Scalar<'a> {
    Text(Cow<'a, str>),
    Integer(i64),
    Double(f64),
    Boolean(bool),
    Json(&'a Value),
}

impl<'a> Graph<'a> {
    /// Adds a node with these properties, the key's first, and of two with one id the later one.
    fn node<const N: usize>(
        &mut self,
        id: String,
        entity: &'static str,
        properties: [(&'static str, Option<Scalar<'a>>); N],
    ) {
        self.nodes.retain(|node| node.node_id != id);
        let properties = given(properties);
        self.nodes.push(Node { node_id: id, entity_name: entity, labels: [entity], properties });
    }

    fn edge<const N: usize>(
        &mut self,
        relationship: &'static str,
        from: &str,
        to: &str,
        properties: [(&'static str, Option<Scalar<'a>>); N],
    ) {
        let edge_id = format!("{from}:{relationship}:{to}");
        self.edges.retain(|edge| edge.edge_id != edge_id);
        self.edges.push(Edge {
            edge_id,
            relationship_name: relationship,
            from_node_id: from.to_owned(),
            to_node_id: to.to_owned(),
            properties: given(properties),
        });
    }
}

fn given<'a, const N: usize>(
    properties: [(&'static str, Option<Scalar<'a>>); N],
) -> Vec<Property<'a>> {
    let given = |(name, value): (_, Option<_>)| Some(Property { name, value: value? });
    properties.into_iter().filter_map(given).collect()
}

/// A value of the event as it is.
fn json(value: &Value) -> Option<Scalar<'_>> {
    (!value.is_null()).then_some(Scalar::Json(value))
}

fn text<'a>(value: impl Into<Cow<'a, str>>) -> Option<Scalar<'a>> {
    Some(Scalar::Text(value.into()))
}

/// A value as it stands in an id, if it may.
fn in_id(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(text.into()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string().into()),
        _ => None,
    }
}

/// An integer, as such or as text.
fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// RFC 3339 with six digits of the fraction at most.
fn moment(nanoseconds: i128) -> Option<Scalar<'static>> {
    let time = Timestamp::from_nanosecond(nanoseconds.div_euclid(1000) * 1000).ok()?;
    text(time.to_string())
}

/// The same of a time that is written out.
fn moment_of(written: &Value) -> Option<Scalar<'static>> {
    let time: Timestamp = written.as_str()?.parse().ok()?;
    moment(time.as_nanosecond())
}

/// Sorted, each once.
fn sorted<'a>(names: impl Iterator<Item = &'a str>, separator: &str) -> Option<Scalar<'static>> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    text(names.join(separator))
}

fn id(session: impl Display, entity: &str, key: impl Display) -> String {
    format!("{session}:{entity}:{key}")
}
