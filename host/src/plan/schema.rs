//! The JSON Schema of plans: all the rules that a schema can say, generated from the [table](super::language).

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::expr::Conversion;
use super::language::write::{Members, OrderedJson};
use super::language::{Alternative, Field, FieldRule, ObjectKind, Shape};

/// The schema as text (JSON Schema, draft 2020-12), with a description for each field.
///
/// What it can't say, only the parser checks, with errors that are [beyond the
/// schema](super::PlanParseError::is_beyond_schema).
#[must_use]
pub fn schema_text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let text = serde_json::to_string_pretty(&document());
        text.expect("strings and numbers under string keys are always JSON") + "\n"
    });
    &TEXT
}

/// The schema as a value of its own, which the caller may change.
///
/// # Example: hand it to whatever constrains a model's output
///
/// ```
/// let schema = retort::plan::schema();
/// assert_eq!(schema["anyOf"][0]["required"][1], "key_field");
/// ```
#[must_use]
pub fn schema() -> Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| json!(document()));
    SCHEMA.clone()
}

/// The kinds that have a definition, in its order; an external node is a part of that of an end.
const DEFINED: &[ObjectKind] = &[
    ObjectKind::Choice,
    ObjectKind::Key,
    ObjectKind::Property,
    ObjectKind::Condition,
    ObjectKind::ForEach,
    ObjectKind::Node,
    ObjectKind::Edge,
    ObjectKind::Span,
    ObjectKind::EventType,
];

fn document() -> Members {
    Members::new()
        .with("$schema", "https://json-schema.org/draft/2020-12/schema")
        .with("title", "Extraction plan")
        .and(object(ObjectKind::Plan))
        .with("$defs", definitions())
}

fn definitions() -> Members {
    let mut definitions = Members::new()
        .with("path", about(PATH).and(path(1)))
        .with("element_path", about(ELEMENT_PATH).and(path(0)))
        .with("scalar", json!({"type": ["string", "number", "boolean"]}))
        .with("template", about(TEMPLATE).and(text()))
        .with("conversion", conversion())
        .with("endpoint", about(ENDPOINT).and(any_of([text(), object(ObjectKind::External)])));
    for kind in DEFINED {
        let table = kind.table();
        if let Some(name) = table.rules_definition.filter(|name| !definitions.has(name)) {
            definitions = definitions.with(name, about(SOURCE).and(rules(table.rules)));
        }
        for field in table.fields {
            if let Some(name) = field.definition.filter(|name| !definitions.has(name)) {
                definitions = definitions.with(name, in_full(field, false));
            }
        }
        definitions = definitions.with(table.definition, object(*kind));
    }
    definitions
}

const PATH: &str = "The object keys to follow from the root of the event. Each is a literal key.";
const ELEMENT_PATH: &str = "The object keys to follow: inside a for_each from the element, where an empty path is the element itself, else from the root of the event.";
const TEMPLATE: &str = "Text with paths in braces, like {session_id}:{content.id}; {$.id} starts at the event, {^.id} at the parent, {^^.id} at the one around that, {} is the element. Literal braces are doubled.";
const ENDPOINT: &str = "The name of a node of the plan, or a node that other events describe.";
const SOURCE: &str = "Where a value comes from: exactly one of these.";

fn object(kind: ObjectKind) -> Members {
    let table = kind.table();
    let required = table.fields.iter().filter(|field| field.is_required);
    let required: Vec<&str> = required.map(|field| field.name).collect();
    let properties = table.fields.iter().fold(Members::new(), |properties, field| {
        let property = match field.definition {
            Some(name) => definition(name),
            None => in_full(field, kind == ObjectKind::Plan),
        };
        properties.with(field.name, property)
    });
    Members::new()
        .with_some("description", table.description)
        .with("type", "object")
        .with("additionalProperties", false)
        .with_some("required", (!required.is_empty()).then_some(required))
        .and(match table.rules_definition {
            Some(name) => Members::new().with("allOf", list([definition(name)])),
            None => rules(table.rules),
        })
        .with("properties", properties)
}

/// A field with all that is to be said of it. `at_event`: its paths start at the event, and so may not be empty.
fn in_full(field: &Field, at_event: bool) -> Members {
    let default = field.default.map(|json| -> Value {
        serde_json::from_str(json)
            .expect("the defaults of the table are JSON, and a test reads them")
    });
    Members::new()
        .with_some("description", field.description)
        .and(shape(field, at_event))
        .with_some("default", default)
}

fn shape(field: &Field, at_event: bool) -> Members {
    let array = |items: Members| {
        let (least, most) = field.entries;
        Members::new()
            .with("type", "array")
            .with("items", items)
            .with_some("minItems", (least > 0).then_some(least))
            .with_some("maxItems", (most < usize::MAX).then_some(most))
    };
    let defined = |kind: ObjectKind| {
        let has_path = matches!(kind, ObjectKind::Key | ObjectKind::Property);
        let not_empty = json!({"source_path": {"minItems": 1}});
        definition(kind.table().definition)
            .with_some("properties", (at_event && has_path).then_some(not_empty))
    };
    let null = field.is_nullable().then(|| Members::new().with("type", "null"));
    match field.shape {
        Shape::EventTypes => {
            let one = || definition(ObjectKind::EventType.table().definition);
            let each = any_of([text(), one()]);
            any_of([text(), one(), array(each).with("uniqueItems", true)])
        }
        Shape::EventType => any_of([text(), definition(ObjectKind::EventType.table().definition)]),
        Shape::Path => {
            let path = definition(if field.entries.0 == 0 { "element_path" } else { "path" });
            match null {
                Some(null) => any_of([null, path]),
                None => path,
            }
        }
        Shape::Paths => array(definition("element_path")),
        Shape::Object(kind) => defined(kind),
        Shape::Objects(kind) => array(defined(kind)),
        Shape::ObjectOrObjects(kind) => {
            any_of(null.into_iter().chain([defined(kind), array(defined(kind))]))
        }
        Shape::End => definition("endpoint"),
        Shape::Chain => array(definition("conversion")),
        Shape::Constant => definition("scalar"),
        Shape::Constants => array(definition("scalar")),
        Shape::Template => definition("template"),
        Shape::Query => text(),
        Shape::True => Members::new().with("const", true),
        Shape::Word(words) => Members::new().with("enum", words),
        Shape::Name
        | Shape::Text
        | Shape::TypeName
        | Shape::Segment
        | Shape::Step
        | Shape::Arguments
        | Shape::Section => text(),
    }
}

