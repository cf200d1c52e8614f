//! The JSON of an input, read. Strict: unknown keys, missing keys and values of another type are rejected.

use std::fmt;

use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::strict::Strict;
use super::{Input, Rows, What};
use crate::plan::PlanParseError;
use crate::plan::expr::Iteration;
use crate::plan::expr::conversion::PatternBudget;
use crate::plan::language::{
    Dialect, LocatedObject, LocatedValue, PathScope, PlanPlace, ReadContext, section,
};

/// Reads the inputs of a section. Their patterns share one budget, or a section of a few kilobytes would take minutes to
/// read.
pub(in crate::abi) fn inputs<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Input>, D::Error> {
    deserializer.deserialize_seq(InputsVisitor)
}

struct InputsVisitor;

impl<'de> Visitor<'de> for InputsVisitor {
    type Value = Vec<Input>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of inputs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<Input>, A::Error> {
        let context = ReadContext::new(Dialect::Section, PatternBudget::of_section());
        let list = PlanPlace::default().field("inputs");
        let mut inputs = Vec::new();
        while let Some(input) = elements
            .next_element_seed(OneInput { at: list.item(inputs.len()), context: &context })?
        {
            inputs.push(input);
        }
        Ok(inputs)
    }
}

/// One input of a section.
struct OneInput<'c> {
    at: PlanPlace,
    context: &'c ReadContext,
}

impl<'de> DeserializeSeed<'de> for OneInput<'_> {
    type Value = Input;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Input, D::Error> {
        let Strict(value) = Strict::deserialize(deserializer)?;
        let written = LocatedValue::root(&value, self.at, self.context);
        let input = written.object(&section::INPUT).and_then(|object| input(&object));
        whole(input, self.context)
    }
}

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Strict(value) = Strict::deserialize(deserializer)?;
        let context = ReadContext::new(Dialect::Section, PatternBudget::of_section());
        let written = LocatedValue::root(&value, PlanPlace::default().field("rows"), &context);
        let rows = written.object(&section::ROWS).map(|object| rows(&object));
        whole(rows, &context)
    }
}

/// What was read, where nothing is wrong with it. The reader of the section escapes and bounds what is.
fn whole<T, E: Error>(read: Option<T>, context: &ReadContext) -> Result<T, E> {
    match (context.take_first(), read) {
        (None, Some(read)) => Ok(read),
        (Some(PlanParseError { path, message, .. }), _) => {
            Err(E::custom(format_args!("{path}: {message}")))
        }
        (None, None) => Err(E::custom("expected an input")),
    }
}

/// `None` where what is wrong was noted.
fn input(object: &LocatedObject<'_>) -> Option<Input> {
    let written = object.alternative()?;
    let is_truthy = object.get("as").is_some_and(|it| it.value == "truthy");
    let what = match written.name() {
        "when" => What::When(written.condition(PathScope::UNREAD)?),
        "path" if is_truthy => {
            object.exclusive("as", "on_error");
            What::Truthy(object.reference(PathScope::UNREAD)?)
        }
        _ => What::Value(object.expression(PathScope::UNREAD)),
    };
    let on_error = object.get("on_error").and_then(|it| it.word()).unwrap_or_default();
    Some(Input { what, rows: place(object, "rows"), only_if: place(object, "if"), on_error })
}

fn rows(object: &LocatedObject<'_>) -> Rows {
    let (over, path) = object.over();
    Rows {
        iteration: Iteration { over, path: path.map(|path| path.segments()).unwrap_or_default() },
        within: place(object, "within"),
        only_if: place(object, "if"),
    }
}

/// A place in a list of the section.
fn place(object: &LocatedObject<'_>, name: &str) -> Option<usize> {
    let written = object.get(name)?;
    let place = written.value.as_u64().and_then(|place| usize::try_from(place).ok());
    if place.is_none() {
        written.wrong_type("a place in a list, counted from 0");
    }
    place
}
