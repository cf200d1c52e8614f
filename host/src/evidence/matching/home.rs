//! How well a place in events suits things that a rule speaks of: the array in which there are several, or the object that
//! is one.

use super::score::{Scorer, mean, weight};
use super::vocabulary::WRAPPERS;
use super::words::{Word, words};

/// What the last key weighs beside the keys above it and the name: the thing is called by it.
const LAST: f64 = 0.45;
/// What the keys above it weigh: what it belongs to.
const ABOVE: f64 = 0.15;
/// What it weighs how much of the name occurs in the path.
const NAME: f64 = 0.4;

/// What the name of the relationship explains of a key.
const BY_RELATIONSHIP: f64 = 0.85;
/// What it counts for a word of the name to be in a key above the last.
const NAMED_ABOVE: f64 = 0.8;
/// What a word of an entity's name weighs that says of what kind it is, compared with the last one.
const KIND: f64 = 0.5;

/// What things are called.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    entity: Vec<Word>,
    relationship: Vec<Word>,
    /// What they belong to.
    owner: Vec<Word>,
}

impl Called {
    /// `entity` is the name of what they are, `owner` of what they belong to, `relationship` of how. Each but the first may be
    /// empty.
    pub(crate) fn new(entity: &str, owner: &str, relationship: &str) -> Self {
        let owner = words(owner);
        let relationship = words(relationship);
        Self {
            relationship: relationship.into_iter().filter(|it| !owner.contains(it)).collect(),
            entity: words(entity),
            owner,
        }
    }
}

impl Scorer<'_> {
    /// How well the place at a path is called what these things are, from 0 to 1.
    pub(crate) fn called(self, called: &Called, path: &[String]) -> f64 {
        let wraps = |key: &&String| words(key).iter().all(|word| word.is_one_of(WRAPPERS));
        let keys: Vec<Vec<Word>> = path.iter().skip_while(wraps).map(|key| words(key)).collect();
        let Some((last, above)) = keys.split_last() else { return 0.0 };
        let above: Vec<&Word> = above.iter().flatten().collect();
        let by = |word: &Word| {
            let relationship = self.best(word, &called.relationship) * BY_RELATIONSHIP;
            self.best(word, &called.entity).max(relationship)
        };
        let in_last = mean(last.iter().map(|word| (weight(word), by(word))));
        let in_above = if above.is_empty() {
            1.0
        } else {
            mean(
                above
                    .iter()
                    .map(|word| (weight(word), by(word).max(self.best(word, &called.owner)))),
            )
        };
        let found = |word: &Word| {
            self.best(word, last).max(self.best(word, above.iter().copied()) * NAMED_ABOVE)
        };
        let kinds = called.entity.len().saturating_sub(1);
        let named = called.entity.iter().enumerate().map(|(index, word)| {
            (
                if index < kinds { KIND } else { 1.0 },
                found(word).max(self.best(word, &called.owner)),
            )
        });
        LAST * in_last + ABOVE * in_above + NAME * mean(named)
    }
}
