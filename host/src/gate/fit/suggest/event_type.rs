//! The event type that was meant.

use std::collections::BTreeMap;

use super::{LOOKUP, is_presentable};
use crate::evidence::Evidence;
use crate::evidence::effort::StepBudget;
use crate::evidence::similarity::ranking::{Likely, best};
use crate::evidence::similarity::{TYPO_MARGIN, TYPO_THRESHOLD, spelling};
use crate::plan::{Plan, Read, Role};

/// The prefix that was meant by one that nothing begins with: of those that sample types begin with, up to one of their
/// dots, the one that is most like it.
pub(crate) fn likely_prefix(
    written: &str,
    evidence: &Evidence,
    effort: &StepBudget,
) -> Option<Likely<String>> {
    let mut prefixes: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, _) in evidence.event_types().filter(|(name, _)| is_presentable(name)) {
        for (dot, _) in name.match_indices('.') {
            let prefix = name.get(..dot).unwrap_or_default();
            prefixes.insert(prefix, spelling::names(written, prefix, effort));
        }
    }
    let nearest =
        effort.whole(best(prefixes.into_iter().map(|(prefix, score)| (score, prefix))))?;
    let likely = Likely::new(format!("{}.*", nearest.item), nearest.is_clear_typo());
    (nearest.score >= TYPO_THRESHOLD).then_some(likely)
}

/// The event type that a plan was meant for, by what it says of it and by the paths that its properties start at the event.
pub(crate) fn likely_event_type_of<'e>(
    plan: &Plan,
    written: Option<&str>,
    evidence: &'e Evidence,
    effort: &StepBudget,
) -> Option<Likely<&'e str>> {
    let reads = plan.reads();
    let at_event = |read: &&Read<'_>| {
        read.reference.level.is_event() && matches!(read.role, Role::Key | Role::Property)
    };
    let of_properties = || reads.iter().filter(at_event);
    let key = of_properties().find(|read| read.role == Role::Key);
    let key = key.map(|read| read.reference.path.as_slice());
    let paths: Vec<&[String]> = of_properties().map(|it| it.reference.path.as_slice()).collect();
    likely_event_type(written, key, &paths, evidence, effort)
}

/// The event type that was meant: the one whose name is nearest to what was written, or else the one in whose samples the
/// most of the paths occur; certain where all of them do, and the key's is among them. That there is no other type says
/// nothing: the plan may be for one that has no samples.
pub(crate) fn likely_event_type<'e>(
    written: Option<&str>,
    key: Option<&[String]>,
    paths: &[&[String]],
    evidence: &'e Evidence,
    effort: &StepBudget,
) -> Option<Likely<&'e str>> {
    let lookups = (paths.len() + 1) * evidence.event_types().count();
    if !effort.take(LOOKUP * lookups as u64) {
        return None;
    }
    let types = || evidence.event_types().map(|(name, _)| name).filter(|name| is_presentable(name));
    let score = |name: &str| written.map_or(0.0, |written| alike(written, name, effort));
    let mut scored: Vec<(f64, &str)> = types().map(|name| (score(name), name)).collect();
    let nearest = effort.whole(best(scored.iter().copied()))?;
    if nearest.is_clear_typo() {
        return Some(Likely::new(nearest.item, true));
    }
    // Of those with as many of the paths, the one with the nearest name.
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let count = |name: &str| paths.iter().filter(|path| evidence.knows(name, path)).count();
    let counts = scored.iter().map(|(_, name)| count(name));
    let most = best(counts.zip(&scored).map(|(count, (_, name))| (count as f64, (count, *name))))?;
    let (count, name) = most.item;
    let has_key = key.is_some_and(|key| evidence.knows(name, key));
    let certain = has_key && count == paths.len() && most.margin > 0.0;
    (scored.len() == 1 || count > 0).then(|| Likely::new(name, certain))
}

/// How alike two event types are. A family and one of its members are, for want of a better one.
fn alike(a: &str, b: &str, effort: &StepBudget) -> f64 {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let is_part = |short: &str, long: &str| {
        !short.is_empty() && (long.starts_with(short) || long.ends_with(short))
    };
    let part = if is_part(short, long) {
        TYPO_THRESHOLD + 2.0 * TYPO_MARGIN
    } else if is_part(&spelling::plain(short), &spelling::plain(long)) {
        TYPO_THRESHOLD
    } else {
        0.0
    };
    spelling::names(a, b, effort).max(part)
}