/// What holds between fields.
fn rules(rules: &[FieldRule]) -> Members {
    let (mut alone, mut required, mut schemas) = (Members::new(), Members::new(), Members::new());
    for rule in rules {
        match rule {
            FieldRule::OneOf(alternatives) => {
                let one = |it: &Alternative| requires(it.with.iter().chain([&it.name]));
                alone = alone.with("oneOf", list(alternatives.iter().map(one)));
                let beside = alternatives.iter().filter_map(|it| Some((it.name, it.with?)));
                for (name, with) in beside {
                    required = required.with(name, vec![with]);
                }
                if let Some(with) = alternatives.iter().find_map(|it| it.with) {
                    let others = alternatives.iter().filter(|it| it.with.is_none());
                    schemas = schemas.with(with, without(others.map(|it| it.name)));
                }
            }
            FieldRule::Beside(name, [other]) => required = required.with(name, vec![*other]),
            FieldRule::Beside(name, others) => {
                schemas = schemas.with(name, any_of(others.iter().map(|it| requires([it]))));
            }
            FieldRule::Excludes(name, other) => schemas = schemas.with(other, without([*name])),
            FieldRule::Forms { long, short, required, or } => {
                let entries = |name: &&'static str| {
                    let entries = Members::new().with(name, json!({"minItems": 1}));
                    Members::new().with("properties", entries)
                };
                let some = any_of([entries(long), requires([or]).and(entries(or))]);
                alone = alone.and(any_of([
                    requires(*required).and(without([*long])),
                    requires([long]).and(without(short.iter().copied())).and(some),
                ]));
            }
            FieldRule::NotEmptyOutside { field, paths } => {
                let not_empty = paths
                    .iter()
                    .fold(Members::new(), |paths, path| paths.with(path, json!({"minItems": 1})));
                let outside = Members::new().with("properties", not_empty);
                alone = alone.and(any_of([requires([field]), outside]));
            }
        }
    }
    alone
        .with_some("dependentRequired", (!required.is_empty()).then_some(required))
        .with_some("dependentSchemas", (!schemas.is_empty()).then_some(schemas))
}

/// A conversion: one without arguments by its name, any other as an object.
fn conversion() -> Members {
    let arguments = json!({
        "split": {
            "description": "The part with this index, from 0, from the end if negative.",
            "type": "object",
            "additionalProperties": false,
            "required": ["separator", "index"],
            "properties": {
                "separator": {"type": "string", "minLength": 1},
                "index": {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX}
            }
        },
        "regex": {
            "description": "What a group of the pattern matches: by default the first, or the whole match where there is none.",
            "type": "object",
            "additionalProperties": false,
            "required": ["pattern"],
            "properties": {
                "pattern": {"type": "string", "minLength": 1},
                "group": {"anyOf": [{"type": "integer", "minimum": 0, "maximum": u16::MAX}, {"type": "string"}]}
            }
        },
        "parse_json": {
            "description": "What is at this path in the JSON that a string holds; all of it for an empty path.",
            "$ref": "#/$defs/element_path"
        }
    });
    let names = Conversion::NAMES.iter().filter(|name| arguments.get(name).is_none());
    let names: Vec<&str> = names.copied().collect();
    any_of([
        Members::new().with("enum", names),
        Members::new()
            .with("type", "object")
            .with("additionalProperties", false)
            .with("minProperties", 1)
            .with("maxProperties", 1)
            .with("properties", arguments),
    ])
}

fn about(description: &str) -> Members {
    Members::new().with("description", description)
}

fn definition(name: &str) -> Members {
    Members::new().with("$ref", format!("#/$defs/{name}"))
}

/// A string that isn't empty.
fn text() -> Members {
    Members::new().with("type", "string").with("minLength", 1)
}

/// A list of object keys, of which there are at least so many.
fn path(least: usize) -> Members {
    Members::new()
        .with("type", "array")
        .with("items", text())
        .with_some("minItems", (least > 0).then_some(least))
}

fn requires<'n>(names: impl IntoIterator<Item = &'n &'static str>) -> Members {
    Members::new().with("required", names.into_iter().copied().collect::<Value>())
}

fn without(names: impl IntoIterator<Item = &'static str>) -> Members {
    let names = names.into_iter().fold(Members::new(), |names, name| names.with(name, false));
    Members::new().with("properties", names)
}

fn any_of(schemas: impl IntoIterator<Item = Members>) -> Members {
    Members::new().with("anyOf", list(schemas))
}

fn list(schemas: impl IntoIterator<Item = Members>) -> OrderedJson {
    schemas.into_iter().collect()
}
