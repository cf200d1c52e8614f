//! What is kept of each attempt.

use json_patch::Patch;
use serde::Serialize;

use super::Channel;
use super::usage::Tokens;
use crate::author::backend::Language;
use crate::author::repair::mechanical::Change;
use crate::diagnostics::finding::Finding;

/// One attempt: what was asked, what came of it, and how long it took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attempt {
    /// What happened. The same task, answers and gates give the same record, byte for byte.
    #[serde(flatten)]
    pub record: AttemptRecord,
    /// How long it took, in milliseconds, the model's answer and all gates included.
    pub ms: u64,
}

/// Who wrote the plan or the source of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptKind {
    /// The model.
    Model,
    /// Whoever handed the plan in.
    Given,
    /// Retort, by applying patches to what the model wrote. Costs no tokens, and none of the attempts that are allowed.
    Mechanical,
}

/// What happened in an attempt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttemptRecord {
    /// The attempt's number, from 1, over both kinds.
    pub number: usize,
    /// Who wrote it.
    pub kind: AttemptKind,
    /// What was asked for; not serialised where it was a plan.
    #[serde(skip_serializing_if = "Language::is_plan")]
    pub backend: Language,
    /// What the model was asked in this attempt: the last turn of the conversation. `None` where no model was asked.
    pub prompt: Option<String>,
    /// The answer, as it came; of a mechanical attempt, the repaired text.
    pub response: String,
    /// Why it failed; `None` where it was accepted.
    pub failure: Option<AttemptFailure>,
    /// What was fed forward to the next attempt. `None` where the attempt was accepted, and where it was the last.
    pub diagnostic: Option<String>,
    /// What is wrong with it, as data: the first 100 findings.
    pub findings: Vec<Finding>,
    /// How many more findings there were; not serialised where there were none.
    #[serde(skip_serializing_if = "is_none")]
    pub findings_left_out: usize,
    /// What the model says that no plan can say, or no extractor do, escaped and bounded; not serialised where it says nothing of the kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cannot_express: Vec<String>,
    /// The patch that made this plan of the one before (RFC 6902); mechanical attempts have one.
    pub patch: Option<Patch>,
    /// What that changed, place by place, with what was there before and after; not serialised where nothing was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// What the answer cost.
    pub usage: Tokens,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttemptFailure {
    /// The one channel through which the failure is reported.
    pub channel: Channel,
    /// The stable code.
    pub code: String,
    /// The code in measurement records: `plan_parse_error:<code>`, `render_error` or `compile:<category>`.
    pub failure_code: String,
    /// The gist, on one line, escaped and bounded.
    pub message: String,
}
