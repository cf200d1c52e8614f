//! The ends of edges, and what they are called.

use serde_json::{Value, json};

use super::context::{Context, split};
use super::grammar::Kind;
use super::owner::{Owner, node_name};
use super::plan::Remedy;
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::spelling;
use crate::graph::spec::Relationship;

/// How alike two names have to be for one to be a slip of the other, and how far ahead of the next one.
const SLIP: f64 = 0.75;
const LEAD: f64 = 0.05;

/// An end that names no node of the plan: the node that is meant by the name, by its entity, or by what the relationship
/// leads from or to.
pub(super) fn end_meant(context: &Context<'_, '_>, at: &str) -> Remedy {
    let written = context.value.pointer(at)?.as_str()?;
    let nodes: Vec<(&Owner<'_>, &str)> = nodes(context);
    let of_entity: Vec<&str> = nodes
        .iter()
        .filter(|(node, _)| node.value.get("entity_name").and_then(Value::as_str) == Some(written))
        .map(|(_, name)| *name)
        .collect();
    if let [only] = of_entity.as_slice() {
        return Some((patch::replace(at, *only), true));
    }
    let declared = relationship(context, at).map(|it| end_of(it, at));
    let suits = |node: &Owner<'_>| {
        declared.is_none_or(|entity| node.entity().is_some_and(|(it, _)| it.name == entity))
    };
    let effort = &context.efforts().searches;
    let mut scored: Vec<(f64, &str, bool)> = nodes
        .iter()
        .map(|(node, name)| (spelling::names(written, name, effort), *name, suits(node)))
        .collect();
    scored.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
    effort.whole(Some(()))?;
    let second = scored.get(1).map_or(0.0, |(score, ..)| *score);
    if let Some((_, name, suits)) =
        scored.first().filter(|(score, ..)| *score >= SLIP && score - second >= LEAD)
    {
        return Some((patch::replace(at, *name), *suits));
    }
    let entity = declared?;
    // What the edge is to lead to is an entity of its own, which the plan has no node for.
    if written != entity && context.task().graph().entity(written).is_some() {
        return None;
    }
    let is_of = |node: &Owner<'_>| node.entity().is_some_and(|(it, _)| it.name == entity);
    let mut suiting = nodes.iter().filter(|(node, _)| is_of(node));
    let (_, name) = suiting.next()?;
    Some((patch::replace(at, *name), suiting.next().is_none()))
}

/// The nodes of the plan that edges can name.
fn nodes<'c, 'a>(context: &'c Context<'_, 'a>) -> Vec<(&'c Owner<'a>, &'a str)> {
    let nodes = context.owners().iter().filter(|owner| owner.kind == Kind::Node);
    let short = context.owners().iter().filter(|owner| owner.kind == Kind::Plan);
    let named = nodes.filter_map(|node| Some((node, node_name(node.value)?)));
    let entity =
        |plan: &'c Owner<'a>| Some((plan, plan.value.get("target_entity_name")?.as_str()?));
    named.chain(short.filter_map(entity)).collect()
}

/// The relationship of the edge around a place.
fn relationship<'a>(context: &Context<'_, 'a>, at: &str) -> Option<&'a Relationship> {
    let edge = edge_around(at)?;
    context.owners().iter().find(|owner| owner.at == edge)?.relationship()
}

fn end_of<'r>(relationship: &'r Relationship, at: &str) -> &'r str {
    if at.split('/').nth(3) == Some("from") {
        &relationship.from_entity
    } else {
        &relationship.to_entity
    }
}

/// The one end of an edge that is a node of another entity than its relationship leads from or to, where there is one node
/// of that entity.
pub(super) fn wrong_end(context: &Context<'_, '_>, at: &str) -> Remedy {
    let relationship = relationship(context, at)?;
    let edge = edge_around(at)?;
    let nodes = nodes(context);
    let mut wrong = ["from", "to"].into_iter().filter_map(|end| {
        let at = format!("{edge}/{end}");
        let name = context.value.pointer(&at)?.as_str()?;
        let (node, _) = nodes.iter().find(|(_, it)| *it == name)?;
        let entity = end_of(relationship, &at);
        let (found, _) = node.entity()?;
        let mut suiting =
            nodes.iter().filter(|(it, _)| it.entity().is_some_and(|(it, _)| it.name == entity));
        let (_, meant) = suiting.next()?;
        (found.name != entity && suiting.next().is_none()).then(|| patch::replace(&at, *meant))
    });
    let first = wrong.next()?;
    wrong.next().is_none().then_some((first, true))
}

/// The pointer of the edge around a place.
fn edge_around(at: &str) -> Option<&str> {
    let inside = at.strip_prefix("/edges/")?;
    let end = inside.find('/').map_or(at.len(), |length| "/edges/".len() + length);
    at.get(..end)
}

/// An external end without a key: the node of the plan that is of its entity, by its name.
pub(super) fn node_meant(context: &Context<'_, '_>, at: &str) -> Remedy {
    let end = context.value.pointer(at)?;
    let entity = end.get("entity_name")?.as_str()?;
    let nodes = nodes(context);
    let is_meant = |(node, name): &&(&Owner<'_>, &str)| {
        *name == entity || node.entity().is_some_and(|(it, _)| it.name == entity)
    };
    let mut meant = nodes.iter().filter(is_meant);
    let (_, name) = meant.next()?;
    let is_only = meant.next().is_none() && end.as_object()?.len() == 1;
    Some((patch::replace(at, *name), is_only))
}

/// The entity of an external end without one: what the relationship leads from or to.
pub(super) fn entity_meant<'a>(context: &Context<'_, 'a>, at: &str) -> Option<(&'a str, bool)> {
    relationship(context, at).map(|it| {
        let end: &'a str = if at.ends_with("/from") { &it.from_entity } else { &it.to_entity };
        (end, true)
    })
}

/// What an edge lacks: its relationship by its ends, or an end by its relationship.
pub(super) fn missing(context: &Context<'_, '_>, at: &str) -> Remedy {
    let (edge, field) = split(at)?;
    if field == "relationship_name" {
        let (name, certain) = relationship_meant(context, edge)?;
        return Some((patch::add(at, name), certain));
    }
    let entity = end_of(relationship(context, at)?, at);
    let nodes = nodes(context);
    let mut suiting =
        nodes.iter().filter(|(node, _)| node.entity().is_some_and(|(it, _)| it.name == entity));
    let (_, name) = suiting.next()?;
    Some((patch::add(at, *name), suiting.next().is_none()))
}

/// The relationship of an edge that has none, or one that isn't a name: the only one between its ends.
pub(super) fn relationship_meant(context: &Context<'_, '_>, edge: &str) -> Option<(Value, bool)> {
    let value = context.value.pointer(edge)?;
    let nodes = nodes(context);
    let entity = |end: &str| match value.get(end)? {
        Value::String(name) => {
            let (node, _) = nodes.iter().find(|(_, it)| it == name)?;
            node.entity().map(|(it, _)| it.name.as_str())
        }
        external => external.get("entity_name")?.as_str(),
    };
    let (from, to) = (entity("from")?, entity("to")?);
    let all = context.task().graph().relationships();
    let mut between = all.iter().filter(|it| it.from_entity == from && it.to_entity == to);
    let first = between.next()?;
    Some((json!(first.name), between.next().is_none()))
}
