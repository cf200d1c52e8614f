//! What a name or a path has to be, by the rest of the plan and the task.

use serde_json::{Value, json};

use super::{Context, edge_end, split};
use crate::evidence::similarity::ranking::Likely;
use crate::plan::language::ObjectKind;

/// What the field at a pointer has to be, whatever is there.
pub(super) fn derived(context: &Context<'_, '_>, at: &str) -> Option<Likely<Value>> {
    let plan = context.plan;
    let (parent, name) = split(at)?;
    match name.as_str() {
        "event_type" => json_of(context.target.event_type),
        "target_entity_name" | "entity_name" => {
            let rule = plan.rule(parent)?;
            match rule.kind {
                ObjectKind::External => {
                    let entity = edge_end::declared_entity(plan, parent);
                    json_of(entity.map(|it| Likely::new(it, true)))
                }
                _ => json_of(rule.entity.map(|it| it.map(|entity| &entity.name))),
            }
        }
        "relationship_name" => json_of(edge_end::relationship_between_ends(context, parent)),
        "function_name" => json_of(Some(Likely::new(context.function_name(), true))),
        "property_name" => {
            let scope = context.scope(parent)?;
            if plan.kind(parent) == Some(ObjectKind::Key) {
                return json_of(scope.key_name(parent));
            }
            let property = scope.property_of_mapping(&plan.mapping_around(parent)?);
            json_of(property.map(|it| it.map(|property| &property.logical_name)))
        }
        "source_path" => {
            let mapping = plan.mapping_around(parent).filter(|it| it.at == parent)?;
            json_of(context.scope(parent)?.path_for(mapping.name?, mapping.is_key))
        }
        _ => None,
    }
}

fn json_of(likely: Option<Likely<impl serde::Serialize>>) -> Option<Likely<Value>> {
    likely.map(|it| it.map(|item| json!(item)))
}
