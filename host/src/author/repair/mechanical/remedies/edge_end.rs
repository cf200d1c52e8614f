//! The ends of edges, and the relationship between them.

use super::{Context, PlanRule, Remedy, TolerantPlan, add, edge_around, fix, replace};
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::ranking::{Likely, best, first_of, only};
use crate::evidence::similarity::spelling;

/// An end that names no node of the plan: the node that is meant by the name, by its entity, or by what the relationship
/// leads from or to.
pub(super) fn unknown_node(context: &Context<'_, '_>, at: &str) -> Remedy {
    let plan = context.plan;
    let written = plan.get(at)?.as_str()?;
    let of_entity = plan.nodes().filter(|(node, _)| node.entity_name() == Some(written));
    if let Some((_, name)) = only(of_entity) {
        return fix(patch::replace(at, name));
    }
    let declared = declared_entity(plan, at);
    let effort = context.searches();
    let scored = plan.nodes().map(|it| (spelling::names(written, it.1, effort), it));
    let nearest = best(scored);
    effort.whole(Some(()))?;
    if let Some(nearest) = nearest.filter(|it| it.is_clear_typo()) {
        let (node, name) = nearest.item;
        let suits = declared.is_none_or(|entity| node.is_of(entity));
        return replace(at, Likely::new(name, suits));
    }
    let entity = declared?;
    // What the edge is to lead to is an entity of its own, which the plan has no node for.
    if written != entity && context.task.graph().entity(written).is_some() {
        return None;
    }
    replace(at, node_of(plan, entity)?)
}

/// The one end of an edge that is a node of another entity than its relationship leads from or to, where there is one node
/// of that entity.
pub(super) fn wrong_node(context: &Context<'_, '_>, at: &str) -> Remedy {
    let plan = context.plan;
    let edge = edge_around(at)?;
    let wrong = ["from", "to"].into_iter().filter_map(|end| {
        let at = format!("{edge}/{end}");
        let name = plan.get(&at)?.as_str()?;
        let (node, _) = plan.nodes().find(|(_, it)| *it == name)?;
        let declared = declared_entity(plan, &at)?;
        let meant = node_of(plan, declared)?;
        let is_wrong = node.entity?.item.name != declared;
        (is_wrong && meant.is_certain()).then(|| patch::replace(&at, meant.item))
    });
    fix(only(wrong)?)
}

/// An external end without a key: the node of the plan that is of its entity, by its name.
pub(super) fn node_of_external(context: &Context<'_, '_>, at: &str) -> Remedy {
    let external = context.plan.rule(at)?;
    let entity = external.entity_name()?;
    let is_meant = |(node, name): &(&PlanRule<'_>, &str)| *name == entity || node.is_of(entity);
    let says_no_more = external.json.as_object()?.len() == 1;
    let meant = first_of(context.plan.nodes().filter(is_meant))?.only_if(says_no_more);
    replace(at, meant.map(|(_, name)| name))
}

/// An end that an edge lacks: a node of the entity that the relationship leads from or to.
pub(super) fn missing(context: &Context<'_, '_>, at: &str) -> Remedy {
    add(at, node_of(context.plan, declared_entity(context.plan, at)?)?)
}

/// The entity that the relationship of an edge leads from or to, by the pointer to an end or into it.
pub(super) fn declared_entity<'a>(plan: &TolerantPlan<'a>, at: &str) -> Option<&'a str> {
    let edge = edge_around(at)?;
    let relationship = plan.rule(edge)?.relationship?;
    let is_from = at.strip_prefix(edge)?.split('/').nth(1) == Some("from");
    Some(if is_from { &relationship.from_entity } else { &relationship.to_entity })
}

/// What edges call the first node of an entity; a fix where there is no other.
fn node_of<'a>(plan: &TolerantPlan<'a>, entity: &str) -> Option<Likely<&'a str>> {
    let suiting = plan.nodes().filter(|(node, _)| node.is_of(entity));
    first_of(suiting.map(|(_, name)| name))
}

/// The relationship of an edge that has none, or one that isn't a name: the only one between its ends.
pub(super) fn relationship_between_ends<'a>(
    context: &Context<'_, 'a>,
    edge: &str,
) -> Option<Likely<&'a str>> {
    let plan = context.plan;
    let entity = |end: &str| {
        let at = format!("{edge}/{end}");
        match plan.get(&at)?.as_str() {
            Some(name) => {
                let (node, _) = plan.nodes().find(|(_, it)| *it == name)?;
                node.entity.map(|it| it.item.name.as_str())
            }
            None => plan.rule(&at)?.entity_name(),
        }
    };
    let (from, to) = (entity("from")?, entity("to")?);
    let all = context.task.graph().relationships();
    let between = all.iter().filter(|it| it.from_entity == from && it.to_entity == to);
    first_of(between.map(|it| it.name.as_str()))
}
