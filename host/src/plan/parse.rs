//! From text to a plan, strictly.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::error::{PlanParseError, PlanParseErrorCode as Code, kind};
use super::model::{
    EventPattern, EventTypes, FieldMapping, Form, NodeRule, Nulls, Partial, Plan, SpanRule,
    SpanRules,
};
use super::names::{is_identifier, is_reserved};
use crate::expr::{Expression, OnDuplicate, OnError, Reference};
use crate::problem::json_fault;
use crate::untrusted::quoted;

/// Reads a plan from JSON text.
///
/// Nothing is guessed at: unknown fields, empty names and paths, and null where only a default
/// may stand are refused. The last of two equal JSON keys counts.
///
/// # Errors
/// The first problem, in the order: root, unknown fields (by code point), missing fields
/// (likewise), `event_type`, `target_entity_name`, `function_name`, `key_field`,
/// `property_fields` item by item, duplicate names, `session_id_path`, `span_handling`.
/// [`problems`] gives all of them.
///
/// # Example
///
/// ```
/// let error = retort::plan::parse(r#"{"event_type": 1}"#).unwrap_err();
/// assert_eq!((error.code.as_str(), error.path.as_str()), ("missing_required_field", "function_name"));
/// ```
pub fn parse(text: &str) -> Result<Plan, PlanParseError> {
    read_text(text).map_err(|rejection| rejection.first)
}

/// Reads a plan from a JSON value, as [`parse`] does from text.
///
/// # Errors
/// As [`parse`], save `invalid_json`.
pub fn from_value(value: &Value) -> Result<Plan, PlanParseError> {
    read(value).map_err(|rejection| rejection.first)
}

/// All that is wrong with the text of a plan, in the order that [`parse`] states; nothing where
/// it is a plan. The first is the one that [`parse`] gives.
///
/// What follows from another problem is left out: a text that isn't an object has one problem,
/// and a name that isn't an identifier isn't compared with the others.
#[must_use]
pub fn problems(text: &str) -> Vec<PlanParseError> {
    read_text(text).err().map(Rejection::into_list).unwrap_or_default()
}

/// All that is wrong with a value that should be a plan, as [`problems`] does for text.
#[must_use]
pub fn problems_of_value(value: &Value) -> Vec<PlanParseError> {
    read(value).err().map(Rejection::into_list).unwrap_or_default()
}

/// The problems of a plan: at least one.
struct Rejection {
    first: PlanParseError,
    others: Vec<PlanParseError>,
}

impl Rejection {
    fn one(code: Code, message: String) -> Self {
        Self { first: PlanParseError::new(code, "", message), others: Vec::new() }
    }

    fn into_list(self) -> Vec<PlanParseError> {
        std::iter::once(self.first).chain(self.others).collect()
    }
}

/// What a field of an object may be called, and whether it has to be there.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    required: bool,
}

const fn required(name: &'static str) -> Field {
    Field { name, required: true }
}

const fn optional(name: &'static str) -> Field {
    Field { name, required: false }
}

pub(crate) const PLAN_FIELDS: &[Field] = &[
    required("event_type"),
    required("target_entity_name"),
    required("function_name"),
    required("key_field"),
    optional("property_fields"),
    optional("session_id_path"),
    optional("span_handling"),
];

/// A key has no `nulls`: an event whose key is null gives no node, whatever a plan says.
pub(crate) const KEY_FIELDS: &[Field] = &[required("property_name"), required("source_path")];

pub(crate) const PROPERTY_FIELDS: &[Field] =
    &[required("property_name"), required("source_path"), optional("nulls")];

pub(crate) const SPAN_FIELDS: &[Field] = &[optional("span_id_path"), optional("partial_when_path")];

fn read_text(text: &str) -> Result<Plan, Rejection> {
    // Encoders that follow IEEE 754 rather than RFC 8259 write these for numbers. A document
    // that is one of them is no plan for want of an object, not for want of a parser.
    if matches!(text.trim_matches([' ', '\t', '\n', '\r']), "NaN" | "Infinity" | "-Infinity") {
        return Err(Rejection::one(Code::WrongRootType, expected("an object", "a number")));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let fault = json_fault(text, &error);
        Rejection::one(Code::InvalidJson, format!("not JSON: {fault}"))
    })?;
    read(&value)
}

fn read(value: &Value) -> Result<Plan, Rejection> {
    let Value::Object(fields) = value else {
        return Err(Rejection::one(Code::WrongRootType, expected("an object", kind(value))));
    };
    let mut reader = Reader::default();
    let plan = reader.plan(fields);
    let mut problems = reader.problems.into_iter();
    match problems.next() {
        None => Ok(plan),
        Some(first) => Err(Rejection { first, others: problems.collect() }),
    }
}

