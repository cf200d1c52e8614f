//! Properties and their values.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::error::{Place, PlanParseErrorCode as Code};
use super::super::model::{FieldMapping, Nulls};
use super::fields::{Field, KEY_FIELDS, PROPERTY_FIELDS};
use super::for_each::Scope;
use super::reader::{MAX_ENTRIES, Reader};
use super::value::missing_source;
use crate::diagnostics::untrusted::quoted;
use crate::plan::expr::{Expression, OnError, Reference};

/// Properties of a node or an edge, those of a key aside: as many as a module may declare inputs.
const MAX_PROPERTIES: usize = 1024;

impl Reader {
    /// The properties of a key, in the form of a list.
    pub(super) fn key_list(
        &mut self,
        at: &Place,
        value: &Value,
        scope: Scope,
    ) -> Vec<FieldMapping> {
        let items = self.items(at, value, "an array of objects", (1, MAX_ENTRIES)).iter();
        let items = items.enumerate();
        items.map(|(index, item)| self.key(&at.item(index), item, scope)).collect()
    }

    /// One property of a key.
    pub(super) fn key(&mut self, at: &Place, value: &Value, scope: Scope) -> FieldMapping {
        self.mapping(at, value, KEY_FIELDS, scope)
    }

    /// Properties that aren't part of a key.
    pub(super) fn properties(
        &mut self,
        at: &Place,
        value: &Value,
        scope: Scope,
    ) -> Vec<FieldMapping> {
        let items = self.items(at, value, "an array of objects", (0, MAX_PROPERTIES)).iter();
        let items = items.enumerate();
        items
            .map(|(index, item)| self.mapping(&at.item(index), item, PROPERTY_FIELDS, scope))
            .collect()
    }

    fn mapping(
        &mut self,
        at: &Place,
        value: &Value,
        known: &[Field],
        scope: Scope,
    ) -> FieldMapping {
        let Some(fields) = self.any_object(at, value) else { return unread_mapping() };
        self.field_names(at, fields, known, missing_source(fields));
        let name = fields.get("property_name");
        let name = name.map(|value| self.identifier(&at.field("property_name"), value));
        let value = self.value(at, fields, scope);
        let mut mapping =
            FieldMapping { property_name: name.unwrap_or_default(), value, ..unread_mapping() };
        // A key's are unknown fields, which was noted.
        if let Some(value) = fields.get("nulls")
            && known.iter().any(|field| field.name == "nulls")
        {
            self.only_beside(at, fields, "nulls", &["source_path"]);
            let choices = [("omit", Nulls::Omit), ("keep", Nulls::Keep)];
            let nulls = self.choice(&at.field("nulls"), value, &choices);
            mapping.nulls = nulls.unwrap_or_default();
        }
        if let Some(value) = fields.get("on_error") {
            self.only_beside(at, fields, "on_error", &["convert", "coalesce"]);
            let choices = [("omit", OnError::Omit), ("reject", OnError::Reject)];
            let on_error = self.choice(&at.field("on_error"), value, &choices);
            mapping.on_error = on_error.unwrap_or_default();
        }
        mapping
    }

    /// Notes the properties whose name another one, at an earlier place, has.
    pub(super) fn distinct_names(&mut self, groups: &[(Place, &[FieldMapping])]) {
        let mappings = groups.iter().flat_map(|(at, mappings)| {
            mappings.iter().enumerate().map(|(index, mapping)| (at.item(index), mapping))
        });
        self.distinct(mappings.collect());
    }

    /// The same of properties with the place of each.
    pub(super) fn distinct(&mut self, mappings: Vec<(Place, &FieldMapping)>) {
        let mut owners: BTreeMap<&str, Place> = BTreeMap::new();
        for (here, mapping) in mappings {
            let name = mapping.property_name.as_str();
            if name.is_empty() {
                continue;
            }
            if let Some(owner) = owners.get(name) {
                let message = format!(
                    "expected a name of its own, found {}, as in {}",
                    quoted(name),
                    owner.path()
                );
                self.note(Code::DuplicatePropertyName, &here.field("property_name"), message);
            } else {
                owners.insert(name, here);
            }
        }
    }
}

pub(super) fn unread_mapping() -> FieldMapping {
    FieldMapping {
        property_name: String::new(),
        value: Expression::path(Reference::event(&[])),
        nulls: Nulls::Omit,
        on_error: OnError::Omit,
    }
}
