//! What each place of a plan holds: of any value, whether it is a plan or not.

use json_patch::jsonptr::Pointer;
use serde_json::Value;

use super::pointer::split;

/// The objects that plans consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectKind {
    Plan,
    Node,
    Edge,
    /// A node that some other event describes, at the end of an edge.
    External,
    /// A property of a key.
    Key,
    Property,
    /// One of the values of a `coalesce`.
    Choice,
    Condition,
    ForEach,
    Span,
}

/// What a place in a plan holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    EventTypes,
    EventType,
    /// The name of a function, an entity, a relationship, a property or a node.
    Name,
    Path,
    Segment,
    Object(ObjectKind),
    Objects(ObjectKind),
    /// One object, or a list of them.
    ObjectOrObjects(ObjectKind),
    /// The end of an edge: the name of a node, or an external one.
    End,
    Chain,
    Step,
    /// The arguments of a conversion, and what is inside of them.
    Arguments,
    Constant,
    Constants,
    Template,
    /// `true` alone.
    True,
    Text,
    /// One of a few words.
    Word(&'static [&'static str]),
}

/// A field of an object of a plan.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    /// Other names for it that can mean nothing else in such an object.
    pub(super) aliases: &'static [&'static str],
}

const fn field(name: &'static str, shape: Shape, aliases: &'static [&'static str]) -> Field {
    Field { name, shape, aliases }
}

const FROM: Field = field("from", Shape::Word(&["event", "parent"]), &["relative_to", "root"]);
const SOURCE_PATH: Field =
    field("source_path", Shape::Path, &["path", "source", "field", "json_path"]);
const CONSTANT: Field = field("constant", Shape::Constant, &["literal", "fixed", "value"]);
const TEMPLATE: Field = field("template", Shape::Template, &["format", "pattern"]);
const COALESCE: Field = field(
    "coalesce",
    Shape::Objects(ObjectKind::Choice),
    &["first_of", "any_of", "alternatives", "one_of"],
);
const CONVERT: Field = field(
    "convert",
    Shape::Chain,
    &["conversion", "conversions", "converters", "transform", "transforms", "cast", "as"],
);
const ON_ERROR: Field =
    field("on_error", Shape::Word(&["omit", "reject"]), &["on_failure", "if_error"]);
const NULLS: Field = field("nulls", Shape::Word(&["omit", "keep"]), &["on_null"]);
const PROPERTY_NAME: Field = field("property_name", Shape::Name, &["name", "property"]);
const ENTITY_NAME: Field =
    field("entity_name", Shape::Name, &["target_entity_name", "entity", "entity_type", "label"]);
const KEY_FIELDS: Field = field(
    "key_fields",
    Shape::Objects(ObjectKind::Key),
    &["key_field", "key", "keys", "primary_key", "identifier"],
);
const PROPERTY_FIELDS: Field = field(
    "property_fields",
    Shape::Objects(ObjectKind::Property),
    &["properties", "fields", "mappings", "attributes"],
);
const FOR_EACH: Field = field(
    "for_each",
    Shape::Object(ObjectKind::ForEach),
    &["foreach", "each", "iterate", "iterate_over", "repeat", "loop", "unnest"],
);
const WHEN: Field = field(
    "when",
    Shape::Object(ObjectKind::Condition),
    &["condition", "conditions", "if", "only_if", "filter", "where", "guard"],
);

const PLAN: &[Field] = &[
    field("event_type", Shape::EventTypes, &["event_types", "types"]),
    WHEN,
    field("function_name", Shape::Name, &["function"]),
    field("target_entity_name", Shape::Name, &["entity_name", "entity", "target_entity"]),
    field(
        "key_field",
        Shape::Object(ObjectKind::Key),
        &["key_fields", "key", "keys", "primary_key"],
    ),
    PROPERTY_FIELDS,
    field("nodes", Shape::Objects(ObjectKind::Node), &["entities", "node"]),
    field("edges", Shape::Objects(ObjectKind::Edge), &["relationships", "edge"]),
    field("on_duplicate", Shape::Word(&["last", "reject"]), &["duplicates", "on_duplicates"]),
    field("session_id_path", Shape::Path, &["session_path", "session"]),
    field(
        "span_handling",
        Shape::ObjectOrObjects(ObjectKind::Span),
        &["span", "spans", "span_rules"],
    ),
];

const NODE: &[Field] = &[
    ENTITY_NAME,
    KEY_FIELDS,
    PROPERTY_FIELDS,
    WHEN,
    FOR_EACH,
    field("name", Shape::Name, &["node_name", "id", "alias"]),
];

const EDGE: &[Field] = &[
    field(
        "relationship_name",
        Shape::Name,
        &["relationship", "type", "relationship_type", "name", "label"],
    ),
    field("from", Shape::End, &["source", "from_node", "start", "from_entity"]),
    field("to", Shape::End, &["target", "to_node", "end", "to_entity", "destination"]),
    FOR_EACH,
    WHEN,
    field("edge_id", Shape::Template, &["id"]),
    PROPERTY_FIELDS,
];

const EXTERNAL: &[Field] = &[ENTITY_NAME, KEY_FIELDS];

const KEY: &[Field] =
    &[PROPERTY_NAME, SOURCE_PATH, FROM, CONSTANT, TEMPLATE, COALESCE, CONVERT, ON_ERROR];

const PROPERTY: &[Field] =
    &[PROPERTY_NAME, SOURCE_PATH, FROM, CONSTANT, TEMPLATE, COALESCE, CONVERT, NULLS, ON_ERROR];

const CHOICE: &[Field] = &[SOURCE_PATH, FROM, CONSTANT, TEMPLATE, COALESCE, CONVERT];

const JSON_TYPES: &[&str] = &["string", "number", "boolean", "object", "array", "null"];

const CONDITION: &[Field] = &[
    SOURCE_PATH,
    FROM,
    field("exists", Shape::True, &["present", "is_present", "not_null", "has"]),
    field("truthy", Shape::True, &["is_truthy", "is_true", "nonempty"]),
    field("equals", Shape::Constant, &["equal", "eq", "is", "value", "equal_to"]),
    field("one_of", Shape::Constants, &["in", "any_of", "equals_any", "values"]),
    field("starts_with", Shape::Text, &["prefix", "begins_with", "has_prefix"]),
    field("is_type", Shape::Word(JSON_TYPES), &["type", "type_is", "of_type"]),
    field("all", Shape::Objects(ObjectKind::Condition), &["and", "all_of"]),
    field("any", Shape::Objects(ObjectKind::Condition), &["or", "some"]),
    field("not", Shape::Object(ObjectKind::Condition), &["none", "negate", "unless"]),
];

const ITERATION: &[Field] = &[
    field("array", Shape::Path, &["path", "source_path", "list", "items", "elements", "in"]),
    field("entries", Shape::Path, &["object", "map", "entries_of"]),
    FOR_EACH,
];

const SPAN: &[Field] = &[
    field("span_id_path", Shape::Path, &["source_path", "path", "span_id", "span_path"]),
    FROM,
    WHEN,
    field("partial_when_path", Shape::Path, &["partial_path"]),
    field("partial_when", Shape::Object(ObjectKind::Condition), &["partial_if"]),
    FOR_EACH,
];

impl ObjectKind {
    /// The fields that an object of this kind may have.
    pub(super) fn fields(self) -> &'static [Field] {
        match self {
            Self::Plan => PLAN,
            Self::Node => NODE,
            Self::Edge => EDGE,
            Self::External => EXTERNAL,
            Self::Key => KEY,
            Self::Property => PROPERTY,
            Self::Choice => CHOICE,
            Self::Condition => CONDITION,
            Self::ForEach => ITERATION,
            Self::Span => SPAN,
        }
    }

    pub(super) fn field(self, name: &str) -> Option<&'static Field> {
        self.fields().iter().find(|field| field.name == name)
    }
}

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
            Shape::EventTypes => Shape::EventType,
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

