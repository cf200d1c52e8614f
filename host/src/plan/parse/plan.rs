//! The plan as a whole.

use serde_json::Value;

use super::super::error::{Place, PlanParseErrorCode as Code};
use super::super::model::{EventTypes, FieldMapping, Form, NodeRule, Plan};
use super::super::names::is_reserved;
use super::fields::{LONG_PLAN_FIELDS, PLAN_FIELDS};
use super::for_each::Scope;
use super::mapping::unread_mapping;
use super::node::{Nodes, unread_node};
use super::reader::{Fields, Reader};
use crate::diagnostics::untrusted::quoted;
use crate::plan::expr::OnDuplicate;

/// The fields of the one node of the short form.
const SHORT_FORM: &[&str] = &["target_entity_name", "key_field", "property_fields"];

impl Reader {
    pub(super) fn plan(&mut self, fields: &Fields) -> Plan {
        let root = Place::default();
        let form = if fields.contains_key("nodes") { Form::Long } else { Form::Short };
        self.plan_fields(&root, fields, form);
        let event_types = fields
            .get("event_type")
            .map(|value| self.event_types(&root.field("event_type"), value));
        let when = self.condition(&root, fields, "when", Scope::EVENT);
        let target_entity_name = fields
            .get("target_entity_name")
            .map(|value| self.identifier(&root.field("target_entity_name"), value));
        let function_name = fields
            .get("function_name")
            .map(|value| self.function_name(&root.field("function_name"), value));
        let short = self.short_form(&root, fields, target_entity_name);
        let edges = fields.get("edges");
        let nodes = match fields.get("nodes") {
            None => Nodes::of(short, Scope::EVENT),
            Some(value) => {
                // A plan has something to make of an event.
                let has_edges = matches!(edges, Some(Value::Array(edges)) if !edges.is_empty());
                self.nodes(&root.field("nodes"), value, usize::from(!has_edges))
            }
        };
        let edges = edges.map(|value| self.edges(&root.field("edges"), value, &nodes));
        let on_duplicate = fields.get("on_duplicate").and_then(|value| {
            let choices = [("last", OnDuplicate::Last), ("reject", OnDuplicate::Reject)];
            self.choice(&root.field("on_duplicate"), value, &choices)
        });
        let session_id_path = fields
            .get("session_id_path")
            .map(|value| self.path(&root.field("session_id_path"), value));
        let span_rules = fields
            .get("span_handling")
            .map(|value| self.span_rules(&root.field("span_handling"), value));
        Plan {
            event_types: event_types.unwrap_or_else(EventTypes::unread),
            when,
            function_name: function_name.unwrap_or_default(),
            form,
            nodes: nodes.rules,
            edges: edges.unwrap_or_default(),
            on_duplicate: on_duplicate.unwrap_or_default(),
            session_id_path: session_id_path.unwrap_or_else(|| vec!["session_id".to_owned()]),
            span_rules: span_rules.unwrap_or_default(),
        }
    }

    fn plan_fields(&mut self, at: &Place, fields: &Fields, form: Form) {
        self.unknown_fields(at, fields, PLAN_FIELDS);
        match form {
            Form::Short => self.missing_fields(at, fields, PLAN_FIELDS, &[]),
            Form::Long => self.missing_fields(at, fields, LONG_PLAN_FIELDS, &[]),
        }
        for name in SHORT_FORM {
            self.exclusive(at, fields, &["nodes", name]);
        }
    }

    /// The one node of the short form. Where the form is another one its parts are read all the same, for what is wrong
    /// with them.
    fn short_form(&mut self, at: &Place, fields: &Fields, entity_name: Option<String>) -> NodeRule {
        let key_at = at.field("key_field");
        let key = fields.get("key_field");
        let key = key.map_or_else(unread_mapping, |value| self.key(&key_at, value, Scope::EVENT));
        let properties_at = at.field("property_fields");
        let properties = fields.get("property_fields");
        let property_fields = properties
            .map_or_else(Vec::new, |value| self.properties(&properties_at, value, Scope::EVENT));
        let mut names: Vec<(Place, &FieldMapping)> = vec![(key_at, &key)];
        let items = property_fields.iter().enumerate();
        names.extend(items.map(|(index, mapping)| (properties_at.item(index), mapping)));
        self.distinct(names);
        NodeRule {
            entity_name: entity_name.unwrap_or_default(),
            key_fields: vec![key],
            property_fields,
            ..unread_node()
        }
    }

    fn function_name(&mut self, at: &Place, value: &Value) -> String {
        let name = self.identifier(at, value);
        if is_reserved(&name) {
            let found = format!("expected a name that is not reserved, found {}", quoted(&name));
            self.note(Code::InvalidIdentifier, at, found);
        }
        name
    }
}
