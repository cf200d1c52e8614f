//! Documents that people write: YAML or JSON, within bounds.

mod found;
mod kind;

pub use kind::DocumentKind;

use serde::de::{DeserializeOwned, DeserializeSeed};
use serde_path_to_error::{Deserializer, Segment, Track};
use serde_saphyr::{Error as YamlError, MessageFormatter, UserMessageFormatter};

use self::found::Finder;
use crate::diagnostics::untrusted::{bounded, sanitize};
use crate::diagnostics::wording::{expected_first, json, json_column};

/// How long a text in YAML may be. The largest specs known to us take 20 KB.
const MAX_YAML_BYTES: usize = 1 << 20;
/// How long a text in JSON may be: the resolved form, which bundles hold, takes several times the bytes of the form that
/// it was made from.
const MAX_JSON_BYTES: usize = DocumentKind::GraphSpec.max_bytes();
/// How deep a document may nest. The forms need eight levels; annotations may take more.
const MAX_DEPTH: usize = 32;
/// How many scalars, lists and mappings a document may hold.
const MAX_NODES: usize = 200_000;
/// How many events the aliases of a document may stand for, all together.
const MAX_ALIASED_EVENTS: usize = 20_000;
/// How much of a parser's message is kept, in characters.
const MESSAGE_CHARS: usize = 400;
/// How much of the path to a wrong value is kept, in characters.
const PATH_CHARS: usize = 200;

/// Why a text is no document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DocumentError {
    /// Longer than a document of its syntax may be, in bytes.
    TooLarge { used: usize, allowed: usize },
    /// Not of its syntax, or of another shape than was asked for, or beyond the bounds on nesting and aliases. Lines and
    /// columns count from 1, and are 0 where the parser doesn't know them. The message begins with the path to what is
    /// wrong, like `limits.deadline_ms`, unless that is the document itself.
    Syntax { line: u64, column: u64, message: String },
}

/// A place in a text, as it comes before what is said of it: `line 3, column 19: `. Nothing where the parser doesn't know it.
pub(crate) fn position(line: u64, column: u64) -> String {
    if line == 0 { String::new() } else { format!("line {line}, column {column}: ") }
}

enum Syntax {
    Json,
    Yaml,
}

/// A text, and how it is to be read.
pub(crate) struct Document<'a> {
    text: &'a str,
    syntax: Syntax,
}

impl<'a> Document<'a> {
    /// A name that ends in `.json`, `.yaml` or `.yml` decides the syntax. Otherwise text that begins with `{` is JSON, and
    /// anything else YAML.
    pub(crate) fn new(text: &'a str, origin: &str) -> Result<Self, DocumentError> {
        let used = text.len();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let ends_with = |suffix: &str| {
            let from = origin.len().checked_sub(suffix.len());
            from.and_then(|from| origin.get(from..))
                .is_some_and(|end| end.eq_ignore_ascii_case(suffix))
        };
        let syntax = if ends_with(".json") {
            Syntax::Json
        } else if ends_with(".yaml") || ends_with(".yml") || !text.trim_start().starts_with('{') {
            Syntax::Yaml
        } else {
            Syntax::Json
        };
        let allowed = match syntax {
            Syntax::Json => MAX_JSON_BYTES,
            Syntax::Yaml => MAX_YAML_BYTES,
        };
        if used > allowed {
            return Err(DocumentError::TooLarge { used, allowed });
        }
        Ok(Self { text, syntax })
    }

    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, DocumentError> {
        match self.syntax {
            Syntax::Json => serde_json::from_str(self.text).map_err(|error| {
                let (line, column) = (error.line() as u64, json_column(self.text, &error) as u64);
                self.problem::<T>(line, column, json(self.text, &error))
            }),
            Syntax::Yaml => {
                serde_saphyr::from_str_with_options(self.text, yaml_options()).map_err(|error| {
                    let place = error.location();
                    let line = place.map_or(0, |place| place.line());
                    let column = place.map_or(0, |place| place.column());
                    self.problem::<T>(line, column, self.said_of_yaml::<T>(&error))
                })
            }
        }
    }