/// Reads the parts of a plan and notes what is wrong with them. What can't be read gives an empty
/// part, which nobody sees: a plan is only handed out where nothing was noted.
#[derive(Default)]
struct Reader {
    problems: Vec<PlanParseError>,
}

impl Reader {
    fn plan(&mut self, fields: &Map<String, Value>) -> Plan {
        self.field_names("", fields, PLAN_FIELDS);
        let event_type = fields.get("event_type").map(|value| self.text("event_type", value));
        let target_entity_name = fields
            .get("target_entity_name")
            .map(|value| self.identifier("target_entity_name", value));
        let function_name = fields.get("function_name").map(|value| self.function_name(value));
        let key_field = fields
            .get("key_field")
            .map_or_else(unread_mapping, |value| self.mapping("key_field", value, KEY_FIELDS));
        let property_fields = fields
            .get("property_fields")
            .map_or_else(Vec::new, |value| self.properties("property_fields", value));
        self.distinct_names(&key_field, &property_fields);
        let session_id_path =
            fields.get("session_id_path").map(|value| self.path("session_id_path", value));
        let span_handling = fields
            .get("span_handling")
            .filter(|value| !value.is_null())
            .map(|value| self.span_handling("span_handling", value));
        let node = NodeRule {
            entity_name: target_entity_name.unwrap_or_default(),
            name: None,
            for_each: None,
            when: None,
            key_fields: vec![key_field],
            property_fields,
        };
        Plan {
            event_types: EventTypes {
                patterns: vec![EventPattern::new(&event_type.unwrap_or_default())],
                listed: false,
            },
            when: None,
            function_name: function_name.unwrap_or_default(),
            form: Form::Short,
            nodes: vec![node],
            edges: Vec::new(),
            on_duplicate: OnDuplicate::Last,
            session_id_path: session_id_path.unwrap_or_else(|| vec!["session_id".to_owned()]),
            span_rules: SpanRules { rules: span_handling.into_iter().collect(), listed: false },
        }
    }

    fn properties(&mut self, at: &str, value: &Value) -> Vec<FieldMapping> {
        let Value::Array(items) = value else {
            self.wrong_type(at, "an array of objects", value);
            return Vec::new();
        };
        let items = items.iter().enumerate();
        items.map(|(index, item)| self.property(&format!("{at}[{index}]"), item)).collect()
    }

    fn property(&mut self, at: &str, value: &Value) -> FieldMapping {
        let mapping = self.mapping(at, value, PROPERTY_FIELDS);
        let nulls = value.get("nulls").map(|value| self.nulls(&format!("{at}.nulls"), value));
        FieldMapping { nulls: nulls.unwrap_or_default(), ..mapping }
    }

    fn mapping(&mut self, at: &str, value: &Value, known: &[Field]) -> FieldMapping {
        let Some(fields) = self.object(at, value, known) else {
            return unread_mapping();
        };
        let property_name = fields
            .get("property_name")
            .map(|value| self.identifier(&format!("{at}.property_name"), value));
        let source_path =
            fields.get("source_path").map(|value| self.path(&format!("{at}.source_path"), value));
        FieldMapping {
            property_name: property_name.unwrap_or_default(),
            value: Expression::path(Reference::event(&source_path.unwrap_or_default())),
            nulls: Nulls::Omit,
            on_error: OnError::Omit,
        }
    }

    fn span_handling(&mut self, at: &str, value: &Value) -> SpanRule {
        let fields = self.object(at, value, SPAN_FIELDS);
        let span_id_path = fields
            .and_then(|fields| fields.get("span_id_path"))
            .map(|value| self.path(&format!("{at}.span_id_path"), value));
        let partial_when_path = fields
            .and_then(|fields| fields.get("partial_when_path"))
            .filter(|value| !value.is_null())
            .map(|value| self.path(&format!("{at}.partial_when_path"), value));
        let span_id = span_id_path.unwrap_or_else(|| vec!["span_id".to_owned()]);
        let partial = partial_when_path.map(|path| Partial::Truthy(Reference::event(&path)));
        SpanRule { span_id: Reference::event(&span_id), for_each: None, when: None, partial }
    }

