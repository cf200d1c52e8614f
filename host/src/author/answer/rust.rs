//! The source in an answer, where Rust was asked for.

use serde_json::{Map, Value, json};

use super::error::AnswerError;
use super::take::{Taken, take};
use super::{AnswerFormat, MAX_BYTES, said};
use crate::author::backend::Language;
use crate::author::llm::FinishReason;
use crate::diagnostics::codes;

/// The field that holds the source in an answer in JSON.
const FIELD: &str = "source";

/// What the field is called as well by those who weren't held to a schema.
const OTHER_FIELD: &str = "rust";

/// An answer that is Rust. Whether it is an extractor is for the gates to say.
#[derive(Clone, Debug, PartialEq)]
pub struct RustAnswer {
    /// The source, without what was around it.
    pub source: String,
    /// What the model says it leaves out, since no extractor can do it: a few statements, escaped and bounded.
    pub cannot_express: Vec<String>,
}

/// The JSON Schema of an answer in which the source is a text: it holds for providers that answer in JSON alone.
#[must_use]
pub fn rust_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ExtractorSource",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            FIELD: {
                "description": "The whole text of src/lib.rs.",
                "type": "string",
            },
            said::FIELD: {
                "description": "What the rule asks for and no extractor can do, a sentence each. With source, what that leaves out; without, why there is none.",
                "type": "array",
                "items": {"type": "string"},
            },
        },
        "anyOf": [{"required": [FIELD]}, {"required": [said::FIELD]}],
    })
}

/// Reads an answer that is to be Rust: the text of [`rust_schema`]'s field, the one block that is fenced as Rust, or else the
/// whole text. `finish` is why it ended.
///
/// # Errors
/// [`AnswerError`] with `source_missing` (there is none in it), `truncated_response` (it was cut off), `ambiguous_response` (it
/// holds more than one block of source), `model_refused`, `answer_too_large`, `invalid_json` (it begins as JSON and isn't any), or
/// `cannot_express` (it says that no extractor can do what is asked for, and holds none).
///
/// # Example
/// ```
/// use retort::author::{AnswerFormat, llm::FinishReason};
/// use retort::internal::answer::read_rust;
///
/// let text = "Here it is:\n```rust\nuse retort_guest::prelude::*;\n```\n";
/// let answer = read_rust(text, &FinishReason::Stop, AnswerFormat::Lenient)?;
/// assert_eq!(answer.source, "use retort_guest::prelude::*;\n");
/// # Ok::<(), retort::author::AnswerError>(())
/// ```
pub fn read_rust(
    text: &str,
    finish: &FinishReason,
    format: AnswerFormat,
) -> Result<RustAnswer, AnswerError> {
    let whole = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    let found = match format {
        AnswerFormat::Lenient => found(whole),
        AnswerFormat::Strict if whole.starts_with('{') => in_json(Taken::whole(whole), whole),
        AnswerFormat::Strict => Found::Whole(whole),
    };
    match (found, finish) {
        (Found::Several, _) => Err(several(text)),
        (Found::Object(fields), _) => of_object(text, fields),
        (Found::Block(source), _) => of_source(text, source, Vec::new()),
        (_, FinishReason::Refused) => Err(refused(text)),
        (Found::CutOff, _) | (Found::Whole(_) | Found::Broken(_), FinishReason::Length) => {
            Err(cut_off(text))
        }
        (Found::Whole(source), _) => of_source(text, source, Vec::new()),
        (Found::Broken(json), _) => Err(AnswerError::not_json(json)),
        (Found::Nothing, _) => Err(missing(text)),
    }
}

