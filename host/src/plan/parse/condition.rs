//! Conditions.

use serde_json::Value;

use super::super::error::{Place, PlanParseErrorCode as Code, kind};
use super::fields::CONDITION_FIELDS;
use super::for_each::Scope;
use super::reader::{Fields, MAX_ENTRIES, Reader, expected};
use crate::plan::expr::{Condition, JsonType, Reference, Test};

/// The tests of what is at a path.
const TESTS: &[&str] = &["exists", "truthy", "equals", "one_of", "starts_with", "is_type"];

/// What combines conditions.
const COMBINATIONS: &[&str] = &["all", "any", "not"];

const TYPES: [(&str, JsonType); 6] = [
    ("string", JsonType::String),
    ("number", JsonType::Number),
    ("boolean", JsonType::Boolean),
    ("object", JsonType::Object),
    ("array", JsonType::Array),
    ("null", JsonType::Null),
];

impl Reader {
    /// The condition in one field of an object, where there is one.
    pub(super) fn condition(
        &mut self,
        at: &Place,
        fields: &Fields,
        name: &str,
        scope: Scope,
    ) -> Option<Condition> {
        let value = fields.get(name)?;
        self.condition_at_depth(&at.field(name), value, scope.nested(), 1)
    }

    /// `None` where it can't be read.
    fn condition_at_depth(
        &mut self,
        at: &Place,
        value: &Value,
        scope: Scope,
        depth: usize,
    ) -> Option<Condition> {
        if depth > Condition::MAX_DEPTH {
            let most = Condition::MAX_DEPTH;
            let message = format!("expected at most {most} levels of conditions, found more");
            self.note(Code::TooDeep, at, message);
            return None;
        }
        let fields = self.any_object(at, value)?;
        self.field_names(at, fields, CONDITION_FIELDS, missing(fields));
        let mut kinds = TESTS.iter().chain(COMBINATIONS).filter(|it| fields.contains_key(**it));
        let first = *kinds.next()?;
        self.exclusive(at, fields, &[TESTS, COMBINATIONS].concat());
        self.only_beside(at, fields, "from", &["source_path"]);
        let place = at.field(first);
        let value = fields.get(first)?;
        if COMBINATIONS.contains(&first) {
            self.exclusive(at, fields, &[first, "source_path"]);
            return match first {
                "all" => Some(Condition::All(self.conditions(&place, value, scope, depth))),
                "any" => Some(Condition::Any(self.conditions(&place, value, scope, depth))),
                _ => {
                    let inner = self.condition_at_depth(&place, value, scope, depth + 1)?;
                    Some(Condition::Not(Box::new(inner)))
                }
            };
        }
        let reference = self.reference(at, fields, scope);
        let test = self.test(&place, first, value)?;
        Some(Condition::Test(reference.unwrap_or_else(|| Reference::event(&[])), test))
    }

    fn conditions(
        &mut self,
        at: &Place,
        value: &Value,
        scope: Scope,
        depth: usize,
    ) -> Vec<Condition> {
        let items = self.items(at, value, "an array of conditions", (1, MAX_ENTRIES)).iter();
        let items = items.enumerate();
        items
            .filter_map(|(index, item)| {
                self.condition_at_depth(&at.item(index), item, scope, depth + 1)
            })
            .collect()
    }

    fn test(&mut self, at: &Place, name: &str, value: &Value) -> Option<Test> {
        match name {
            "exists" => self.holds(at, name, value).then_some(Test::Exists),
            "truthy" => self.holds(at, name, value).then_some(Test::Truthy),
            "equals" => Some(Test::Equals(self.constant(at, value))),
            "one_of" => {
                let wanted = "an array of strings, numbers and booleans";
                let items = self.items(at, value, wanted, (1, MAX_ENTRIES)).iter().enumerate();
                let read = items.map(|(index, item)| self.constant(&at.item(index), item));
                Some(Test::OneOf(read.collect()))
            }
            "starts_with" => Some(Test::StartsWith(self.text(at, value))),
            _ => self.choice(at, value, &TYPES).map(Test::IsType),
        }
    }

    /// Notes everything but `true`, which is all that some tests take.
    fn holds(&mut self, at: &Place, name: &str, value: &Value) -> bool {
        match value {
            Value::Bool(true) => return true,
            Value::Bool(false) => {
                let opposite = format!("the opposite is {{\"not\": {{..., \"{name}\": true}}}}");
                let message = expected("true", &format!("false; {opposite}"));
                self.note(Code::InvalidValue, at, message);
            }
            other => self.note(Code::WrongType, at, expected("true", kind(other))),
        }
        false
    }
}

/// What a condition lacks that is neither a test of a path nor a combination.
fn missing(fields: &Fields) -> &'static [&'static str] {
    let has = |names: &[&str]| names.iter().any(|name| fields.contains_key(*name));
    if has(COMBINATIONS) {
        return &[];
    }
    match (fields.contains_key("source_path"), has(TESTS)) {
        (true, true) => &[],
        (true, false) => &["exists"],
        (false, _) => &["source_path"],
    }
}
