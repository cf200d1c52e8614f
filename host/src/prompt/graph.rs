//! The entities of the graph spec, with the types of their properties.

use super::lines::{Lines, NAME_CHARS, Wanted};
use crate::fence;
use crate::graph::GraphSpec;
use crate::graph::spec::{Entity, Property};

/// How much of a graph spec is shown, in characters.
const GRAPH_CHARS: usize = 16_000;

/// How much of an entity's description is shown, before escaping.
const DESCRIPTION_CHARS: usize = 200;

pub(super) fn section(graph: &GraphSpec, wanted: &Wanted) -> String {
    let mut lines = Lines::default();
    for entity in graph.entities() {
        // Entities that the rule names first; of those, all names before any property.
        let rank = u8::from(!wanted.mentions(&entity.name));
        let Some(heading) = heading(entity) else {
            lines.leave_out();
            continue;
        };
        lines.push((rank, 0), heading);
        for property in entity.properties.iter() {
            let is_key = entity.key_columns.contains(&property.column);
            match line(property, is_key) {
                Some(line) => lines.push((rank, 1 + usize::from(!is_key)), line),
                None => lines.leave_out(),
            }
        }
    }
    let (shown, left_out) = lines.within(GRAPH_CHARS);
    let mut text = "\n## The graph\n\nThe entities that there are, each with its key and its properties, and their types:\n\n"
        .to_owned();
    text.push_str(&fence::block("text", &shown));
    if left_out > 0 {
        text.push_str(&format!("\nEntities and properties that are not shown: {left_out}.\n"));
    }
    text
}

fn heading(entity: &Entity) -> Option<String> {
    let mut line = format!("entity {}", name(&entity.name)?);
    if let Some(description) = &entity.description {
        line.push_str(": ");
        line.push_str(&fence::quoted(description, DESCRIPTION_CHARS).0);
    }
    Some(line)
}

fn line(property: &Property, is_key: bool) -> Option<String> {
    let role = if is_key { "key" } else { "property" };
    let column = if property.column == property.logical_name {
        String::new()
    } else {
        format!(" (or {})", name(&property.column)?)
    };
    let (kind, _) = fence::quoted(property.property_type.as_str(), NAME_CHARS);
    Some(format!("  {role} {}{column}: {}", name(&property.logical_name)?, kind.trim_matches('"')))
}

fn name(name: &str) -> Option<String> {
    let (quoted, left_out) = fence::quoted(name, NAME_CHARS);
    (left_out == 0).then_some(quoted)
}
