//! The items of a result: nodes, edges and claims on spans, each what there is one of, or one for each row.

use std::collections::HashSet;
use std::hash::Hash;

use super::frame;
use super::inputs::InputSlot;
use super::lower::{Claim, Lowered, LoweredEdge, LoweredNode, LoweredValue, NodeId};
use super::parts::{NEXT_PROPERTY, ResultPart, ResultParts};
use super::text::comment;
use super::write;
use crate::abi::result::ResultForm;
use crate::abi::result::form::{ItemList, ItemOutline, ItemPart, RowPlaces, Unless};
use crate::plan::Nulls;

/// An item of a list, or one for each row.
pub(super) struct ListItem {
    /// The function's name.
    pub(super) name: String,
    /// What it is, for a comment.
    pub(super) about: String,
    pub(super) list: ItemList,
    pub(super) rows: Option<usize>,
    /// Each a reason to write nothing.
    pub(super) unless: Vec<Unless<InputSlot>>,
    pub(super) pieces: Vec<ItemPiece>,
}

/// A piece of an item.
pub(super) enum ItemPiece {
    Parts(ResultParts),
    /// Parts that begin with a comma each, in brackets of which the closing one comes after.
    List(ResultParts),
}

impl ItemPiece {
    pub(super) fn parts(&self) -> &[ResultPart] {
        match self {
            Self::Parts(parts) | Self::List(parts) => parts.as_slice(),
        }
    }
}

/// All items, in the order in which their functions are written: those of a list in the order of the list.
pub(super) fn items(lowered: &Lowered<'_>) -> Vec<ListItem> {
    let nodes = lowered.nodes.iter().enumerate().map(|(index, it)| node(lowered, index, it));
    let edges = lowered.edges.iter().enumerate().map(|(index, it)| edge(lowered, index, it));
    let claims = lowered.claims.iter().enumerate().flat_map(|(index, it)| {
        [ItemList::Full, ItemList::Partial]
            .into_iter()
            .filter_map(move |list| claim(index, it, list))
    });
    nodes.chain(edges).chain(claims).collect()
}

fn node(lowered: &Lowered<'_>, index: usize, node: &LoweredNode<'_>) -> ListItem {
    let mut parts = ResultParts::default();
    parts.constant(",");
    frame::node_head(&mut parts, lowered.session, node);
    for property in &node.properties {
        parts.property(NEXT_PROPERTY, property, "");
    }
    parts.constant("}]}");
    let unless = node.when.map(Unless::NotTrue).into_iter().chain(missing(&node.id));
    ListItem {
        name: format!("node_{index}"),
        about: format!("nodes[{index}]: \"{}\"", comment(node.rule.name())),
        list: ItemList::Nodes,
        rows: node.rows,
        unless: unless.collect(),
        pieces: vec![ItemPiece::Parts(parts)],
    }
}

