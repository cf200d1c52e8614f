//! Properties and their values.

use std::collections::BTreeMap;

use crate::diagnostics::codes;
use crate::diagnostics::untrusted::quoted;
use crate::plan::expr::{Expression, OnError, Reference};
use crate::plan::language::{LocatedObject, LocatedValue, PathScope, Shape};
use crate::plan::model::{FieldMapping, Nulls};
use crate::plan::place::PlanPlace;

/// The properties of a key, in the form of a list.
pub(super) fn key_fields(
    object: &LocatedObject<'_>,
    scope: PathScope,
) -> Option<Vec<FieldMapping>> {
    object.get("key_fields").map(|list| list.items().map(|item| mapping(&item, scope)).collect())
}

/// Properties that aren't part of a key.
pub(super) fn properties(object: &LocatedObject<'_>, scope: PathScope) -> Vec<FieldMapping> {
    let list = object.get("property_fields").into_iter().flat_map(|list| list.items());
    list.map(|item| mapping(&item, scope)).collect()
}

/// One property of a key, or another one, as the field says.
pub(super) fn mapping(written: &LocatedValue<'_>, scope: PathScope) -> FieldMapping {
    let (Shape::Object(kind) | Shape::Objects(kind)) = written.field.shape else {
        return unread_mapping();
    };
    let Some(object) = written.object(kind.table()) else { return unread_mapping() };
    let property_name = object.get("property_name").map(|it| it.identifier());
    FieldMapping {
        property_name: property_name.unwrap_or_default(),
        value: object.expression(scope),
        nulls: object.get("nulls").and_then(|it| it.word()).unwrap_or_default(),
        on_error: object.get("on_error").and_then(|it| it.word()).unwrap_or_default(),
    }
}

/// Notes the properties of an object whose name another one before them has.
pub(super) fn distinct_names(
    object: &LocatedObject<'_>,
    keys: Vec<(PlanPlace, &FieldMapping)>,
    properties: &[FieldMapping],
) {
    let list = object.at.field("property_fields");
    let properties = properties.iter().enumerate().map(|(index, it)| (list.item(index), it));
    let mut owners: BTreeMap<&str, PlanPlace> = BTreeMap::new();
    for (here, mapping) in keys.into_iter().chain(properties) {
        let name = mapping.property_name.as_str();
        if name.is_empty() {
            continue;
        }
        if let Some(owner) = owners.get(name) {
            let observed = format!("{}, as in {}", quoted(name), owner.path());
            let at = here.field("property_name");
            object.context.note(
                codes::DUPLICATE_PROPERTY_NAME,
                &at,
                "a name of its own".to_owned(),
                observed,
            );
        } else {
            owners.insert(name, here);
        }
    }
}

/// The properties of an object's key with their places.
pub(super) fn placed_keys<'k>(
    object: &LocatedObject<'_>,
    keys: &'k [FieldMapping],
) -> Vec<(PlanPlace, &'k FieldMapping)> {
    let list = object.at.field("key_fields");
    keys.iter().enumerate().map(|(index, key)| (list.item(index), key)).collect()
}

pub(super) fn unread_mapping() -> FieldMapping {
    FieldMapping {
        property_name: String::new(),
        value: Expression::path(Reference::event(&[])),
        nulls: Nulls::Omit,
        on_error: OnError::Omit,
    }
}
