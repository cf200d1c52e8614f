//! What values and conditions come to for an event, as the host evaluates them.

mod condition;
mod in_text;
mod lookup;
#[cfg(test)]
mod tests;

pub(crate) use condition::{CompiledCondition, CompiledTest, is_truthy};
pub(crate) use lookup::{Found, Lookup};

use std::borrow::Cow;

use super::conversion::data::StepOutcome;
use super::conversion::{Chain, Data, Json, MAX_TEXT_BYTES};
use super::fuel::{self, OutOfFuel};
use super::query::{CompiledQuery, Stop};
use super::{Empty, Expression, JsonType, Piece, Reference, Source};
use crate::json::string;
use in_text::InText;

/// What a value comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evaluated {
    /// There is none.
    Absent,
    /// It is there, and of this type. It is [`JsonType::Null`] where a path leads to null, whatever conversions there are:
    /// whether that counts as absent is for the plan to say.
    Value(JsonType),
    /// A conversion doesn't take what it was given.
    Failed,
}

/// A value whose references are numbers, made ready to be evaluated for event after event.
#[derive(Clone, Debug)]
pub(crate) struct CompiledValue {
    from: CompiledSource,
    chain: Chain,
    /// The same of what is at a path where `parse_json` is the first step.
    in_text: Option<Box<InText>>,
}

// Which one it is has a byte of its own: in what a field leaves unused, it takes ten instructions to find out.
#[repr(u8)]
#[derive(Clone, Debug)]
enum CompiledSource {
    Path(usize),
    /// Canonical JSON.
    Constant(String),
    Template(Vec<CompiledPart>),
    Coalesce(Vec<CompiledValue>),
    Query(CompiledQuery),
}

#[derive(Clone, Debug)]
enum CompiledPart {
    /// Text as it appears in a canonical string, and the bytes that it has when it doesn't.
    Text(Vec<u8>, usize),
    Value(usize),
}

impl CompiledValue {
    /// Makes a value ready. `resolve` gives each reference the number under which it is looked up; it is called once for
    /// each time that one is written, in that order.
    #[must_use]
    pub(crate) fn new(
        expression: &Expression,
        resolve: &mut dyn FnMut(&Reference) -> usize,
    ) -> Self {
        let from = match &expression.source {
            Source::Path(reference) => CompiledSource::Path(resolve(reference)),
            Source::Constant(value) => CompiledSource::Constant(value.to_string()),
            Source::Template(template) => {
                let part = |piece: &Piece| match piece {
                    Piece::Value(reference) => CompiledPart::Value(resolve(reference)),
                    Piece::Text(text) => {
                        let mut inside = Vec::new();
                        string::push_inside(&mut inside, text);
                        CompiledPart::Text(inside, text.len())
                    }
                };
                CompiledSource::Template(template.pieces().iter().map(part).collect())
            }
            Source::Coalesce(values) => CompiledSource::Coalesce(
                values.iter().map(|value| Self::new(value, resolve)).collect(),
            ),
            Source::Query(query) => CompiledSource::Query(CompiledQuery::new(query, resolve)),
        };
        let in_text = match from {
            CompiledSource::Path(_) => InText::of(&expression.convert).map(Box::new),
            _ => None,
        };
        Self { from, chain: Chain::new(&expression.convert), in_text }
    }

    /// Hands out the expressions in it.
    pub(crate) fn each_query(&mut self, each: &mut dyn FnMut(&mut CompiledQuery)) {
        match &mut self.from {
            CompiledSource::Query(query) => each(query),
            CompiledSource::Coalesce(values) => {
                values.iter_mut().for_each(|value| value.each_query(each));
            }
            CompiledSource::Path(_) | CompiledSource::Constant(_) | CompiledSource::Template(_) => {
            }
        }
    }

    /// Evaluates the value. Where it is there its JSON is appended to `out`: a string in canonical form, everything else as
    /// the event has it; otherwise `out` stays as it is. `fuel` is what is left, and goes down by what this
    /// [costs](fuel::COSTS).
    ///
    /// # Errors
    /// [`OutOfFuel`], as soon as something costs more than is left; `out` stays as it is.
    pub(crate) fn evaluate(
        &self,
        event: &impl Lookup,
        out: &mut Vec<u8>,
        fuel: &mut u64,
    ) -> Result<Evaluated, OutOfFuel> {
        let start = out.len();
        let evaluated = self.append(event, out, fuel);
        if !matches!(evaluated, Ok(Evaluated::Value(_))) {
            out.truncate(start);
        }
        evaluated
    }

