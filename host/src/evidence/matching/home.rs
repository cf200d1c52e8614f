//! How well a place in events suits things that a rule speaks of: the array in which there are several, or the object that
//! is one.

use super::hint::Hint;
use super::score::{MEANT, Scorer, mean};
use crate::evidence::similarity::vocabulary::WRAPPERS;
use crate::evidence::similarity::words::{Word, words};

/// Words before things of which there are several.
const SEVERAL: &[&str] = &["all", "any", "each", "every"];

/// Things as a rule speaks of them.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    entity: Vec<Word>,
    relationship: Vec<Word>,
    /// What they belong to.
    owner: Vec<Word>,
    hint: Hint,
    /// Whether there are several; `None` where nothing tells.
    several: Option<bool>,
}

impl Called {
    /// `entity` is the name of what they are, `owner` of what they belong to, `relationship` of how, `hint` what is said of
    /// them in words. Each but the first may be empty.
    pub(crate) fn new(entity: &str, owner: &str, relationship: &str, hint: &str) -> Self {
        let said = words(hint);
        let several = said.iter().any(|word| SEVERAL.contains(&word.text()));
        let owner = words(owner);
        let relationship = words(relationship);
        Self {
            relationship: relationship.into_iter().filter(|it| !owner.contains(it)).collect(),
            entity: words(entity),
            owner,
            hint: Hint::new(hint),
            several: (!said.is_empty()).then_some(several),
        }
    }
}

impl Scorer<'_> {
    /// How well the place at a path is called what these things are, from 0 to 1. `several` tells whether there are many
    /// of them.
    pub(crate) fn called(self, called: &Called, path: &[String], several: bool) -> f64 {
        let wraps = |key: &&String| words(key).iter().all(|word| word.is_one_of(WRAPPERS));
        let keys: Vec<Vec<Word>> = path.iter().skip_while(wraps).map(|key| words(key)).collect();
        let Some((last, above)) = keys.split_last() else { return 0.0 };
        let above: Vec<&Word> = above.iter().flatten().collect();
        let by = |word: &Word| {
            [
                self.best(word, &called.entity),
                self.best(word, &called.hint.meant),
                self.best(word, &called.relationship) * self.weights.object_by_relationship,
            ]
            .into_iter()
            .fold(0.0, f64::max)
        };
        let in_last = mean(last.iter().map(|word| (self.weights.of(word), by(word))));
        let in_above =
            if above.is_empty() {
                1.0
            } else {
                mean(above.iter().map(|word| {
                    (self.weights.of(word), by(word).max(self.best(word, &called.owner)))
                }))
            };
        let found = |word: &Word| self.best(word, last.iter().chain(above.iter().copied()));
        let hinted = called.hint.meant.iter().map(|word| (self.survey.rarity(word), found(word)));
        let kinds = called.entity.len().saturating_sub(1);
        let named = called.entity.iter().enumerate().map(|(index, word)| {
            (
                if index < kinds { self.weights.object_kind } else { 1.0 },
                found(word).max(self.best(word, &called.owner)),
            )
        });
        let said = mean(hinted.chain(named));
        let mut score = self.weights.object_last * in_last
            + self.weights.object_above * in_above
            + self.weights.object_said * said;
        if called.several.is_some_and(|it| it != several) {
            score *= self.weights.object_wrong_number;
        }
        let excluded = called.hint.not.iter().any(|word| by(word) < MEANT && found(word) >= MEANT);
        if excluded { score * self.weights.excluded } else { score }
    }
}