    fn problem<T: DeserializeOwned>(&self, line: u64, column: u64, said: String) -> DocumentError {
        let said = sanitize(&said, MESSAGE_CHARS);
        let path = path_to(&self.fault::<T>());
        let message =
            if path.is_empty() { said } else { format!("{}: {said}", bounded(&path, PATH_CHARS)) };
        DocumentError::Syntax { line, column, message }
    }

    /// The path to the value that makes [`read`](Self::read) fail, as far as it is known.
    fn fault<T: DeserializeOwned>(&self) -> Vec<Segment> {
        let mut track = Track::new();
        // That it fails is known already.
        let _ = match self.syntax {
            Syntax::Json => {
                let mut json = serde_json::Deserializer::from_str(self.text);
                T::deserialize(Deserializer::new(&mut json, &mut track)).is_ok()
            }
            Syntax::Yaml => serde_saphyr::with_deserializer_from_str_with_options(
                self.text,
                yaml_options(),
                |yaml| T::deserialize(Deserializer::new(yaml, &mut track)),
            )
            .is_ok(),
        };
        let is_known = |segment: &&Segment| !matches!(segment, Segment::Unknown);
        track.path().iter().take_while(is_known).cloned().collect()
    }

    /// What is wrong with a text in YAML: what was expected, and what the text holds instead where the reader doesn't say.
    fn said_of_yaml<T: DeserializeOwned>(&self, error: &YamlError) -> String {
        let expected = match error {
            YamlError::AliasError { error, .. } => return self.said_of_yaml::<T>(error),
            YamlError::Unexpected { expected: "sequence start", .. } => "a list",
            YamlError::Unexpected { expected: "mapping start", .. } => "an object",
            YamlError::Unexpected { expected: "string scalar", .. }
            | YamlError::NullIntoString { .. }
            | YamlError::TaggedScalarCannotDeserializeIntoString { .. } => "a string",
            YamlError::InvalidBooleanStrict { .. } => "`true` or `false`",
            YamlError::InvalidScalar { ty, .. } if ty.starts_with(['u', 'i']) => "a whole number",
            YamlError::InvalidScalar { ty: "floating point", .. } => "a number",
            YamlError::DuplicateMappingKey { key, .. } => {
                let key = key.as_ref().map(|key| format!(" `{key}`")).unwrap_or_default();
                return format!("expected each key once, found{key} a second time");
            }
            _ => return expected_first(&UserMessageFormatter.format_message(error)),
        };
        let found = self.found(&self.fault::<T>()).unwrap_or_else(|| "something else".to_owned());
        format!("expected {expected}, found {found}")
    }

    /// Whether it holds nothing, or nothing but comments.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self.syntax, Syntax::Yaml)
            && matches!(self.found(&[]).as_deref(), None | Some("null"))
    }

    /// What a text in YAML holds at a path, in words.
    fn found(&self, path: &[Segment]) -> Option<String> {
        let mut found = None;
        let finder = Finder::new(path, &mut found);
        // It stops in an error once it has found it.
        let _ = serde_saphyr::with_deserializer_from_str_with_options(
            self.text,
            yaml_options(),
            |yaml| finder.deserialize(yaml),
        );
        found
    }
}

/// A path in words: `entities[0].keys`.
fn path_to(segments: &[Segment]) -> String {
    let mut path = String::new();
    for segment in segments {
        if !path.is_empty() && !matches!(segment, Segment::Seq { .. }) {
            path.push('.');
        }
        path.push_str(&segment.to_string());
    }
    path
}

fn yaml_options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_events: 4 * MAX_NODES,
            max_total_scalar_bytes: MAX_YAML_BYTES,
            max_recorded_anchor_events: MAX_ALIASED_EVENTS,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_ALIASED_EVENTS,
            max_replay_stack_depth: MAX_DEPTH,
        },
        // A column may be called `on` or `yes`.
        strict_booleans: true,
        with_snippet: false,
    }
}
