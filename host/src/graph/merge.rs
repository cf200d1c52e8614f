//! The results of several extractors for one event, as one.

use indexmap::map::Entry;
use indexmap::{IndexMap, IndexSet};
use serde_json::Value;
use thiserror::Error;

use super::extraction::{Edge, Extraction, Node, Property, is_same_value};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::sanitize;

/// How much of a text is shown.
const SHOWN_CHARS: usize = 120;

/// What becomes of results that differ where they mean the same thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflicts {
    /// There is no result. The default.
    #[default]
    Reject,
    /// The last one counts.
    Last,
}

/// That two results differ where they mean the same thing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{detail}")]
pub struct Conflict {
    /// The place of the later result among all of them.
    pub result: usize,
    /// Where in that result: `nodes[0].properties[2].value`.
    pub path: String,
    /// What differs. Text of the result is escaped and cut in it.
    pub detail: String,
}

impl Coded for Conflict {
    fn entry(&self) -> Code {
        codes::MERGE_CONFLICT
    }

    fn place(&self) -> Option<String> {
        Some(self.path.clone())
    }
}

/// Merges results for one event, in their order.
///
/// - Nodes of one id are one, with the labels and properties of all of them, as are edges of one id. A value that several give is
///   there once; numbers are the same if they have the same value.
/// - What differs is a conflict: two values of one property, two entities of one node, two relationships or ends of one edge.
/// - A span is fully handled if one result says so and none says that it is handled in part: then something is left of it.
///
/// Things are in the order in which they first appear. The merged result of a single one is that, without what is in it twice.
///
/// # Errors
/// The first [`Conflict`], where conflicts are rejected.
///
/// # Example
/// ```
/// use retort::graph::{Conflicts, Extraction, merge};
///
/// let result = |property: &str, value: u32| -> Extraction {
///     serde_json::from_value(serde_json::json!({"nodes": [{"node_id": "s:Order:id=1",
///         "entity_name": "Order", "properties": [{"name": property, "value": value}]}], "edges": []}))
///     .unwrap()
/// };
/// let merged = merge([result("total", 7), result("items", 2)], Conflicts::Reject)?;
/// assert_eq!((merged.nodes.len(), merged.nodes[0].properties.len()), (1, 2));
/// assert!(merge([result("total", 7), result("total", 8)], Conflicts::Reject).is_err());
/// let merged = merge([result("total", 7), result("total", 8)], Conflicts::Last)?;
/// assert_eq!(merged.nodes[0].properties[0].value, 8);
/// # Ok::<(), retort::graph::Conflict>(())
/// ```
pub fn merge(
    results: impl IntoIterator<Item = Extraction>,
    conflicts: Conflicts,
) -> Result<Extraction, Conflict> {
    let mut merged = Merged { conflicts, ..Merged::default() };
    for (number, result) in results.into_iter().enumerate() {
        merged.add(result).map_err(|found| Conflict { result: number, ..found })?;
    }
    Ok(merged.finish())
}

/// What was merged so far.
#[derive(Default)]
struct Merged {
    conflicts: Conflicts,
    nodes: IndexMap<String, MergedNode>,
    edges: IndexMap<String, MergedEdge>,
    fully_handled: IndexSet<String>,
    partially_handled: IndexSet<String>,
}

#[derive(Default)]
struct MergedNode {
    entity_name: String,
    labels: IndexSet<String>,
    properties: IndexMap<String, Value>,
}

#[derive(Default)]
struct MergedEdge {
    relationship_name: String,
    from_node_id: String,
    to_node_id: String,
    properties: IndexMap<String, Value>,
}