/// What there is in an answer.
enum Found<'t> {
    /// Fields of the JSON object that it is.
    Object(Map<String, Value>),
    /// One block of source.
    Block(&'t str),
    /// No fence and no JSON: all of it is source, or none.
    Whole(&'t str),
    Several,
    CutOff,
    /// JSON that is none.
    Broken(&'t str),
    /// Blocks of other things.
    Nothing,
}

fn found(text: &str) -> Found<'_> {
    // No file of Rust begins with a brace.
    if text.starts_with('{') {
        return in_json(take(text), text);
    }
    let blocks = Blocks::of(text);
    if blocks.is_empty {
        return match take(text) {
            Taken::Json(json) => match object(json) {
                Some(fields) if has_source(&fields) => Found::Object(fields),
                _ => Found::Whole(text),
            },
            _ => Found::Whole(text),
        };
    }
    for (kind, of_kind) in
        [(Kind::Rust, &blocks.rust), (Kind::Plain, &blocks.plain), (Kind::Json, &blocks.json)]
    {
        match of_kind.as_slice() {
            [] => {}
            all if all.iter().any(|block| !block.is_closed) => return Found::CutOff,
            [block] if kind == Kind::Json || block.text.trim_start().starts_with('{') => {
                return in_json(Taken::whole(block.text), block.text);
            }
            [block] => return Found::Block(block.text),
            _ => return Found::Several,
        }
    }
    if blocks.is_open { Found::CutOff } else { Found::Nothing }
}

fn in_json<'t>(taken: Taken<'t>, text: &'t str) -> Found<'t> {
    match taken {
        Taken::Json(json) => object(json).map_or(Found::Broken(text), Found::Object),
        Taken::Several => Found::Several,
        Taken::CutOff => Found::CutOff,
        Taken::Broken(json) => Found::Broken(json),
    }
}

fn object(json: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(json).ok()
}

fn has_source(fields: &Map<String, Value>) -> bool {
    [FIELD, OTHER_FIELD, said::FIELD].iter().any(|field| fields.contains_key(*field))
}

fn of_object(text: &str, mut fields: Map<String, Value>) -> Result<RustAnswer, AnswerError> {
    let cannot_express = said::take(&mut fields);
    let source = [FIELD, OTHER_FIELD].iter().find_map(|field| fields.get(*field)?.as_str());
    match source.map(str::trim).filter(|source| !source.is_empty()) {
        // A model that writes fences everywhere writes them here too.
        Some(fenced) if fenced.starts_with("```") => match found(fenced) {
            Found::Block(source) => of_source(text, source, cannot_express),
            Found::Several => Err(several(text)),
            Found::CutOff => Err(cut_off(text)),
            _ => Err(missing(text)),
        },
        Some(source) => of_source(text, source, cannot_express),
        None if cannot_express.is_empty() => Err(missing(text)),
        None => Err(AnswerError::cannot_express(Language::Rust, cannot_express)),
    }
}

fn of_source(
    text: &str,
    source: &str,
    cannot_express: Vec<String>,
) -> Result<RustAnswer, AnswerError> {
    // Lines count from the first one, so none is taken away in front but where there is nothing else.
    let source = source.trim_end();
    if source.trim().is_empty() {
        return Err(missing(text));
    }
    if source.len() >= MAX_BYTES {
        return Err(AnswerError::of_answer(
            codes::ANSWER_TOO_LARGE,
            format!("expected at most {MAX_BYTES} bytes of source, found {}", source.len() + 1),
            &format!("at most {MAX_BYTES} bytes of source"),
            &(source.len() + 1).to_string(),
            "Answer with the source alone, without tables of data that events don't need.",
            text,
        ));
    }
    Ok(RustAnswer { source: format!("{source}\n"), cannot_express })
}

fn several(text: &str) -> AnswerError {
    AnswerError::of_answer(
        codes::AMBIGUOUS_RESPONSE,
        "expected one block of Rust, found more than one".to_owned(),
        "one block of Rust",
        "more than one",
        "Answer with the whole of src/lib.rs in one piece: no drafts, no parts and no tests beside it.",
        text,
    )
}

fn cut_off(text: &str) -> AnswerError {
    let length = text.chars().count();
    AnswerError::of_answer(
        codes::TRUNCATED_RESPONSE,
        format!("the answer was cut off after {length} characters, before the source ended"),
        "source with its end",
        "an answer that was cut off",
        "Answer shorter: the source alone, without words around it or comments in it, and with no code that the rule doesn't\n\
         ask for.",
        text,
    )
}

fn refused(text: &str) -> AnswerError {
    AnswerError::of_answer(
        codes::MODEL_REFUSED,
        "the model declined to answer".to_owned(),
        "source in Rust",
        "a refusal",
        "Nothing is asked for but an extractor: a function that says which fields of an event become what in a graph.",
        text,
    )
}

fn missing(text: &str) -> AnswerError {
    AnswerError::of_answer(
        codes::SOURCE_MISSING,
        "expected source in Rust, found none".to_owned(),
        "source in Rust",
        "an answer without any",
        "Answer with the whole of src/lib.rs as `source`, or alone in one block fenced as ```rust.",
        text,
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rust,
    Plain,
    Json,
    Other,
}

impl Kind {
    fn of(info: &str) -> Self {
        let word = info.trim().split([',', ' ', '{', '\t']).next().unwrap_or_default();
        match word.to_ascii_lowercase().as_str() {
            "rust" | "rs" => Self::Rust,
            "" => Self::Plain,
            "json" => Self::Json,
            _ => Self::Other,
        }
    }
}

struct Block<'t> {
    text: &'t str,
    is_closed: bool,
}

/// The fenced blocks of a text, by what they say they are.
struct Blocks<'t> {
    rust: Vec<Block<'t>>,
    plain: Vec<Block<'t>>,
    json: Vec<Block<'t>>,
    is_empty: bool,
    /// Whether the last one has no end, whatever it is.
    is_open: bool,
}

