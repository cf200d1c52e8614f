//! What occurs in the samples: the paths, those inside of arrays too, with kinds, coverage and a few values.
//!
//! The event types that the rule speaks of are shown together, since most of what they hold is the same, and the others by
//! name. Where it speaks of none, each is shown by itself.

use std::collections::BTreeSet;

use serde_json::Value;

use super::lines::{FAR, NAME_CHARS, RankedLines, RuleWords, names, place, push_count};
use crate::author::backend::Language;
use crate::diagnostics::fence;
use crate::evidence::effort::{Cancel, StepBudget};
use crate::evidence::redact::{is_data, redacted, unfolded};
use crate::evidence::{Collection, Evidence, Observed, PathStep, SampleEvents, Visibility};
use crate::gate::policy::FieldPolicy;
use crate::json::JsonKind;
use crate::plan::expr::{ForEach, Level, Reference};

/// How much is shown of all samples together, in characters.
const EVENTS_CHARS: usize = 46_000;

/// Of an event type that can't have this many characters, the name alone is shown.
const MIN_CHARS: usize = 400;

/// How many characters the names of other event types may have together.
const NAMES_CHARS: usize = 4_000;

/// How many arrays and maps are gone into.
const MAX_COLLECTIONS: usize = 100;

/// How much memory their elements may take, in bytes, one after the other: the same values are inside of several.
const COLLECTIONS_BYTES: u64 = 48 << 20;

/// How many texts of a place are looked into for JSON, and how many elements of an array in them.
const MAX_TEXTS: usize = 200;

/// About how much memory JSON takes once it is read, for each byte of it.
const MEMORY_OF_JSON: u64 = 16;

/// How many steps lead to what is shown of such texts at most.
const MAX_STEPS: usize = 24;

/// How many values of a path are shown.
const MAX_VALUES: usize = 3;

const INTRODUCTION: &str = "
## What occurs in the samples

A line for each path: the path as a plan writes it, the kinds of its values, in how many samples it is, how many
different values it has, and some of them. A value in angle brackets stands for one of that shape: in it `9{6}` are six
digits, `x{8}` eight letters and digits, and the rest is as it is there. `[]` stands for the elements of the array before
it, `{}` for the entries of the object: the path behind it starts there, in a `for_each`. `(JSON)` stands for what the string
before it holds as JSON: `[\"body\"] (JSON) [\"order\",\"id\"]` is what `parse_json(body).order.id` reads.
";

const FOR_RUST: &str = "
## What occurs in the samples

A line for each path: the path as an input is declared by it, the kinds of its values, in how many samples it is, how many
different values it has, and some of them. A value in angle brackets stands for one of that shape: in it `9{6}` are six
digits, `x{8}` eight letters and digits, and the rest is as it is there. `[]` stands for the elements of the array before
it, `{}` for the entries of the object: the path behind it starts there, as the columns of `rows` do. `(JSON)` stands for what
the string before it holds as JSON.
";

pub(super) fn section(
    evidence: &Evidence,
    policy: &FieldPolicy,
    wanted: &RuleWords,
    language: Language,
) -> String {
    let (types, too_long): (Vec<_>, Vec<_>) =
        evidence.event_types().partition(|(name, _)| name.chars().count() <= NAME_CHARS);
    let mut names = RankedLines::default();
    too_long.iter().for_each(|_| names.leave_out());
    let closest = types.iter().map(|(name, _)| wanted.closeness(name)).min().unwrap_or(FAR);
    let is_close = |(name, _): &(&str, &SampleEvents)| wanted.closeness(name) == closest;
    let (close, others): (Vec<_>, Vec<_>) = types.into_iter().partition(is_close);
    let introduction = match language {
        Language::Plan => INTRODUCTION,
        Language::Rust => FOR_RUST,
    };
    let mut text = introduction.to_owned();
    let block = |types: &[_], max_chars| block(evidence, policy, wanted, types, max_chars);
    if closest == FAR {
        let mut left = EVENTS_CHARS;
        for (index, event_type) in close.iter().enumerate() {
            let share = left / (close.len() - index);
            if share < MIN_CHARS {
                names.push((0, 0), name(event_type.0));
                continue;
            }
            let shown = block(std::slice::from_ref(event_type), share);
            left = left.saturating_sub(shown.chars().count());
            text.push_str(&shown);
        }
    } else {
        text.push_str(&block(&close, EVENTS_CHARS));
    }
    others.iter().for_each(|(other, _)| names.push((0, 0), name(other)));
    let (shown, left_out) = names.within(NAMES_CHARS);
    if !shown.is_empty() {
        text.push_str("\nThere are samples of these event types too:\n\n");
        text.push_str(&fence::block("text", &shown));
    }
    push_count(&mut text, "Event types that are not shown", left_out);
    text
}

