//! The types that a property can have.

use serde::{Serialize, Serializer};

use crate::json::{JsonKind, JsonKinds};

/// The type of a property's values.
///
/// `double` and `float64` mean the same, and so do `boolean` and `bool`; a spec keeps the
/// spelling that it was read with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PropertyType {
    /// Any JSON string.
    String,
    /// A JSON string that holds base64 (RFC 4648 section 4, with padding).
    Bytes,
    /// A JSON integer from -2^63 to 2^63-1, written without fraction or exponent.
    Int64,
    /// Any JSON number.
    Double,
    /// Any JSON number.
    Float64,
    /// `true` or `false`.
    Boolean,
    /// `true` or `false`.
    Bool,
    /// A JSON string `YYYY-MM-DD` that is a day of the calendar, years 1 to 9999.
    Date,
    /// A JSON string of a date, `T` or a space, `HH:MM:SS`, then optionally a fraction of one
    /// to six digits, then optionally `Z` or an offset `+HH:MM`.
    Timestamp,
    /// A type of a resolved spec that Retort can't check: no value is valid for it.
    Unsupported(String),
}

impl PropertyType {
    /// The type that a resolved spec names in `sdk_type`.
    pub(super) fn from_sdk(name: &str) -> Self {
        match name {
            "string" => Self::String,
            "bytes" => Self::Bytes,
            "int64" => Self::Int64,
            "double" => Self::Double,
            "float64" => Self::Float64,
            "boolean" => Self::Boolean,
            "bool" => Self::Bool,
            "date" => Self::Date,
            "timestamp" => Self::Timestamp,
            other => Self::Unsupported(other.to_owned()),
        }
    }

    /// The type that an ontology names in `type`, if it is one of [`ONTOLOGY_TYPES`].
    pub(super) fn from_ontology(name: &str) -> Option<Self> {
        ONTOLOGY_TYPES.iter().find(|(known, _)| *known == name).map(|(_, kind)| kind.clone())
    }

    /// The kinds of JSON values that may be of the type; empty where none is.
    #[must_use]
    pub fn json_kinds(&self) -> JsonKinds {
        let kinds: &[JsonKind] = match self {
            Self::String | Self::Bytes | Self::Date | Self::Timestamp => &[JsonKind::String],
            Self::Int64 => &[JsonKind::Integer],
            Self::Double | Self::Float64 => &[JsonKind::Integer, JsonKind::Number],
            Self::Boolean | Self::Bool => &[JsonKind::Boolean],
            Self::Unsupported(_) => &[],
        };
        kinds.iter().copied().collect()
    }

    /// Whether some values of another type are of this one as well: a string may hold a date, and a number be an integer.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let (this, other) = (self.canonical(), other.canonical());
        match (this, other) {
            (Self::Int64, Self::Double) | (Self::Double, Self::Int64) => true,
            (Self::String, string) | (string, Self::String) => {
                string.json_kinds() == Self::String.json_kinds()
            }
            (this, other) => this == other,
        }
    }

    /// The type by the first of its names: `float64` is `double`, `bool` is `boolean`.
    #[must_use]
    pub fn canonical(&self) -> &Self {
        match self {
            Self::Float64 => &Self::Double,
            Self::Bool => &Self::Boolean,
            other => other,
        }
    }

    /// The name in a resolved spec.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Int64 => "int64",
            Self::Double => "double",
            Self::Float64 => "float64",
            Self::Boolean => "boolean",
            Self::Bool => "bool",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
            Self::Unsupported(name) => name,
        }
    }
}

/// The types that an ontology may name, each with what its values are checked as. Times of day and JSON have no type of
/// their own here, and are text.
pub(super) const ONTOLOGY_TYPES: [(&str, PropertyType); 14] = [
    ("string", PropertyType::String),
    ("bytes", PropertyType::Bytes),
    ("int64", PropertyType::Int64),
    ("integer", PropertyType::Int64),
    ("double", PropertyType::Double),
    ("float64", PropertyType::Float64),
    ("numeric", PropertyType::Double),
    ("boolean", PropertyType::Boolean),
    ("bool", PropertyType::Bool),
    ("date", PropertyType::Date),
    ("time", PropertyType::String),
    ("datetime", PropertyType::Timestamp),
    ("timestamp", PropertyType::Timestamp),
    ("json", PropertyType::String),
];

impl Serialize for PropertyType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ontology_types_map_to_sdk_types() {
        for (ontology, sdk) in [
            ("string", "string"),
            ("integer", "int64"),
            ("numeric", "double"),
            ("float64", "float64"),
            ("time", "string"),
            ("datetime", "timestamp"),
            ("json", "string"),
        ] {
            let found = PropertyType::from_ontology(ontology);
            assert_eq!(found.as_ref().map(PropertyType::as_str), Some(sdk), "{ontology}");
        }
        for unknown in ["anything", "timestmp", "String", ""] {
            assert_eq!(PropertyType::from_ontology(unknown), None, "{unknown}");
        }
    }

    /// Whoever writes an ontology may name a type as results are checked by it.
    #[test]
    fn every_type_that_is_checked_has_a_name_in_an_ontology() {
        for (_, kind) in ONTOLOGY_TYPES {
            assert_eq!(PropertyType::from_ontology(kind.as_str()), Some(kind.clone()));
            assert_eq!(PropertyType::from_sdk(kind.as_str()), kind);
        }
    }

    #[test]
    fn an_sdk_type_keeps_its_spelling() {
        for name in ["float64", "bool", "double", "boolean", "geography"] {
            assert_eq!(PropertyType::from_sdk(name).as_str(), name);
        }
    }
}
