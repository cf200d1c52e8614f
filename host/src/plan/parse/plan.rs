//! The plan as a whole.

use super::edge::edges;
use super::event_type::event_types;
use super::mapping::{distinct_names, mapping, properties, unread_mapping};
use super::node::{Nodes, nodes, unread_node};
use super::span::span_rules;
use crate::diagnostics::codes;
use crate::diagnostics::untrusted::quoted;
use crate::plan::language::{LocatedObject, LocatedValue, PathScope};
use crate::plan::model::{EventTypes, Form, NodeRule, Plan};
use crate::plan::names::is_reserved;

pub(super) fn plan(written: &LocatedObject<'_>) -> Plan {
    // Conversions are read by it.
    let time_zone = written.get("time_zone").and_then(|it| it.zone());
    written.context.set_time_zone(time_zone.clone());
    let form = if written.has("nodes") { Form::Long } else { Form::Short };
    let event_types = written.get("event_type").map(|it| event_types(&it));
    let when = written.condition("when", PathScope::EVENT);
    let entity_name = written.get("target_entity_name").map(|it| it.identifier());
    let function_name = written.get("function_name").map(|it| function_name(&it));
    let short = short_form(written, entity_name);
    let nodes = match written.get("nodes") {
        None => Nodes::of(short, PathScope::EVENT),
        Some(list) => {
            // A plan has something to make of an event.
            let edges = written.get("edges");
            let has_edges = edges.is_some_and(|it| it.value.is_array() && !it.is_empty_list());
            nodes(&list, usize::from(!has_edges))
        }
    };
    let edges = written.get("edges").map(|it| edges(&it, &nodes));
    let on_duplicate = written.get("on_duplicate").and_then(|it| it.word());
    let empty = written.get("empty").and_then(|it| it.word());
    let session_id_path = written.get("session_id_path").map(|it| it.path());
    let span_rules = written.get("span_handling").map(|it| span_rules(&it));
    Plan {
        event_types: event_types.unwrap_or_else(EventTypes::unread),
        when,
        function_name: function_name.unwrap_or_default(),
        form,
        nodes: nodes.rules,
        edges: edges.unwrap_or_default(),
        on_duplicate: on_duplicate.unwrap_or_default(),
        empty: empty.unwrap_or_default(),
        time_zone,
        session_id_path: session_id_path.unwrap_or_else(|| written.default_path("session_id_path")),
        span_rules: span_rules.unwrap_or_default(),
        unseen: written.context.take_unseen(),
    }
}

/// The one node of the short form. Where the form is another one its parts are read all the same, for what is wrong with
/// them.
fn short_form(plan: &LocatedObject<'_>, entity_name: Option<String>) -> NodeRule {
    let key = plan.get("key_field").map(|it| mapping(&it, PathScope::EVENT));
    let rule = NodeRule {
        entity_name: entity_name.unwrap_or_default(),
        key_fields: vec![key.unwrap_or_else(unread_mapping)],
        property_fields: properties(plan, PathScope::EVENT),
        ..unread_node()
    };
    let keys = rule.key_fields.iter().map(|key| (plan.at.field("key_field"), key));
    distinct_names(plan, keys.collect(), &rule.property_fields);
    rule
}

fn function_name(written: &LocatedValue<'_>) -> String {
    let name = written.identifier();
    if is_reserved(&name) {
        written.note(codes::INVALID_IDENTIFIER, "a name that is not reserved", quoted(&name));
    }
    name
}
