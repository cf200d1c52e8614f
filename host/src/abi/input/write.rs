//! The JSON of an input, written: every key in the order of docs/abi.md, what is at its default left out.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Input, Rows, What};
use crate::plan::expr::{Condition, Expression, Over, Piece, Reference, Source, Template, Test};

impl Serialize for Input {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.what {
            What::Value(value) => {
                source(&mut map, &value.source)?;
                if !value.convert.is_empty() {
                    map.serialize_entry("as", &value.convert)?;
                } else if matches!(value.source, Source::Path(_)) {
                    map.serialize_entry("as", "json")?;
                }
            }
            What::Truthy(reference) => {
                path(&mut map, reference)?;
                map.serialize_entry("as", "truthy")?;
            }
            What::When(condition) => map.serialize_entry("when", &Tested(condition))?,
        }
        optional(&mut map, "rows", self.rows)?;
        optional(&mut map, "if", self.only_if)?;
        if !self.on_error.is_omit() {
            map.serialize_entry("on_error", &self.on_error)?;
        }
        map.end()
    }
}

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let over = match self.iteration.over {
            Over::Array => "array",
            Over::Entries => "entries",
        };
        map.serialize_entry(over, &self.iteration.path)?;
        optional(&mut map, "within", self.within)?;
        optional(&mut map, "if", self.only_if)?;
        map.end()
    }
}

fn optional<M: SerializeMap>(map: &mut M, key: &str, value: Option<usize>) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(key, &value))
}

fn path<M: SerializeMap>(map: &mut M, reference: &Reference) -> Result<(), M::Error> {
    map.serialize_entry("path", &reference.path)?;
    if !reference.level.is_event() {
        map.serialize_entry("level", &reference.level)?;
    }
    Ok(())
}

fn source<M: SerializeMap>(map: &mut M, source: &Source) -> Result<(), M::Error> {
    match source {
        Source::Path(reference) => path(map, reference),
        Source::Constant(constant) => map.serialize_entry("constant", constant),
        Source::Template(template) => map.serialize_entry("template", &Pieces(template)),
        Source::Coalesce(values) => {
            let values: Vec<Alternative<'_>> = values.iter().map(Alternative).collect();
            map.serialize_entry("coalesce", &values)
        }
    }
}

/// One value of a `coalesce`. Values nest as deep as a section lets them.
struct Alternative<'a>(&'a Expression);

impl Serialize for Alternative<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        source(&mut map, &self.0.source)?;
        if !self.0.convert.is_empty() {
            map.serialize_entry("as", &self.0.convert)?;
        }
        map.end()
    }
}

/// The pieces of a template.
struct Pieces<'a>(&'a Template);

impl Serialize for Pieces<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.pieces().iter().map(Part))
    }
}

struct Part<'a>(&'a Piece);

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Piece::Text(text) => serializer.serialize_str(text),
            Piece::Value(reference) => reference.serialize(serializer),
        }
    }
}

fn all(conditions: &[Condition]) -> Vec<Tested<'_>> {
    conditions.iter().map(Tested).collect()
}

/// A condition. Conditions nest as deep as a section lets them.
struct Tested<'a>(&'a Condition);

impl Serialize for Tested<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.0 {
            Condition::All(conditions) => map.serialize_entry("all", &all(conditions))?,
            Condition::Any(conditions) => map.serialize_entry("any", &all(conditions))?,
            Condition::Not(condition) => map.serialize_entry("not", &Tested(condition))?,
            Condition::Test(reference, test) => {
                path(&mut map, reference)?;
                match test {
                    Test::Exists => map.serialize_entry("exists", &true)?,
                    Test::Truthy => map.serialize_entry("truthy", &true)?,
                    Test::Equals(value) => map.serialize_entry("equals", value)?,
                    Test::OneOf(values) => map.serialize_entry("one_of", values)?,
                    Test::StartsWith(prefix) => map.serialize_entry("starts_with", prefix)?,
                    Test::IsType(json_type) => map.serialize_entry("is_type", json_type)?,
                }
            }
        }
        map.end()
    }
}
