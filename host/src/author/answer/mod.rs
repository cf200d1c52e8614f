//! What a model answered, to a plan, or to the [source](read_rust) that was asked for in its place.
//!
//! Models wrap JSON in fences and words, and are cut off. Before the [strict parser](crate::plan::parse()) comes a lenient
//! step that [takes the one JSON object out](AnswerFormat::Lenient) of what is around it, and never guesses at meaning.
//! What still isn't a plan is reported in full: [`AnswerError::diagnostic`] holds the parser's first problem in the format of the
//! contract, then its others, what the schema says beyond them, with the part of it that it concerns, and the answer itself,
//! fenced, if it is short: a longer one is quoted by the prompt that the diagnostic goes into.
//!
//! # Bounds
//! JSON or source of more than [`MAX_BYTES`], and a plan of more than [`MAX_PROPERTIES`], are refused before anything else.

mod error;
mod feedback;
mod rust;
mod said;
mod take;

use serde_json::Value;

pub use error::AnswerError;
pub use rust::{RustAnswer, read_rust, rust_schema};
pub use said::schema;

use crate::author::backend::Language;
use crate::author::llm::FinishReason;
use crate::plan::{self, Plan};
use take::{Taken, take};

/// How long the JSON of an answer may be, or the source in it, in bytes.
pub const MAX_BYTES: usize = 256 << 10;

/// How many properties the plan of an answer may have, in all its nodes and edges, besides their keys.
pub const MAX_PROPERTIES: usize = 1_024;

/// How an answer is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerFormat {
    /// Text that is JSON as a whole is taken as it is. Of any other, the one JSON object in it is taken, whatever fences
    /// or words are around it; a byte order mark is dropped. Arrays and strings aren't opened. Of source, the text of the
    /// JSON object's field, the one block fenced as Rust, or the whole text.
    #[default]
    Lenient,
    /// The text has to be the plan, or the source by itself or in the JSON object.
    Strict,
}

/// An answer that is a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The plan.
    pub plan: Plan,
    /// The JSON that was parsed: the answer, without what was around it.
    pub text: String,
    /// The plan's part of it, as a value.
    pub value: Value,
    /// What the model says the plan leaves out, since it can't be said in one: a few statements, escaped and bounded.
    pub cannot_express: Vec<String>,
}

/// Reads an answer. `finish` is why it ended: what was cut off or refused is distinguished from what is wrong.
///
/// # Errors
/// [`AnswerError`] with the code of the plan's first problem, or `truncated_response` (the answer was cut off),
/// `ambiguous_response` (it holds more than one object), `model_refused` (it was refused, and holds none),
/// `answer_too_large` (it is longer, or has more properties, than a plan may), `cannot_express` (it says that no plan can say what is
/// asked for, and has none).
///
/// # Example
/// ```
/// use retort::author::{AnswerFormat, llm::FinishReason};
/// use retort::internal::answer::read;
///
/// let text = r#"Here is the plan:
/// ```json
/// {"event_type": "placed", "target_entity_name": "Order", "function_name": "read_order",
///  "key_field": {"property_name": "id", "source_path": ["content", "id"]}}
/// ```"#;
/// let answer = read(text, &FinishReason::Stop, AnswerFormat::Lenient)?;
/// assert_eq!(answer.plan.function_name(), "read_order");
///
/// let error = read(&text[..100], &FinishReason::Length, AnswerFormat::Lenient).unwrap_err();
/// assert_eq!(error.code, "truncated_response");
/// # Ok::<(), retort::author::AnswerError>(())
/// ```
pub fn read(
    text: &str,
    finish: &FinishReason,
    format: AnswerFormat,
) -> Result<Answer, AnswerError> {
    let taken = match format {
        AnswerFormat::Lenient => take(text),
        AnswerFormat::Strict => Taken::whole(text),
    };
    match (taken, finish) {
        (Taken::Json(json), _) if json.len() > MAX_BYTES => {
            Err(AnswerError::too_large(text, "bytes of JSON", json.len(), MAX_BYTES))
        }
        (Taken::Json(json), _) => plan_of(text, json),
        (Taken::Several, _) => Err(AnswerError::ambiguous(text)),
        (_, FinishReason::Refused) => Err(AnswerError::refused(text)),
        (Taken::CutOff, _) | (Taken::Broken(_), FinishReason::Length) => {
            Err(AnswerError::truncated(text))
        }
        (Taken::Broken(json), _) => Err(AnswerError::not_json(json)),
    }
}

/// The plan that the JSON in a text is.
fn plan_of(text: &str, json: &str) -> Result<Answer, AnswerError> {
    let Ok(mut value) = serde_json::from_str(json) else { return Err(AnswerError::not_json(json)) };
    let used = properties(&value);
    if used > MAX_PROPERTIES {
        return Err(AnswerError::too_large(text, "property_fields", used, MAX_PROPERTIES));
    }
    let mut cannot_express = Vec::new();
    if let Value::Object(fields) = &mut value {
        cannot_express = said::take(fields);
        if !cannot_express.is_empty() && said::is_without_plan(fields) {
            return Err(AnswerError::cannot_express(Language::Plan, cannot_express));
        }
    }
    match plan::from_value(&value) {
        Ok(plan) => Ok(Answer { plan, text: json.to_owned(), value, cannot_express }),
        Err(_) => Err(AnswerError {
            cannot_express: cannot_express.into(),
            ..AnswerError::not_a_plan(json, &value)
        }),
    }
}

fn properties(value: &Value) -> usize {
    let fields =
        |value: &Value| value.get("property_fields").and_then(Value::as_array).map_or(0, Vec::len);
    let listed = |key: &str| value.get(key).and_then(Value::as_array).into_iter().flatten();
    fields(value) + listed("nodes").chain(listed("edges")).map(fields).sum::<usize>()
}