impl Merged {
    fn add(&mut self, result: Extraction) -> Result<(), Conflict> {
        let Extraction { nodes, edges, fully_handled_span_ids, partially_handled_span_ids } =
            result;
        for (place, node) in nodes.into_iter().enumerate() {
            let path = format!("nodes[{place}]");
            let Node { node_id, entity_name, labels, properties } = node;
            let merged = match self.nodes.entry(node_id) {
                Entry::Vacant(new) => {
                    new.insert(MergedNode { entity_name, ..MergedNode::default() })
                }
                Entry::Occupied(known) => {
                    let whose = format!("node `{}`", sanitize(known.key(), SHOWN_CHARS));
                    let known = known.into_mut();
                    let at = || format!("{path}.entity_name");
                    settle_text(self.conflicts, &mut known.entity_name, entity_name, at, &whose)?;
                    known
                }
            };
            merged.labels.extend(labels);
            unite(self.conflicts, &mut merged.properties, properties, &path)?;
        }
        for (place, edge) in edges.into_iter().enumerate() {
            let path = format!("edges[{place}]");
            let Edge { edge_id, relationship_name, from_node_id, to_node_id, properties } = edge;
            let merged = match self.edges.entry(edge_id) {
                Entry::Vacant(new) => {
                    let properties = IndexMap::new();
                    new.insert(MergedEdge {
                        relationship_name,
                        from_node_id,
                        to_node_id,
                        properties,
                    })
                }
                Entry::Occupied(known) => {
                    let whose = format!("edge `{}`", sanitize(known.key(), SHOWN_CHARS));
                    let known = known.into_mut();
                    for (name, known, found) in [
                        ("relationship_name", &mut known.relationship_name, relationship_name),
                        ("from_node_id", &mut known.from_node_id, from_node_id),
                        ("to_node_id", &mut known.to_node_id, to_node_id),
                    ] {
                        let at = || format!("{path}.{name}");
                        settle_text(self.conflicts, known, found, at, &whose)?;
                    }
                    known
                }
            };
            unite(self.conflicts, &mut merged.properties, properties, &path)?;
        }
        self.fully_handled.extend(fully_handled_span_ids);
        self.partially_handled.extend(partially_handled_span_ids);
        Ok(())
    }

    fn finish(self) -> Extraction {
        let Self { nodes, edges, fully_handled, partially_handled, .. } = self;
        let listed = |properties: IndexMap<String, Value>| {
            properties.into_iter().map(|(name, value)| Property { name, value }).collect()
        };
        let node = |(node_id, it): (String, MergedNode)| Node {
            node_id,
            entity_name: it.entity_name,
            labels: it.labels.into_iter().collect(),
            properties: listed(it.properties),
        };
        let edge = |(edge_id, it): (String, MergedEdge)| Edge {
            edge_id,
            relationship_name: it.relationship_name,
            from_node_id: it.from_node_id,
            to_node_id: it.to_node_id,
            properties: listed(it.properties),
        };
        let is_whole = |span: &String| !partially_handled.contains(span);
        Extraction {
            nodes: nodes.into_iter().map(node).collect(),
            edges: edges.into_iter().map(edge).collect(),
            fully_handled_span_ids: fully_handled.into_iter().filter(is_whole).collect(),
            partially_handled_span_ids: partially_handled.iter().cloned().collect(),
        }
    }
}

/// Adds properties to those of the node or edge that lies at `path`.
fn unite(
    conflicts: Conflicts,
    merged: &mut IndexMap<String, Value>,
    properties: Vec<Property>,
    path: &str,
) -> Result<(), Conflict> {
    for (place, Property { name, value }) in properties.into_iter().enumerate() {
        match merged.entry(name) {
            Entry::Vacant(new) => _ = new.insert(value),
            Entry::Occupied(known) if is_same_value(known.get(), &value) => {}
            Entry::Occupied(mut known) => {
                if conflicts == Conflicts::Reject {
                    let shown = sanitize(known.key(), SHOWN_CHARS);
                    let detail = format!(
                        "expected the value of `{shown}` that was given before, found another"
                    );
                    return Err(conflict(format!("{path}.properties[{place}].value"), detail));
                }
                known.insert(value);
            }
        }
    }
    Ok(())
}

