//! What occurs in the samples: for each event type its paths, with kinds, coverage and a few values.

use super::lines::{Lines, NAME_CHARS, Wanted};
use super::redact::{is_data, redacted};
use crate::evidence::{Evidence, Observed, Path, SampleEvents};
use crate::fence;
use crate::policy::FieldPolicy;

/// How much is shown of all samples together, in characters.
const EVENTS_CHARS: usize = 32_000;

/// How many event types are shown.
const MAX_EVENT_TYPES: usize = 40;

/// How many values of a path are shown.
const MAX_VALUES: usize = 3;

const INTRODUCTION: &str = "
## What occurs in the samples

A line for each path: the path as a plan writes it, the kinds of its values, in how many samples it is, how many
different values it has, and some of them. A value in angle brackets stands for one of that shape.
";

pub(super) fn section(evidence: &Evidence, policy: &FieldPolicy, wanted: &Wanted) -> String {
    let mut types: Vec<(bool, &str, &SampleEvents)> = evidence
        .event_types()
        .map(|(name, events)| (wanted.mentions(name), name, events))
        .filter(|(_, name, _)| name.chars().count() <= NAME_CHARS)
        .collect();
    types.sort_by_key(|(is_named, ..)| !is_named);
    types.truncate(MAX_EVENT_TYPES);
    let mut text = INTRODUCTION.to_owned();
    let mut left = EVENTS_CHARS;
    for (index, &(is_named, name, events)) in types.iter().enumerate() {
        let others = types.len() - index;
        let share = if others == 1 || !is_named { left / others } else { left / 2 };
        let paths = paths(name, events, policy, wanted, share);
        left = left.saturating_sub(paths.chars().count());
        text.push('\n');
        text.push_str(&paths);
    }
    let left_out = evidence.event_types().count() - types.len();
    if left_out > 0 {
        text.push_str(&format!("\nEvent types that are not shown: {left_out}.\n"));
    }
    text
}

/// The block of one event type, and what isn't in it.
fn paths(
    name: &str,
    events: &SampleEvents,
    policy: &FieldPolicy,
    wanted: &Wanted,
    max_chars: usize,
) -> String {
    let mut lines = Lines::default();
    let mut denied = 0;
    for (path, observed) in events.observed() {
        let json = fence::path(path);
        if policy.denies(path) {
            denied += 1;
        } else if json.chars().count() > NAME_CHARS || path.iter().any(|key| is_data(key)) {
            lines.leave_out();
        } else {
            lines.push(wanted.rank(path), line(&json, path, observed, events.count()));
        }
    }
    let heading = format!(
        "event_type {}, {}",
        fence::quoted(name, NAME_CHARS).0,
        if events.count() == 1 {
            "1 sample".to_owned()
        } else {
            format!("{} samples", events.count())
        }
    );
    let (shown, left_out) = lines.within(max_chars.saturating_sub(heading.chars().count() + 1));
    let mut text = fence::block("text", format!("{heading}\n{shown}").trim_end());
    if left_out > 0 {
        text.push_str(&format!("\nPaths of this event type that are not shown: {left_out}.\n"));
    }
    if denied > 0 {
        text.push_str(&format!("\nPaths of it that policy denies: {denied}.\n"));
    }
    text
}

fn line(json: &str, path: &Path, observed: &Observed, samples: usize) -> String {
    let mut line = format!("{json} {} in {} of {samples}", observed.kinds, observed.present);
    let mut values: Vec<String> =
        observed.examples.iter().map(|value| fence::compact(&redacted(path, value))).collect();
    let mut seen = std::collections::BTreeSet::new();
    values.retain(|value| seen.insert(value.clone()));
    values.truncate(MAX_VALUES);
    if !values.is_empty() {
        line.push_str(&format!(", {} different: {}", observed.distinct, values.join(", ")));
    }
    line
}
