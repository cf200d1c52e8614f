//! Values and conditions, read: those of plans, with all that is wrong with them, and those of a module's section.

use serde_json::Value;

use super::dialect::Dialect;
use super::located::{LocatedObject, LocatedValue};
use super::scope::{PathScope, start_level};
use super::section;
use crate::diagnostics::codes;
use crate::plan::expr::{
    Condition, Conversion, Expression, FIRST_OF, JsonType, Level, Listed, Over, Piece, Query,
    Reference, Source, Template, Test,
};

/// Levels that the values of a plan nest at most: one is inside of no `coalesce`.
const MAX_VALUE_DEPTH: usize = 8;

impl LocatedObject<'_> {
    /// The value that an object says which has a source.
    pub(crate) fn expression(&self, scope: PathScope) -> Expression {
        self.expression_at_depth(scope, 1)
    }

    fn expression_at_depth(&self, scope: PathScope, depth: usize) -> Expression {
        let source = self.alternative().and_then(|written| match written.name() {
            "constant" => Some(Source::Constant(written.constant())),
            "template" => written.template(scope).map(Source::Template),
            "coalesce" => Some(Source::Coalesce(written.coalesce(scope, depth))),
            "expression" => written.query(scope).map(Source::Query),
            _ => self.reference(scope).map(Source::Path),
        });
        let convert = self.get(self.context.dialect.convert());
        Expression {
            source: source.unwrap_or_else(|| Source::Path(Reference::event(&[]))),
            convert: convert.map(|steps| steps.conversions()).unwrap_or_default(),
        }
    }

    /// What an object's path says; `None` where there is no path.
    pub(crate) fn reference(&self, scope: PathScope) -> Option<Reference> {
        let written = self.get(self.context.dialect.path());
        let path = written.as_ref().map(LocatedValue::segments);
        let level = self.level(scope);
        if let Some(written) = written.filter(LocatedValue::is_empty_list)
            && level.is_event()
            && self.context.dialect == Dialect::Plan
        {
            written.empty_path(scope, self.has("from"));
        }
        path.map(|path| Reference { path, level })
    }

    /// Where a path starts, as what is written beside it says.
    pub(crate) fn level(&self, scope: PathScope) -> Level {
        if self.context.dialect == Dialect::Section {
            return self.get("level").map_or(Level::EVENT, |written| written.level());
        }
        let Some(written) = self.get("from") else { return scope.innermost };
        // Where something is wrong that is said; that the path might be empty isn't.
        let Some(word) = written.word::<&str>() else { return Level::DEEPEST };
        start_level(word, scope.innermost).unwrap_or_else(|| {
            let expected = match word {
                "parent2" => "three levels of for_each around a path from parent2",
                "parent3" => "four levels of for_each around a path from parent3",
                _ => "a for_each inside a for_each around a path from the parent",
            };
            written.note(codes::OUTSIDE_FOR_EACH, expected, None);
            Level::DEEPEST
        })
    }

    /// The condition in one field, where there is one that can be read.
    pub(crate) fn condition(&self, name: &str, scope: PathScope) -> Option<Condition> {
        self.get(name)?.condition(scope.nested())
    }

    /// What an object goes over that has one of `array`, `entries`, `first_of` and `expression`; `None` where that can't be read.
    /// An expression stands where `scope` says, and `path` reads a path.
    pub(crate) fn list(
        &self,
        scope: PathScope,
        path: impl Fn(&LocatedValue<'_>) -> Vec<String>,
    ) -> Option<Listed> {
        let written = self.alternative()?;
        Some(match written.name() {
            "expression" => Listed::By(written.query(scope)?),
            FIRST_OF => {
                Listed::At(Over::Array, written.items().map(|written| path(&written)).collect())
            }
            name if name == Over::Entries.field() => {
                Listed::At(Over::Entries, vec![path(&written)])
            }
            _ => Listed::At(Over::Array, vec![path(&written)]),
        })
    }
}

