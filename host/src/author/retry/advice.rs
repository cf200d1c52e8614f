//! What a person could change after a failure.

use serde_json::Value;

use super::{Attempt, Reason, Tokens};
use crate::author::answer;
use crate::author::backend::Language;
use crate::diagnostics::codes::{self, Code, FailureKind};
use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::sanitize;
use crate::evidence::Task;

/// How many things are named that could be changed.
const MAX_ADVICE: usize = 5;

/// How long one of them may be, in characters.
const ADVICE_CHARS: usize = 500;

/// How many names of a kind are listed.
const MAX_NAMES: usize = 6;

/// How long a name may be, in characters.
pub(super) const NAME_CHARS: usize = 80;

/// What could be changed where a loop came to its end without a plan, most helpful first; at least one thing.
pub(super) fn after_outcome(
    reason: Reason,
    last: Option<&Attempt>,
    usage: Tokens,
    task: &Task,
) -> Vec<String> {
    let of_last = last.map(|attempt| of_attempt(attempt, task)).unwrap_or_default();
    let language = last.map_or(Language::Plan, |attempt| attempt.record.backend);
    bounded(of_last.into_iter().chain(of_reason(reason, language, usage)))
}

/// What could be changed where it broke off with an error of this code.
pub(super) fn after_error(code: Code) -> Vec<String> {
    let advice = of_limit(code, None).unwrap_or_else(|| code.action.to_owned());
    bounded(std::iter::once(advice))
}

/// Each advice once, escaped and cut, and not more of them than anybody reads.
fn bounded(advice: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for line in advice {
        let line = sanitize(&line, ADVICE_CHARS);
        if !kept.contains(&line) && kept.len() < MAX_ADVICE {
            kept.push(line);
        }
    }
    if kept.is_empty() {
        kept.push(
            "Say more exactly in the rule which event type and which fields are meant.".to_owned(),
        );
    }
    kept
}

fn of_code(code: &str) -> Option<String> {
    codes::lookup(code).map(|entry| entry.action.to_owned())
}

/// What can be done about the limit that a code is about, if it can be set.
fn of_limit(code: Code, usage: Option<(u64, u64)>) -> Option<String> {
    code.limit?.advice(usage)
}

fn of_reason(reason: Reason, language: Language, usage: Tokens) -> Option<String> {
    let text = match reason {
        Reason::TokenBudgetSpent if usage.total() == 0 => {
            "Allow more tokens, or give fewer samples: a prompt costs about a token for four characters."
                .to_owned()
        }
        Reason::TokenBudgetSpent => {
            format!("Allow more than {} tokens.", usage.total())
        }
        Reason::WallBudgetSpent => {
            "Allow more time, or use a model that answers faster.".to_owned()
        }
        Reason::RepeatedFailure => {
            "Asking the same model the same again won't help: change what is named above, or use another model."
                .to_owned()
        }
        Reason::CannotExpress if language.is_plan() => {
            "Let the model write Rust where plans can't say it (`--backend auto`).".to_owned()
        }
        Reason::MaxAttemptsReached => "Allow more attempts, or use another model.".to_owned(),
        Reason::Succeeded
        | Reason::Refused
        | Reason::Escalated
        | Reason::CannotExpress
        | Reason::NothingCertain => return None,
    };
    Some(text)
}

