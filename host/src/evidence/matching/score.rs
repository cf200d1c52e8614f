//! How well a path suits a property.

use super::hint::Hint;
use super::survey::{Survey, ValuePlace};
use super::weights::{MEANT, WEIGHTS, Weights};
use super::{Candidate, Wanted};
use crate::evidence::effort::StepBudget;
use crate::evidence::similarity::vocabulary::COUNT;
use crate::evidence::similarity::words::{Word, words};
use crate::graph::spec::PropertyType;

/// Below this share of the last key, that is so.
const STRANGE: f64 = 0.35;

/// What it costs to compare a property with a place, beside the comparing of words, in steps.
const PLACE_STEPS: u64 = 100;

/// Below this nobody would convert the values of a path.
const WORTH_CONVERTING: f64 = 0.3;

/// Below this a path has nothing in common with the property.
const NOTHING: f64 = 0.05;

/// What is wanted, taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Aim<'a> {
    name: Vec<Word>,
    entity: Vec<Word>,
    hint: Hint,
    property_type: Option<&'a PropertyType>,
    is_key: bool,
    wants_address: bool,
}

impl<'a> Aim<'a> {
    pub(crate) fn new(wanted: &Wanted<'a>) -> Self {
        let name = words(wanted.name);
        let hint = wanted.hint.map(Hint::new).unwrap_or_default();
        let of_address = |it: &Word| it.is_one_of(&["url", "link", "href", "address", "website"]);
        Self {
            wants_address: name.iter().chain(&hint.meant).any(of_address),
            name,
            entity: words(wanted.entity),
            hint,
            property_type: wanted.property_type,
            is_key: wanted.is_key,
        }
    }

    fn is_moment(&self) -> bool {
        matches!(self.property_type, Some(PropertyType::Timestamp | PropertyType::Date))
    }
}

/// What the words of name and hint weigh among the paths of a survey, in their order.
#[derive(Clone, Copy, Debug)]
struct WordWeights<'a> {
    name: &'a [f64],
    hint: &'a [f64],
}

/// Scores the places of a survey.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scorer<'s> {
    pub(super) survey: &'s Survey<'s>,
    pub(super) weights: &'s Weights,
}

impl<'s> Scorer<'s> {
    pub(crate) fn new(survey: &'s Survey<'s>) -> Self {
        Self { survey, weights: &WEIGHTS }
    }

    /// Every place that may be meant, best first, as far as there is effort to compare them. `anchor` is the object that the entity is, where that is known.
    pub(crate) fn rank(self, aim: &Aim<'_>, anchor: Option<&[String]>) -> Vec<Candidate> {
        self.rank_among(aim, anchor, |_| true)
    }

    /// The same of those places alone that are admitted.
    pub(crate) fn rank_among(
        self,
        aim: &Aim<'_>,
        anchor: Option<&[String]>,
        admits: impl Fn(&ValuePlace) -> bool,
    ) -> Vec<Candidate> {
        let known: Vec<f64> =
            (0..aim.name.len()).map(|index| self.name_weight(&aim.name, index)).collect();
        let rarity: Vec<f64> = aim.hint.meant.iter().map(|word| self.survey.rarity(word)).collect();
        let values = self.survey.values();
        let candidate = |place: &ValuePlace| {
            self.survey.effort().count();
            let score =
                self.score(aim, place, anchor, &WordWeights { name: &known, hint: &rarity });
            (score > NOTHING && !self.survey.effort().is_over()).then(|| {
                let to = aim.property_type.filter(|_| score > WORTH_CONVERTING);
                Candidate {
                    path: place.path.clone(),
                    score,
                    fits_type: aim
                        .property_type
                        .is_none_or(|it| values.admits(&place.path, Some(it))),
                    convert: to.and_then(|it| values.conversion(&place.path, it)),
                }
            })
        };
        let steps = |place: &ValuePlace| PLACE_STEPS + 20 * place.path.len() as u64;
        let places = self.survey.places().iter();
        let places = places.take_while(|place| self.survey.effort().take(steps(place)));
        let places = places.filter(|place| admits(place));
        let mut found: Vec<Candidate> = places.filter_map(candidate).collect();
        found.sort_by(|a, b| {
            b.fits_type.cmp(&a.fits_type).then_with(|| b.score.total_cmp(&a.score))
        });
        found
    }

