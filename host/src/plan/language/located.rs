//! Values of JSON with their places, read as the table says. What is wrong is noted, and reading goes on.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::slice::from_ref;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::table::{Alternative, Field, FieldRule, ObjectKind, ObjectTable, Shape, UNSEEN};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::untrusted::quoted;
use crate::plan::error::{PlanParseError, kind};
use crate::plan::expr::conversion::PatternBudget;
use crate::plan::expr::{Conversion, Zone};
use crate::plan::names::is_identifier;
use crate::plan::place::PlanPlace;

/// What all that is read from one document shares. What can't be read gives an empty part, which nobody sees: a document is
/// only handed out where nothing was noted.
pub(crate) struct ReadContext {
    pub(crate) dialect: Dialect,
    problems: RefCell<Vec<PlanParseError>>,
    /// What is left for the programs of all patterns.
    pub(super) patterns: RefCell<PatternBudget>,
    /// Where times are read that don't say it.
    time_zone: RefCell<Option<Zone>>,
    /// The pointers to all objects that say of what they read that no sample shows it.
    unseen: RefCell<BTreeSet<String>>,
}

impl ReadContext {
    pub(crate) fn new(dialect: Dialect, patterns: PatternBudget) -> Self {
        Self {
            dialect,
            problems: RefCell::default(),
            patterns: RefCell::new(patterns),
            time_zone: RefCell::default(),
            unseen: RefCell::default(),
        }
    }

    /// The zone of all conversions that are read from now on.
    pub(crate) fn set_time_zone(&self, zone: Option<Zone>) {
        *self.time_zone.borrow_mut() = zone;
    }

    /// The zone of this document, so far as it was read.
    pub(super) fn time_zone(&self) -> Option<Zone> {
        self.time_zone.borrow().clone()
    }

    /// A conversion as it is in this document.
    pub(super) fn in_zone(&self, conversion: Conversion) -> Conversion {
        conversion.in_zone(self.time_zone.borrow().as_ref())
    }

    /// The places that say `unseen`, of all that was read so far.
    pub(crate) fn take_unseen(&self) -> BTreeSet<String> {
        self.unseen.take()
    }

    /// How much was noted so far: what has been read since is whole where this hasn't changed.
    pub(crate) fn noted(&self) -> usize {
        self.problems.borrow().len()
    }

    pub(crate) fn into_problems(self) -> Vec<PlanParseError> {
        self.problems.into_inner()
    }

    pub(crate) fn note(
        &self,
        code: Code,
        at: &PlanPlace,
        expected: impl Into<Option<String>>,
        observed: impl Into<Option<String>>,
    ) {
        self.add(PlanParseError::new(code, at, expected.into(), observed.into()));
    }

    fn add(&self, problem: PlanParseError) {
        let mut problems = self.problems.borrow_mut();
        // Of a section one is enough.
        if self.dialect == Dialect::Plan || problems.is_empty() {
            problems.push(problem);
        }
    }
}

/// A value, where it is, and the field that it is in.
#[derive(Clone)]
pub(crate) struct LocatedValue<'a> {
    pub(crate) value: &'a Value,
    pub(crate) at: PlanPlace,
    pub(crate) field: &'static Field,
    pub(crate) context: &'a ReadContext,
}

/// The field of a document as a whole.
static ROOT: Field = Field::new("", Shape::Object(ObjectKind::Plan));

impl<'a> LocatedValue<'a> {
    pub(crate) fn root(value: &'a Value, at: PlanPlace, context: &'a ReadContext) -> Self {
        Self { value, at, field: &ROOT, context }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.field.name
    }

    /// A part of the value, in the same field.
    fn part(&self, value: &'a Value, at: PlanPlace) -> Self {
        Self { value, at, field: self.field, context: self.context }
    }

    pub(crate) fn note(
        &self,
        code: Code,
        expected: impl Into<String>,
        observed: impl Into<Option<String>>,
    ) {
        self.context.note(code, &self.at, expected.into(), observed);
    }

    pub(crate) fn wrong_type(&self, expected: &str) {
        self.note(codes::WRONG_TYPE, expected, kind(self.value).to_owned());
    }

    /// The object that is here, its fields checked.
    pub(crate) fn object(&self, table: &'static ObjectTable) -> Option<LocatedObject<'a>> {
        let Value::Object(fields) = self.value else {
            self.wrong_type("an object");
            return None;
        };
        let object = LocatedObject { fields, at: self.at.clone(), table, context: self.context };
        object.check();
        object.read_unseen();
        Some(object)
    }

    /// The entries of a list; none where there isn't one, and no more than it may have.
    pub(crate) fn items(&self) -> impl Iterator<Item = Self> + use<'a> {
        self.items_within(self.field.entries)
    }

