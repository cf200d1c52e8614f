//! The keys that an expression reads: whether there are such, also in the elements of arrays.

use std::collections::BTreeSet;
use std::slice::from_ref;

use serde_json::Value;

use super::describe::shown;
use super::path;
use crate::diagnostics::codes::UNKNOWN_PATH;
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::similarity::ranking::{Likely, best, only};
use crate::evidence::similarity::slip::{Slip, slip};
use crate::evidence::similarity::{SUGGESTION_THRESHOLD, spelling};
use crate::evidence::{ENOUGH_SAMPLES, PathIndex, PathStep};
use crate::gate::fit::scope::Scopes;
use crate::gate::fit::suggest::{PathSearch, Sought};
use crate::plan::expr::query::{KeyRead, Step};
use crate::plan::expr::{ForEach, Query, Reference};

/// What it costs to read an expression that is written anew, for each of its bytes, in steps.
const READ_STEPS: u64 = 50;

/// What is wrong with the keys of an expression, the first of each chain of them.
pub(in crate::gate::fit) fn keys(
    pointer: &str,
    query: &Query,
    name: Option<&str>,
    for_each: Option<&ForEach>,
    scopes: &Scopes<'_>,
) -> Vec<Finding> {
    let searches = path::searches(scopes, for_each);
    let mut findings = Vec::new();
    let mut unknown: Vec<&KeyRead> = Vec::new();
    for key in query.keys() {
        let is_told =
            |told: &KeyRead| told.level == key.level && key.steps.starts_with(&told.steps);
        if unknown.iter().copied().any(is_told) {
            continue;
        }
        let Some(search) = path::at_level(&searches, key.level) else { continue };
        let known = search.known();
        let read = KeyInExpression { pointer, query, name, for_each, scopes, key, known };
        let finding = match read.plain() {
            Some(path) => read.unknown_path(&path, search),
            None => read.unknown_in_elements(),
        };
        if let Some(finding) = finding {
            unknown.push(key);
            findings.push(finding);
        }
    }
    findings
}

/// The chains of keys of an expression that no sample has, the first of each.
pub(in crate::gate::fit) fn unseen_keys(
    query: &Query,
    for_each: Option<&ForEach>,
    scopes: &Scopes<'_>,
) -> Vec<String> {
    let mut unseen: Vec<&KeyRead> = Vec::new();
    for key in query.keys() {
        let is_told =
            |told: &KeyRead| told.level == key.level && key.steps.starts_with(&told.steps);
        if unseen.iter().copied().any(is_told) {
            continue;
        }
        let is_seen = scopes.at(for_each, key.level).is_some_and(|known| {
            KeyInExpression { pointer: "", query, name: None, for_each, scopes, key, known }
                .is_seen()
        });
        if !is_seen {
            unseen.push(key);
        }
    }
    let shown = |key: &KeyRead| key.steps.iter().map(shown_step).collect::<Vec<_>>().join(".");
    unseen.into_iter().map(shown).collect()
}

/// A key, and what is known where the chain of keys that it is the last of starts.
struct KeyInExpression<'k, 't> {
    pointer: &'k str,
    query: &'k Query,
    /// The name of the property, where it is for one.
    name: Option<&'k str>,
    for_each: Option<&'k ForEach>,
    scopes: &'k Scopes<'t>,
    key: &'k KeyRead,
    known: &'k PathIndex<'t>,
}

impl KeyInExpression<'_, '_> {
    /// The path, where it leads through objects alone.
    fn plain(&self) -> Option<Vec<String>> {
        let steps = self.key.steps.iter().map(|step| match step {
            Step::Key(key) => Some(key.clone()),
            Step::Each | Step::Flat => None,
        });
        steps.collect()
    }

