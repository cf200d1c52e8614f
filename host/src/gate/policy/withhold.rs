//! What is withheld while an extractor runs, whatever samples have shown of its events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::FieldPolicy;
use super::relation::{AnyKey, Relation, relation, rests, spells_several};
use crate::abi::event::Withhold;
use crate::abi::section::{Rows, Section};
use crate::evidence::PathStep;
use crate::plan::expr::{Over, Reference};

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
        let of_inputs = section.inputs().iter().map(|input| (input.rows, input.references()));
        let of_rows = rows.iter().enumerate().map(|(index, row)| (Some(index), row.references()));
        let of_lists = rows.iter().map(|row| (row.within, row.made_of()));
        for (own, references) in of_inputs.chain(of_rows).chain(of_lists) {
            let for_each = own.and_then(|own| Rows::for_each(rows, own));
            for reference in references {
                let places = PathStep::resolved(reference, for_each.as_ref());
                let holds = |path: &[String]| {
                    places.iter().any(|steps| {
                        let relation = relation(path, steps, AnyKey::Each);
                        matches!(relation, Relation::Above | Relation::PerhapsAbove)
                    })
                };
                if self.restricted().any(holds) {
                    nested.insert((starts_from(rows, own, reference), reference.path.clone()));
                }
            }
        }
        let mut entries = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            if row.iteration.over() != Over::Entries {
                continue;
            }
            let Some(for_each) = Rows::for_each(rows, index) else { continue };
            let places = PathStep::gone_over(&for_each);
            let mut rests: Vec<Vec<String>> = places
                .iter()
                .flat_map(|steps| self.restricted().flat_map(|path| rests(path, steps)))
                .collect();
            if places.len() > 1 {
                rests.sort_unstable();
                rests.dedup();
            }
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
fn starts_from(rows: &[Rows], own: Option<usize>, reference: &Reference) -> Option<usize> {
    let level = reference.level.0.checked_sub(1)?;
    Rows::around(rows, own?).get(usize::from(level)).copied()
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