fn edge(lowered: &Lowered<'_>, index: usize, edge: &LoweredEdge<'_>) -> ListItem {
    let relationship = edge.rule.relationship_name();
    let session = lowered.session;
    let (mut head, mut properties, mut end) =
        (ResultParts::default(), ResultParts::default(), ResultParts::default());
    head.constant(r#",{"edge_id":""#);
    match edge.edge_id {
        Some(slot) => head.text(&LoweredValue::Slot(slot)),
        None => {
            head.node_id(session, &edge.from);
            head.constant(&format!(":{relationship}:"));
            head.node_id(session, &edge.to);
        }
    }
    head.constant(&format!(r#"","relationship_name":"{relationship}","from_node_id":""#));
    head.node_id(session, &edge.from);
    head.constant(r#"","to_node_id":""#);
    head.node_id(session, &edge.to);
    head.constant(r#"","properties":"#);
    for property in &edge.properties {
        properties.property(",", property, "}");
    }
    end.constant("]}");
    let pieces = if edge.properties.is_empty() {
        head.constant("[]}");
        vec![ItemPiece::Parts(head)]
    } else {
        vec![ItemPiece::Parts(head), ItemPiece::List(properties), ItemPiece::Parts(end)]
    };
    let of_edge = edge.when.map(Unless::NotTrue).into_iter();
    let of_edge = of_edge.chain(edge.edge_id.map(Unless::NotScalar));
    let mut unless: Vec<_> = of_edge.chain(missing(&edge.from)).chain(missing(&edge.to)).collect();
    keep_first(&mut unless);
    ListItem {
        name: format!("edge_{index}"),
        about: format!("edges[{index}]: \"{}\"", comment(relationship)),
        list: ItemList::Edges,
        rows: edge.rows,
        unless,
        pieces,
    }
}

/// Of equal ones the first stays.
fn keep_first<T: Clone + Eq + Hash>(all: &mut Vec<T>) {
    let mut seen = HashSet::new();
    all.retain(|one| seen.insert(one.clone()));
}

/// A claim on a span, in the list of those fully or partially handled; none where it is never in that.
fn claim(index: usize, claim: &Claim<'_>, list: ItemList) -> Option<ListItem> {
    let mut unless: Vec<_> = claim.when.map(Unless::NotTrue).into_iter().collect();
    let is_partial = list == ItemList::Partial;
    match (claim.partial, is_partial) {
        (None, true) => return None,
        (None, false) => {}
        (Some(slot), true) => unless.push(Unless::NotTrue(slot)),
        (Some(slot), false) => unless.push(Unless::True(slot)),
    }
    unless.extend([Unless::NotTrue(claim.truthy), Unless::NotScalar(claim.id)]);
    let mut parts = ResultParts::default();
    parts.constant(",\"");
    parts.text(&LoweredValue::Slot(claim.id));
    parts.constant("\"");
    let how = if is_partial { "partially" } else { "fully" };
    Some(ListItem {
        name: format!("span_{index}_{how}"),
        about: format!("span_handling[{index}]: {how} handled"),
        list,
        rows: claim.rows,
        unless,
        pieces: vec![ItemPiece::Parts(parts)],
    })
}

/// Conditions under which a node with this id isn't there: its key is made of scalars.
fn missing(id: &NodeId<'_>) -> impl Iterator<Item = Unless<InputSlot>> {
    id.keys.iter().filter_map(|(_, value)| match value {
        LoweredValue::Slot(slot) => Some(Unless::NotScalar(*slot)),
        LoweredValue::Constant(_) => None,
    })
}

impl Unless<InputSlot> {
    /// Code for whether it is so.
    pub(super) fn code(self) -> String {
        match self {
            Self::NotTrue(slot) => write::not_truthy(slot),
            Self::True(slot) => write::truthy(slot),
            Self::NotScalar(slot) => write::not_scalar(slot),
        }
    }
}

/// The form of all results that are made of these items.
pub(super) fn form(lowered: &Lowered<'_>, items: &[ListItem]) -> Option<ResultForm> {
    let outlines: Option<Vec<ItemOutline>> =
        items.iter().map(|item| outline(lowered, item)).collect();
    ResultForm::new(&outlines?)
}

fn outline(lowered: &Lowered<'_>, item: &ListItem) -> Option<ItemOutline> {
    let rows = match item.rows {
        None => None,
        Some(rows) => {
            let table = lowered.inputs.table(rows)?;
            Some(RowPlaces { head: table.head.place().at, stride: table.stride as usize })
        }
    };
    let unless = item.unless.iter().map(|unless| match unless {
        Unless::NotTrue(slot) => Unless::NotTrue(slot.place()),
        Unless::True(slot) => Unless::True(slot.place()),
        Unless::NotScalar(slot) => Unless::NotScalar(slot.place()),
    });
    let parts = item.pieces.iter().flat_map(|piece| match piece {
        ItemPiece::Parts(parts) => outlined(parts.as_slice()),
        ItemPiece::List(parts) => vec![ItemPart::List(outlined(parts.as_slice()))],
    });
    Some(ItemOutline { list: item.list, rows, unless: unless.collect(), parts: parts.collect() })
}

fn outlined(parts: &[ResultPart]) -> Vec<ItemPart> {
    let part = |part: &ResultPart| match part {
        ResultPart::About(_) => None,
        ResultPart::Constant(text) => Some(ItemPart::Constant(text.clone())),
        ResultPart::Text(slot) => Some(ItemPart::Text(slot.place())),
        ResultPart::Json(slot) => Some(ItemPart::Json(slot.place())),
        ResultPart::Optional(optional) => Some(ItemPart::Optional {
            before: optional.head.clone(),
            value: optional.value.place(),
            keeps_null: optional.nulls == Nulls::Keep,
            after: optional.tail.to_owned(),
        }),
    };
    parts.iter().filter_map(part).collect()
}
