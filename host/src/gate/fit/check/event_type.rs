//! Event types: whether there are samples of each.

use crate::diagnostics::codes::EVENT_TYPE_WITHOUT_SAMPLE;
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::Evidence;
use crate::evidence::effort::StepBudget;
use crate::evidence::similarity::slip::{Slip, slip};
use crate::gate::fit::suggest::{likely_event_type_of, likely_prefix};
use crate::plan::{EventPattern, Plan};

/// How many event types a message names.
const MAX_NAMED: usize = 8;

/// Each entry of the plan's event types that no sample matches.
pub(in crate::gate::fit) fn check(
    plan: &Plan,
    evidence: &Evidence,
    effort: &StepBudget,
) -> Vec<Finding> {
    let types = plan.event_types();
    let lacks_samples = |(_, pattern): &(usize, &EventPattern)| {
        !evidence.event_types().any(|(name, _)| pattern.matches(name))
    };
    let unmatched = types.patterns().iter().enumerate().filter(lacks_samples);
    let is_unseen = |index| plan.unseen_at(&plan.event_type_pointer(index)).is_some();
    let unmatched = unmatched.filter(|(index, _)| !is_unseen(*index));
    // Where no event is read otherwise, what the plan reads shows for which ones it was written.
    let is_only = |at: usize| {
        let others = types.patterns().iter().enumerate().filter(|(index, _)| *index != at);
        let mut others = others.map(|(_, pattern)| pattern);
        !others.any(|it| evidence.event_types().any(|(name, _)| it.matches(name)))
    };
    let finding = |(index, pattern): (usize, &EventPattern)| {
        let at = plan.event_type_pointer(index);
        let finding = unknown(&at, pattern, evidence);
        let meant = match pattern {
            EventPattern::Exact(written) => {
                likely_event_type_of(plan, Some(written), evidence, effort)
                    .map(|likely| likely.map(str::to_owned))
            }
            EventPattern::Prefix(written) => likely_prefix(written, evidence, effort),
        };
        let written = pattern.to_string();
        let meant = meant.map(|it| {
            let is_meant =
                slip(&written, &it.item).is_some_and(|it| it != Slip::Doubtful) || is_only(index);
            it.only_if(is_meant)
        });
        match meant {
            // Of an entry that is there already, this one is the second.
            Some(likely) if types.patterns().contains(&EventPattern::new(&likely.item)) => {
                finding.with_suggestion(patch::remove(&at))
            }
            meant => finding.suggesting(meant.map(|it| it.replacing(&at))),
        }
    };
    unmatched.map(finding).collect()
}

fn unknown(at: &str, pattern: &EventPattern, evidence: &Evidence) -> Finding {
    let mut names: Vec<String> =
        evidence.event_types().take(MAX_NAMED + 1).map(|(name, _)| quoted(name)).collect();
    if names.len() > MAX_NAMED {
        names[MAX_NAMED] = "...".to_owned();
    }
    let (expected, verb) = match pattern {
        EventPattern::Exact(_) => ("an event type that a sample has", "has"),
        EventPattern::Prefix(_) => ("the beginning of an event type that a sample has", "matches"),
    };
    Finding::new(
        Stage::Fit,
        EVENT_TYPE_WITHOUT_SAMPLE,
        at,
        format!("{expected}: {}", names.join(", ")),
        format!("{}, which no sample {verb}", quoted(&pattern.to_string())),
    )
}
