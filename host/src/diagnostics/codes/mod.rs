//! The registry of stable codes: what each means, and what to do about it.
//!
//! Everything that is known of a code is written in the table of its stage. An error names its code by the constant that the
//! table declares ([`Coded`](crate::diagnostics::problem::Coded)), so no code can be reported that isn't registered.

mod bundle;
mod cache;
mod compile;
mod event;
mod expected;
mod fit;
mod graph;
mod input;
mod inspect;
mod kind;
mod limit;
mod load;
mod model;
mod plan;
mod policy;
mod render;
mod run;
mod smoke;
mod source;
mod unknown;

use std::cmp::Ordering;

use serde::{Serialize, Serializer};

pub use self::kind::FailureKind;
pub use self::limit::{LimitEntry, LimitPart};
pub use self::unknown::UnknownCode;
use crate::diagnostics::stage::Stage;

pub use self::{
    bundle::*, cache::*, compile::*, event::*, expected::*, fit::*, graph::*, input::*, inspect::*,
    load::*, model::*, plan::*, policy::*, render::*, run::*, smoke::*, source::*,
};

/// A stable code, by which all that is known of it is found.
///
/// Serialises as its name, and is read by it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Code {
    known: &'static CodeEntry,
}

impl std::ops::Deref for Code {
    type Target = CodeEntry;

    fn deref(&self) -> &CodeEntry {
        self.known
    }
}

/// What is known of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeEntry {
    /// The code itself, in `snake_case`.
    pub name: &'static str,
    /// The stage that reports it; the first one, where several do.
    pub stage: Stage,
    /// What was found, in one sentence or two.
    pub meaning: &'static str,
    /// What to do about it.
    pub action: &'static str,
    /// The kind of failure, where it isn't that of the stage which reports it.
    kind: Option<FailureKind>,
    /// The limit that was exceeded, where it is about one.
    pub limit: Option<LimitEntry>,
    /// What else than its kind decides what a model is asked to change.
    pub(crate) cause: Option<Cause>,
    /// What the author of a rule can do once a model couldn't help, where it isn't what all failures of the kind ask for.
    /// `{event_types}` and `{entities}` stand for those of the task.
    pub(crate) in_rule: Option<&'static str>,
}

/// What a failure comes from that no other of its kind does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The answer was cut off.
    Length,
}

impl CodeEntry {
    const fn new(
        stage: Stage,
        name: &'static str,
        meaning: &'static str,
        action: &'static str,
    ) -> Self {
        Self { name, stage, meaning, action, kind: None, limit: None, cause: None, in_rule: None }
    }

    const fn kind(self, kind: FailureKind) -> Self {
        Self { kind: Some(kind), ..self }
    }

    const fn limit(self, limit: LimitEntry) -> Self {
        Self { limit: Some(limit), ..self }
    }

    const fn cause(self, cause: Cause) -> Self {
        Self { cause: Some(cause), ..self }
    }

    const fn in_rule(self, advice: &'static str) -> Self {
        Self { in_rule: Some(advice), ..self }
    }

    /// The kind of failure that it stands for where `stage` reports it.
    #[must_use]
    pub fn kind_at(&self, stage: Stage) -> FailureKind {
        self.kind.unwrap_or(FailureKind::of_stage(stage))
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self.name, f)
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// By name.
impl Ord for Code {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name.cmp(other.name)
    }
}

impl PartialOrd for Code {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, other: &&str) -> bool {
        self.name == *other
    }
}

impl PartialEq<Code> for &str {
    fn eq(&self, other: &Code) -> bool {
        *self == other.name
    }
}

/// The codes of one stage: a constant for each, and the table of all.
macro_rules! codes {
    ($stage:expr; $($constant:ident = $name:literal:
        $meaning:literal, $action:expr $(, $set:ident($value:expr))*;)*
    ) => {
        $(
            #[doc = $meaning]
            pub const $constant: Code = Code {
                known: &CodeEntry::new($stage, $name, $meaning, $action)$(.$set($value))*,
            };
        )*
        pub(super) const TABLE: &[Code] = &[$($constant),*];
    };
}
use codes;