    /// Leaves in `out` whatever it likes where the value isn't there. Values nest as deep as they were written. Each kind of source has
    /// functions of its own, which aren't inlined: none saves registers on the stack that only another one needs.
    fn append(
        &self,
        event: &impl Lookup,
        out: &mut Vec<u8>,
        fuel: &mut u64,
    ) -> Result<Evaluated, OutOfFuel> {
        match &self.from {
            CompiledSource::Path(index) => self.at_path(*index, event, out, fuel),
            CompiledSource::Constant(json) => {
                fuel::spend(fuel, fuel::VALUE.of(json.len()))?;
                self.convert(json.as_str().into(), false, out, fuel)
            }
            CompiledSource::Template(parts) if self.chain.is_empty() => {
                template(parts, event, out, fuel)
            }
            CompiledSource::Template(parts) => self.then_convert(out, fuel, |out, fuel| {
                Ok((template(parts, event, out, fuel)?, self.withholds_nested(event)))
            }),
            CompiledSource::Coalesce(values) if self.chain.is_empty() => {
                first(values, event, out, fuel).map(|(evaluated, _)| evaluated)
            }
            CompiledSource::Coalesce(values) => self.then_convert(out, fuel, |out, fuel| {
                let (evaluated, value) = first(values, event, out, fuel)?;
                Ok((evaluated, value.is_some_and(|value| value.withholds_nested(event))))
            }),
            CompiledSource::Query(query) if self.chain.is_empty() => {
                of_query(query, event, out, fuel)
            }
            CompiledSource::Query(query) => self.then_convert(out, fuel, |out, fuel| {
                Ok((of_query(query, event, out, fuel)?, self.withholds_nested(event)))
            }),
        }
    }

    /// Appends what the conversions make of what is at a path.
    #[inline(never)]
    fn at_path(
        &self,
        index: usize,
        event: &impl Lookup,
        out: &mut Vec<u8>,
        fuel: &mut u64,
    ) -> Result<Evaluated, OutOfFuel> {
        let Some(json) = event.json(index) else { return Ok(Evaluated::Absent) };
        fuel::spend(fuel, fuel::VALUE.of(json.text.len()))?;
        if json.text == "null" {
            out.extend_from_slice(json.text.as_bytes());
            return Ok(Evaluated::Value(JsonType::Null));
        }
        let withholds_nested = event.withholds_nested(index);
        if let Some(in_text) = &self.in_text
            && let Some(evaluated) = in_text.evaluate(event, index, withholds_nested, out, fuel)?
        {
            return Ok(evaluated);
        }
        self.convert(json, withholds_nested, out, fuel)
    }

    /// Whether something that it is made of may give no object and no array.
    fn withholds_nested(&self, event: &impl Lookup) -> bool {
        match &self.from {
            CompiledSource::Path(index) => event.withholds_nested(*index),
            CompiledSource::Constant(_) => false,
            CompiledSource::Template(parts) => parts.iter().any(|part| match part {
                CompiledPart::Value(index) => event.withholds_nested(*index),
                CompiledPart::Text(..) => false,
            }),
            CompiledSource::Coalesce(values) => {
                values.iter().any(|value| value.withholds_nested(event))
            }
            CompiledSource::Query(query) => query.withholds_nested(event),
        }
    }

    /// Appends what the conversions make of what `source` appends. `source` tells as well whether they may make no object and no
    /// array.
    #[inline(never)]
    fn then_convert(
        &self,
        out: &mut Vec<u8>,
        fuel: &mut u64,
        source: impl FnOnce(&mut Vec<u8>, &mut u64) -> Result<(Evaluated, bool), OutOfFuel>,
    ) -> Result<Evaluated, OutOfFuel> {
        let mut json = Vec::new();
        match source(&mut json, fuel)? {
            (Evaluated::Value(_), withholds_nested) => {
                fuel::spend(fuel, fuel::VALUE.of(json.len()))?;
                let Ok(json) = simdutf8::basic::from_utf8(&json) else {
                    return Ok(Evaluated::Failed);
                };
                self.convert(json.into(), withholds_nested, out, fuel)
            }
            (other, _) => Ok(other),
        }
    }

    /// Appends what the conversions make of a value.
    #[inline(never)]
    fn convert(
        &self,
        json: Json<'_>,
        withholds_nested: bool,
        out: &mut Vec<u8>,
        fuel: &mut u64,
    ) -> Result<Evaluated, OutOfFuel> {
        if let Some((json, kind)) = self.chain.kept(json, fuel)? {
            out.extend_from_slice(json.as_bytes());
            return Ok(Evaluated::Value(kind));
        }
        let outcome = self.chain.run(StepOutcome::read_from(json), fuel)?;
        Ok(appended(outcome, withholds_nested, out))
    }
}

