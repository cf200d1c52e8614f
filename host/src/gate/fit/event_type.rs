//! Event types: whether there are samples of each, and which one was meant.

use std::collections::BTreeMap;

use super::nearest::is_presentable;
use super::{EVENT_TYPE_WITHOUT_SAMPLE, likeness};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::Evidence;
use crate::evidence::effort::Effort;
use crate::plan::{EventPattern, Plan, Role};

/// How many event types a message names.
const MAX_NAMED: usize = 8;

/// How alike two event types have to be for one to be a slip of the other, and how far ahead of the next one.
const SLIP: f64 = 0.75;
const LEAD: f64 = 0.05;

/// What it costs to see whether samples of a type have a path, in steps.
const LOOKUP: u64 = 100;

/// Each entry of the plan's event types that no sample matches.
pub(super) fn check(plan: &Plan, evidence: &Evidence, effort: &Effort) -> Vec<Finding> {
    let reads = plan.reads();
    let at_event = || reads.iter().filter(|read| read.reference.level.is_event());
    let key = at_event().find(|read| read.role == Role::Key);
    let key = key.map(|read| read.reference.path.as_slice());
    let paths: Vec<&[String]> = at_event()
        .filter(|read| matches!(read.role, Role::Key | Role::Property))
        .map(|read| read.reference.path.as_slice())
        .collect();
    let types = plan.event_types();
    let lacks_samples = |(_, pattern): &(usize, &EventPattern)| {
        !evidence.event_types().any(|(name, _)| pattern.matches(name))
    };
    let unmatched = types.patterns().iter().enumerate().filter(lacks_samples);
    let finding = |(index, pattern): (usize, &EventPattern)| {
        let at = match types.is_listed() {
            true => format!("/event_type/{index}"),
            false => "/event_type".to_owned(),
        };
        let finding = unknown(&at, pattern, evidence);
        let meant = match pattern {
            EventPattern::Exact(written) => likely(Some(written), key, &paths, evidence, effort)
                .map(|(name, certain)| (name.to_owned(), certain)),
            EventPattern::Prefix(written) => family(written, evidence, effort),
        };
        match meant {
            // Of an entry that is there already, this one is the second.
            Some((name, _)) if types.patterns().contains(&EventPattern::new(&name)) => {
                finding.with_suggestion(patch::remove(&at))
            }
            Some((name, true)) => finding.with_fix(patch::replace(&at, name)),
            Some((name, false)) => finding.with_suggestion(patch::replace(&at, name)),
            None => finding,
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

/// The prefix that was meant by one that nothing begins with: of those that sample types begin with, up to one of their
/// dots, the one that is most like it.
fn family(written: &str, evidence: &Evidence, effort: &Effort) -> Option<(String, bool)> {
    let mut families: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, _) in evidence.event_types().filter(|(name, _)| is_presentable(name)) {
        for (dot, _) in name.match_indices('.') {
            let family = name.get(..dot).unwrap_or_default();
            families.insert(family, likeness::names(written, family, effort));
        }
    }
    let mut families: Vec<(f64, &str)> =
        families.into_iter().map(|(it, score)| (score, it)).collect();
    families.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (score, family) = *effort.whole(families.first())?;
    let second = families.get(1).map_or(0.0, |second| second.0);
    (score >= SLIP).then(|| (format!("{family}.*"), score - second >= LEAD))
}

/// The event type that was meant, and whether nothing else could be: the one whose name is nearest to what was written, or
/// else the one in whose samples the most of the paths occur; all of them, and the key's among them, where it is certain.
/// That there is no other type says nothing: the plan may be for one that has no samples. None where the search ends for want
/// of effort.
pub(crate) fn likely<'e>(
    written: Option<&str>,
    key: Option<&[String]>,
    paths: &[&[String]],
    evidence: &'e Evidence,
    effort: &Effort,
) -> Option<(&'e str, bool)> {
    let lookups = (paths.len() + 1) * evidence.event_types().count();
    if !effort.take(LOOKUP * lookups as u64) {
        return None;
    }
    let known = |name: &str| paths.iter().filter(|path| evidence.knows(name, path)).count();
    let mut types: Vec<(f64, usize, &str)> = evidence
        .event_types()
        .filter(|(name, _)| is_presentable(name))
        .map(|(name, _)| (written.map_or(0.0, |it| alike(it, name, effort)), known(name), name))
        .collect();
    effort.whole(Some(()))?;
    types.sort_by(|a, b| b.0.total_cmp(&a.0));
    let second = types.get(1).map_or(0.0, |second| second.0);
    if let Some(first) = types.first()
        && first.0 >= SLIP
        && first.0 - second >= LEAD
    {
        return Some((first.2, true));
    }
    let is_only = types.len() == 1;
    // Stable: of equals, the one with the nearest name.
    types.sort_by_key(|(_, known, _)| std::cmp::Reverse(*known));
    let second = types.get(1).map_or(0, |second| second.1);
    let (_, count, name) = *types.first()?;
    let has_key = key.is_some_and(|key| evidence.knows(name, key));
    let certain = has_key && count == paths.len() && count > second;
    (is_only || count > 0).then_some((name, certain))
}

/// How alike two event types are. A family and one of its members are, for want of a better one.
fn alike(a: &str, b: &str, effort: &Effort) -> f64 {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let exactly = !short.is_empty() && (long.starts_with(short) || long.ends_with(short));
    let (short, long) = (likeness::plain(short), likeness::plain(long));
    let within = !short.is_empty() && (long.starts_with(&short) || long.ends_with(&short));
    let part = if exactly { SLIP + 2.0 * LEAD } else { SLIP };
    likeness::names(a, b, effort).max(if within { part } else { 0.0 })
}