/// An event type as it is shown. None is cut: longer ones aren't shown at all.
fn name(event_type: &str) -> String {
    fence::quoted(event_type, 12 * NAME_CHARS).0
}

/// The lines of a block, and how many more there would be but for the policy.
struct PathTable<'a> {
    policy: &'a FieldPolicy,
    wanted: &'a RuleWords,
    lines: RankedLines,
    denied: usize,
    /// Texts that are JSON themselves, which are gone into at the end.
    unfolded: Vec<Unfolded>,
}

/// What strings at one place hold as JSON, or the elements of arrays in that.
struct Unfolded {
    /// The place, as it is shown.
    place: String,
    steps: Vec<PathStep>,
    values: Vec<Value>,
}

impl PathTable<'_> {
    /// Adds a line for a place in so many samples; `named` are the keys that say what its values are, `types` in which of the
    /// event types it is, where that is worth saying. Gives the place, if it is shown.
    fn add(
        &mut self,
        place: Option<String>,
        steps: &[PathStep],
        named: &[String],
        (observed, samples): (&Observed, usize),
        types: &str,
    ) -> Option<String> {
        let keys = names(steps);
        if self.policy.visibility(steps) == Visibility::Hidden {
            self.denied += 1;
            return None;
        }
        let Some(place) = place.filter(|_| !keys.iter().any(|key| is_data(key))) else {
            self.lines.leave_out();
            return None;
        };
        let mut line = place.clone();
        line.push_str(&format!(" {} in {} of {samples}{types}", observed.kinds, observed.present));
        let mut shown = BTreeSet::new();
        let values: Vec<String> = observed
            .examples
            .iter()
            .map(|value| fence::compact(&redacted(named, value)))
            .filter(|value| shown.insert(value.clone()))
            .take(MAX_VALUES)
            .collect();
        if !values.is_empty() {
            line.push_str(&format!(", {} different: {}", observed.distinct, values.join(", ")));
        }
        self.lines.push(self.wanted.rank(&keys), line);
        Some(place)
    }

    /// Notes what texts at a place that is shown hold as JSON.
    fn note_json<'v>(
        &mut self,
        place: &str,
        steps: &[PathStep],
        named: &[String],
        values: impl Iterator<Item = &'v Value>,
        effort: &StepBudget,
    ) {
        let texts = values.filter_map(Value::as_str).filter(|text| !text.is_empty());
        let (mut held, mut others) = (Vec::new(), 0);
        for text in texts.take(MAX_TEXTS) {
            if !effort.take(text.len() as u64 * MEMORY_OF_JSON) {
                break;
            }
            match unfolded(named, text) {
                Some(value) => held.push(value),
                None => others += 1,
            }
        }
        if held.len() > others {
            let place = format!("{place} (JSON)");
            self.unfolded.push(Unfolded { place, steps: steps.to_vec(), values: held });
        }
    }

    /// Adds lines for what is in texts, and for what is in arrays and texts in that.
    fn unfold(&mut self, effort: &StepBudget) {
        let mut gone_into = 0;
        while gone_into < MAX_COLLECTIONS
            && let Some(Unfolded { place: outside, steps, values }) = self.unfolded.pop()
        {
            gone_into += 1;
            let events = SampleEvents::of_values(values);
            for (path, observed) in events.observed() {
                let steps = [steps.as_slice(), &PathStep::keys(path)].concat();
                let is_itself = path.is_empty();
                let inside =
                    if is_itself { String::new() } else { format!(" {}", fence::path(path)) };
                let at = Some(format!("{outside}{inside}"))
                    .filter(|at| at.chars().count() <= NAME_CHARS);
                let named = names(&steps);
                let named = named.last().map_or(&[][..], std::slice::from_ref);
                let added = self.add(at, &steps, named, (observed, events.count()), "");
                let Some(at) = added.filter(|_| self.unfolded.len() < MAX_COLLECTIONS) else {
                    continue;
                };
                let values = || events.seen(path).map(|(_, value)| value);
                if observed.kinds.contains(JsonKind::String) {
                    self.note_json(&at, &steps, named, values(), effort);
                }
                let elements = values().filter_map(Value::as_array).flatten();
                let elements: Vec<Value> = elements
                    .take(MAX_TEXTS)
                    .take_while(|it| effort.take(it.to_string().len() as u64 * MEMORY_OF_JSON))
                    .cloned()
                    .collect();
                if !elements.is_empty() && steps.len() < MAX_STEPS {
                    let steps = [steps.as_slice(), &[PathStep::Element]].concat();
                    self.unfolded.push(Unfolded {
                        place: format!("{at} []"),
                        steps,
                        values: elements,
                    });
                }
            }
        }
    }
}