    /// The same of a list whose bounds depend on what is around it.
    pub(crate) fn items_within(
        &self,
        bounds: (usize, usize),
    ) -> impl Iterator<Item = Self> + use<'a> {
        let list = self.clone();
        let items = self.entries(bounds).iter().enumerate();
        items.map(move |(index, value)| list.part(value, list.at.item(index)))
    }

    fn entries(&self, (least, most): (usize, usize)) -> &'a [Value] {
        let Value::Array(items) = self.value else {
            self.wrong_type(entries_of(self.field.shape));
            return &[];
        };
        if items.len() < least {
            let entries = if least == 1 { "entry" } else { "entries" };
            let found = if items.is_empty() { "none".to_owned() } else { items.len().to_string() };
            self.note(codes::TOO_FEW_ITEMS, format!("at least {least} {entries}"), found);
        }
        match items.get(..most) {
            Some(first) if items.len() > most => {
                let found = items.len().to_string();
                self.note(codes::TOO_MANY_ITEMS, format!("at most {most} entries"), found);
                first
            }
            _ => items,
        }
    }

    /// The keys of a path, which may be none.
    pub(crate) fn segments(&self) -> Vec<String> {
        let Value::Array(segments) = self.value else {
            self.wrong_type("an array of strings");
            return Vec::new();
        };
        let segments = segments.iter().enumerate();
        segments.map(|(index, value)| self.part(value, self.at.item(index)).text()).collect()
    }

    /// A path, which may not be empty.
    pub(crate) fn path(&self) -> Vec<String> {
        let path = self.segments();
        if self.is_empty_list() {
            self.note(codes::EMPTY_PATH, "at least one segment", "none".to_owned());
        }
        path
    }

    pub(crate) fn is_empty_list(&self) -> bool {
        self.value.as_array().is_some_and(Vec::is_empty)
    }

    /// A string; in a plan, one that isn't empty. An empty one where there is none.
    pub(crate) fn text(&self) -> String {
        let Value::String(text) = self.value else {
            self.wrong_type("a string");
            return String::new();
        };
        if text.is_empty() && self.context.dialect == Dialect::Plan {
            self.note(codes::EMPTY_STRING, "a string that is not empty", None);
        }
        text.clone()
    }

    /// A zone for times; `None` where there is none of that name.
    pub(crate) fn zone(&self) -> Option<Zone> {
        let name = self.text();
        if name.is_empty() {
            return None;
        }
        let zone = Zone::named(&name);
        if zone.is_none() {
            let found = match Zone::meant(&name) {
                Some(meant) => format!("{}; did you mean {}?", quoted(&name), quoted(&meant)),
                None => quoted(&name),
            };
            let expected = "a zone like Europe/Berlin, an offset like +02:00, or UTC";
            self.note(codes::UNKNOWN_TIME_ZONE, expected, found);
        }
        zone
    }

    /// A string that is an identifier; an empty one where there is none.
    pub(crate) fn identifier(&self) -> String {
        let name = self.text();
        if name.is_empty() || is_identifier(&name) {
            return name;
        }
        let expected = "letters, digits and underscores, not a digit first";
        self.note(codes::INVALID_IDENTIFIER, expected, quoted(&name));
        String::new()
    }

    /// One of the words that the field takes; `None` where it is none of them.
    pub(crate) fn word<T: Deserialize<'a>>(&self) -> Option<T> {
        let Value::String(text) = self.value else {
            self.wrong_type("a string");
            return None;
        };
        let Shape::Word(words) = self.field.shape else { return None };
        if words.contains(&text.as_str()) {
            return T::deserialize(self.value).ok();
        }
        let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let expected = match words.split_last() {
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        };
        self.note(codes::INVALID_VALUE, expected, quoted(text));
        None
    }

    /// A string, a number or a boolean.
    pub(crate) fn constant(&self) -> Value {
        if matches!(self.value, Value::Null | Value::Array(_) | Value::Object(_)) {
            self.wrong_type("a string, a number or a boolean");
            return Value::Null;
        }
        self.value.clone()
    }
}

fn entries_of(shape: Shape) -> &'static str {
    match shape {
        Shape::Objects(ObjectKind::Condition) => "an array of conditions",
        Shape::Objects(_) | Shape::ObjectOrObjects(_) => "an array of objects",
        Shape::Chain => "an array of conversions",
        Shape::Paths => "an array of paths",
        Shape::Constants => "an array of strings, numbers and booleans",
        _ => "an array",
    }
}

/// An object whose fields are those of a table.
pub(crate) struct LocatedObject<'a> {
    fields: &'a Map<String, Value>,
    pub(crate) at: PlanPlace,
    table: &'static ObjectTable,
    pub(crate) context: &'a ReadContext,
}

