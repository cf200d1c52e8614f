//! What a person reads at the end of a failure.

use std::fmt;

use serde::Serialize;

use super::advice::{self, NAME_CHARS, names};
use super::{Attempt, AttemptKind, History, LoopCause, LoopError, LoopOutcome, Reason};
use crate::author::backend::{Backend, Language};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::sanitize;
use crate::evidence::Task;

/// How much of a rule is repeated, in characters.
const RULE_CHARS: usize = 160;

/// How many attempts are listed; of more, the first ones and the last.
const MAX_TRIED: usize = 8;

/// How long a line is, in characters, apart from what heads it.
const LINE_CHARS: usize = 400;

/// A failure in plain words: as data, or by its `Display` as a short text of several lines.
///
/// Text of models, events and guests in it is escaped and bounded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    /// What was asked, and of whom.
    pub asked: String,
    /// What was tried, an attempt each, oldest first; of many, the first ones and the last.
    pub tried: Vec<String>,
    /// What is in the way.
    pub in_the_way: String,
    /// What could be changed in rule, schema, graph spec, samples or configuration; at least one thing.
    pub change: Vec<String>,
}

impl Account {
    /// Why nothing passed; `None` where something did.
    #[must_use]
    pub fn of_outcome<A>(outcome: &LoopOutcome<A>, task: &Task) -> Option<Self> {
        if outcome.ok() {
            return None;
        }
        let history = outcome.history();
        let last = history.attempts.last();
        Some(Self {
            asked: asked(history, task),
            tried: tried(&history.attempts),
            in_the_way: in_the_way(outcome.reason(), history),
            change: advice::after_outcome(outcome.reason(), last, history.usage, task),
        })
    }

    /// Why the loop broke off.
    #[must_use]
    pub fn of_error(error: &LoopError, task: &Task) -> Self {
        let history = error.history();
        let what = match error.cause() {
            LoopCause::Prompt(_) => "There was nothing to ask",
            LoopCause::Model(_) => "The model gave no answer",
            LoopCause::Gate(_) => match error.history().attempts.last() {
                Some(last) if last.record.backend == Language::Rust => {
                    "The source could not be judged"
                }
                _ => "The plan could not be judged",
            },
        };
        Self {
            asked: asked(history, task),
            tried: tried(&history.attempts),
            in_the_way: sanitize(&format!("{what}: {error} [{}]", error.code()), LINE_CHARS),
            change: advice::after_error(error.entry()),
        }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "What was asked: {}", self.asked)?;
        writeln!(f, "What was tried:{}", if self.tried.is_empty() { " nothing" } else { "" })?;
        for line in &self.tried {
            writeln!(f, "  - {line}")?;
        }
        writeln!(f, "What stands in the way: {}", self.in_the_way)?;
        write!(f, "What to change:")?;
        for line in &self.change {
            write!(f, "\n  - {line}")?;
        }
        Ok(())
    }
}

fn asked(history: &History, task: &Task) -> String {
    let rule = match task.rule() {
        Some(rule) => {
            let words = rule.text().split_whitespace().collect::<Vec<_>>().join(" ");
            format!("the rule `{}`", sanitize(&words, RULE_CHARS))
        }
        None => "no rule".to_owned(),
    };
    let types = names(task.evidence().event_types().map(|(name, _)| name));
    let entities = names(task.graph().entities().iter().map(|entity| entity.name.as_str()));
    let count = task.samples().iter().count();
    let samples = if count == 1 { "1 sample".to_owned() } else { format!("{count} samples") };
    let model = sanitize(&history.model, NAME_CHARS);
    let what = match history.backend {
        Backend::Plan => "a plan",
        Backend::Rust => "an extractor in Rust",
        Backend::Auto => "a plan, or an extractor in Rust,",
    };
    format!(
        "{what} by {rule}, with {samples} (event types: {types}) and a graph spec (entities: {entities}), of the model {model}."
    )
}

fn tried(attempts: &[Attempt]) -> Vec<String> {
    let mut lines: Vec<_> = attempts.iter().map(line).collect();
    let left_out = lines.len().saturating_sub(MAX_TRIED);
    if left_out > 0 {
        let from = MAX_TRIED / 2;
        let note = format!("... and {left_out} more that failed");
        lines.splice(from..from + left_out, [note]);
    }
    lines
}

fn line(attempt: &Attempt) -> String {
    let record = &attempt.record;
    let who = match record.kind {
        AttemptKind::Model if record.backend == Language::Rust => "the model's answer in Rust",
        AttemptKind::Model => "the model's answer",
        AttemptKind::Given => "the plan as it was given",
        AttemptKind::Mechanical => "the same, repaired without a model",
    };
    let number = record.number;
    match &record.failure {
        Some(failure) => {
            format!("{number}: {who}: {} [{}]", failure.message, failure.code)
        }
        None => format!("{number}: {who}: accepted"),
    }
}

fn in_the_way(reason: Reason, history: &History) -> String {
    let asked = history.attempts.iter().filter(|it| it.record.kind == AttemptKind::Model).count();
    let used = history.usage.total();
    let about = if history.usage.estimated { "about " } else { "" };
    let seconds = history.wall_time().as_secs();
    let ended = match reason {
        Reason::Succeeded => "Something passed every gate".to_owned(),
        Reason::MaxAttemptsReached if asked == 1 => {
            "The one answer that was allowed failed".to_owned()
        }
        Reason::MaxAttemptsReached => format!("All {asked} answers that were allowed failed"),
        Reason::RepeatedFailure => {
            format!("The model's answers keep failing in the same way, after {asked} of them")
        }
        Reason::TokenBudgetSpent if used == 0 => {
            "The token budget is less than the prompt alone would cost".to_owned()
        }
        Reason::TokenBudgetSpent => format!("The token budget is spent ({about}{used} tokens)"),
        Reason::WallBudgetSpent => format!("The time that was allowed is over (after {seconds} s)"),
        Reason::Refused => "The model declined to answer".to_owned(),
        Reason::CannotExpress => match history.attempts.last().map(|it| it.record.backend) {
            Some(Language::Rust) => {
                "The model says that no extractor can do what the rule asks for".to_owned()
            }
            _ => "The model says that no plan can say what the rule asks for".to_owned(),
        },
        Reason::NothingCertain => "What is left has no one remedy".to_owned(),
        Reason::Escalated => "A failure of this kind or code is left to a person".to_owned(),
    };
    let last = history.attempts.last().and_then(|attempt| attempt.record.failure.as_ref());
    match last {
        Some(failure) => {
            format!("{ended}. The last failure: {} [{}]", failure.message, failure.code)
        }
        None => format!("{ended}."),
    }
}