impl<'t> Blocks<'t> {
    /// A block begins at a line of three backticks or more, and ends at a line of as many or more alone.
    fn of(text: &'t str) -> Self {
        let (rust, plain, json) = (Vec::new(), Vec::new(), Vec::new());
        let mut blocks = Self { rust, plain, json, is_empty: true, is_open: false };
        let mut open: Option<(usize, Kind, usize)> = None;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let (start, end) = (at, at + line.len());
            at = end;
            let line = line.trim();
            let info = line.trim_start_matches('`');
            let ticks = line.len() - info.len();
            match open {
                None if ticks >= 3 && !info.contains('`') => {
                    open = Some((ticks, Kind::of(info), end));
                }
                Some((fence, kind, from)) if ticks >= fence && info.is_empty() => {
                    blocks.push(kind, text.get(from..start).unwrap_or_default(), true);
                    open = None;
                }
                _ => {}
            }
        }
        if let Some((_, kind, from)) = open {
            blocks.is_open = true;
            blocks.push(kind, text.get(from..).unwrap_or_default(), false);
        }
        blocks
    }

    fn push(&mut self, kind: Kind, text: &'t str, is_closed: bool) {
        self.is_empty = false;
        let block = Block { text, is_closed };
        match kind {
            Kind::Rust => self.rust.push(block),
            Kind::Plain => self.plain.push(block),
            Kind::Json => self.json.push(block),
            Kind::Other => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "use std::fmt;\n\nfn f() { let a = \"{}\"; }";

    fn read(text: &str) -> String {
        read_ended(text, &FinishReason::Stop)
    }

    fn read_ended(text: &str, finish: &FinishReason) -> String {
        match read_rust(text, finish, AnswerFormat::Lenient) {
            Ok(answer) => answer.source,
            Err(error) => error.code.to_string(),
        }
    }

    #[test]
    fn source_is_taken_out_of_what_is_around_it() {
        let quoted = serde_json::to_string(CODE).expect("a string");
        let fenced = serde_json::to_string(&format!("```rust\n{CODE}\n```")).expect("a string");
        for text in [
            CODE.to_owned(),
            format!("\u{feff}\n{CODE}\n\n"),
            format!("```rust\n{CODE}\n```"),
            format!("It reads `a`:\n\n````rs\n{CODE}\n````\n\nThat is {{all}}."),
            format!("```Rust,no_run\n{CODE}\n```\n```toml\n[package]\n```\n"),
            format!("```\n{CODE}\n```"),
            format!("{{\"source\": {quoted}}}"),
            format!("{{\"rust\": {quoted}, \"cannot_express\": null}}"),
            format!("Here: {{\"source\": {quoted}}} and no more."),
            format!("```json\n{{\"source\": {quoted}}}\n```"),
            format!("{{\"source\": {fenced}}}"),
        ] {
            assert_eq!(read(&text), format!("{CODE}\n"), "{text}");
        }
        // Lines are those of the block.
        assert_eq!(read("```rust\n\n\nfn f() {}\n```"), "\n\nfn f() {}\n");
    }

    #[test]
    fn nothing_is_guessed() {
        for (text, expected) in [
            (format!("```rust\n{CODE}\n```\n```rust\n{CODE}\n```"), "ambiguous_response"),
            (format!("```\n{CODE}\n```\nor\n```\n{CODE}\n```"), "ambiguous_response"),
            (format!("```rust\n{CODE}\n"), "truncated_response"),
            ("{\"source\": \"use std".to_owned(), "truncated_response"),
            ("{\"source\": 7}".to_owned(), "source_missing"),
            ("{\"event_type\": \"order\"}".to_owned(), "source_missing"),
            ("{\"source\": \" \"}".to_owned(), "source_missing"),
            ("{\"source\": \"a\" \"b\"}".to_owned(), "invalid_json"),
            ("```toml\n[package]\n```".to_owned(), "source_missing"),
            ("{\"cannot_express\": [\"It takes two events.\"]}".to_owned(), "cannot_express"),
            (" \n".to_owned(), "source_missing"),
            (format!("// {}", "x".repeat(MAX_BYTES)), "answer_too_large"),
        ] {
            let shown = text.chars().take(80).collect::<String>();
            assert_eq!(read(&text), expected, "{shown}");
        }
    }

    #[test]
    fn how_it_ended_counts_where_the_source_has_no_end_of_its_own() {
        assert_eq!(read_ended(CODE, &FinishReason::Length), "truncated_response");
        assert_eq!(read_ended("I can't.", &FinishReason::Refused), "model_refused");
        let fenced = format!("```rust\n{CODE}\n```\nThis rea");
        for finish in [FinishReason::Length, FinishReason::Refused] {
            assert_eq!(read_ended(&fenced, &finish), format!("{CODE}\n"));
        }
    }

    #[test]
    fn strict_answers_have_nothing_around_them() {
        let strict = |text: &str| read_rust(text, &FinishReason::Stop, AnswerFormat::Strict);
        assert_eq!(strict(CODE).map(|it| it.source), Ok(format!("{CODE}\n")));
        assert_eq!(strict("{\"source\": \"a\"}").map(|it| it.source), Ok("a\n".to_owned()));
        // Fences are source there, which no compiler takes.
        assert!(strict("```rust\na\n```").is_ok_and(|it| it.source.starts_with("```")));
    }
}