impl<'a> LocatedObject<'a> {
    /// A field that the table has, where it is there.
    pub(crate) fn get(&self, name: &str) -> Option<LocatedValue<'a>> {
        let field = self.table.field(name)?;
        let value = self.fields.get(name)?;
        Some(LocatedValue { value, at: self.at.field(name), field, context: self.context })
    }

    /// Takes down that the object says of what it reads that no sample shows it.
    fn read_unseen(&self) {
        let Some(written) = self.get(UNSEEN.name) else { return };
        if *written.value == Value::Bool(true) {
            self.context.unseen.borrow_mut().insert(self.at.pointer().to_owned());
        } else {
            let found = match written.value {
                Value::Bool(_) => "false; what is not unseen says nothing".to_owned(),
                other => kind(other).to_owned(),
            };
            let code =
                if written.value.is_boolean() { codes::INVALID_VALUE } else { codes::WRONG_TYPE };
            written.note(code, "true", found);
        }
    }

    /// The path that holds where a field is left out.
    pub(crate) fn default_path(&self, name: &str) -> Vec<String> {
        self.table.field(name).and_then(Field::default_path).unwrap_or_default()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// The first field that is there of those of which an object of this kind has one.
    pub(crate) fn alternative(&self) -> Option<LocatedValue<'a>> {
        let alternatives = self.table.rules.iter().find_map(|rule| match rule {
            FieldRule::OneOf(alternatives) => Some(*alternatives),
            _ => None,
        });
        alternatives?.iter().find_map(|it| self.get(it.name))
    }

    /// Notes the fields that are unknown, those that are missing, each by code point, and then what breaks a rule.
    fn check(&self) {
        let is_unknown = |name: &&String| self.table.field(name).is_none();
        let mut unknown: Vec<&String> = self.fields.keys().filter(is_unknown).collect();
        unknown.sort_unstable();
        let known = self.table.fields.iter().map(|field| field.name);
        for name in unknown {
            let at = self.at.field(name);
            self.context.add(PlanParseError::unknown_field(&at, name, known.clone()));
        }
        let required = self.table.fields.iter().filter(|field| field.is_required);
        let mut missing: Vec<&str> = required.map(|field| field.name).collect();
        missing.extend(self.table.rules.iter().flat_map(|rule| self.missing_by(rule)));
        missing.retain(|name| !self.has(name));
        missing.sort_unstable();
        for name in missing {
            let observed = "no such field; it has no default";
            self.note(codes::MISSING_REQUIRED_FIELD, name, "a value", observed);
        }
        for rule in self.table.rules {
            self.check_rule(rule);
        }
    }

    fn note(&self, code: Code, field: &str, expected: &str, observed: &str) {
        let at = self.at.field(field);
        self.context.note(code, &at, expected.to_owned(), observed.to_owned());
    }

    /// What a rule makes a required field.
    fn missing_by(&self, rule: &FieldRule) -> &'static [&'static str] {
        match rule {
            FieldRule::OneOf(alternatives) => {
                let is_there = |it: &&Alternative| self.has(it.name);
                if alternatives.iter().filter(is_there).any(|it| it.with.is_none()) {
                    return &[];
                }
                match alternatives.iter().find(is_there).or(alternatives.first()) {
                    Some(Alternative { with: Some(with), .. }) if !self.has(with) => from_ref(with),
                    Some(Alternative { name, .. }) => from_ref(name),
                    None => &[],
                }
            }
            FieldRule::Forms { long, required, .. } if !self.has(long) => required,
            _ => &[],
        }
    }

    fn check_rule(&self, rule: &FieldRule) {
        match rule {
            FieldRule::OneOf(alternatives) => {
                let mut there = alternatives.iter().filter(|it| self.has(it.name));
                let Some(first) = there.next() else { return };
                there.for_each(|other| self.exclusive(first.name, other.name));
                if first.with.is_none()
                    && let Some(with) = alternatives.iter().find_map(|it| it.with)
                {
                    self.exclusive(first.name, with);
                }
            }
            FieldRule::Beside(name, others) => {
                let is_known = self.table.field(name).is_some();
                if is_known && self.has(name) && !others.iter().any(|other| self.has(other)) {
                    let expected = format!("{} beside {name}", others.join(" or "));
                    self.note(codes::UNUSED_FIELD, name, &expected, "none");
                }
            }
            FieldRule::Excludes(name, other) => self.exclusive(name, other),
            FieldRule::Forms { long, short, .. } => {
                short.iter().for_each(|other| self.exclusive(long, other));
            }
            // Which paths may be empty depends on where they start as well, and is said where they are read.
            FieldRule::NotEmptyOutside { .. } => {}
        }
    }

    /// Notes a field beside another one that excludes it.
    pub(crate) fn exclusive(&self, name: &str, other: &str) {
        if self.has(name) && self.has(other) {
            let expected = format!("either {name} or {other}");
            self.note(codes::CONFLICTING_FIELDS, other, &expected, "both");
        }
    }
}