impl LocatedValue<'_> {
    /// A template that is written where paths start at the innermost element.
    pub(crate) fn template(&self, scope: PathScope) -> Option<Template> {
        if self.context.dialect == Dialect::Section {
            return Some(Template::of(self.items().filter_map(|it| it.piece()).collect()));
        }
        match Template::parse(&self.text(), scope.innermost) {
            Ok(template) => Some(template),
            Err(error) => {
                self.note(codes::INVALID_TEMPLATE, error.expected, error.found);
                None
            }
        }
    }

    /// A piece of a template: text, or a path. In a section alone.
    fn piece(&self) -> Option<Piece> {
        match self.value {
            Value::String(text) if text.is_empty() => {
                self.note(codes::EMPTY_STRING, "a string that is not empty", None);
                None
            }
            Value::String(text) => Some(Piece::Text(text.clone())),
            _ => self.object(&section::PIECE)?.reference(PathScope::UNREAD).map(Piece::Value),
        }
    }

    /// What a path starts from, as a number. In a section alone.
    fn level(&self) -> Level {
        let level = self.value.as_u64().and_then(|level| u8::try_from(level).ok()).map(Level);
        level.filter(|level| *level <= Level::DEEPEST).unwrap_or_else(|| {
            self.wrong_type("a whole number from 0 to 4");
            Level::EVENT
        })
    }

    /// An expression that is written where paths start at the innermost element. In a section an object has its text, and the
    /// level that it stands at.
    fn query(&self, scope: PathScope) -> Option<Query> {
        let (text, innermost) = match self.context.dialect {
            Dialect::Plan => (self.text(), scope.innermost),
            Dialect::Section => {
                let object = self.object(&section::QUERY)?;
                let level = object.get("level").map_or(Level::EVENT, |level| level.level());
                (object.get("text")?.text(), level)
            }
        };
        if text.is_empty() {
            return None;
        }
        let mut patterns = self.context.patterns.borrow_mut();
        // One pattern too many is reported, and those after it aren't compiled.
        if patterns.is_spent() {
            return None;
        }
        let zone = self.context.time_zone();
        let read = Query::parse_within(&text, innermost, zone.as_ref(), &mut patterns);
        read.map_err(|error| {
            let expected = format!("at column {}: {}", error.column, error.expected);
            self.context.note(error.code, &self.at, expected, error.found);
        })
        .ok()
    }

    fn coalesce(&self, scope: PathScope, depth: usize) -> Vec<Expression> {
        if !self.context.dialect.allows(depth + 1, MAX_VALUE_DEPTH) {
            let expected = format!("at most {MAX_VALUE_DEPTH} levels of values");
            self.note(codes::TOO_DEEP, expected, "more".to_owned());
            return Vec::new();
        }
        let table = self.context.dialect.value();
        let values = self.items().filter_map(|item| item.object(table));
        values.map(|value| value.expression_at_depth(scope.nested(), depth + 1)).collect()
    }

    fn conversions(&self) -> Vec<Conversion> {
        if self.context.dialect == Dialect::Section && self.value == "json" {
            return Vec::new();
        }
        self.items().filter_map(|step| step.conversion()).collect()
    }

    fn conversion(&self) -> Option<Conversion> {
        let mut patterns = self.context.patterns.borrow_mut();
        // One pattern too many is reported, and those after it aren't compiled.
        if patterns.is_spent() && self.value.get("regex").is_some() {
            return None;
        }
        let read = Conversion::from_json_within(self.value, &mut patterns);
        read.map(|step| self.context.in_zone(step))
            .map_err(|error| {
                let at = self.at.inside(&error.at);
                self.context.note(error.code, &at, error.expected, error.observed);
            })
            .ok()
    }

    fn empty_path(&self, scope: PathScope, is_from_event: bool) {
        let (code, reason) = match (scope.can_iterate, is_from_event) {
            (false, _) => (codes::EMPTY_PATH, "none"),
            (true, true) => (codes::OUTSIDE_FOR_EACH, "none: a path from the event can't be empty"),
            (true, false) => {
                (codes::OUTSIDE_FOR_EACH, "none: only inside a for_each, a path may be the element")
            }
        };
        self.note(code, "at least one segment", reason.to_owned());
    }

    /// A condition; `None` where it can't be read.
    pub(crate) fn condition(&self, scope: PathScope) -> Option<Condition> {
        self.condition_at_depth(scope, 1)
    }

    fn condition_at_depth(&self, scope: PathScope, depth: usize) -> Option<Condition> {
        if !self.context.dialect.allows(depth, Condition::MAX_DEPTH) {
            let expected = format!("at most {} levels of conditions", Condition::MAX_DEPTH);
            self.note(codes::TOO_DEEP, expected, "more".to_owned());
            return None;
        }
        let object = self.object(self.context.dialect.condition())?;
        let written = object.alternative()?;
        let nested = |item: &Self| item.condition_at_depth(scope, depth + 1);
        let all = || written.items().filter_map(|item| nested(&item)).collect();
        match written.name() {
            "all" => Some(Condition::All(all())),
            "any" => Some(Condition::Any(all())),
            "not" => nested(&written).map(|inner| Condition::Not(Box::new(inner))),
            "expression" => written.query(scope).map(Condition::Query),
            _ => {
                let reference = object.reference(scope);
                let test = written.test()?;
                Some(Condition::Test(reference.unwrap_or_else(|| Reference::event(&[])), test))
            }
        }
    }

    fn test(&self) -> Option<Test> {
        match self.name() {
            "exists" => self.holds().then_some(Test::Exists),
            "truthy" => self.holds().then_some(Test::Truthy),
            "equals" => Some(Test::Equals(self.constant())),
            "one_of" => Some(Test::OneOf(self.items().map(|item| item.constant()).collect())),
            "starts_with" => Some(Test::StartsWith(self.text())),
            _ => self.word::<JsonType>().map(Test::IsType),
        }
    }

    /// Notes everything but `true`, which is all that some tests take.
    fn holds(&self) -> bool {
        match self.value {
            Value::Bool(true) => return true,
            Value::Bool(false) => {
                let name = self.name();
                let opposite = format!("the opposite is {{\"not\": {{..., \"{name}\": true}}}}");
                self.note(codes::INVALID_VALUE, "true", format!("false; {opposite}"));
            }
            _ => self.wrong_type("true"),
        }
        false
    }
}
