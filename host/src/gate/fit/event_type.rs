//! The event type: whether there are samples of it, and which one was meant.

use super::nearest::is_presentable;
use super::{EVENT_TYPE_WITHOUT_SAMPLE, likeness};
use crate::finding::{Finding, patch};
use crate::plan::Plan;
use crate::problem::Stage;
use crate::task::Task;
use crate::task::evidence::Evidence;
use crate::untrusted::quoted;

/// How many event types a message names.
const MAX_NAMED: usize = 8;

/// How alike two event types have to be for one to be a slip of the other, and how far ahead of the next one.
const SLIP: f64 = 0.75;
const LEAD: f64 = 0.05;

pub(super) fn check(plan: &Plan, task: &Task) -> Option<Finding> {
    let evidence = task.evidence();
    if evidence.of(plan.event_type()).is_some() {
        return None;
    }
    let mut names: Vec<String> =
        evidence.event_types().take(MAX_NAMED + 1).map(|(name, _)| quoted(name)).collect();
    if names.len() > MAX_NAMED {
        names[MAX_NAMED] = "...".to_owned();
    }
    let finding = Finding::new(
        Stage::Fit,
        EVENT_TYPE_WITHOUT_SAMPLE,
        "/event_type",
        format!("an event type that a sample has: {}", names.join(", ")),
        format!("{}, which no sample has", quoted(plan.event_type())),
    );
    let paths: Vec<&[String]> = std::iter::once(plan.key_field())
        .chain(plan.property_fields())
        .map(|field| field.source_path())
        .collect();
    let key = plan.key_field().source_path();
    Some(match likely(Some(plan.event_type()), Some(key), &paths, evidence) {
        Some((name, true)) => finding.mended_by(patch::replace("/event_type", name)),
        Some((name, false)) => finding.perhaps(patch::replace("/event_type", name)),
        None => finding,
    })
}

/// The event type that was meant, and whether nothing else could be: the one whose name is nearest to what was written, or
/// else the one in whose samples the most of the paths occur; all of them, and the key's among them, where it is certain.
/// That there is no other type says nothing: the plan may be for one that has no samples.
pub(crate) fn likely<'e>(
    written: Option<&str>,
    key: Option<&[String]>,
    paths: &[&[String]],
    evidence: &'e Evidence,
) -> Option<(&'e str, bool)> {
    let known = |name: &str| paths.iter().filter(|path| evidence.knows(name, path)).count();
    let mut types: Vec<(f64, usize, &str)> = evidence
        .event_types()
        .filter(|(name, _)| is_presentable(name))
        .map(|(name, _)| (written.map_or(0.0, |it| alike(it, name)), known(name), name))
        .collect();
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
fn alike(a: &str, b: &str) -> f64 {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let exactly = !short.is_empty() && (long.starts_with(short) || long.ends_with(short));
    let (short, long) = (likeness::plain(short), likeness::plain(long));
    let within = !short.is_empty() && (long.starts_with(&short) || long.ends_with(&short));
    let part = if exactly { SLIP + 2.0 * LEAD } else { SLIP };
    likeness::names(a, b).max(if within { part } else { 0.0 })
}