/// Appends what conversions have made of JSON.
fn appended(outcome: StepOutcome<'_>, withholds_nested: bool, out: &mut Vec<u8>) -> Evaluated {
    match outcome {
        StepOutcome::There(data)
            if withholds_nested
                && matches!(data.json_type(), JsonType::Object | JsonType::Array) =>
        {
            Evaluated::Absent
        }
        // What is borrowed is a part of a string without escapes, and needs none.
        StepOutcome::There(Data::String(Cow::Borrowed(text))) => {
            string::push_plain(out, text);
            Evaluated::Value(JsonType::String)
        }
        StepOutcome::There(data) => {
            data.write(out);
            Evaluated::Value(data.json_type())
        }
        StepOutcome::Absent => Evaluated::Absent,
        StepOutcome::Failed => Evaluated::Failed,
    }
}

/// A string of these parts.
#[inline(never)]
fn template(
    parts: &[CompiledPart],
    event: &impl Lookup,
    out: &mut Vec<u8>,
    fuel: &mut u64,
) -> Result<Evaluated, OutOfFuel> {
    let mut bytes = 0;
    out.push(b'"');
    for part in parts {
        bytes += match part {
            CompiledPart::Text(inside, length) => {
                fuel::spend(fuel, fuel::VALUE.of(inside.len()))?;
                out.extend_from_slice(inside);
                *length
            }
            CompiledPart::Value(index) => {
                let Some(json) = event.json(*index) else { return Ok(Evaluated::Absent) };
                fuel::spend(fuel, fuel::VALUE.of(json.text.len()))?;
                match JsonType::of(json.text.as_bytes()) {
                    JsonType::Number | JsonType::Boolean => {
                        out.extend_from_slice(json.text.as_bytes());
                        json.text.len()
                    }
                    JsonType::String => match push_text(out, json) {
                        Some(length) => length,
                        None => return Ok(Evaluated::Failed),
                    },
                    JsonType::Null | JsonType::Array | JsonType::Object => {
                        return Ok(Evaluated::Absent);
                    }
                }
            }
        };
        if bytes > MAX_TEXT_BYTES {
            return Ok(Evaluated::Failed);
        }
    }
    out.push(b'"');
    Ok(Evaluated::Value(JsonType::String))
}

/// Appends what is in a string, in canonical form; gives the bytes of its text.
fn push_text(out: &mut Vec<u8>, json: Json<'_>) -> Option<usize> {
    let inside = string::inside(json.text.as_bytes())?;
    if !json.may_escape || memchr::memchr(b'\\', inside).is_none() {
        // What isn't escaped in valid JSON needn't be.
        out.extend_from_slice(inside);
        return Some(inside.len());
    }
    let text = string::unescape(simdutf8::basic::from_utf8(inside).ok()?)?;
    string::push_inside(out, &text);
    Some(text.len())
}

/// What an expression gives; null is nothing, and an empty string where the plan says so.
#[inline(never)]
fn of_query(
    query: &CompiledQuery,
    event: &impl Lookup,
    out: &mut Vec<u8>,
    fuel: &mut u64,
) -> Result<Evaluated, OutOfFuel> {
    let start = out.len();
    match query.run(event, out, fuel) {
        Ok(JsonType::Null) => Ok(Evaluated::Absent),
        Ok(JsonType::String) if out.len() - start == 2 && event.empty() == Empty::Absent => {
            Ok(Evaluated::Absent)
        }
        Ok(json_type) => Ok(Evaluated::Value(json_type)),
        Err(Stop::Failed(_)) => Ok(Evaluated::Failed),
        Err(Stop::OutOfFuel(spent)) => Err(spent),
    }
}

/// The first of these that is there, and which one it is.
#[inline(never)]
fn first<'v>(
    values: &'v [CompiledValue],
    event: &impl Lookup,
    out: &mut Vec<u8>,
    fuel: &mut u64,
) -> Result<(Evaluated, Option<&'v CompiledValue>), OutOfFuel> {
    let start = out.len();
    let mut otherwise = Evaluated::Absent;
    for value in values {
        // Most of several are absent.
        if let CompiledSource::Path(index) = value.from
            && !event.is_there(index)
        {
            continue;
        }
        match value.append(event, out, fuel)? {
            Evaluated::Value(JsonType::Null) | Evaluated::Absent => {}
            found @ Evaluated::Value(_) => return Ok((found, Some(value))),
            Evaluated::Failed => otherwise = Evaluated::Failed,
        }
        out.truncate(start);
    }
    Ok((otherwise, None))
}