fn of_attempt(attempt: &Attempt, task: &Task) -> Vec<String> {
    let record = &attempt.record;
    let Some(failure) = &record.failure else { return Vec::new() };
    let response = Some(record.response.as_str()).filter(|it| it.len() <= answer::MAX_BYTES);
    let plan = response.and_then(|it| serde_json::from_str::<Value>(it).ok()).unwrap_or_default();
    // Of what several samples took of a limit, the most is what counts.
    let usage = |code: Code| {
        let of_code = record.findings.iter().filter(|it| it.code == code);
        of_code.filter_map(Finding::usage).max()
    };
    let of_finding = |finding: &Finding| {
        if let Some(advice) = of_limit(finding.code, usage(finding.code)) {
            return advice;
        }
        let kind = finding.code.kind_at(finding.gate);
        let subject = match record.backend {
            Language::Plan => subject(&plan, finding),
            Language::Rust if finding.pointer.is_empty() => "The source".to_owned(),
            Language::Rust => sanitize(&finding.pointer, NAME_CHARS),
        };
        let said = format!("expected {}, found {}", finding.expected, finding.observed);
        if record.backend == Language::Rust && is_of_the_source(finding.gate) {
            return format!("{subject}: {said}. {OTHER_MODEL}");
        }
        match remedy(kind, finding.code.name, task) {
            // The form of the whole answer is nobody's to change here.
            Some(remedy) if finding.pointer.is_empty() && is_of_the_answer(kind) => remedy,
            Some(remedy) => format!("{subject}: {said}. {remedy}"),
            None => format!("{subject}: {said}."),
        }
    };
    let mut advice: Vec<_> = record.findings.iter().map(of_finding).collect();
    if advice.is_empty() {
        let entry = codes::lookup(&failure.code);
        let kind = entry.map_or(FailureKind::Unknown, |code| code.kind_at(code.stage));
        let of_limit = entry.and_then(|code| of_limit(*code, None));
        let of_kind = || remedy(kind, &failure.code, task).or_else(|| of_code(&failure.code));
        advice.extend(of_limit.or_else(of_kind));
    }
    advice
}

/// What can be done about source that no gate takes.
const OTHER_MODEL: &str = "Use a model that writes better Rust, or correct the source by hand; nothing in rule, schema or samples is wrong by this.";

/// Whether a gate judges an extractor in Rust without running it.
fn is_of_the_source(gate: Stage) -> bool {
    gate > Stage::Fit && gate < Stage::Event
}

/// Whether failures of this kind are about the answer as such, and not about what the plan says.
fn is_of_the_answer(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::JsonInvalid | FailureKind::CommandFailed)
}

/// What a finding is about: by the name of the property if it is about one, and that of the node or edge that has it, where
/// the plan lists these.
fn subject(plan: &Value, finding: &Finding) -> String {
    let pointer = finding.pointer.as_str();
    let mut place = pointer;
    let mut property = None;
    loop {
        let name = |field: &str| {
            let name = plan.pointer(place)?.get(field)?.as_str()?;
            Some(sanitize(name, NAME_CHARS))
        };
        property = property.or_else(|| name("property_name"));
        if let Some(owner) = name("relationship_name").or_else(|| name("entity_name")) {
            return match property {
                Some(property) => format!("Property `{property}` of `{owner}`"),
                None => format!("`{owner}`, in the plan at {pointer}"),
            };
        }
        match (place.rfind('/'), property.as_deref()) {
            (Some(end), _) => place = &place[..end],
            (None, Some(property)) => return format!("Property `{property}`"),
            (None, None) if pointer.is_empty() => return "The plan".to_owned(),
            (None, None) => return format!("The plan at {pointer}"),
        }
    }
}

/// What a person can do about a failure that the model couldn't repair.
fn remedy(kind: FailureKind, code: &str, task: &Task) -> Option<String> {
    let entry = codes::lookup(code);
    if let Some(advice) = entry.and_then(|code| code.in_rule) {
        // An advice names one list at most.
        let text = if advice.contains("{event_types}") {
            let types = task.evidence().event_types().map(|(name, _)| name);
            advice.replace("{event_types}", &names(types))
        } else {
            let entities = task.graph().entities().iter().map(|entity| entity.name.as_str());
            advice.replace("{entities}", &names(entities))
        };
        return Some(text);
    }
    // No sample and no word of the rule makes a plan cheaper or smaller.
    if entry.is_some_and(|code| code.limit.is_some()) {
        return of_code(code);
    }
    let text = match kind {
        FailureKind::JsonInvalid | FailureKind::SchemaInvalid => {
            "Use a model that can be held to a JSON Schema; nothing in rule, schema or samples is wrong by this."
        }
        FailureKind::UnsafeRequest => "Leave it out of the rule, or grant it in the policy.",
        FailureKind::ReasoningError => {
            "Name the field in the rule by its whole path, or add a sample in which it occurs."
        }
        FailureKind::TestFailed => {
            "Add a sample that shows what is meant, or say it more exactly in the rule."
        }
        _ => return of_code(code),
    };
    Some(text.to_owned())
}

/// Names in a row, the first few of them.
pub(super) fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<_> = names.map(|name| sanitize(name, NAME_CHARS)).collect();
    let shown = all.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(MAX_NAMES) {
        0 if all.is_empty() => "no name".to_owned(),
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