/// Whether null in a field is meant to say nothing.
pub(super) fn is_optional(field: &str) -> bool {
    matches!(
        field,
        "when"
            | "partial_when"
            | "property_fields"
            | "convert"
            | "for_each"
            | "edges"
            | "name"
            | "edge_id"
            | "on_duplicate"
            | "from"
            | "nulls"
            | "on_error"
    )
}

/// Whether a place may hold this, or what can be made of it.
pub(super) fn suits(shape: Shape, content: &Value) -> bool {
    let is_scalar = content.is_string() || content.is_number() || content.is_boolean();
    match shape {
        Shape::EventTypes => content.is_string() || content.is_array(),
        Shape::Name
        | Shape::EventType
        | Shape::Template
        | Shape::Text
        | Shape::Segment
        | Shape::Word(_) => content.is_string(),
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
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::{ObjectKind, Shape, enclosing, kind_at, shape_at};

    #[test]
    fn fields_are_those_of_the_schema() {
        let schema = crate::plan::schema();
        for (kind, at) in [
            (ObjectKind::Plan, ""),
            (ObjectKind::Node, "/$defs/node"),
            (ObjectKind::Edge, "/$defs/edge"),
            (ObjectKind::External, "/$defs/endpoint/anyOf/1"),
            (ObjectKind::Key, "/$defs/key_mapping"),
            (ObjectKind::Property, "/$defs/field_mapping"),
            (ObjectKind::Choice, "/$defs/value"),
            (ObjectKind::Condition, "/$defs/condition"),
            (ObjectKind::ForEach, "/$defs/for_each"),
            (ObjectKind::Span, "/$defs/span_handling"),
        ] {
            let declared = schema.pointer(&format!("{at}/properties"));
            let declared = declared.and_then(serde_json::Value::as_object).expect("properties");
            let declared: BTreeSet<&str> = declared.keys().map(String::as_str).collect();
            let known: BTreeSet<&str> = kind.fields().iter().map(|field| field.name).collect();
            assert_eq!(known, declared, "{kind:?}");
        }
    }

    #[test]
    fn places_are_told_by_what_is_around_them() {
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
