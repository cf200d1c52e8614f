//! What occurs in the samples: the paths, with kinds, coverage and a few values.
//!
//! The event types that the rule speaks of are shown together, since most of what they hold is the same, and the others by
//! name. Where it speaks of none, each is shown by itself.

use std::collections::BTreeSet;

use super::lines::{FAR, Lines, NAME_CHARS, Wanted};
use crate::fence;
use crate::policy::FieldPolicy;
use crate::task::evidence::redact::{is_data, redacted};
use crate::task::evidence::{Evidence, Observed, Path, SampleEvents};

/// How much is shown of all samples together, in characters.
const EVENTS_CHARS: usize = 48_000;

/// Of an event type that can't have this many characters, the name alone is shown.
const MIN_CHARS: usize = 400;

/// How many characters the names of other event types may have together.
const NAMES_CHARS: usize = 4_000;

/// How many values of a path are shown.
const MAX_VALUES: usize = 3;

const INTRODUCTION: &str = "
## What occurs in the samples

A line for each path: the path as a plan writes it, the kinds of its values, in how many samples it is, how many
different values it has, and some of them. A value in angle brackets stands for one of that shape.
";

pub(super) fn section(evidence: &Evidence, policy: &FieldPolicy, wanted: &Wanted) -> String {
    let mut names = Lines::default();
    let mut types: Vec<(&str, &SampleEvents)> = Vec::new();
    for (name, events) in evidence.event_types() {
        if name.chars().count() > NAME_CHARS {
            names.leave_out();
        } else {
            types.push((name, events));
        }
    }
    let closest = types.iter().map(|(name, _)| wanted.closeness(name)).min().unwrap_or(FAR);
    let is_close = |(name, _): &(&str, &SampleEvents)| wanted.closeness(name) == closest;
    let (close, others): (Vec<_>, Vec<_>) = types.into_iter().partition(is_close);
    let mut text = INTRODUCTION.to_owned();
    let table = Table { policy, wanted };
    if closest == FAR {
        let mut left = EVENTS_CHARS;
        for (index, event_type) in close.iter().enumerate() {
            let share = left / (close.len() - index);
            if share < MIN_CHARS {
                names.push((0, 0), name(event_type.0));
                continue;
            }
            let block = table.block(std::slice::from_ref(event_type), share);
            left = left.saturating_sub(block.chars().count());
            text.push_str(&block);
        }
    } else {
        text.push_str(&table.block(&close, EVENTS_CHARS));
    }
    for (other, _) in &others {
        names.push((0, 0), name(other));
    }
    let (shown, left_out) = names.within(NAMES_CHARS);
    if !shown.is_empty() {
        text.push_str("\nThere are samples of these event types too:\n\n");
        text.push_str(&fence::block("text", &shown));
    }
    if left_out > 0 {
        text.push_str(&format!("\nEvent types that are not shown: {left_out}.\n"));
    }
    text
}

/// An event type as it is shown. None is cut: longer ones aren't shown at all.
fn name(event_type: &str) -> String {
    fence::quoted(event_type, 12 * NAME_CHARS).0
}

/// What decides which paths are shown.
struct Table<'a> {
    policy: &'a FieldPolicy,
    wanted: &'a Wanted,
}

impl Table<'_> {
    /// A block of event types that the rule is equally close to, and what isn't in it.
    fn block(&self, types: &[(&str, &SampleEvents)], max_chars: usize) -> String {
        let mut headings = Lines::default();
        for (event_type, events) in types {
            let samples = if events.count() == 1 { "sample" } else { "samples" };
            let line = format!("event_type {}, {} {samples}", name(event_type), events.count());
            headings.push((0, 0), line);
        }
        let (headings, left_out_types) = headings.within(max_chars / 4);
        let together = SampleEvents::together(types.iter().map(|(_, events)| *events));
        let mut lines = Lines::default();
        let mut denied = 0;
        for (path, observed) in together.observed() {
            let json = fence::path(path);
            if self.policy.denies(path) {
                denied += 1;
            } else if json.chars().count() > NAME_CHARS || path.iter().any(|key| is_data(key)) {
                lines.leave_out();
            } else {
                let having =
                    types.iter().filter(|(_, it)| it.observed().contains_key(path)).count();
                let types = match types.len() {
                    all if having < all => format!(", in {having} of {all} event types"),
                    _ => String::new(),
                };
                let line = line(&json, path, observed, together.count(), &types);
                lines.push(self.wanted.rank(path), line);
            }
        }
        let (shown, left_out) =
            lines.within(max_chars.saturating_sub(headings.chars().count() + 1));
        let block = fence::block("text", format!("{headings}\n{shown}").trim_end());
        let mut text = format!("\n{block}");
        for (what, count) in [
            ("Event types that are not shown", left_out_types),
            ("Paths of this that are not shown", left_out),
            ("Paths of this that policy denies", denied),
        ] {
            if count > 0 {
                text.push_str(&format!("\n{what}: {count}.\n"));
            }
        }
        text
    }
}

fn line(json: &str, path: &Path, observed: &Observed, samples: usize, types: &str) -> String {
    let mut line = format!("{json} {} in {} of {samples}{types}", observed.kinds, observed.present);
    let mut seen = BTreeSet::new();
    let values: Vec<String> = observed
        .examples
        .iter()
        .map(|value| fence::compact(&redacted(path, value)))
        .filter(|value| seen.insert(value.clone()))
        .take(MAX_VALUES)
        .collect();
    if !values.is_empty() {
        line.push_str(&format!(", {} different: {}", observed.distinct, values.join(", ")));
    }
    line
}
