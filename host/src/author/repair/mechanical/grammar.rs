//! What each place of a plan holds: of any value, whether it is a plan or not.

use json_patch::jsonptr::Pointer;
use serde_json::Value;

use super::pointer::split;
use crate::plan::language::{Field, FieldRule, ObjectKind, Shape};

/// What the place of a pointer holds, or should hold. `None` where plans have no such place.
pub(super) fn shape_at(value: &Value, pointer: &str) -> Option<Shape> {
    let mut shape = Shape::Object(ObjectKind::Plan);
    let mut here = Some(value);
    for token in Pointer::parse(pointer).ok()?.tokens() {
        let name = token.decoded();
        let is_list = here.is_some_and(Value::is_array);
        shape = match shape {
            Shape::Object(kind) => kind.field(&name)?.shape,
            Shape::ObjectOrObjects(kind) if !is_list => kind.field(&name)?.shape,
            Shape::End => ObjectKind::External.field(&name)?.shape,
            Shape::ObjectOrObjects(kind) | Shape::Objects(kind) => Shape::Object(kind),
            Shape::EventTypes if is_list => Shape::EventType,
            Shape::EventTypes | Shape::EventType => ObjectKind::EventType.field(&name)?.shape,
            Shape::Paths => Shape::Path,
            Shape::Path => Shape::Segment,
            Shape::Chain => Shape::Step,
            Shape::Step | Shape::Arguments => Shape::Arguments,
            Shape::Constants => Shape::Constant,
            _ => return None,
        };
        here = here.and_then(|it| it.pointer(&format!("/{}", token.encoded())));
    }
    Some(shape)
}

/// The kind of object that is at a pointer, or should be.
pub(super) fn kind_at(value: &Value, pointer: &str) -> Option<ObjectKind> {
    match shape_at(value, pointer)? {
        Shape::Object(kind) => Some(kind),
        Shape::ObjectOrObjects(kind) => {
            (!value.pointer(pointer).is_some_and(Value::is_array)).then_some(kind)
        }
        Shape::End => Some(ObjectKind::External),
        Shape::EventTypes | Shape::EventType => {
            value.pointer(pointer).is_some_and(Value::is_object).then_some(ObjectKind::EventType)
        }
        _ => None,
    }
}

/// The pointer to the nearest object of one of these kinds, at a place or around it.
pub(super) fn enclosing<'p>(
    value: &Value,
    pointer: &'p str,
    kinds: &[ObjectKind],
) -> Option<&'p str> {
    let mut at = pointer;
    loop {
        if value.pointer(at).is_some_and(Value::is_object)
            && kind_at(value, at).is_some_and(|kind| kinds.contains(&kind))
        {
            return Some(at);
        }
        at = split(at)?.0;
    }
}

/// The fields that an object can't have beside this one: of several sources of a value one counts, of several tests of a
/// condition, and of the two forms of a plan.
pub(super) fn alternatives_to(kind: ObjectKind, field: &str) -> Vec<&'static str> {
    let of_rule = |rule: &'static FieldRule| match rule {
        FieldRule::OneOf(all) => {
            let is_one = all.iter().any(|it| it.name == field);
            let is_beside = all.iter().any(|it| it.with == Some(field));
            let others = all.iter().filter(|it| it.name != field);
            let excluded = others.filter(|it| is_one || (is_beside && it.with.is_none()));
            excluded.map(|it| it.name).collect()
        }
        FieldRule::Excludes(one, other) if *one == field => vec![*other],
        FieldRule::Excludes(other, one) if *one == field => vec![*other],
        FieldRule::Forms { long, short, .. } if short.contains(&field) => vec![*long],
        FieldRule::Forms { long, required, .. } if *long == field => required.to_vec(),
        _ => Vec::new(),
    };
    kind.table().rules.iter().flat_map(of_rule).collect()
}

/// Whether an object of a kind may do without a field, so that null there says nothing.
pub(super) fn is_optional(kind: ObjectKind, name: &str) -> bool {
    let asks_for = |rule: &FieldRule| match rule {
        FieldRule::OneOf(all) => all.iter().any(|it| it.name == name || it.with == Some(name)),
        FieldRule::Forms { long, required, .. } => *long == name || required.contains(&name),
        _ => false,
    };
    let is_required = |field: &Field| field.is_required || kind.table().rules.iter().any(asks_for);
    kind.field(name).is_some_and(|field| !is_required(field))
}