    fn score(
        self,
        aim: &Aim<'_>,
        place: &ValuePlace,
        anchor: Option<&[String]>,
        words: &WordWeights<'_>,
    ) -> f64 {
        let inside =
            anchor.map(|anchor| if place.path.starts_with(anchor) { anchor.len() } else { 0 });
        let name = self.explained_name(aim, place, words)
            * (self.weights.unexplained
                + (1.0 - self.weights.unexplained)
                    * self.explained_path(aim, place, inside.unwrap_or(0)));
        let stands = self.stands_for_parent(aim, place);
        let hint = self.hinted(aim, place, words);
        let mut score = name + (1.0 - name) * self.weights.hint * hint;
        let is_strange = self.leaf_known(aim, place) < STRANGE;
        if is_strange && !stands {
            score *= self.weights.strange_leaf;
        }
        if is_strange && stands {
            score *= 1.0 - self.weights.identity_step * identity_rank(place);
        }
        if aim.name.last().is_some_and(|word| word.text() == "email") && place.looks.no_emails {
            score *= self.weights.no_email;
        }
        if place.looks.moments && !aim.is_moment() && aim.property_type.is_some() {
            score *= self.weights.moment;
        }
        if inside == Some(0) {
            score *= self.weights.elsewhere;
        }
        if self.excluded(aim, place) {
            score *= self.weights.excluded;
        }
        if place.is_unseen() {
            score *= self.weights.unseen;
        }
        if place.looks.urls == Some(true) && !aim.wants_address {
            score *= self.weights.address;
        }
        let coverage = if aim.is_key { self.weights.key_coverage } else { self.weights.coverage };
        score *= 1.0 - coverage * (1.0 - place.coverage);
        if aim.is_key {
            score *= 1.0 - self.weights.key_uniqueness * (1.0 - place.uniqueness);
        }
        score.clamp(0.0, 1.0)
    }

    /// How alike a word and the one of the others are that is most like it.
    pub(super) fn best<'w>(self, word: &Word, others: impl IntoIterator<Item = &'w Word>) -> f64 {
        best(word, others, self.survey.effort())
    }

    /// What the word at `index` of the name weighs.
    fn name_weight(self, name: &[Word], index: usize) -> f64 {
        let Some(word) = name.get(index) else { return 0.0 };
        // `tokens_total` and `number_of_tokens` are `tokens`; `total_tokens` is one count of several.
        let next = name.get(index + 1);
        let tells_which = COUNT.contains(&word.text()) && next.is_some_and(|it| it.text() != "of");
        let weight = if tells_which { 1.0 } else { self.weights.of(word) };
        weight * if self.survey.knows(word) { self.weights.known_word } else { 1.0 }
    }

    /// The share of the property's name that the path explains.
    fn explained_name(self, aim: &Aim<'_>, place: &ValuePlace, words: &WordWeights<'_>) -> f64 {
        let parents: Vec<&Word> = place.parents().flat_map(|(words, _)| words).collect();
        // The time of an event is the time of what its type says has happened; no other value is.
        let when = place.leaf().iter().all(|word| word.is_time() || is_event(word));
        let by_event_type = if when { self.weights.in_event_type } else { 0.0 };
        let explained = |index: usize, word: &Word| {
            let leaf = alike_in_row(&aim.name, index, place.leaf(), self.survey.effort());
            let parent = self.best(word, parents.iter().copied()) * self.weights.in_parent;
            let entity = self.best(word, &aim.entity) * self.weights.in_entity;
            let event = self.best(word, &self.survey.event_words) * by_event_type;
            let by_type =
                if aim.is_moment() && word.is_time() { self.weights.by_type } else { 0.0 };
            let is_shape = word.is_checksum() && place.looks.checksums;
            let by_shape = if is_shape { self.weights.by_shape } else { 0.0 };
            [leaf, parent, entity, event, by_type, by_shape].into_iter().fold(0.0, f64::max)
        };
        let explained = aim.name.iter().enumerate().map(|(index, word)| explained(index, word));
        mean(words.name.iter().copied().zip(explained))
    }

    /// The share of the path that the property explains. The first `free` keys need no explanation.
    fn explained_path(self, aim: &Aim<'_>, place: &ValuePlace, free: usize) -> f64 {
        let by = |word: &Word, entity: f64| {
            let by_type =
                if aim.is_moment() && word.is_time() { self.weights.by_type } else { 0.0 };
            let by_role = self.by_role(aim, word);
            [
                self.best(word, &aim.name),
                self.best(word, &aim.entity) * entity,
                by_role,
                self.best(word, &self.survey.event_words) * self.weights.by_event_type,
                by_type,
            ]
            .into_iter()
            .fold(0.0, f64::max)
        };
        let stands = self.stands_for_parent(aim, place);
        let leaf = place.leaf();
        let in_leaf = leaf.iter().enumerate().map(|(index, word)| {
            let explained = by(word, self.weights.leaf_by_entity).max(alike_in_row(
                leaf,
                index,
                &aim.name,
                self.survey.effort(),
            ));
            (if stands { self.weights.identity } else { self.weights.of(word) }, explained)
        });
        let in_parents = place.parents().skip(free).flat_map(|(words, telling)| {
            words
                .iter()
                .map(move |word| (self.weights.of(word) * telling * self.weights.parent, word))
        });
        mean(in_leaf.chain(in_parents.map(|(weight, word)| (weight, by(word, 1.0)))))
    }

    /// What being the key explains of a word of the last key.
    fn by_role(self, aim: &Aim<'_>, word: &Word) -> f64 {
        if aim.is_key && word.text() == "id" { self.weights.key_by_id } else { 0.0 }
    }

    /// Whether the last key is one that stands for its object, and the object is what the property names.
    fn stands_for_parent(self, aim: &Aim<'_>, place: &ValuePlace) -> bool {
        let named = place.words.len().checked_sub(2).and_then(|index| place.words.get(index));
        is_identity(place)
            && named.is_some_and(|named| {
                aim.name.iter().all(|word| {
                    self.weights.of(word) < 1.0 || self.best(word, named.iter()) >= MEANT
                })
            })
    }

    /// The share of what the hint says that the path agrees with, words counted by how much they tell.
    fn hinted(self, aim: &Aim<'_>, place: &ValuePlace, words: &WordWeights<'_>) -> f64 {
        let parents: Vec<&Word> = place.parents().flat_map(|(words, _)| words).collect();
        let agree = |word: &Word| {
            let leaf = self.best(word, place.leaf());
            let parent = self.best(word, parents.iter().copied());
            let described = self.best(word, &place.description);
            leaf.max(parent.max(described) * self.weights.hint_in_parent)
        };
        let share = mean(words.hint.iter().copied().zip(aim.hint.meant.iter().map(agree)));
        if aim.hint.envelope && place.path.len() == 1 { share.max(0.5) } else { share }
    }

    /// The share of the last key that name and hint have words for.
    fn leaf_known(self, aim: &Aim<'_>, place: &ValuePlace) -> f64 {
        let leaf = place.leaf();
        let known = |(index, word): (usize, &Word)| {
            let by_type = if aim.is_moment() && (word.is_time() || is_event(word)) {
                self.weights.by_type
            } else {
                0.0
            };
            let known = alike_in_row(leaf, index, &aim.name, self.survey.effort())
                .max(aim.hint.means(word, self.survey.effort()));
            let known = known.max(by_type).max(self.by_role(aim, word));
            (self.weights.of(word), known)
        };
        mean(leaf.iter().enumerate().map(known))
    }

    /// Whether the hint says that it isn't this one.
    fn excluded(self, aim: &Aim<'_>, place: &ValuePlace) -> bool {
        let meant = |word: &Word| {
            self.best(word, &aim.name) >= MEANT
                || aim.hint.means(word, self.survey.effort()) >= MEANT
                || self.best(word, &aim.entity) >= MEANT
        };
        let here = |word: &Word| {
            self.best(word, place.words.iter().flat_map(|words| words.iter())) >= MEANT
        };
        (aim.hint.not_envelope && place.path.len() == 1)
            || aim.hint.not.iter().any(|word| !meant(word) && here(word))
    }
}

