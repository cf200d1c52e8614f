//! Results that aren't what was expected, as findings about the plan.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::bundle::confirm::{Difference, Unconfirmed};
use crate::diagnostics::finding::Finding;
use crate::diagnostics::untrusted::bounded;
use crate::evidence::redact::is_data;
use crate::evidence::{Path, SampleEvents, Seen, Task};
use crate::gate::fit::smallest;

/// How many places are named at which an event has a value.
const MAX_PLACES: usize = 3;

/// How deep events are looked through, and how many of their values are looked at.
const MAX_DEPTH: usize = 32;
const MAX_VALUES: usize = 20_000;

/// How long a place may be that is named, in characters.
const MAX_PLACE_CHARS: usize = 200;

/// What differs, as findings that a model may read: values by the rules by which samples are shown, one finding for each place,
/// code and value in question, however many samples show it, with the smallest of them. Where an event has the value that was
/// expected, it says so.
#[must_use]
pub fn unconfirmed_findings(unconfirmed: &Unconfirmed, task: &Task) -> Vec<Finding> {
    let events = task.evidence().event_types().flat_map(|(_, it)| SampleEvents::samples(it));
    let by_line: BTreeMap<usize, &Seen> = events.map(|seen| (seen.line(), seen)).collect();
    // By what was found first, so that the order is that of the samples.
    let mut groups: Vec<(&Difference, Vec<&Difference>)> = Vec::new();
    let mut known: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for difference in unconfirmed.differences() {
        let key = (difference.code.name, difference.pointer.as_str());
        // Of what has no place in the plan, each is another matter.
        let group = known.get(&key).filter(|_| !difference.pointer.is_empty());
        match group.and_then(|group| groups.get_mut(*group)) {
            Some((_, all)) => all.push(difference),
            None => {
                known.insert(key, groups.len());
                groups.push((difference, vec![difference]));
            }
        }
    }
    groups.into_iter().map(|(first, all)| finding(first, &all, &by_line)).collect()
}

fn finding(first: &Difference, all: &[&Difference], events: &BTreeMap<usize, &Seen>) -> Finding {
    let mut finding = first.shown();
    let mut lines: Vec<usize> = all.iter().map(|it| it.line).collect();
    lines.dedup();
    if lines.len() > 1 {
        finding.observed.push_str(&format!(", and the like for {} more", lines.len() - 1));
    }
    // What all of the samples have, if they have it at one place.
    let mut common: Option<Vec<String>> = None;
    for difference in all {
        let Some(value) = &difference.value else { continue };
        let Some(seen) = events.get(&difference.line) else { continue };
        let found = places(seen, value);
        common = Some(match common {
            None => found,
            Some(known) => known.into_iter().filter(|place| found.contains(place)).collect(),
        });
    }
    if let Some(places) = common.filter(|places| !places.is_empty()) {
        let shown: Vec<_> = places.iter().take(MAX_PLACES).map(String::as_str).collect();
        let more = if places.len() > MAX_PLACES { " and elsewhere" } else { "" };
        let what = if lines.len() > 1 { "these events have" } else { "the event has" };
        finding
            .observed
            .push_str(&format!("; {what} what is expected at {}{more}", shown.join(", ")));
    }
    let seen = lines.iter().filter_map(|line| events.get(line).copied());
    finding.event = smallest(seen);
    finding
}

/// Where an event has a value, as far as whoever is told may see it.
fn places(seen: &Seen, value: &Value) -> Vec<String> {
    let says_little =
        value.is_boolean() || value.is_null() || value.as_str().is_some_and(str::is_empty);
    if says_little {
        return Vec::new();
    }
    let mut search = Search { value, left: MAX_VALUES, found: Vec::new() };
    search.below(seen.visible(), &mut Path::new());
    search.found
}

struct Search<'a> {
    value: &'a Value,
    left: usize,
    found: Vec<String>,
}

impl Search<'_> {
    fn below(&mut self, value: &Value, path: &mut Path) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        match value {
            Value::Object(fields) if path.len() < MAX_DEPTH => {
                for (name, value) in fields {
                    path.push(name.clone());
                    self.below(value, path);
                    path.pop();
                }
            }
            Value::Array(items) if path.len() < MAX_DEPTH => {
                for value in items {
                    path.push("[]".to_owned());
                    self.below(value, path);
                    path.pop();
                }
            }
            value if value == self.value => {
                // Keys that are data are no names of a place.
                let steps: Vec<&str> =
                    path.iter().map(|key| if is_data(key) { "*" } else { key }).collect();
                let place = bounded(&steps.join("."), MAX_PLACE_CHARS);
                if !self.found.contains(&place) {
                    self.found.push(place);
                }
            }
            _ => {}
        }
    }
}
