//! What a module declares that it is to be given, and the JSON for it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::expr::{Condition, Expression, Iteration, OnError, Reference, Source};
use crate::untrusted::quoted;

/// One value that the extractor is given. Without `rows` it is one slot, with them one for each row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// What it is.
    pub what: What,
    /// The iteration that there is a value for each row of, by its place in [`Section::rows`].
    pub rows: Option<usize>,
    /// An earlier input, of the same rows or of none, that has to be true; where it isn't, this one is absent and isn't
    /// worked out.
    pub only_if: Option<usize>,
    /// What becomes of the event where a conversion fails.
    pub on_error: OnError,
}

/// What an input is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A value, as JSON.
    Value(Expression),
    /// `true` or `false`: whether the value is truthy. An absent value stays absent.
    Truthy(Reference),
    /// `true` or `false`: whether this holds.
    When(Condition),
}

/// An iteration: rows, one for each element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rows {
    /// What it goes over.
    pub iteration: Iteration,
    /// The iteration outside, by its place in [`Section::rows`]: an earlier one that isn't in another one itself.
    pub within: Option<usize>,
    /// An input without rows that has to be true; where it isn't, there are no rows.
    pub only_if: Option<usize>,
}

impl Input {
    /// What is at a path of the event, as JSON.
    #[must_use]
    pub fn json(path: &[String]) -> Self {
        Self::of(What::Value(Expression::path(Reference::event(path))))
    }

    /// Whether what is at a path of the event is truthy.
    #[must_use]
    pub fn truthy(path: &[String]) -> Self {
        Self::of(What::Truthy(Reference::event(path)))
    }

    /// An input without rows and conditions.
    #[must_use]
    pub fn of(what: What) -> Self {
        Self { what, rows: None, only_if: None, on_error: OnError::Omit }
    }

    /// Every path that it reads.
    #[must_use]
    pub fn references(&self) -> Vec<&Reference> {
        match &self.what {
            What::Value(value) => value.references(),
            What::Truthy(reference) => vec![reference],
            What::When(condition) => condition.references(),
        }
    }

    /// The path, where it is what is at a path of the event, as it is.
    #[must_use]
    pub fn plain_path(&self) -> Option<&[String]> {
        match &self.what {
            What::Value(Expression { source: Source::Path(reference), convert })
                if convert.is_empty() && reference.level.is_event() && self.rows.is_none() =>
            {
                Some(&reference.path)
            }
            _ => None,
        }
    }
}

/// The JSON of an input.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    path: Vec<String>,
    #[serde(rename = "as", default)]
    conversion: As,
}

/// What the host makes of a value.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", try_from = "String")]
enum As {
    #[default]
    Json,
    Truthy,
}

// serde_json takes an enum that isn't written as a string for a syntax error, which would blame the JSON.
impl TryFrom<String> for As {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match name.as_str() {
            "json" => Ok(Self::Json),
            "truthy" => Ok(Self::Truthy),
            _ => Err(format!("unknown conversion {}, expected json or truthy", quoted(&name))),
        }
    }
}

impl Serialize for Input {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let conversion = if matches!(self.what, What::Truthy(_)) { As::Truthy } else { As::Json };
        let path = self.references().first().map(|it| it.path.clone()).unwrap_or_default();
        Raw { path, conversion }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Raw { path, conversion } = Raw::deserialize(deserializer)?;
        Ok(match conversion {
            As::Json => Self::json(&path),
            As::Truthy => Self::truthy(&path),
        })
    }
}

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.iteration.path.serialize(serializer)
    }
}
