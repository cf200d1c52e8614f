//! What a plan says that no sample shows: which of it is so, and which is shown after all.

use crate::diagnostics::codes;
use crate::diagnostics::problem::{Problem, Stage};
use crate::diagnostics::untrusted::quoted;
use crate::evidence::effort::{Cancel, StepBudgets};
use crate::evidence::{Evidence, PathIndex, dotted};
use crate::gate::fit::check::unseen_keys;
use crate::gate::fit::scope::{Elements, Scopes};
use crate::plan::expr::{ForEach, Query};
use crate::plan::{EventPattern, Plan, Read, Role};

/// How many paths a message names.
const MAX_NAMED: usize = 4;

/// What is to be said of all that a plan says `unseen` of: that nothing was tried of it, or that the samples show it. Nothing is said of
/// what an event schema declares: there may be such a thing, and no sample has it.
pub(crate) fn warnings(plan: &Plan, evidence: &Evidence) -> Vec<Problem> {
    if plan.unseen().next().is_none() {
        return Vec::new();
    }
    let efforts = StepBudgets::new(&Cancel::default());
    let types: Vec<&str> = evidence.event_types().map(|(name, _)| name).collect();
    let types: Vec<&str> = types.into_iter().filter(|it| plan.event_types().matches(it)).collect();
    let elements = Elements::new(plan, evidence);
    let scopes = Scopes::new(evidence, &elements, &types, &efforts);
    let reads = plan.reads();
    let expressions = plan.expressions();
    let patterns = plan.event_types().patterns().iter().enumerate();
    let patterns: Vec<(String, &EventPattern)> =
        patterns.map(|(index, it)| (plan.event_type_pointer(index), it)).collect();
    let warning = |at: &str| {
        if let Some((_, pattern)) = patterns.iter().find(|(pointer, _)| pointer == at) {
            return Some(of_event_type(at, pattern, evidence));
        }
        let own = reads.iter().filter(|read| plan.unseen_at(&read.pointer) == Some(at));
        let mut shown = Shown::default();
        for read in own {
            match expressions.iter().find(|(pointer, _)| *pointer == read.pointer) {
                // An expression is looked at as a whole.
                Some((_, query)) => shown.expression(query, read.for_each, &scopes),
                None => shown.path(read, &scopes),
            }
        }
        shown.warning(at)
    };
    plan.unseen().filter_map(warning).collect()
}

/// What samples show of something that is said to be unseen.
#[derive(Default)]
pub(super) struct Shown {
    unseen: Vec<String>,
    is_declared: bool,
}

impl Shown {
    /// Of one path.
    pub(super) fn path(&mut self, read: &Read<'_>, scopes: &Scopes<'_>) {
        match known(read, scopes.at(read.for_each, read.reference.level)) {
            Known::Seen => {}
            Known::Declared => self.is_declared = true,
            Known::Neither => self.unseen.push(dotted(&read.reference.path)),
        }
    }

    /// Of an expression as a whole.
    pub(super) fn expression(
        &mut self,
        query: &Query,
        for_each: Option<&ForEach>,
        scopes: &Scopes<'_>,
    ) {
        self.unseen.extend(unseen_keys(query, for_each, scopes));
    }

    /// What is to be said of all of it.
    pub(super) fn warning(mut self, at: &str) -> Option<Problem> {
        self.unseen.dedup();
        match (self.unseen.is_empty(), self.is_declared) {
            (false, _) => Some(of_paths(at, &self.unseen)),
            (true, false) => Some(superfluous(at, "samples show all that it reads")),
            (true, true) => None,
        }
    }
}

/// By what a path is known.
enum Known {
    Seen,
    Declared,
    Neither,
}

fn known(read: &Read<'_>, known: Option<&PathIndex<'_>>) -> Known {
    let Some(known) = known else { return Known::Neither };
    let path = &read.reference.path;
    let is_element = path.is_empty() && read.role != Role::ForEach;
    if (is_element && known.count() > 0) || known.is_in_samples(path) {
        return Known::Seen;
    }
    if known.has(path) { Known::Declared } else { Known::Neither }
}

fn of_event_type(at: &str, pattern: &EventPattern, evidence: &Evidence) -> Problem {
    if evidence.event_types().any(|(name, _)| pattern.matches(name)) {
        return superfluous(at, "there are samples of it");
    }
    let name = quoted(&pattern.to_string());
    let message = format!("no sample has the event type {name}, so nothing was tried of it");
    Problem::new(Stage::Fit, codes::UNSEEN_EVENT_TYPE, message).at(at)
}

fn of_paths(at: &str, paths: &[String]) -> Problem {
    let mut names: Vec<String> = paths.iter().take(MAX_NAMED).map(|it| quoted(it)).collect();
    let more = paths.len() - names.len();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let message = format!("no sample shows {}: what comes of it was not tried", names.join(", "));
    Problem::new(Stage::Fit, codes::UNSEEN_PATH, message).at(at)
}

fn superfluous(at: &str, why: &str) -> Problem {
    let message = format!("it says \"unseen\", and {why}");
    Problem::new(Stage::Fit, codes::SUPERFLUOUS_UNSEEN, message).at(at)
}
