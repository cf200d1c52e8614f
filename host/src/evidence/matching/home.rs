//! How well a place in events suits things that a rule speaks of: the array in which there are several, or the object that
//! is one.

use super::hint::Hint;
use super::score::{MEANT, Scorer, mean, weight};
use crate::evidence::similarity::vocabulary::WRAPPERS;
use crate::evidence::similarity::words::{Word, words};

/// What the last key weighs beside the keys above it and what is said: the thing is called by it.
const LAST: f64 = 0.45;
/// What the keys above it weigh: what it belongs to.
const ABOVE: f64 = 0.15;
/// What it weighs how much of what is said occurs in the path.
const SAID: f64 = 0.4;

/// What the name of the relationship explains of a key, and what the hint's words for what the thing belongs to do.
const BY_RELATIONSHIP: f64 = 0.85;
const BY_TAIL: f64 = 0.8;
/// What it counts for a word that is said to be in a key above the last.
const SAID_ABOVE: f64 = 0.8;
/// What a word of an entity's name weighs that says of what kind it is, compared with the last one.
const KIND: f64 = 0.5;

/// What is left where one is spoken of and there are several, or the other way round.
const WRONG_NUMBER: f64 = 0.8;
/// What is left of a place that is said not to be meant.
const EXCLUDED: f64 = 0.5;

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
                self.best(word, &called.hint.head),
                self.best(word, &called.hint.tail) * BY_TAIL,
                self.best(word, &called.relationship) * BY_RELATIONSHIP,
            ]
            .into_iter()
            .fold(0.0, f64::max)
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
            self.best(word, last).max(self.best(word, above.iter().copied()) * SAID_ABOVE)
        };
        let hinted = called.hint.words().map(|word| (self.survey.rarity(word), found(word)));
        let kinds = called.entity.len().saturating_sub(1);
        let named = called.entity.iter().enumerate().map(|(index, word)| {
            (
                if index < kinds { KIND } else { 1.0 },
                found(word).max(self.best(word, &called.owner)),
            )
        });
        let said = mean(hinted.chain(named));
        let mut score = LAST * in_last + ABOVE * in_above + SAID * said;
        if called.several.is_some_and(|it| it != several) {
            score *= WRONG_NUMBER;
        }
        let excluded = called.hint.not.iter().any(|word| by(word) < MEANT && found(word) >= MEANT);
        if excluded { score * EXCLUDED } else { score }
    }
}