/// One table a stage, in the order of the pipeline.
const TABLES: &[&[Code]] = &[
    input::TABLE,
    model::TABLE,
    plan::TABLE,
    policy::TABLE,
    fit::TABLE,
    render::TABLE,
    source::TABLE,
    compile::TABLE,
    inspect::TABLE,
    cache::TABLE,
    load::TABLE,
    event::TABLE,
    run::TABLE,
    smoke::TABLE,
    graph::TABLE,
    expected::TABLE,
    bundle::TABLE,
];

/// Every code, by stage in the order of the pipeline, alphabetically within a stage.
pub fn all() -> impl Iterator<Item = &'static Code> {
    TABLES.iter().copied().flatten()
}

/// The code of this name, or `None` if there is no such code.
#[must_use]
pub fn lookup(name: &str) -> Option<&'static Code> {
    all().find(|code| code.name == name)
}

/// The kind of a failure with this code, reported by this stage.
///
/// Most stages fail in one way only; codes that differ from their stage are registered so. A code that isn't registered, of a
/// caller's own say, is [`FailureKind::Unknown`].
///
/// # Example
/// ```
/// use retort::diagnostics::Stage;
/// use retort::internal::codes::{FailureKind, classify_failure};
///
/// assert_eq!(classify_failure(Stage::Graph, "type_mismatch"), FailureKind::TestFailed);
/// assert_eq!(classify_failure(Stage::Plan, "invalid_json"), FailureKind::JsonInvalid);
/// assert_eq!(classify_failure(Stage::Plan, "no_such_code"), FailureKind::Unknown);
/// ```
#[must_use]
pub fn classify_failure(stage: Stage, code: &str) -> FailureKind {
    lookup(code).map_or(FailureKind::Unknown, |code| code.kind_at(stage))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_sorted_within_their_stage_and_unique_over_all() {
        let keys: Vec<_> = all().map(|code| (code.stage, code.name)).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        let codes: BTreeSet<_> = all().map(|code| code.name).collect();
        assert_eq!(codes.len(), keys.len(), "a code appears under two stages");
    }

    #[test]
    fn every_code_says_something_in_whole_sentences() {
        for CodeEntry { name, meaning, action, .. } in all().map(|code| code.known) {
            assert!(name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_')), "{name}");
            for text in [meaning, action] {
                assert!(text.len() > 20 && text.ends_with('.'), "{name}: {text}");
                assert!(text.starts_with(|c: char| c.is_uppercase()), "{name}: {text}");
                assert!(!text.contains("  "), "{name}: {text}");
            }
        }
    }

    #[test]
    fn every_code_is_given_by_something() {
        let mut found = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut named = BTreeSet::new();
        while let Some(path) = found.pop() {
            if path.is_dir() && !path.ends_with("diagnostics/codes") {
                let entries = std::fs::read_dir(&path).expect("the crate's own sources");
                found.extend(entries.filter_map(Result::ok).map(|entry| entry.path()));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("the crate's own sources");
                let is_apart = |c: char| !c.is_ascii_alphanumeric() && c != '_';
                named.extend(text.split(is_apart).map(str::to_owned));
            }
        }
        let unused: Vec<_> =
            all().filter(|code| !named.contains(&code.name.to_uppercase())).collect();
        assert!(unused.is_empty(), "{unused:?}");
    }

    #[test]
    fn only_whole_codes_are_found() {
        assert_eq!(lookup("manifest_missing").map(|code| code.stage), Some(Stage::Bundle));
        assert!(lookup("manifest").is_none());
        assert!(lookup("").is_none());
    }

    #[test]
    fn codes_of_one_stage_may_be_of_several_kinds() {
        for (stage, code, kind) in [
            (Stage::Plan, "unknown_field", FailureKind::SchemaInvalid),
            (Stage::Plan, "wrong_root_type", FailureKind::JsonInvalid),
            (Stage::Smoke, "nonempty_floor", FailureKind::TestFailed),
            (Stage::Smoke, "event_type_without_sample", FailureKind::MissingContext),
            (Stage::Smoke, "oracle_mismatch", FailureKind::ToolError),
            (Stage::Run, "out_of_fuel", FailureKind::TestFailed),
            (Stage::Model, "model_timeout", FailureKind::CommandFailed),
            (Stage::Inspect, "import_refused", FailureKind::UnsafeRequest),
        ] {
            assert_eq!(classify_failure(stage, code), kind, "{code}");
        }
    }
}
