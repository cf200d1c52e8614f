//! What is known of a result of a known form, before it is read: that it fits a graph spec.
//!
//! What is constant in nodes and edges is held to the spec once: that there are such entities, relationships and properties, that
//! ids are made of the very values that keys have, and of which nodes the ends of edges have the ids. What is left are the types
//! of values, and whether those nodes are in the result, which each block tells. What isn't known is asked of the validator: ids
//! that may be the same, ends that aren't found, and every value that doesn't fit at first sight.

mod end;
mod id;
mod item;
mod node_ids;
mod shown;

use std::ptr;

use serde_json::Value;

use self::end::EdgeEnd;
use self::id::{FitId, is_plain};
use self::item::FitItem;
use self::node_ids::NodeIds;
use self::shown::ShownItem;
use super::form::{ItemForm, ItemOutline, ResultForm};
use super::measure::{Block, Measured};
use crate::graph::extraction::{Edge, Node};
use crate::graph::spec::{GraphSpec, PropertySpec};
use crate::graph::validate::{EndSpec, ValidateOptions, has_keys};

/// What has to hold of a block for its result to fit a graph spec.
#[derive(Debug)]
pub(crate) struct KnownFit {
    nodes: Vec<FitNode>,
    edges: Vec<FitEdge>,
    /// Whether two nodes can have the same id.
    may_repeat: bool,
    ids: NodeIds,
}

/// What has to hold of a node, whose constant text fits.
#[derive(Debug)]
struct FitNode {
    item: FitItem,
    entity: String,
    id: FitId,
}

/// What has to hold of an edge.
#[derive(Debug)]
struct FitEdge {
    item: FitItem,
    /// None where its constant text doesn't fit, or isn't known to.
    ends: Option<[EdgeEnd; 2]>,
}

impl ResultForm {
    /// By what it is known of a block that its result fits `spec`; none where what is constant in nodes doesn't, or isn't known to.
    pub(crate) fn fit(&self, spec: &GraphSpec, options: ValidateOptions) -> Option<KnownFit> {
        let [node_list, edge_list, ..] = &self.lists;
        let outlined = self.nodes.iter().zip(&node_list.items);
        let nodes: Vec<FitNode> = outlined
            .map(|(outline, form)| FitNode::new(outline, form, spec))
            .collect::<Option<_>>()?;
        let outlined = self.edges.iter().zip(&edge_list.items);
        let edges: Vec<FitEdge> = outlined
            .map(|(outline, form)| FitEdge::new(outline, form, spec, options, &nodes))
            .collect();
        let ends = edges.iter().filter_map(|edge| edge.ends.as_ref()).flatten();
        let ids = NodeIds::of(ends, &nodes);
        Some(KnownFit { nodes, edges, may_repeat: node_list.is_compared, ids })
    }
}

impl KnownFit {
    /// Whether blocks have to be looked at for results of this kind. `is_unique` says that no id is in a result twice.
    pub(crate) fn may_hold(&self, measured: &Measured, is_unique: bool) -> bool {
        measured.counts.nodes < 2 || is_unique || !self.may_repeat
    }

    /// Whether all values of this block fit, and all edges lead from a node to a node.
    pub(crate) fn holds(&mut self, block: &[u8]) -> bool {
        let Some(block) = Block::new(block) else { return false };
        let Self { nodes, edges, ids, .. } = self;
        let fits = nodes.iter().all(|node| node.holds(block).unwrap_or(false))
            && edges.iter().all(|edge| edge.holds(block, nodes, ids).unwrap_or(false));
        ids.clear();
        fits
    }
}

impl FitNode {
    /// None where the constant text doesn't fit, or isn't known to.
    fn new(outline: &ItemOutline, form: &ItemForm, spec: &GraphSpec) -> Option<Self> {
        let shown: ShownItem<Node> = ShownItem::of(outline)?;
        let entity = spec.entity(&shown.item.entity_name)?;
        // With other names the validator may take a value for a part of the id.
        let is_read_once =
            |key: &PropertySpec| is_plain(&key.column) && is_plain(&key.logical_name);
        (is_plain(&entity.name) && entity.key_properties().all(is_read_once)).then_some(())?;
        let mut keys: Vec<(&PropertySpec, &Value)> = Vec::new();
        let mut values = Vec::new();
        for given in &shown.item.properties {
            let property = entity.property(&given.name)?;
            let is_key = entity.key_properties().any(|key| ptr::eq(key, property));
            if is_key {
                // What is given twice may differ.
                let is_known = keys.iter().any(|(known, _)| ptr::eq(*known, property));
                (!is_known).then_some(())?;
                keys.push((property, &given.value));
            }
            values.extend(shown.value(given, property, is_key)?);
        }
        has_keys(&shown.item.node_id, entity, &keys).then_some(())?;
        let id = FitId::new(&shown.item.node_id)?;
        Some(Self { item: FitItem::new(form, values), entity: entity.name.clone(), id })
    }

    fn holds(&self, block: Block<'_>) -> Option<bool> {
        self.item.all(block, |row| self.item.fits(block, row))
    }
}

impl FitEdge {
    fn new(
        outline: &ItemOutline,
        form: &ItemForm,
        spec: &GraphSpec,
        options: ValidateOptions,
        nodes: &[FitNode],
    ) -> Self {
        let known = || {
            let shown: ShownItem<Edge> = ShownItem::of(outline)?;
            let Edge { relationship_name, from_node_id, to_node_id, properties, .. } = &shown.item;
            let relationship = spec.relationship(relationship_name)?;
            let mut values = Vec::new();
            for given in properties {
                values.extend(shown.value(given, relationship.property(&given.name)?, false)?);
            }
            let item = FitItem::new(form, values);
            let [from, to] = EndSpec::of(relationship);
            let end = |end: &EndSpec<'_>, id: &str| {
                EdgeEnd::new(FitId::new(id)?, end, spec, options, &item, nodes)
            };
            let ends = [end(&from, from_node_id)?, end(&to, to_node_id)?];
            Some(Self { item, ends: Some(ends) })
        };
        known().unwrap_or_else(|| Self { item: FitItem::new(form, Vec::new()), ends: None })
    }

    fn holds(&self, block: Block<'_>, nodes: &[FitNode], ids: &mut NodeIds) -> Option<bool> {
        self.item.all(block, |row| {
            let Some(ends) = &self.ends else { return Some(false) };
            if !self.item.fits(block, row)? {
                return Some(false);
            }
            for end in ends {
                if !end.is_met(block, row, nodes, ids)? {
                    return Some(false);
                }
            }
            Some(true)
        })
    }
}