/// A block of event types that the rule is equally close to, and what isn't in it.
fn block(
    evidence: &Evidence,
    policy: &FieldPolicy,
    wanted: &RuleWords,
    types: &[(&str, &SampleEvents)],
    max_chars: usize,
) -> String {
    let mut headings = RankedLines::default();
    for (event_type, events) in types {
        let samples = if events.count() == 1 { "sample" } else { "samples" };
        let line = format!("event_type {}, {} {samples}", name(event_type), events.count());
        headings.push((0, 0), line);
    }
    let (headings, left_out_types) = headings.within(max_chars / 4);
    let together = SampleEvents::together(types.iter().map(|(_, events)| *events));
    let effort = StepBudget::new(COLLECTIONS_BYTES, &Cancel::default());
    let lines = RankedLines::default();
    let mut table = PathTable { policy, wanted, lines, denied: 0, unfolded: Vec::new() };
    (0..together.unlisted()).for_each(|_| table.lines.leave_out());
    for (path, observed) in together.observed() {
        let having = types.iter().filter(|(_, it)| it.observed().contains_key(path)).count();
        let having = match types.len() {
            all if having < all => format!(", in {having} of {all} event types"),
            _ => String::new(),
        };
        let steps = PathStep::keys(path);
        let seen = (observed, together.count());
        let added = table.add(place(&steps), &steps, path, seen, &having);
        if let Some(place) = added.filter(|_| observed.kinds.contains(JsonKind::String)) {
            let values = together.seen(path).map(|(_, value)| value);
            table.note_json(&place, &steps, path, values, &effort);
        }
    }
    let names: Vec<&str> = types.iter().map(|(name, _)| *name).collect();
    // Those that are gone into next at the end.
    let mut open: Vec<ForEach> =
        inside(evidence, &names).map(|it| ForEach::new(it.iteration)).collect();
    open.reverse();
    let (mut too_deep, mut gone_into) = (0, 0);
    while gone_into < MAX_COLLECTIONS
        && let Some(for_each) = open.pop()
    {
        gone_into += 1;
        let elements = elements(evidence, &names, &for_each, &effort);
        let together = SampleEvents::together(elements.event_types().map(|(_, it)| it));
        for (path, observed) in together.observed() {
            let reference = Reference { path: path.clone(), level: for_each.level() };
            let steps = PathStep::resolved(&reference, Some(&for_each)).swap_remove(0);
            // Of an element without a name of its own, the array's says what it is.
            let last = path.last().or_else(|| for_each.innermost().path().last());
            let named = last.map_or(&[][..], std::slice::from_ref);
            let seen = (observed, together.count());
            let added = table.add(place(&steps), &steps, named, seen, "");
            if let Some(place) = added.filter(|_| observed.kinds.contains(JsonKind::String)) {
                let values = together.seen(path).map(|(_, value)| value);
                table.note_json(&place, &steps, named, values, &effort);
            }
        }
        let nested = inside(&elements, &names);
        if for_each.level() < Level::DEEPEST {
            let nested = nested.take(MAX_COLLECTIONS);
            let mut nested: Vec<ForEach> =
                nested.map(|it| for_each.clone().around(it.iteration)).collect();
            nested.reverse();
            open.extend(nested);
        } else {
            too_deep += nested
                .flat_map(|it| PathStep::gone_over(&for_each.clone().around(it.iteration)))
                .filter(|steps| policy.visibility(steps) != Visibility::Hidden)
                .count();
        }
    }
    table.unfold(&effort);
    let PathTable { lines, denied, .. } = table;
    let (shown, left_out) = lines.within(max_chars.saturating_sub(headings.chars().count() + 1));
    let block = fence::block("text", format!("{headings}\n{shown}").trim_end());
    let mut text = format!("\n{block}");
    push_count(&mut text, "Event types that are not shown", left_out_types);
    push_count(&mut text, "Paths of this that are not shown", left_out);
    push_count(&mut text, "Paths of this that policy denies", denied);
    push_count(
        &mut text,
        "Arrays and maps of this that are not shown, deeper than the four levels of a `for_each`",
        too_deep,
    );
    if effort.is_over() || !open.is_empty() {
        text.push_str("\nNot all arrays and maps of this were looked into.\n");
    }
    text
}

/// The elements of an iteration, as many as there is effort for.
fn elements(
    evidence: &Evidence,
    event_types: &[&str],
    for_each: &ForEach,
    effort: &StepBudget,
) -> Evidence {
    let room = Evidence::room_within(effort);
    let elements = evidence.elements_within(event_types, for_each, &room);
    effort.take_all(&room);
    elements
}

/// The arrays and maps in which there is something.
fn inside(evidence: &Evidence, event_types: &[&str]) -> impl Iterator<Item = Collection> {
    evidence.arrays(event_types).into_iter().filter(|it| it.elements > 0)
}
