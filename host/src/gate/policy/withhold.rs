//! What is withheld while an extractor runs, whatever samples have shown of its events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::FieldPolicy;
use super::relation::{AnyKey, Relation, relation, rests, spells_several};
use crate::abi::event::Withhold;
use crate::abi::section::{Rows, Section};
use crate::evidence::PathStep;
use crate::plan::expr::{ForEach, Iteration, Over, Reference};

/// Dots of a key that are looked at. Keys with more, which no producer means, are withheld without a look wherever one with a
/// dot may be: each dot takes memory and time.
const MAX_DOTS: usize = 256;

/// What a policy withholds from the extractors of one section. Made by [`FieldPolicy::withheld`].
#[derive(Debug)]
struct Withheld {
    /// Where a value may hold what is restricted: the iteration whose elements the path starts from, and the path.
    nested: BTreeSet<(Option<usize>, Vec<String>)>,
    /// By iteration, what is left of restricted paths after the object whose entries it goes over.
    entries: BTreeMap<usize, Vec<Vec<String>>>,
}

impl FieldPolicy {
    /// What is withheld from an extractor that declares this section, for a
    /// [`Projector`](crate::abi::event::Projector::withholding); `None` where nothing can be. Of a value that the section reads and
    /// that may hold what is denied or explicit, objects and arrays are withheld: it is read only where it is a scalar. When
    /// an iteration goes over an object, an entry is withheld if its key, split at dots, leads to or along a restricted path.
    #[must_use]
    pub fn withheld(&self, section: &Section) -> Option<Arc<dyn Withhold>> {
        let rows = section.rows();
        let mut nested = BTreeSet::new();
        for input in section.inputs() {
            let for_each = input.rows.and_then(|row| iteration(rows, row));
            for reference in input.references() {
                let steps = PathStep::resolved(reference, for_each.as_ref());
                let holds = |path| {
                    let relation = relation(path, &steps, AnyKey::Each);
                    matches!(relation, Relation::Above | Relation::PerhapsAbove)
                };
                if self.restricted().any(holds) {
                    nested.insert((
                        starts_from(section, input.rows, reference),
                        reference.path.clone(),
                    ));
                }
            }
        }
        let mut entries = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            let Some(for_each) =
                iteration(rows, index).filter(|_| row.iteration.over == Over::Entries)
            else {
                continue;
            };
            let steps = PathStep::resolved(&row.reference(), Some(&for_each));
            let rests: Vec<_> = self.restricted().flat_map(|path| rests(path, &steps)).collect();
            if !rests.is_empty() {
                entries.insert(index, rests);
            }
        }
        if nested.is_empty() && entries.is_empty() {
            return None;
        }
        Some(Arc::new(Withheld { nested, entries }))
    }
}

/// The iteration whose elements a reference of something in `rows` starts from.
fn starts_from(section: &Section, rows: Option<usize>, reference: &Reference) -> Option<usize> {
    let own = section.rows().get(rows?)?;
    match (reference.level.0, own.within) {
        (0, _) => None,
        (1, Some(outer)) => Some(outer),
        _ => rows,
    }
}

impl Withhold for Withheld {
    fn nested(&self, iteration: Option<usize>, path: &[String]) -> bool {
        self.nested.contains(&(iteration, path.to_vec()))
    }

    fn weight(&self, iteration: usize) -> u64 {
        let rests = self.entries.get(&iteration).into_iter().flatten();
        rests.map(|rest| rest.len() as u64).sum()
    }

    fn entry(&self, iteration: usize, key: &str) -> bool {
        self.entries.get(&iteration).is_some_and(|rests| is_withheld(rests, key))
    }
}

/// Whether an entry is withheld for its key, where these are what is left of restricted paths at its object.
pub(super) fn is_withheld(rests: &[Vec<String>], key: &str) -> bool {
    let dots = memchr::memchr_iter(b'.', key.as_bytes()).count();
    match dots {
        0 => false,
        1..=MAX_DOTS => rests.iter().any(|rest| spells_several(rest, key)),
        _ => !rests.is_empty(),
    }
}

/// An iteration of a section, with the one outside of it.
pub(super) fn iteration(rows: &[Rows], index: usize) -> Option<ForEach> {
    let row = rows.get(index)?;
    let own: &Iteration = &row.iteration;
    Some(match row.within {
        None => ForEach::new(own.clone(), None),
        Some(outer) => ForEach::new(rows.get(outer)?.iteration.clone(), Some(own.clone())),
    })
}
