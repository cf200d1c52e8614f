//! Documents that people write: YAML or JSON, within bounds.

mod kind;

pub use kind::DocumentKind;

use serde::de::DeserializeOwned;
use serde_path_to_error::{Deserializer, Track};

use crate::diagnostics::untrusted::bounded;

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
    /// columns count from 1, and are 0 where the parser doesn't know them.
    Syntax { line: u64, column: u64, message: String },
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
            Syntax::Json => serde_json::from_str(self.text).map_err(|error| json_problem(&error)),
            Syntax::Yaml => serde_saphyr::from_str_with_options(self.text, yaml_options())
                .map_err(|error| yaml_problem(&error)),
        }
    }

    /// The path to the value that makes [`read`](Self::read) fail, like `limits.deadline_ms`; `None` where that is the
    /// document itself, or nothing does.
    pub(crate) fn fault<T: DeserializeOwned>(&self) -> Option<String> {
        let mut track = Track::new();
        let is_read = match self.syntax {
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
        if is_read {
            return None;
        }
        // Printed as `.` where it has no segments.
        Some(track.path().to_string())
            .filter(|path| path != ".")
            .map(|path| bounded(&path, PATH_CHARS))
    }
}

fn json_problem(error: &serde_json::Error) -> DocumentError {
    DocumentError::Syntax {
        line: u64::try_from(error.line()).unwrap_or(0),
        column: u64::try_from(error.column()).unwrap_or(0),
        message: bounded(&error.to_string(), MESSAGE_CHARS),
    }
}

fn yaml_problem(error: &serde_saphyr::Error) -> DocumentError {
    let plain = serde_saphyr::render_options! {
        formatter: &serde_saphyr::UserMessageFormatter,
        snippets: serde_saphyr::SnippetMode::Off,
    };
    DocumentError::Syntax {
        line: error.location().map_or(0, |location| location.line()),
        column: error.location().map_or(0, |location| location.column()),
        message: bounded(&error.render_with_options(plain), MESSAGE_CHARS),
    }
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
