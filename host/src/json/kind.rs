//! The kinds of JSON values, integers distinguished from other numbers.

use serde::Serialize;
use serde_json::Value;

/// What kind of JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number that an `int64` holds, written without fraction or exponent.
    Integer,
    /// Any other number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonKind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Null,
        Self::Boolean,
        Self::Integer,
        Self::Number,
        Self::String,
        Self::Array,
        Self::Object,
    ];

    /// The kind of a value.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_i64() => Self::Integer,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// Whether values of this kind are strings, numbers or booleans.
    #[must_use]
    pub fn is_scalar(self) -> bool {
        !matches!(self, Self::Null | Self::Array | Self::Object)
    }

    /// Its name: `null`, `boolean`, `integer`, `number`, `string`, `array`, `object`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

impl std::fmt::Display for JsonKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonKinds(u8);

impl JsonKinds {
    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether it holds this one.
    #[must_use]
    pub fn contains(self, kind: JsonKind) -> bool {
        self.0 & Self::bit(kind) != 0
    }

    /// What either holds.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Adds a kind.
    pub fn insert(&mut self, kind: JsonKind) {
        self.0 |= Self::bit(kind);
    }

    /// The kinds in it, in the order of [`JsonKind::ALL`].
    pub fn iter(self) -> impl Iterator<Item = JsonKind> {
        JsonKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }

    fn bit(kind: JsonKind) -> u8 {
        1 << kind as u8
    }
}

impl FromIterator<JsonKind> for JsonKinds {
    fn from_iter<I: IntoIterator<Item = JsonKind>>(kinds: I) -> Self {
        let mut set = Self::default();
        kinds.into_iter().for_each(|kind| set.insert(kind));
        set
    }
}

impl std::fmt::Display for JsonKinds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.iter().map(JsonKind::as_str).collect();
        f.write_str(if names.is_empty() { "anything" } else { "" })?;
        f.write_str(&names.join(" or "))
    }
}
