//! What stands where in a plan: told of any value, whether it is a plan or not.

use serde_json::Value;

use super::context::{object_at, split};
pub(super) use crate::plan::language::{Field, ObjectKind as Kind, Shape as Holds};

/// What the place of a pointer holds, or should hold. `None` where plans have no such place.
pub(super) fn holds(value: &Value, pointer: &str) -> Option<Holds> {
    let mut holds = Holds::Object(Kind::Plan);
    let mut at = String::new();
    for token in pointer.split('/').skip(1) {
        let name = token.replace("~1", "/").replace("~0", "~");
        let is_list = value.pointer(&at).is_some_and(Value::is_array);
        holds = match holds {
            Holds::Object(kind) => kind.field(&name)?.shape,
            Holds::ObjectOrObjects(kind) if !is_list => kind.field(&name)?.shape,
            Holds::End => Kind::External.field(&name)?.shape,
            Holds::ObjectOrObjects(kind) | Holds::Objects(kind) => Holds::Object(kind),
            Holds::EventTypes => Holds::EventType,
            Holds::Path => Holds::Segment,
            Holds::Chain => Holds::Step,
            Holds::Step | Holds::Arguments => Holds::Arguments,
            Holds::Constants => Holds::Constant,
            _ => return None,
        };
        at = format!("{at}/{token}");
    }
    Some(holds)
}

/// The kind of object that is at a pointer, or should be.
pub(super) fn kind(value: &Value, pointer: &str) -> Option<Kind> {
    match holds(value, pointer)? {
        Holds::Object(kind) => Some(kind),
        Holds::ObjectOrObjects(kind) => {
            (!value.pointer(pointer).is_some_and(Value::is_array)).then_some(kind)
        }
        Holds::End => Some(Kind::External),
        _ => None,
    }
}

/// The nearest object of one of these kinds at a pointer or around it: its pointer and its kind.
pub(super) fn enclosing(value: &Value, pointer: &str, kinds: &[Kind]) -> Option<(String, Kind)> {
    let mut at = pointer;
    loop {
        if object_at(value, at).is_some()
            && let Some(kind) = kind(value, at).filter(|kind| kinds.contains(kind))
        {
            return Some((at.to_owned(), kind));
        }
        at = split(at)?.0;
    }
}

/// Whether a place may hold this, or what can be made of it.
pub(super) fn suits(holds: Holds, content: &Value) -> bool {
    let is_scalar = content.is_string() || content.is_number() || content.is_boolean();
    match holds {
        Holds::EventTypes => content.is_string() || content.is_array(),
        Holds::Name
        | Holds::EventType
        | Holds::Template
        | Holds::Text
        | Holds::Segment
        | Holds::Word(_) => content.is_string(),
        Holds::Path => content.is_array() || content.is_string() || content.is_null(),
        Holds::Object(Kind::ForEach) => {
            content.is_object() || content.is_string() || content.is_array()
        }
        Holds::Object(Kind::Condition) => looks_like(Kind::Condition, content),
        Holds::Object(kind) => match content {
            Value::Array(items) => items.len() == 1 && items.iter().all(|it| looks_like(kind, it)),
            content => content.is_object(),
        },
        Holds::Objects(kind) => match content {
            Value::Array(items) => items.iter().all(Value::is_object),
            content => looks_like(kind, content) || (kind == Kind::Property && content.is_object()),
        },
        Holds::ObjectOrObjects(_) => content.is_object() || content.is_array() || content.is_null(),
        Holds::End => content.is_string() || content.is_object(),
        Holds::Chain => content.is_array() || content.is_string() || content.is_object(),
        Holds::Step => content.is_string() || content.is_object(),
        Holds::Arguments => true,
        Holds::Constant => is_scalar,
        Holds::Constants => is_scalar || content.is_array(),
        Holds::True => content.is_boolean(),
        Holds::Section => false,
    }
}

/// Whether this is an object with fields of that kind alone, or nearly.
pub(super) fn looks_like(kind: Kind, content: &Value) -> bool {
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

    use super::{Holds, Kind, enclosing, holds, kind};

    #[test]
    fn places_are_told_by_what_is_around_them() {
        let plan = json!({
            "nodes": [{"when": {"all": [{"not": {"source_path": ["a"], "exists": true}}]},
                "property_fields": [{"coalesce": [{"source_path": ["a"], "convert": [{"split": {"index": 1}}]}]}]}],
            "edges": [{"to": {"key_fields": [{}]}}],
            "span_handling": [{"when": {}}],
        });
        for (pointer, expected) in [
            ("", Some(Holds::Object(Kind::Plan))),
            ("/nodes/0", Some(Holds::Object(Kind::Node))),
            ("/nodes/0/when/all/0/not/exists", Some(Holds::True)),
            ("/nodes/0/property_fields/0/coalesce/0/source_path/0", Some(Holds::Segment)),
            ("/nodes/0/property_fields/0/coalesce/0/convert/0/split/index", Some(Holds::Arguments)),
            ("/edges/0/to", Some(Holds::End)),
            ("/edges/0/to/key_fields/0", Some(Holds::Object(Kind::Key))),
            ("/span_handling/0/when", Some(Holds::Object(Kind::Condition))),
            ("/nodes/0/colour", None),
        ] {
            assert_eq!(holds(&plan, pointer), expected, "{pointer}");
        }
        assert_eq!(kind(&plan, "/span_handling"), None);
        assert_eq!(kind(&json!({"span_handling": {}}), "/span_handling"), Some(Kind::Span));
        let around = enclosing(&plan, "/edges/0/to/key_fields/0/source_path", &[Kind::Edge]);
        assert_eq!(around, Some(("/edges/0".to_owned(), Kind::Edge)));
    }
}
