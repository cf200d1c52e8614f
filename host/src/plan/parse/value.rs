//! Values: where they come from, and the conversions beside them.

use serde_json::Value;

use super::super::error::{Place, PlanParseErrorCode as Code};
use super::fields::VALUE_FIELDS;
use super::for_each::Scope;
use super::reader::{Fields, MAX_ENTRIES, Reader};
use crate::plan::expr::conversion::{ConversionError, ConversionFault};
use crate::plan::expr::{Conversion, Expression, Level, Reference, Source, Template};

/// The ways to write a value, of which an object has one.
pub(super) const SOURCES: &[&str] = &["source_path", "constant", "template", "coalesce"];

/// Levels that values nest at most: one is inside of no `coalesce`.
const MAX_DEPTH: usize = 8;

impl Reader {
    /// The value that an object with one of [`SOURCES`] says. Its field names were read.
    pub(super) fn value(&mut self, at: &Place, fields: &Fields, scope: Scope) -> Expression {
        self.value_at_depth(at, fields, scope, 1)
    }

    fn value_at_depth(
        &mut self,
        at: &Place,
        fields: &Fields,
        scope: Scope,
        depth: usize,
    ) -> Expression {
        self.exclusive(at, fields, SOURCES);
        self.only_beside(at, fields, "from", &["source_path"]);
        let source = if fields.contains_key("source_path") {
            self.reference(at, fields, scope).map(Source::Path)
        } else if let Some(value) = fields.get("constant") {
            Some(Source::Constant(self.constant(&at.field("constant"), value)))
        } else if let Some(value) = fields.get("template") {
            let template = self.template(&at.field("template"), value, scope.innermost());
            template.map(Source::Template)
        } else {
            let coalesce = fields.get("coalesce");
            coalesce.map(|value| self.coalesce(&at.field("coalesce"), value, scope, depth))
        };
        let convert = fields.get("convert");
        let convert = convert.map(|value| self.conversions(&at.field("convert"), value));
        Expression {
            source: source.unwrap_or_else(|| Source::Path(Reference::event(&[]))),
            convert: convert.unwrap_or_default(),
        }
    }

    /// A string, a number or a boolean.
    pub(super) fn constant(&mut self, at: &Place, value: &Value) -> Value {
        if matches!(value, Value::Null | Value::Array(_) | Value::Object(_)) {
            self.wrong_type(at, "a string, a number or a boolean", value);
            return Value::Null;
        }
        value.clone()
    }

    pub(super) fn template(
        &mut self,
        at: &Place,
        value: &Value,
        innermost: Level,
    ) -> Option<Template> {
        let text = self.text(at, value);
        match Template::parse(&text, innermost) {
            Ok(template) => Some(template),
            Err(error) => {
                self.note(Code::InvalidTemplate, at, error.to_string());
                None
            }
        }
    }

    fn coalesce(&mut self, at: &Place, value: &Value, scope: Scope, depth: usize) -> Source {
        if depth >= MAX_DEPTH {
            let message = format!("expected at most {MAX_DEPTH} levels of values, found more");
            self.note(Code::TooDeep, at, message);
            return Source::Coalesce(Vec::new());
        }
        let items = self.items(at, value, "an array of objects", (2, MAX_ENTRIES));
        let mut values = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let here = at.item(index);
            let Some(fields) = self.any_object(&here, item) else { continue };
            self.field_names(&here, fields, VALUE_FIELDS, missing_source(fields));
            values.push(self.value_at_depth(&here, fields, scope.nested(), depth + 1));
        }
        Source::Coalesce(values)
    }

    fn conversions(&mut self, at: &Place, value: &Value) -> Vec<Conversion> {
        let wanted = "an array of conversions";
        let mut steps = Vec::new();
        for (index, step) in self.items(at, value, wanted, (1, MAX_ENTRIES)).iter().enumerate() {
            // One pattern too many is told of, and those behind it aren't compiled.
            if self.patterns.is_spent() && step.get("regex").is_some() {
                continue;
            }
            match Conversion::from_json_within(step, &mut self.patterns) {
                Ok(step) => steps.push(step),
                Err(error) => {
                    let place = at.item(index).inside(&error.at);
                    self.note(code(&error), &place, error.message);
                }
            }
        }
        steps
    }
}

/// What an object lacks that has to have one of [`SOURCES`]: a path is what is meant most often.
pub(super) fn missing_source(fields: &Fields) -> &'static [&'static str] {
    let has_source = SOURCES.iter().any(|source| fields.contains_key(*source));
    if has_source { &[] } else { &["source_path"] }
}

fn code(error: &ConversionError) -> Code {
    match error.fault {
        // A group that the pattern doesn't have: which there are, only the compiled pattern says.
        ConversionFault::Value if error.at == ".regex.group" => Code::InvalidPattern,
        ConversionFault::Type => Code::WrongType,
        ConversionFault::Value => Code::InvalidValue,
        ConversionFault::UnknownField => Code::UnknownField,
        ConversionFault::MissingField => Code::MissingRequiredField,
        ConversionFault::Empty => Code::EmptyString,
        ConversionFault::Pattern => Code::InvalidPattern,
        ConversionFault::PatternSize => Code::PatternTooLarge,
    }
}
