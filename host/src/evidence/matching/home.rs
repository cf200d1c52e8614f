//! How well a place in events suits things that a rule speaks of: the array in which there are several, or the object that
//! is one.

use super::score::{Scorer, mean};
use crate::evidence::similarity::vocabulary::WRAPPERS;
use crate::evidence::similarity::words::{Word, words};

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
            let relationship = self.best(word, &called.relationship);
            let by_entity = self.best(word, &called.entity);
            by_entity.max(relationship * self.weights.object_by_relationship)
        };
        let weight = |word: &Word| self.weights.of(word);
        let in_last = mean(last.iter().map(|word| (weight(word), by(word))));
        let by_owner = |word: &Word| by(word).max(self.best(word, &called.owner));
        let in_above = if above.is_empty() {
            1.0
        } else {
            mean(above.iter().map(|word| (weight(word), by_owner(word))))
        };
        let found = |word: &Word| self.best(word, last.iter().chain(above.iter().copied()));
        let kinds = called.entity.len().saturating_sub(1);
        let named = called.entity.iter().enumerate().map(|(index, word)| {
            (
                if index < kinds { self.weights.object_kind } else { 1.0 },
                found(word).max(self.best(word, &called.owner)),
            )
        });
        self.weights.object_last * in_last
            + self.weights.object_above * in_above
            + self.weights.object_said * mean(named)
    }
}
