//! Text to a policy.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use super::{FieldPolicy, Restriction};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::{bounded, quoted};
use crate::json::document::{Document, DocumentError, position};

/// How much of the name of a text is repeated, in characters.
const ORIGIN_CHARS: usize = 200;

/// Why a text is no policy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// Not YAML or JSON, or of another shape: an unknown or repeated key, text where a list is expected.
    #[error("{origin}: {}{message}", position(*line, *column))]
    Syntax {
        /// Where the text is from.
        origin: String,
        /// Line, from 1; 0 where the parser doesn't know it.
        line: u64,
        /// Column, from 1; 0 where the parser doesn't know it.
        column: u64,
        /// Which value, like `limits.deadline_ms`, unless it is the document itself; what was expected, and what was found.
        message: String,
    },
    /// Longer than a policy may be.
    #[error("{origin}: expected at most {allowed} bytes, found {used}")]
    TooLarge {
        /// Where the text is from.
        origin: String,
        /// Its length.
        used: usize,
        /// How long it may be.
        allowed: usize,
    },
    /// A path that leads nowhere.
    #[error("{origin}: {at}: expected keys that aren't empty, found {found}")]
    InvalidPath {
        /// Where the text is from.
        origin: String,
        /// Which path, like `deny[2].path`.
        at: String,
        /// What it is, escaped and bounded.
        found: String,
    },
}

impl Coded for PolicyError {
    fn entry(&self) -> Code {
        match self {
            Self::Syntax { .. } => codes::POLICY_SYNTAX,
            Self::TooLarge { .. } => codes::POLICY_TOO_LARGE,
            Self::InvalidPath { .. } => codes::POLICY_INVALID_PATH,
        }
    }

    fn place(&self) -> Option<String> {
        match self {
            Self::Syntax { line: 0, .. } | Self::TooLarge { .. } => None,
            Self::Syntax { line, column, .. } => Some(format!("{line}:{column}")),
            Self::InvalidPath { at, .. } => Some(at.clone()),
        }
    }

    fn usage(&self) -> Option<(u64, u64)> {
        match self {
            Self::TooLarge { used, allowed, .. } => Some((*used as u64, *allowed as u64)),
            _ => None,
        }
    }
}

impl FieldPolicy {
    /// Reads a policy from JSON or YAML: an object of `deny` and `explicit` (lists, both empty by default) and
    /// `whole_event` (`false` by default). An entry of a list is an object of `path` and `reason` (text, optional), or
    /// a path alone. A path is a list of keys, or the keys joined by dots.
    ///
    /// `origin` names the text in errors; a name that ends in `.json`, `.yaml` or `.yml` also decides the syntax.
    /// Otherwise text that begins with `{` is JSON, and anything else YAML.
    ///
    /// # Errors
    /// [`PolicyError`]: text of another syntax or shape, unknown and repeated keys, paths without a key.
    pub fn parse(text: &str, origin: &str) -> Result<Self, PolicyError> {
        policy(text, origin)
    }
}

pub(super) fn policy(text: &str, origin: &str) -> Result<FieldPolicy, PolicyError> {
    read::<Written>(text, origin)?.policy(origin)
}

/// A document that says what a policy does, or more.
pub(crate) fn read<T: DeserializeOwned>(text: &str, origin: &str) -> Result<T, PolicyError> {
    let origin = bounded(origin, ORIGIN_CHARS);
    let refused = |error| match error {
        DocumentError::TooLarge { used, allowed } => {
            PolicyError::TooLarge { origin: origin.clone(), used, allowed }
        }
        DocumentError::Syntax { line, column, message } => {
            PolicyError::Syntax { origin: origin.clone(), line, column, message }
        }
    };
    let document = Document::new(text, &origin).map_err(refused)?;
    let written = document.read().map_err(refused)?;
    if document.is_empty() {
        // It would allow everything, which whoever names a policy doesn't mean.
        let message = "expected an object, found an empty document".to_owned();
        return Err(refused(DocumentError::Syntax { line: 0, column: 0, message }));
    }
    Ok(written)
}

/// A policy as it is written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    #[serde(default)]
    pub(crate) deny: Vec<PolicyEntry>,
    #[serde(default)]
    pub(crate) explicit: Vec<PolicyEntry>,
    #[serde(default)]
    pub(crate) whole_event: bool,
}

impl Written {
    /// The policy that is meant.
    pub(crate) fn policy(self, origin: &str) -> Result<FieldPolicy, PolicyError> {
        let restrictions = |list: &'static str, entries: Vec<PolicyEntry>| {
            entries
                .into_iter()
                .enumerate()
                .map(|(index, entry)| {
                    entry.restriction().map_err(|found| PolicyError::InvalidPath {
                        origin: bounded(origin, ORIGIN_CHARS),
                        at: format!("{list}[{index}].path"),
                        found,
                    })
                })
                .collect::<Result<Vec<_>, _>>()
        };
        Ok(FieldPolicy {
            deny: restrictions("deny", self.deny)?,
            explicit: restrictions("explicit", self.explicit)?,
            whole_event: self.whole_event,
        })
    }
}

/// An entry of a list: a path alone, or with a reason.
pub(crate) struct PolicyEntry {
    path: WrittenPath,
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReasonedEntry {
    path: WrittenPath,
    #[serde(default)]
    reason: Option<String>,
}

/// A path: a list of keys, or the keys joined by dots.
enum WrittenPath {
    Keys(Vec<String>),
    Dotted(String),
}

impl PolicyEntry {
    /// The restriction, or what there is instead of a path.
    fn restriction(self) -> Result<Restriction, String> {
        let (path, found) = match self.path {
            WrittenPath::Keys(keys) => {
                let found =
                    if keys.is_empty() { "an empty list" } else { "an empty key in a list" };
                (keys, found.to_owned())
            }
            WrittenPath::Dotted(text) => {
                (text.split('.').map(str::to_owned).collect(), quoted(&text))
            }
        };
        if path.is_empty() || path.iter().any(String::is_empty) {
            return Err(found);
        }
        Ok(Restriction { path, reason: self.reason })
    }
}

impl<'de> Deserialize<'de> for PolicyEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = PolicyEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path, or an object of path and reason")
            }

            fn visit_str<E>(self, text: &str) -> Result<PolicyEntry, E> {
                Ok(PolicyEntry { path: WrittenPath::Dotted(text.to_owned()), reason: None })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, keys: A) -> Result<PolicyEntry, A::Error> {
                Ok(PolicyEntry { path: Keys.visit_seq(keys)?, reason: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<PolicyEntry, A::Error> {
                let entry = ReasonedEntry::deserialize(MapAccessDeserializer::new(fields))?;
                Ok(PolicyEntry { path: entry.path, reason: entry.reason })
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// Reads the path of an entry.
struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = WrittenPath;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys joined by dots, or a list of keys")
    }

    fn visit_str<E>(self, text: &str) -> Result<WrittenPath, E> {
        Ok(WrittenPath::Dotted(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut keys: A) -> Result<WrittenPath, A::Error> {
        let mut path = Vec::new();
        while let Some(key) = keys.next_element()? {
            path.push(key);
        }
        Ok(WrittenPath::Keys(path))
    }
}

impl<'de> Deserialize<'de> for WrittenPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Keys)
    }
}
