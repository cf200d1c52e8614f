//! What reading every part of a plan comes down to.

use serde_json::{Map, Value};

use super::super::error::{Place, PlanParseError, PlanParseErrorCode as Code, kind};
use super::super::names::is_identifier;
use super::fields::{Field, unknown_field};
use crate::diagnostics::untrusted::quoted;
use crate::plan::expr::conversion::PatternBudget;

/// Entries of a list in which a plan chooses between things.
pub(super) const MAX_ENTRIES: usize = 64;

/// Reads the parts of a plan and notes what is wrong with them. What can't be read gives an empty
/// part, which nobody sees: a plan is only handed out where nothing was noted.
#[derive(Default)]
pub(super) struct Reader {
    problems: Vec<PlanParseError>,
    /// What is left for the programs of all patterns.
    pub(super) patterns: PatternBudget,
}

/// The fields of an object.
pub(super) type Fields = Map<String, Value>;

impl Reader {
    pub(super) fn into_problems(self) -> Vec<PlanParseError> {
        self.problems
    }

    /// How much was noted so far: what has been read since is whole where this hasn't changed.
    pub(super) fn noted(&self) -> usize {
        self.problems.len()
    }

    pub(super) fn note(&mut self, code: Code, at: &Place, message: impl Into<String>) {
        self.problems.push(PlanParseError::new(code, at, message));
    }

    pub(super) fn wrong_type(&mut self, at: &Place, wanted: &str, found: &Value) {
        self.note(Code::WrongType, at, expected(wanted, kind(found)));
    }

    pub(super) fn object<'v>(
        &mut self,
        at: &Place,
        value: &'v Value,
        known: &[Field],
    ) -> Option<&'v Fields> {
        let fields = self.any_object(at, value)?;
        self.field_names(at, fields, known, &[]);
        Some(fields)
    }

    pub(super) fn any_object<'v>(&mut self, at: &Place, value: &'v Value) -> Option<&'v Fields> {
        let Value::Object(fields) = value else {
            self.wrong_type(at, "an object", value);
            return None;
        };
        Some(fields)
    }

    /// Notes the fields that nobody knows, then those that are missing.
    pub(super) fn field_names(
        &mut self,
        at: &Place,
        fields: &Fields,
        known: &[Field],
        also_missing: &[&'static str],
    ) {
        self.unknown_fields(at, fields, known);
        self.missing_fields(at, fields, known, also_missing);
    }

    /// Notes the fields that nobody knows, by code point.
    pub(super) fn unknown_fields(&mut self, at: &Place, fields: &Fields, known: &[Field]) {
        let mut unknown: Vec<&String> =
            fields.keys().filter(|name| known.iter().all(|field| field.name != **name)).collect();
        unknown.sort_unstable();
        for name in unknown {
            let message = unknown_field(name, known);
            self.note(Code::UnknownField, &at.field(name), message);
        }
    }

    /// Notes the fields that are missing, by code point, and those of `also_missing` with them.
    pub(super) fn missing_fields(
        &mut self,
        at: &Place,
        fields: &Fields,
        known: &[Field],
        also_missing: &[&'static str],
    ) {
        let mut missing: Vec<&str> = known
            .iter()
            .filter(|field| field.required && !fields.contains_key(field.name))
            .map(|field| field.name)
            .chain(also_missing.iter().copied())
            .collect();
        missing.sort_unstable();
        for name in missing {
            let message = "expected a value, found no such field; it has no default";
            self.note(Code::MissingRequiredField, &at.field(name), message);
        }
    }

    /// Notes all but the first of the fields of which an object can have one.
    pub(super) fn exclusive(&mut self, at: &Place, fields: &Fields, names: &[&str]) {
        let mut there = names.iter().filter(|name| fields.contains_key(**name));
        if let Some(first) = there.next() {
            for name in there {
                let message = format!("expected either {first} or {name}, found both");
                self.note(Code::ConflictingFields, &at.field(name), message);
            }
        }
    }

    /// Notes a field that stands beside none of those that give it a meaning.
    pub(super) fn only_beside(&mut self, at: &Place, fields: &Fields, name: &str, others: &[&str]) {
        if fields.contains_key(name) && !others.iter().any(|other| fields.contains_key(*other)) {
            let message = format!("expected {} beside {name}, found none", others.join(" or "));
            self.note(Code::UnusedField, &at.field(name), message);
        }
    }

    /// The entries of a list; none where there isn't one, and no more than it may have.
    pub(super) fn items<'v>(
        &mut self,
        at: &Place,
        value: &'v Value,
        wanted: &str,
        (least, most): (usize, usize),
    ) -> &'v [Value] {
        let Value::Array(items) = value else {
            self.wrong_type(at, wanted, value);
            return &[];
        };
        if items.len() < least {
            let entries = if least == 1 { "entry" } else { "entries" };
            let found = if items.is_empty() { "none".to_owned() } else { items.len().to_string() };
            let message = format!("expected at least {least} {entries}, found {found}");
            self.note(Code::TooFewItems, at, message);
        }
        match items.get(..most) {
            Some(first) if items.len() > most => {
                let message = format!("expected at most {most} entries, found {}", items.len());
                self.note(Code::TooManyItems, at, message);
                first
            }
            _ => items,
        }
    }

    /// A path, which may not be empty.
    pub(super) fn path(&mut self, at: &Place, value: &Value) -> Vec<String> {
        let path = self.segments(at, value);
        if matches!(value, Value::Array(segments) if segments.is_empty()) {
            self.note(Code::EmptyPath, at, "expected at least one segment, found none");
        }
        path
    }

    /// A path, empty or not.
    pub(super) fn segments(&mut self, at: &Place, value: &Value) -> Vec<String> {
        let Value::Array(segments) = value else {
            self.wrong_type(at, "an array of strings", value);
            return Vec::new();
        };
        let segments = segments.iter().enumerate();
        segments.map(|(index, segment)| self.text(&at.item(index), segment)).collect()
    }

    /// A string that isn't empty; an empty one where there is none.
    pub(super) fn text(&mut self, at: &Place, value: &Value) -> String {
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
    pub(super) fn identifier(&mut self, at: &Place, value: &Value) -> String {
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

    /// One of a few strings; `None` where it is none of them.
    pub(super) fn choice<T: Copy>(
        &mut self,
        at: &Place,
        value: &Value,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let Value::String(text) = value else {
            self.wrong_type(at, "a string", value);
            return None;
        };
        let chosen = choices.iter().find(|(name, _)| name == text).map(|(_, it)| *it);
        if chosen.is_none() {
            let names: Vec<String> =
                choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            let wanted = match names.split_last() {
                Some((last, [])) => last.clone(),
                Some((last, others)) => format!("{} or {last}", others.join(", ")),
                None => String::new(),
            };
            self.note(Code::InvalidValue, at, expected(&wanted, &quoted(text)));
        }
        chosen
    }
}

pub(super) fn expected(wanted: &str, found: &str) -> String {
    format!("expected {wanted}, found {found}")
}