    fn unknown_path(&self, path: &[String], search: &PathSearch<'_, '_>) -> Option<Finding> {
        let known = self.known;
        if known.admits_path(path) {
            return None;
        }
        // The keys after this one say more of what was meant.
        let is_behind =
            |it: &&KeyRead| it.level == self.key.level && it.steps.starts_with(&self.key.steps);
        let longest = self.query.keys().iter().filter(is_behind);
        let longest = longest.filter_map(|it| KeyInExpression { key: it, ..*self }.plain());
        let whole = longest.max_by_key(Vec::len)?;
        let sibling = self.misspelt().and_then(|key| {
            let mut right = path.to_vec();
            key.item.clone_into(right.last_mut()?);
            let mut target = whole.clone();
            key.item.clone_into(target.get_mut(path.len().checked_sub(1)?)?);
            let text = self.rewritten(&self.key.steps, from_ref(&key.item));
            let is_certain = key.is_certain() && self.may_be_meant(&whole, &target);
            let text = text.filter(|_| known.admits_path(&right))?;
            Some(Likely::new(text, is_certain))
        });
        let sought = Sought { given: &whole, name: self.name, property_type: None, is_key: false };
        let nearest = search.nearest(&sought);
        let is_typo = sibling.is_some() || nearest.as_ref().is_some_and(|it| it.is_clear_typo());
        let is_sure = !known.is_thin() || known.is_blocked(path);
        if !is_typo && !is_sure {
            return None;
        }
        let or_declared =
            if known.evidence.has_schema() { ", and the event schema doesn't declare" } else { "" };
        let finding = Finding::new(
            Stage::Fit,
            UNKNOWN_PATH,
            self.pointer,
            format!("paths that {} have", known.of),
            format!(
                "{} at column {}, which none of {} samples has{or_declared}",
                shown(&whole),
                self.query.column(self.key.at),
                known.count()
            ),
        );
        let replaced = nearest.and_then(|nearest| {
            let certain =
                nearest.path.is_certain() && self.may_be_meant(&whole, &nearest.path.item);
            let (keys, new) = (steps(&whole), &nearest.path.item);
            let text = if new.len() == whole.len() {
                self.rewritten(&keys, new)
            } else {
                self.moved(&keys, new)
            };
            text.map(|text| Likely::new(patch::replace(self.pointer, text), certain))
        });
        let sibling = sibling.map(|text| text.map(|it| patch::replace(self.pointer, it)));
        let is_surer = replaced.as_ref().is_some_and(Likely::is_certain);
        let sibling = sibling.filter(|it| it.is_certain() || !is_surer);
        Some(finding.suggesting(sibling.or(replaced)))
    }

    /// A key that no element has, though elements were seen: in enough samples to tell, or it is another one of theirs misspelt.
    fn unknown_in_elements(&self) -> Option<Finding> {
        let (_, before) = self.key.steps.split_last()?;
        let seen = self.keys_there(before)?;
        let name = self.name_of_key()?;
        if seen.has(name) || self.declared(before).iter().any(|it| it == name) {
            return None;
        }
        let nearest = self.misspelt();
        if nearest.is_none() && seen.samples < ENOUGH_SAMPLES {
            return None;
        }
        let path: Vec<String> = before.iter().map(shown_step).collect();
        let finding = Finding::new(
            Stage::Fit,
            UNKNOWN_PATH,
            self.pointer,
            format!("a key that what is at {} has", quoted(&path.join("."))),
            format!("{} at column {}", self.name(), self.query.column(self.key.at)),
        );
        let replaced = nearest.and_then(|nearest| {
            let text = self.rewritten(&self.key.steps, from_ref(&nearest.item))?;
            let mut target = self.key.steps.clone();
            *target.last_mut()? = Step::Key(nearest.item.clone());
            let is_certain = nearest.is_certain() && !self.is_read(&target);
            Some(Likely::new(patch::replace(self.pointer, text), is_certain))
        });
        Some(finding.suggesting(replaced))
    }

