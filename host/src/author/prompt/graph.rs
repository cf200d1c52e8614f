//! The entities and relationships of the graph spec, with the types of their properties.

use super::lines::{NAME_CHARS, RankedLines, RuleWords, push_description};
use crate::diagnostics::fence;
use crate::graph::GraphSpec;
use crate::graph::spec::{Entity, PropertySpec, Relationship};

/// How much of a graph spec is shown, in characters.
const GRAPH_CHARS: usize = 16_000;

/// How much of a description is shown, before escaping.
const DESCRIPTION_CHARS: usize = 200;

const INTRODUCTION: &str = "
## The graph

The entities that there are, each with its key and its properties, and their types; then the relationships, each with the
entities that it leads from and to:

";

pub(super) fn section(graph: &GraphSpec, wanted: &RuleWords) -> String {
    let mut lines = RankedLines::default();
    for entity in graph.entities() {
        // Entities that the rule names first; of those, all names before any property.
        let rank = u8::from(!wanted.mentions(&entity.name));
        let Some(heading) = heading(entity) else {
            lines.leave_out();
            continue;
        };
        lines.push((rank, 0), heading);
        let is_key = |property: &&PropertySpec| entity.key_columns.contains(&property.column);
        for property in entity.key_properties() {
            lines.push_with((rank, 1), line("key", property), remark(property));
        }
        for property in entity.properties.iter().filter(|it| !is_key(it)) {
            lines.push_with((rank, 2), line("property", property), remark(property));
        }
    }
    for relationship in graph.relationships() {
        let ends = [&relationship.from_entity, &relationship.to_entity];
        let is_wanted = wanted.mentions(&relationship.name)
            || ends.iter().all(|entity| wanted.mentions(entity));
        let rank = u8::from(!is_wanted);
        let Some(heading) = join(relationship) else {
            lines.leave_out();
            continue;
        };
        lines.push((rank, 1), heading);
        for property in relationship.properties.iter() {
            lines.push_with((rank, 2), line("property", property), remark(property));
        }
    }
    let left_out = "Entities, relationships and properties that are not shown";
    format!("{INTRODUCTION}{}", lines.block(GRAPH_CHARS, left_out))
}

fn heading(entity: &Entity) -> Option<String> {
    let mut line = format!("entity {}", name(&entity.name)?);
    push_description(&mut line, entity.description.as_deref(), DESCRIPTION_CHARS);
    Some(line)
}

fn join(relationship: &Relationship) -> Option<String> {
    let (from, to) = (name(&relationship.from_entity)?, name(&relationship.to_entity)?);
    let mut line = format!("relationship {} from {from} to {to}", name(&relationship.name)?);
    push_description(&mut line, relationship.description.as_deref(), DESCRIPTION_CHARS);
    Some(line)
}

fn line(role: &str, property: &PropertySpec) -> Option<String> {
    let column = if property.column == property.logical_name {
        String::new()
    } else {
        format!(" (or {})", name(&property.column)?)
    };
    let (kind, _) = fence::quoted(property.property_type.as_str(), NAME_CHARS);
    Some(format!("  {role} {}{column}: {}", name(&property.logical_name)?, kind.trim_matches('"')))
}

/// What a property is, in words. It gives way to the names of others.
fn remark(property: &PropertySpec) -> String {
    let mut remark = String::new();
    push_description(&mut remark, property.description.as_deref(), DESCRIPTION_CHARS);
    remark
}

fn name(name: &str) -> Option<String> {
    let (quoted, left_out) = fence::quoted(name, NAME_CHARS);
    (left_out == 0).then_some(quoted)
}