/// Whether a place may hold this, or what can be made of it.
pub(super) fn suits(shape: Shape, content: &Value) -> bool {
    let is_scalar = content.is_string() || content.is_number() || content.is_boolean();
    match shape {
        Shape::EventTypes => content.is_string() || content.is_array() || content.is_object(),
        Shape::EventType => content.is_string() || content.is_object(),
        Shape::Name
        | Shape::TypeName
        | Shape::Template
        | Shape::Query
        | Shape::Text
        | Shape::Segment
        | Shape::Word(_) => content.is_string(),
        Shape::Paths => content.is_array(),
        Shape::Path => content.is_array() || content.is_string() || content.is_null(),
        Shape::Object(ObjectKind::ForEach) => {
            content.is_object() || content.is_string() || content.is_array()
        }
        Shape::Object(ObjectKind::Condition) => looks_like(ObjectKind::Condition, content),
        Shape::Object(kind) => match content {
            Value::Array(items) => items.len() == 1 && items.iter().all(|it| looks_like(kind, it)),
            content => content.is_object(),
        },
        Shape::Objects(kind) => match content {
            Value::Array(items) => items.iter().all(Value::is_object),
            content => {
                looks_like(kind, content) || (kind == ObjectKind::Property && content.is_object())
            }
        },
        Shape::ObjectOrObjects(_) => content.is_object() || content.is_array() || content.is_null(),
        Shape::End => content.is_string() || content.is_object(),
        Shape::Chain => content.is_array() || content.is_string() || content.is_object(),
        Shape::Step => content.is_string() || content.is_object(),
        Shape::Arguments => true,
        Shape::Constant => is_scalar,
        Shape::Constants => is_scalar || content.is_array(),
        Shape::True => content.is_boolean(),
        Shape::Section => false,
    }
}

/// Whether this is an object with fields of that kind alone, or nearly.
pub(super) fn looks_like(kind: ObjectKind, content: &Value) -> bool {
    let Some(fields) = content.as_object() else { return false };
    let is_known = |name: &&String| {
        let mut known = kind.fields().iter();
        known.any(|field| field.name == **name || field.aliases.contains(&name.as_str()))
    };
    let known = fields.keys().filter(is_known).count();
    known > 0 && 2 * known > fields.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{enclosing, kind_at, shape_at};
    use crate::plan::language::{ObjectKind, Shape};

    #[test]
    fn places_are_known_by_what_is_around_them() {
        let plan = json!({
            "nodes": [{"when": {"all": [{"not": {"source_path": ["a"], "exists": true}}]},
                "property_fields": [{"coalesce": [{"source_path": ["a"], "convert": [{"split": {"index": 1}}]}]}]}],
            "edges": [{"to": {"key_fields": [{}]}}],
            "span_handling": [{"when": {}}],
        });
        for (pointer, expected) in [
            ("", Some(Shape::Object(ObjectKind::Plan))),
            ("/nodes/0", Some(Shape::Object(ObjectKind::Node))),
            ("/nodes/0/when/all/0/not/exists", Some(Shape::True)),
            ("/nodes/0/property_fields/0/coalesce/0/source_path/0", Some(Shape::Segment)),
            ("/nodes/0/property_fields/0/coalesce/0/convert/0/split/index", Some(Shape::Arguments)),
            ("/edges/0/to", Some(Shape::End)),
            ("/edges/0/to/key_fields/0", Some(Shape::Object(ObjectKind::Key))),
            ("/span_handling/0/when", Some(Shape::Object(ObjectKind::Condition))),
            ("/nodes/0/colour", None),
        ] {
            assert_eq!(shape_at(&plan, pointer), expected, "{pointer}");
        }
        assert_eq!(kind_at(&plan, "/span_handling"), None);
        assert_eq!(
            kind_at(&json!({"span_handling": {}}), "/span_handling"),
            Some(ObjectKind::Span)
        );
        let around = enclosing(&plan, "/edges/0/to/key_fields/0/source_path", &[ObjectKind::Edge]);
        assert_eq!(around, Some("/edges/0"));
    }
}
