//! The rule, and what both documents of a task have in common.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::wording::json_in_text;
use crate::json::document::DocumentKind;

/// Why a rule or an event schema can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The text begins like JSON and isn't.
    #[error("{origin}: the {document} is not JSON: {message}")]
    NotJson {
        /// `rule` or `event schema`.
        document: &'static str,
        /// Where the text is from.
        origin: String,
        /// What the JSON parser says.
        message: String,
    },
    /// The document is JSON, but not an object.
    #[error("{origin}: expected the {document} to be a JSON object, found {found}")]
    NotAnObject {
        /// `rule` or `event schema`.
        document: &'static str,
        /// Where the document is from.
        origin: String,
        /// What it is instead.
        found: &'static str,
    },
    /// The document holds more values than a tree of them may have.
    #[error("{origin}: expected {} of at most {allowed} JSON values, found more", kind.name())]
    TooLarge {
        /// The rule, or the event schema.
        kind: DocumentKind,
        /// Where the text is from.
        origin: String,
        /// How many there may be, the keys of objects counted with them.
        allowed: usize,
    },
    /// The text is empty.
    #[error("{origin}: expected {}, found nothing", kind.name())]
    Empty {
        /// The rule, or the event schema.
        kind: DocumentKind,
        /// Where the document is from.
        origin: String,
    },
}

impl Coded for TaskError {
    fn entry(&self) -> Code {
        match self {
            Self::NotJson { .. } => codes::TASK_NOT_JSON,
            Self::NotAnObject { .. } => codes::TASK_NOT_AN_OBJECT,
            Self::Empty { .. } => codes::TASK_DOCUMENT_EMPTY,
            Self::TooLarge { .. } => codes::TASK_DOCUMENT_TOO_LARGE,
        }
    }
}

/// What is to be extracted, in words, as a JSON object of whatever keys, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    text: String,
    value: Map<String, Value>,
}

impl Rule {
    /// Reads a rule. A text that begins with `{` or `[`, or is one JSON value, is JSON and has to be an object; any other
    /// text is a rule in words, and becomes the `rule` of an object of its own. A byte order mark is left out. `origin` names the text in errors.
    ///
    /// # Errors
    /// [`TaskError`], for an empty text, broken JSON, JSON that isn't an object or holds more values than [`DocumentKind::Rule`]
    /// allows.
    pub fn parse(text: &str, origin: &str) -> Result<Self, TaskError> {
        require_size(DocumentKind::Rule, text, origin)?;
        // Editors of words write one, and whoever looks at the text doesn't see it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(_) if !text.trim_start().starts_with(['{', '[']) => {
                if text.trim().is_empty() {
                    let (kind, origin) = (DocumentKind::Rule, origin.to_owned());
                    return Err(TaskError::Empty { kind, origin });
                }
                serde_json::json!({ "rule": text })
            }
            Err(error) => {
                return Err(TaskError::NotJson {
                    document: "rule",
                    origin: origin.to_owned(),
                    message: json_in_text(text, &error),
                });
            }
        };
        Ok(Self { text: text.to_owned(), value: object("rule", origin, value)? })
    }

    /// A rule from a JSON value.
    ///
    /// # Errors
    /// [`TaskError::NotAnObject`].
    pub fn from_value(value: Value) -> Result<Self, TaskError> {
        let text = value.to_string();
        Ok(Self { text, value: object("rule", "the rule", value)? })
    }

    /// The rule as it was read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The rule as an object.
    #[must_use]
    pub fn value(&self) -> &Map<String, Value> {
        &self.value
    }
}

/// Refuses a text that holds more values than its kind may, before a tree of them is built.
pub(super) fn require_size(kind: DocumentKind, text: &str, origin: &str) -> Result<(), TaskError> {
    match kind.exceeded_values(text) {
        Some(allowed) => Err(TaskError::TooLarge { kind, origin: origin.to_owned(), allowed }),
        None => Ok(()),
    }
}

/// The object that a document has to be.
pub(super) fn object(
    document: &'static str,
    origin: &str,
    value: Value,
) -> Result<Map<String, Value>, TaskError> {
    let found = match value {
        Value::Object(object) => return Ok(object),
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
    };
    Err(TaskError::NotAnObject { document, origin: origin.to_owned(), found })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Rule;
    use crate::diagnostics::problem::Coded;
    use crate::evidence::EventSchema;
    use crate::json::document::DocumentKind;

    #[test]
    fn words_are_a_rule() {
        let rule = Rule::parse("Every order becomes one Order.\n", "rule.md").expect("words");
        assert_eq!(rule.value().get("rule"), Some(&json!("Every order becomes one Order.\n")));
    }

    #[test]
    fn json_has_to_be_an_object() {
        for (text, code) in [
            ("[1]", "task_not_an_object"),
            ("\"words\"", "task_not_an_object"),
            ("null", "task_not_an_object"),
            ("{\"a\": NaN}", "task_not_json"),
            ("{", "task_not_json"),
            (" \n", "task_document_empty"),
        ] {
            assert_eq!(Rule::parse(text, "rule").expect_err(text).code(), code, "{text}");
        }
    }

    #[test]
    fn a_tree_of_values_is_not_built_of_too_many() {
        type Read = fn(&str) -> Option<&'static str>;
        let kinds: [(DocumentKind, Read); 2] = [
            (DocumentKind::Rule, |text| Rule::parse(text, "rule").err().map(|error| error.code())),
            (DocumentKind::EventSchema, |text| {
                EventSchema::parse(text, "schema").err().map(|error| error.code())
            }),
        ];
        // An object, a key, an array and what is in it.
        let values = |count: usize| format!("{{\"a\":[{}0]}}", "0,".repeat(count - 4));
        for (kind, read) in kinds {
            let allowed = kind.max_values().expect("it becomes a tree");
            assert_eq!(read(&values(allowed)), None);
            assert_eq!(read(&values(allowed + 1)), Some("task_document_too_large"));
        }
    }
}