    fn object<'v>(
        &mut self,
        at: &str,
        value: &'v Value,
        known: &[Field],
    ) -> Option<&'v Map<String, Value>> {
        let Value::Object(fields) = value else {
            self.wrong_type(at, "an object", value);
            return None;
        };
        self.field_names(at, fields, known);
        Some(fields)
    }

    /// Notes the fields that nobody knows, then those that are missing, each by code point.
    fn field_names(&mut self, at: &str, fields: &Map<String, Value>, known: &[Field]) {
        let mut unknown: Vec<&String> =
            fields.keys().filter(|name| known.iter().all(|field| field.name != **name)).collect();
        unknown.sort_unstable();
        for name in unknown {
            let message = unknown_field(name, known);
            self.note(Code::UnknownField, child(at, name), message);
        }
        let mut missing: Vec<&str> = known
            .iter()
            .filter(|field| field.required && !fields.contains_key(field.name))
            .map(|field| field.name)
            .collect();
        missing.sort_unstable();
        for name in missing {
            let message = "expected a value, found no such field; it has no default";
            self.note(Code::MissingRequiredField, child(at, name), message);
        }
    }

    fn path(&mut self, at: &str, value: &Value) -> Vec<String> {
        let Value::Array(segments) = value else {
            self.wrong_type(at, "an array of strings", value);
            return Vec::new();
        };
        if segments.is_empty() {
            self.note(Code::EmptyPath, at, "expected at least one segment, found none");
        }
        let segments = segments.iter().enumerate();
        segments.map(|(index, segment)| self.text(&format!("{at}[{index}]"), segment)).collect()
    }

    /// A string that isn't empty; an empty one where there is none.
    fn text(&mut self, at: &str, value: &Value) -> String {
        let Value::String(text) = value else {
            self.wrong_type(at, "a string", value);
            return String::new();
        };
        if text.is_empty() {
            self.note(Code::EmptyString, at, "expected a string that is not empty");
        }
        text.clone()
    }

    /// A string that is an identifier; an empty one where there is none.
    fn identifier(&mut self, at: &str, value: &Value) -> String {
        let name = self.text(at, value);
        if name.is_empty() || is_identifier(&name) {
            return name;
        }
        let found = format!(
            "expected letters, digits and underscores, not a digit first, found {}",
            quoted(&name)
        );
        self.note(Code::InvalidIdentifier, at, found);
        String::new()
    }

    fn function_name(&mut self, value: &Value) -> String {
        let name = self.identifier("function_name", value);
        if is_reserved(&name) {
            let found = format!("expected a name that is not reserved, found {}", quoted(&name));
            self.note(Code::InvalidIdentifier, "function_name", found);
        }
        name
    }

    fn nulls(&mut self, at: &str, value: &Value) -> Nulls {
        match value {
            Value::String(text) if text == "omit" => Nulls::Omit,
            Value::String(text) if text == "keep" => Nulls::Keep,
            Value::String(text) => {
                let found = format!("expected \"omit\" or \"keep\", found {}", quoted(text));
                self.note(Code::InvalidValue, at, found);
                Nulls::Omit
            }
            _ => {
                self.wrong_type(at, "a string", value);
                Nulls::Omit
            }
        }
    }

    fn distinct_names(&mut self, key: &FieldMapping, properties: &[FieldMapping]) {
        let mut owners = BTreeMap::from([(key.property_name.as_str(), "key_field".to_owned())]);
        for (index, property) in properties.iter().enumerate() {
            let name = property.property_name.as_str();
            if name.is_empty() {
                continue;
            }
            let here = format!("property_fields[{index}]");
            if let Some(owner) = owners.get(name) {
                let message =
                    format!("expected a name of its own, found {}, as in {owner}", quoted(name));
                let at = child(&here, "property_name");
                self.problems.push(PlanParseError::new(Code::DuplicatePropertyName, at, message));
            } else {
                owners.insert(name, here);
            }
        }
    }

    fn wrong_type(&mut self, at: &str, wanted: &str, found: &Value) {
        self.note(Code::WrongType, at, expected(wanted, kind(found)));
    }

    fn note(&mut self, code: Code, path: impl Into<String>, message: impl Into<String>) {
        self.problems.push(PlanParseError::new(code, path, message));
    }
}

fn unread_mapping() -> FieldMapping {
    FieldMapping {
        property_name: String::new(),
        value: Expression::path(Reference::event(&[])),
        nulls: Nulls::Omit,
        on_error: OnError::Omit,
    }
}

fn child(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

fn expected(wanted: &str, found: &str) -> String {
    format!("expected {wanted}, found {found}")
}

/// How alike two names have to be for one to be offered in place of the other: of the field names
/// of a plan, no two are.
const ALIKE: f64 = 0.85;

fn unknown_field(name: &str, known: &[Field]) -> String {
    let found = format!("found an unknown field {}", quoted(name));
    let likeness = |field: &Field| strsim::jaro_winkler(&name.to_ascii_lowercase(), field.name);
    // Longer names than these can't be a slip of one of ours.
    let nearest = (name.len() <= 64)
        .then(|| known.iter().map(|field| (likeness(field), field.name)))
        .and_then(|scored| scored.max_by(|(a, _), (b, _)| a.total_cmp(b)))
        .filter(|(likeness, _)| *likeness >= ALIKE);
    if let Some((_, nearest)) = nearest {
        return format!("{found}; did you mean \"{nearest}\"?");
    }
    let names: Vec<&str> = known.iter().map(|field| field.name).collect();
    format!("{found}; expected one of {}", names.join(", "))
}