    /// Whether nothing speaks against another path's being the one that was meant: no other value reads it, and the property's name
    /// says no more of what was written than of it.
    fn may_be_meant(&self, written: &[String], target: &[String]) -> bool {
        let says = |path: &[String]| self.name.map_or(0.0, |it| spelling::affinity(it, path));
        let reference = Reference { path: target.to_vec(), level: self.key.level };
        says(written) <= says(target)
            && !self.is_read(&steps(target))
            && !self.scopes.is_read_elsewhere(self.pointer, &reference, self.for_each)
    }

    /// Whether the expression itself reads this chain.
    fn is_read(&self, chain: &[Step]) -> bool {
        self.query.keys().iter().any(|it| it.level == self.key.level && it.steps == chain)
    }

    fn name_of_key(&self) -> Option<&str> {
        match self.key.steps.last()? {
            Step::Key(key) => Some(key),
            Step::Each | Step::Flat => None,
        }
    }

    /// Whether a sample has the key.
    fn is_seen(&self) -> bool {
        if let Some(path) = self.plain() {
            return self.known.is_in_samples(&path);
        }
        let Some((_, before)) = self.key.steps.split_last() else { return true };
        let keys = self.keys_there(before);
        keys.is_none_or(|there| self.name_of_key().is_none_or(|name| there.has(name)))
    }

    fn name(&self) -> String {
        self.key.steps.last().map(|step| quoted(&shown_step(step))).unwrap_or_default()
    }

    /// The one key that this one is misspelt, of those that are where it is looked for, which it isn't itself; certain where it is a slip
    /// of that one alone.
    fn misspelt(&self) -> Option<Likely<String>> {
        let (Step::Key(name), before) = self.key.steps.split_last()? else { return None };
        let declared = self.declared(before);
        if declared.iter().any(|key| key == name) {
            return None;
        }
        let mut seen: BTreeSet<&str> = declared.iter().map(String::as_str).collect();
        seen.extend(self.keys_there(before)?.keys);
        if seen.is_empty() || seen.contains(name.as_str()) {
            return None;
        }
        let searches = &self.known.efforts.searches;
        let scored = seen.iter().map(|key| (spelling::names(name, key, searches), *key));
        let nearest = best(scored).filter(|best| best.score >= SUGGESTION_THRESHOLD)?;
        let is_slip = |key: &&&str| slip(name, key).is_some();
        let is_only = only(seen.iter().filter(is_slip)) == Some(&nearest.item);
        let is_named = |key: &str| {
            let is_said = |word: &String| *word == spelling::plain(key);
            self.name.is_some_and(|name| spelling::words(name).iter().any(is_said))
        };
        let is_clear = match slip(name, nearest.item) {
            Some(Slip::Doubtful) => is_named(nearest.item) && !is_named(name),
            _ => true,
        };
        let is_certain = is_only && is_clear;
        nearest.is_clear_typo().then(|| Likely::new(nearest.item.to_owned(), is_certain))
    }