/// Whether the last key is one that every object may have, to be known by.
fn is_identity(place: &ValuePlace) -> bool {
    place.leaf().iter().all(|word| word.identity().is_some())
}

/// How many keys would stand better for their object than the last one does.
#[allow(clippy::cast_precision_loss, reason = "there are few such keys")]
fn identity_rank(place: &ValuePlace) -> f64 {
    place.leaf().first().and_then(Word::identity).map_or(0.0, |rank| rank as f64)
}

/// Whether a word speaks of the event itself, as in `event_time`.
fn is_event(word: &Word) -> bool {
    matches!(word.text(), "event" | "occurred" | "recorded")
}

/// How alike the word at `index` and one of the others are; two neighbours written as one count as well.
fn alike_in_row(row: &[Word], index: usize, others: &[Word], effort: &StepBudget) -> f64 {
    let Some(word) = row.get(index) else { return 0.0 };
    let is_joined =
        |a: &Word, b: &Word, whole: &Word| whole.text().strip_prefix(a.text()) == Some(b.text());
    let pair = |a: usize| Some((row.get(a)?, row.get(a + 1)?));
    let mine = [index.checked_sub(1).and_then(pair), pair(index)];
    let is_one = |other: &Word| mine.iter().flatten().any(|(a, b)| is_joined(a, b, other));
    let is_pair = others.iter().any(is_one)
        || others.windows(2).any(|pair| matches!(pair, [a, b] if is_joined(a, b, word)));
    if is_pair { 1.0 } else { best(word, others, effort) }
}

fn best<'w>(word: &Word, others: impl IntoIterator<Item = &'w Word>, effort: &StepBudget) -> f64 {
    others.into_iter().map(|other| word.alike(other, effort)).fold(0.0, f64::max)
}

/// The weighted mean, 0 where nothing weighs anything.
pub(super) fn mean(weighted: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (weights, sum) = weighted.fold((0.0, 0.0), |(weights, sum), (weight, value)| {
        (weights + weight, sum + weight * value)
    });
    if weights > 0.0 { sum / weights } else { 0.0 }
}
