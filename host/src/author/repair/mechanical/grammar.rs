//! What stands where in a plan: told of any value, whether it is a plan or not.

use serde_json::Value;

use super::context::{object_at, split};

/// The objects that plans consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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
pub(super) enum Holds {
    EventTypes,
    EventType,
    /// The name of a function, an entity, a relationship, a property or a node.
    Name,
    Path,
    Segment,
    Object(Kind),
    Objects(Kind),
    /// One object, or a list of them.
    ObjectOrObjects(Kind),
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
    pub(super) holds: Holds,
    /// Other names for it that can mean nothing else in such an object.
    pub(super) others: &'static [&'static str],
}

const fn field(name: &'static str, holds: Holds, others: &'static [&'static str]) -> Field {
    Field { name, holds, others }
}

const FROM: Field = field("from", Holds::Word(&["event", "parent"]), &["relative_to", "root"]);
const SOURCE_PATH: Field =
    field("source_path", Holds::Path, &["path", "source", "field", "json_path"]);
const CONSTANT: Field = field("constant", Holds::Constant, &["literal", "fixed", "value"]);
const TEMPLATE: Field = field("template", Holds::Template, &["format", "pattern"]);
const COALESCE: Field = field(
    "coalesce",
    Holds::Objects(Kind::Choice),
    &["first_of", "any_of", "alternatives", "one_of"],
);
const CONVERT: Field = field(
    "convert",
    Holds::Chain,
    &["conversion", "conversions", "converters", "transform", "transforms", "cast", "as"],
);
const ON_ERROR: Field =
    field("on_error", Holds::Word(&["omit", "reject"]), &["on_failure", "if_error"]);
const NULLS: Field = field("nulls", Holds::Word(&["omit", "keep"]), &["on_null"]);
const PROPERTY_NAME: Field = field("property_name", Holds::Name, &["name", "property"]);
const ENTITY_NAME: Field =
    field("entity_name", Holds::Name, &["target_entity_name", "entity", "entity_type", "label"]);
const KEY_FIELDS: Field = field(
    "key_fields",
    Holds::Objects(Kind::Key),
    &["key_field", "key", "keys", "primary_key", "identifier"],
);
const PROPERTY_FIELDS: Field = field(
    "property_fields",
    Holds::Objects(Kind::Property),
    &["properties", "fields", "mappings", "attributes"],
);
const FOR_EACH: Field = field(
    "for_each",
    Holds::Object(Kind::ForEach),
    &["foreach", "each", "iterate", "iterate_over", "repeat", "loop", "unnest"],
);
const WHEN: Field = field(
    "when",
    Holds::Object(Kind::Condition),
    &["condition", "conditions", "if", "only_if", "filter", "where", "guard"],
);

const PLAN: &[Field] = &[
    field("event_type", Holds::EventTypes, &["event_types", "types"]),
    WHEN,
    field("function_name", Holds::Name, &["function"]),
    field("target_entity_name", Holds::Name, &["entity_name", "entity", "target_entity"]),
    field("key_field", Holds::Object(Kind::Key), &["key_fields", "key", "keys", "primary_key"]),
    PROPERTY_FIELDS,
    field("nodes", Holds::Objects(Kind::Node), &["entities", "node"]),
    field("edges", Holds::Objects(Kind::Edge), &["relationships", "edge"]),
    field("on_duplicate", Holds::Word(&["last", "reject"]), &["duplicates", "on_duplicates"]),
    field("session_id_path", Holds::Path, &["session_path", "session"]),
    field("span_handling", Holds::ObjectOrObjects(Kind::Span), &["span", "spans", "span_rules"]),
];

const NODE: &[Field] = &[
    ENTITY_NAME,
    KEY_FIELDS,
    PROPERTY_FIELDS,
    WHEN,
    FOR_EACH,
    field("name", Holds::Name, &["node_name", "id", "alias"]),
];

const EDGE: &[Field] = &[
    field(
        "relationship_name",
        Holds::Name,
        &["relationship", "type", "relationship_type", "name", "label"],
    ),
    field("from", Holds::End, &["source", "from_node", "start", "from_entity"]),
    field("to", Holds::End, &["target", "to_node", "end", "to_entity", "destination"]),
    FOR_EACH,
    WHEN,
    field("edge_id", Holds::Template, &["id"]),
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
    field("exists", Holds::True, &["present", "is_present", "not_null", "has"]),
    field("truthy", Holds::True, &["is_truthy", "is_true", "nonempty"]),
    field("equals", Holds::Constant, &["equal", "eq", "is", "value", "equal_to"]),
    field("one_of", Holds::Constants, &["in", "any_of", "equals_any", "values"]),
    field("starts_with", Holds::Text, &["prefix", "begins_with", "has_prefix"]),
    field("is_type", Holds::Word(JSON_TYPES), &["type", "type_is", "of_type"]),
    field("all", Holds::Objects(Kind::Condition), &["and", "all_of"]),
    field("any", Holds::Objects(Kind::Condition), &["or", "some"]),
    field("not", Holds::Object(Kind::Condition), &["none", "negate", "unless"]),
];

const ITERATION: &[Field] = &[
    field("array", Holds::Path, &["path", "source_path", "list", "items", "elements", "in"]),
    field("entries", Holds::Path, &["object", "map", "entries_of"]),
    FOR_EACH,
];

const SPAN: &[Field] = &[
    field("span_id_path", Holds::Path, &["source_path", "path", "span_id", "span_path"]),
    FROM,
    WHEN,
    field("partial_when_path", Holds::Path, &["partial_path"]),
    field("partial_when", Holds::Object(Kind::Condition), &["partial_if"]),
    FOR_EACH,
];

impl Kind {
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

    fn field(self, name: &str) -> Option<&'static Field> {
        self.fields().iter().find(|field| field.name == name)
    }
}

/// What the place of a pointer holds, or should hold. `None` where plans have no such place.
pub(super) fn holds(value: &Value, pointer: &str) -> Option<Holds> {
    let mut holds = Holds::Object(Kind::Plan);
    let mut at = String::new();
    for token in pointer.split('/').skip(1) {
        let name = token.replace("~1", "/").replace("~0", "~");
        let is_list = value.pointer(&at).is_some_and(Value::is_array);
        holds = match holds {
            Holds::Object(kind) => kind.field(&name)?.holds,
            Holds::ObjectOrObjects(kind) if !is_list => kind.field(&name)?.holds,
            Holds::End => Kind::External.field(&name)?.holds,
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
    }
}

/// Whether this is an object with fields of that kind alone, or nearly.
pub(super) fn looks_like(kind: Kind, content: &Value) -> bool {
    let Some(fields) = content.as_object() else { return false };
    let is_known = |name: &&String| {
        let mut known = kind.fields().iter();
        known.any(|field| field.name == **name || field.others.contains(&name.as_str()))
    };
    let known = fields.keys().filter(is_known).count();
    known > 0 && 2 * known > fields.len()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::{Holds, Kind, enclosing, holds, kind};

    #[test]
    fn fields_are_those_of_the_schema() {
        let schema = crate::plan::schema();
        for (kind, at) in [
            (Kind::Plan, ""),
            (Kind::Node, "/$defs/node"),
            (Kind::Edge, "/$defs/edge"),
            (Kind::External, "/$defs/endpoint/anyOf/1"),
            (Kind::Key, "/$defs/key_mapping"),
            (Kind::Property, "/$defs/field_mapping"),
            (Kind::Choice, "/$defs/value"),
            (Kind::Condition, "/$defs/condition"),
            (Kind::ForEach, "/$defs/for_each"),
            (Kind::Span, "/$defs/span_handling"),
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