    /// The keys of the objects that samples have where these steps lead. `None` where there is no effort left to look.
    fn keys_there(&self, steps: &[Step]) -> Option<KeysThere<'_>> {
        let effort = &self.known.efforts.values;
        let mut there = KeysThere::default();
        let mut lines = BTreeSet::new();
        for sample in self.known.seen() {
            let Some(root) = sample.at_level(self.key.level) else { continue };
            let mut here = vec![root];
            for step in steps {
                if !effort.take(here.len() as u64) {
                    return None;
                }
                here = here.into_iter().flat_map(|value| inside(value, step)).collect();
            }
            let mut objects = here.iter().filter_map(|it| it.as_object()).peekable();
            if objects.peek().is_some() {
                lines.insert(sample.line());
            }
            there.keys.extend(objects.flat_map(|it| it.keys()).map(String::as_str));
        }
        there.samples = lines.len();
        Some(there)
    }

    /// The keys that the event schema declares there.
    fn declared(&self, before: &[Step]) -> Vec<String> {
        let places = PathStep::along(vec![Vec::new()], before);
        let inside = self.known.evidence.declared_inside().keys();
        let key = |declared: &Vec<PathStep>| {
            places.iter().find_map(|steps| match declared.strip_prefix(steps.as_slice()) {
                Some([PathStep::Key(key), ..]) => Some(key.clone()),
                _ => None,
            })
        };
        inside.filter_map(key).collect()
    }

    /// The expression with the last keys of a chain in the place of those that are there, wherever it reads them; none where it
    /// would not be an expression then.
    fn rewritten(&self, chain: &[Step], new: &[String]) -> Option<String> {
        let kept = chain.len().checked_sub(new.len())?;
        let mut text = self.query.text().to_owned();
        let mut reads: Vec<(&KeyRead, &String)> = Vec::new();
        for (index, new) in (kept..).zip(new) {
            if chain.get(index) == Some(&Step::Key(new.clone())) {
                continue;
            }
            let prefix = chain.get(..=index)?;
            let same = self.query.keys().iter();
            let same = same.filter(|it| it.level == self.key.level && it.steps == prefix);
            reads.extend(same.map(|it| (it, new)));
        }
        // From the back, so that what is before keeps its place.
        reads.sort_by_key(|(read, _)| std::cmp::Reverse(read.at));
        reads.dedup_by_key(|(read, _)| read.at);
        for (read, key) in reads {
            text.replace_range(read.at..read.end, &written(key));
        }
        self.readable(text)
    }

    /// The expression with another path in the place of a chain, wherever it is written in one piece.
    fn moved(&self, chain: &[Step], new: &[String]) -> Option<String> {
        let mut text = self.query.text().to_owned();
        let keys: Vec<&KeyRead> =
            self.query.keys().iter().filter(|it| it.level == self.key.level).collect();
        let mut places: Vec<(usize, usize)> = Vec::new();
        for window in keys.windows(chain.len()) {
            let is_chain = window
                .iter()
                .enumerate()
                .all(|(index, key)| Some(key.steps.as_slice()) == chain.get(..=index));
            let is_whole = window.windows(2).all(|pair| match pair {
                [one, next] => text.get(one.end..next.at) == Some("."),
                _ => false,
            });
            if let ([first, ..], [.., last]) = (window, window)
                && is_chain
                && is_whole
            {
                places.push((first.at, last.end));
            }
        }
        let path: Vec<String> = new.iter().map(|key| written(key)).collect();
        let is_some = !places.is_empty() && !path.is_empty();
        for (at, end) in places.into_iter().rev() {
            text.replace_range(at..end, &path.join("."));
        }
        is_some.then_some(text).and_then(|text| self.readable(text))
    }

    fn readable(&self, text: String) -> Option<String> {
        if !self.known.efforts.searches.take(READ_STEPS * text.len() as u64) {
            return None;
        }
        Query::parse(&text, self.query.innermost()).ok().map(|_| text)
    }
}

/// The keys of objects at one place.
#[derive(Default)]
struct KeysThere<'k> {
    keys: BTreeSet<&'k str>,
    /// In how many samples there are such objects.
    samples: usize,
}

impl KeysThere<'_> {
    fn has(&self, key: &str) -> bool {
        self.keys.contains(key)
    }
}

/// The steps of a path.
fn steps(path: &[String]) -> Vec<Step> {
    path.iter().cloned().map(Step::Key).collect()
}

/// What a step leads to from a value.
fn inside<'v>(value: &'v Value, step: &Step) -> Vec<&'v Value> {
    match (step, value) {
        (Step::Key(key), Value::Object(fields)) => fields.get(key).into_iter().collect(),
        (Step::Each | Step::Flat, Value::Array(items)) => items.iter().collect(),
        (Step::Flat, value) => vec![value],
        _ => Vec::new(),
    }
}

fn shown_step(step: &Step) -> String {
    match step {
        Step::Key(key) => key.clone(),
        Step::Each | Step::Flat => "[]".to_owned(),
    }
}

/// A key as an expression writes it.
fn written(key: &str) -> String {
    let is_plain = crate::plan::is_identifier(key);
    if is_plain { key.to_owned() } else { Value::from(key).to_string() }
}