fn settle_text(
    conflicts: Conflicts,
    known: &mut String,
    found: String,
    path: impl Fn() -> String,
    whose: &str,
) -> Result<(), Conflict> {
    if *known != found && conflicts == Conflicts::Reject {
        let (known, found) = (sanitize(known, SHOWN_CHARS), sanitize(&found, SHOWN_CHARS));
        return Err(conflict(
            path(),
            format!("{whose}: expected `{known}` as before, found `{found}`"),
        ));
    }
    *known = found;
    Ok(())
}

fn conflict(path: String, detail: String) -> Conflict {
    Conflict { result: 0, path, detail }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn of(value: Value) -> Extraction {
        serde_json::from_value(value).unwrap()
    }

    fn node(id: &str, entity: &str, properties: &[(&str, Value)]) -> Value {
        let properties: Vec<_> =
            properties.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        json!({"node_id": id, "entity_name": entity, "labels": [entity], "properties": properties})
    }

    fn edge(id: &str, to: &str, properties: &[(&str, Value)]) -> Value {
        let Value::Object(mut edge) = node("", "", properties) else { unreachable!() };
        for key in ["node_id", "entity_name", "labels"] {
            edge.remove(key);
        }
        for (key, value) in
            [("edge_id", id), ("relationship_name", "r"), ("from_node_id", "a"), ("to_node_id", to)]
        {
            edge.insert(key.to_owned(), value.into());
        }
        edge.into()
    }

    #[test]
    fn what_one_leaves_out_another_adds() {
        let one = of(json!({"nodes": [node("a", "A", &[("x", 1.into()), ("y", "p".into())])],
            "edges": [edge("e", "b", &[("w", 1.into())])],
            "fully_handled_span_ids": ["s", "t"], "partially_handled_span_ids": ["u"]}));
        let other = of(
            json!({"nodes": [node("b", "B", &[]), node("a", "A", &[("z", true.into()), ("x", json!(1.0))])],
            "edges": [edge("e", "b", &[("v", 2.into())]), edge("f", "c", &[])],
            "fully_handled_span_ids": ["u", "v"], "partially_handled_span_ids": ["t"]}),
        );
        let merged = merge([one, other], Conflicts::Reject).unwrap();
        let expected = of(
            json!({"nodes": [node("a", "A", &[("x", 1.into()), ("y", "p".into()), ("z", true.into())]), node("b", "B", &[])],
            "edges": [edge("e", "b", &[("w", 1.into()), ("v", 2.into())]), edge("f", "c", &[])],
            "fully_handled_span_ids": ["s", "v"], "partially_handled_span_ids": ["u", "t"]}),
        );
        assert_eq!(merged, expected);
    }

    #[test]
    fn what_differs_is_a_conflict_with_its_place_or_the_last_counts() {
        let nodes = |node: Value| of(json!({"nodes": [node], "edges": []}));
        let edges = |edge: Value| of(json!({"nodes": [], "edges": [edge]}));
        let x = |value: Value| nodes(node("a", "A", &[("x", value)]));
        for (one, other, path) in [
            (x(1.into()), x(2.into()), "nodes[0].properties[0].value"),
            (x(1.into()), x("1".into()), "nodes[0].properties[0].value"),
            (x(1.into()), x(Value::Null), "nodes[0].properties[0].value"),
            (nodes(node("a", "A", &[])), nodes(node("a", "B", &[])), "nodes[0].entity_name"),
            (edges(edge("e", "b", &[])), edges(edge("e", "c", &[])), "edges[0].to_node_id"),
            (
                edges(edge("e", "b", &[("x", 1.into())])),
                edges(edge("e", "b", &[("x", 2.into())])),
                "edges[0].properties[0].value",
            ),
        ] {
            let empty = Extraction::default();
            let found = merge([one.clone(), empty, other.clone()], Conflicts::Reject).unwrap_err();
            assert_eq!((found.code(), found.result, &*found.path), ("merge_conflict", 2, path));
            let last = merge([one.clone(), other.clone()], Conflicts::Last).unwrap();
            let first = merge([other.clone(), one.clone()], Conflicts::Last).unwrap();
            let (of_other, of_one) = (last.nodes == other.nodes, first.nodes == one.nodes);
            if path.ends_with("entity_name") {
                // The labels are those of both.
                assert_eq!(last.nodes[0].entity_name, "B");
            } else {
                assert!(of_other && of_one && last.edges == other.edges, "{path}");
            }
        }
    }

    fn extraction() -> impl Strategy<Value = Extraction> {
        let properties = || prop::collection::btree_map("[x-z]", 0..3_i32, 0..3);
        let nodes = prop::collection::btree_map("[a-c]", properties(), 0..3);
        let edges = prop::collection::btree_map("[e-g]", (0..2_u8, properties()), 0..3);
        let spans = || prop::collection::btree_set("[s-u]", 0..3);
        (nodes, edges, spans(), spans()).prop_map(|(nodes, edges, whole, part)| {
            let list = |properties: std::collections::BTreeMap<String, i32>| {
                let property =
                    |(name, value): (String, i32)| Property { name, value: value.into() };
                properties.into_iter().map(property).collect::<Vec<_>>()
            };
            let node = |(node_id, it)| Node {
                node_id,
                entity_name: "A".to_owned(),
                labels: vec!["A".to_owned()],
                properties: list(it),
            };
            let edge = |(edge_id, (to, it)): (String, (u8, _))| Edge {
                edge_id,
                relationship_name: "r".to_owned(),
                from_node_id: "a".to_owned(),
                to_node_id: to.to_string(),
                properties: list(it),
            };
            Extraction {
                nodes: nodes.into_iter().map(node).collect(),
                edges: edges.into_iter().map(edge).collect(),
                fully_handled_span_ids: whole.difference(&part).cloned().collect(),
                partially_handled_span_ids: part.into_iter().collect(),
            }
        })
    }

    proptest! {
        #[test]
        fn an_empty_result_and_the_same_one_again_change_nothing(one in extraction()) {
            let empty = Extraction::default();
            for results in [vec![one.clone()], vec![one.clone(), empty.clone()], vec![empty, one.clone()], vec![one.clone(), one.clone()]] {
                for conflicts in [Conflicts::Reject, Conflicts::Last] {
                    prop_assert_eq!(merge(results.clone(), conflicts), Ok(one.clone()));
                }
            }
        }

        #[test]
        fn results_without_conflicts_are_the_same_in_any_order(one in extraction(), other in extraction()) {
            let facts = |merged: Extraction| {
                let property = |it: &Property| (it.name.clone(), it.value.to_string());
                let mut nodes: Vec<_> = merged.nodes.iter().map(|it| {
                    let mut properties: Vec<_> = it.properties.iter().map(property).collect();
                    properties.sort();
                    (it.node_id.clone(), properties)
                }).collect();
                let mut edges: Vec<_> = merged.edges.iter().map(|it| {
                    let mut properties: Vec<_> = it.properties.iter().map(property).collect();
                    properties.sort();
                    (it.edge_id.clone(), it.to_node_id.clone(), properties)
                }).collect();
                let (mut whole, mut part) = (merged.fully_handled_span_ids, merged.partially_handled_span_ids);
                nodes.sort();
                edges.sort();
                whole.sort();
                part.sort();
                (nodes, edges, whole, part)
            };
            let there = merge([one.clone(), other.clone()], Conflicts::Reject);
            let back = merge([other.clone(), one.clone()], Conflicts::Reject);
            let last = merge([one, other], Conflicts::Last).unwrap();
            prop_assert_eq!(there.is_ok(), back.is_ok());
            if let (Ok(there), Ok(back)) = (there, back) {
                prop_assert_eq!(&there, &last);
                prop_assert_eq!(facts(there), facts(back));
            }
        }
    }
}
