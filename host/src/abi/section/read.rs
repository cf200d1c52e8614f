//! The section's JSON, read.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::{ABI_VERSION, Input, Rows, Section, SectionError};
use crate::plan::expr::OnDuplicate;

/// Reads a section, whose values are still to be checked.
pub(super) fn section(bytes: &[u8]) -> Result<Section, SectionError> {
    // The version decides what the other keys mean, so it is looked at before them.
    let Object(Version { abi }) = serde_json::from_slice(bytes)?;
    if abi != u64::from(ABI_VERSION) {
        return Err(SectionError::Version { found: abi });
    }
    let Object(raw): Object<Raw> = serde_json::from_slice(bytes)?;
    Ok(Section {
        abi: ABI_VERSION,
        function: raw.function,
        event_types: raw.event_types,
        inputs: raw.inputs,
        rows: raw.rows.into_iter().map(|Object(rows)| rows).collect(),
        on_duplicate: raw.on_duplicate,
    })
}

/// The one key that every version has.
#[derive(Deserialize)]
struct Version {
    abi: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    /// Checked by way of [`Version`]; named here because unknown keys are rejected.
    #[serde(rename = "abi")]
    _abi: u64,
    function: String,
    event_types: Vec<String>,
    #[serde(deserialize_with = "crate::abi::input::inputs")]
    inputs: Vec<Input>,
    #[serde(default)]
    rows: Vec<Object<Rows>>,
    #[serde(default, deserialize_with = "on_duplicate")]
    on_duplicate: Option<OnDuplicate>,
}

// serde_json takes an enum that isn't written as a string for a syntax error, which would blame the JSON.
fn on_duplicate<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<OnDuplicate>, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "last" => Ok(Some(OnDuplicate::Last)),
        "reject" => Ok(Some(OnDuplicate::Reject)),
        found => Err(D::Error::custom(format_args!(
            "on_duplicate: expected last or reject, found `{found}`"
        ))),
    }
}

/// A `T` that was written as a JSON object: serde's derived structs would accept an array as well.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}
