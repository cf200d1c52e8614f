//! How well a path suits a property.

use super::hint::Hint;
use super::survey::{Place, Survey};
use super::{Candidate, Wanted};
use crate::evidence::effort::Effort;
use crate::evidence::similarity::vocabulary::COUNT;
use crate::evidence::similarity::words::{Class, Word, words};
use crate::graph::spec::PropertyType;

/// From here on, two words are taken to mean the same thing.
pub(super) const MEANT: f64 = 0.7;

/// What a word weighs that tells what a value is of.
const WEIGHT: f64 = 1.0;
/// What a word weighs that tells the form of a value: `id` has to be there, but `before` is a sha without saying so.
const FORM_WEIGHT: f64 = 0.6;
/// What a word for a moment weighs: the type says it too.
const TIME_WEIGHT: f64 = 0.3;
/// What a unit of measure weighs: it is mostly left out of one of the two names.
const UNIT_WEIGHT: f64 = 0.25;
/// What a word weighs that holds a name together.
const GLUE_WEIGHT: f64 = 0.15;

/// What it counts for a word of the name to be found in a key above the last.
const IN_PARENT: f64 = 0.95;
/// What it counts to be found in the name of the entity alone: `job_id` is the `id` of an object that says nowhere that
/// it is a job.
const IN_ENTITY: f64 = 0.8;
/// What it counts to be found in the event type alone: the time of an `order.placed` is when it was placed.
const IN_EVENT_TYPE: f64 = 0.7;
/// What it counts for a word for a checksum that the values are checksums.
const BY_SHAPE: f64 = 0.9;
/// What being the key explains of a last key that says `id`: whatever a key is called, that is where it is kept.
const KEY_BY_ID: f64 = 0.85;
/// What it counts for a word for a moment that the values are moments.
const BY_TYPE: f64 = 0.9;

/// What a key above the last weighs, compared with the last one.
const PARENT_WEIGHT: f64 = 0.45;
/// What the entity's name explains of the last key: a property seldom repeats its entity, but a field may.
const LEAF_BY_ENTITY: f64 = 0.85;
/// What the event type explains of a key.
const BY_EVENT_TYPE: f64 = 0.6;
/// What the hint explains of a key.
const BY_HINT: f64 = 0.75;
/// What a last key weighs that stands for the object above it, where that object is what the property names:
/// `dismissed_by` is `dismissed_by.login`.
const IDENTITY_WEIGHT: f64 = 0.3;

/// The part of the score that is there even if nothing but the name's own words is explained in the path.
const UNEXPLAINED: f64 = 0.45;
/// How much of what a name leaves open its hint may fill.
const HINT_STRENGTH: f64 = 0.6;
/// What a hint's word counts in a key above the last.
const HINT_IN_PARENT: f64 = 0.7;
/// What it counts where the word is for what the value belongs to, and the last key has it.
const HINT_TAIL_IN_LEAF: f64 = 0.8;

/// What is left of the score of a path that the hint excludes.
const EXCLUDED: f64 = 0.5;
/// What is left of the score of a path outside of the object that the entity is, of otherwise equal ones.
const ELSEWHERE: f64 = 0.97;
/// What is left of the score of a path at which no value was ever seen.
const UNSEEN: f64 = 0.99;
/// What is left of the score of an address where none is wanted, and the other way round.
const ADDRESS: f64 = 0.7;
/// What is left of the score of a moment where a text is wanted: dates are seldom kept as mere text.
const MOMENT: f64 = 0.75;
/// What is left of the score of a path of whose last key neither name nor hint have a word.
const STRANGE_LEAF: f64 = 0.7;
/// Below this share of the last key, that is so.
const STRANGE: f64 = 0.35;
/// What is left of what the hint says where it only agrees with a key like `name`, which every object has.
const HINT_IN_IDENTITY: f64 = 0.5;
/// What is left of the score for each step by which another key would stand better for the object.
const IDENTITY_STEP: f64 = 0.005;
/// What a word of the name weighs more where it occurs in a path: then a path without it is another one.
const KNOWN_WORD: f64 = 1.4;
/// What is left of the score of values without an `@` where an email is wanted.
const NO_EMAIL: f64 = 0.6;
/// How much of the score hangs on the share of samples that have the path.
const COVERAGE: f64 = 0.06;
/// The same for a key, without which nothing is extracted.
const KEY_COVERAGE: f64 = 0.4;
/// How much of a key's score hangs on how seldom its values repeat. Samples are often about the same few things.
const KEY_UNIQUENESS: f64 = 0.1;

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
            wants_address: name.iter().chain(&hint.head).any(of_address),
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
struct Weights<'a> {
    name: &'a [f64],
    hint: &'a [f64],
}

/// Scores the places of a survey.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scorer<'s> {
    pub(super) survey: &'s Survey<'s>,
}

impl<'s> Scorer<'s> {
    pub(crate) fn new(survey: &'s Survey<'s>) -> Self {
        Self { survey }
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
        admits: impl Fn(&Place<'_>) -> bool,
    ) -> Vec<Candidate> {
        let known: Vec<f64> =
            (0..aim.name.len()).map(|index| self.name_weight(&aim.name, index)).collect();
        let rarity: Vec<f64> = aim.hint.words().map(|word| self.survey.rarity(word)).collect();
        let candidate = |place: &Place<'_>| {
            self.survey.effort().count();
            let score = self.score(aim, place, anchor, &Weights { name: &known, hint: &rarity });
            (score > NOTHING && !self.survey.effort().is_over()).then(|| {
                let to = aim.property_type.filter(|_| score > WORTH_CONVERTING);
                Candidate {
                    path: place.path.clone(),
                    score,
                    fits_type: aim.property_type.is_none_or(|it| self.survey.fits(&place.path, it)),
                    convert: to.and_then(|it| self.survey.conversion(&place.path, it)),
                }
            })
        };
        let steps = |place: &Place<'_>| PLACE_STEPS + 20 * place.path.len() as u64;
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
        place: &Place<'_>,
        anchor: Option<&[String]>,
        weights: &Weights<'_>,
    ) -> f64 {
        let inside =
            anchor.map(|anchor| if place.path.starts_with(anchor) { anchor.len() } else { 0 });
        let name = self.explained_name(aim, place, weights)
            * (UNEXPLAINED
                + (1.0 - UNEXPLAINED) * self.explained_path(aim, place, inside.unwrap_or(0)));
        let effort = self.survey.effort();
        let stands = self.stands_for_parent(aim, place);
        let mut hint = self.hinted(aim, place, weights);
        if is_identity(place) && !parents_known(aim, place, effort) {
            hint *= HINT_IN_IDENTITY;
        }
        let mut score = name + (1.0 - name) * HINT_STRENGTH * hint;
        let is_strange = leaf_known(aim, place, effort) < STRANGE;
        if is_strange && !stands {
            score *= STRANGE_LEAF;
        }
        if is_strange && stands {
            score *= 1.0 - IDENTITY_STEP * identity_rank(place);
        }
        if aim.name.last().is_some_and(|word| word.text() == "email") && place.lacks_emails() {
            score *= NO_EMAIL;
        }
        if place.holds_moments() && !aim.is_moment() && aim.property_type.is_some() {
            score *= MOMENT;
        }
        if inside == Some(0) {
            score *= ELSEWHERE;
        }
        if excluded(aim, place, effort) {
            score *= EXCLUDED;
        }
        if place.is_unseen() {
            score *= UNSEEN;
        }
        if place.holds_urls().is_some_and(|urls| urls != aim.wants_address)
            && (place.holds_urls() == Some(true))
        {
            score *= ADDRESS;
        }
        let coverage = if aim.is_key { KEY_COVERAGE } else { COVERAGE };
        score *= 1.0 - coverage * (1.0 - place.coverage);
        if aim.is_key {
            score *= 1.0 - KEY_UNIQUENESS * (1.0 - place.uniqueness);
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
        let weight = if tells_which { WEIGHT } else { weight(word) };
        weight * if self.survey.knows(word) { KNOWN_WORD } else { 1.0 }
    }

    /// The share of the property's name that the path explains.
    fn explained_name(self, aim: &Aim<'_>, place: &Place<'_>, weights: &Weights<'_>) -> f64 {
        let parents: Vec<&Word> = place.parents().flat_map(|(words, _)| words).collect();
        // The time of an event is the time of what its type says has happened; no other value is.
        let when = place.leaf().iter().all(|word| word.is_time() || is_event(word));
        let explained = |index: usize, word: &Word| {
            let leaf = alike_in_row(&aim.name, index, place.leaf(), self.survey.effort());
            let parent = self.best(word, parents.iter().copied()) * IN_PARENT;
            let entity = self.best(word, &aim.entity) * IN_ENTITY;
            let event =
                if when { self.best(word, &self.survey.event_words) * IN_EVENT_TYPE } else { 0.0 };
            let by_type = if aim.is_moment() && word.is_time() { BY_TYPE } else { 0.0 };
            let is_shape = word.is_checksum() && place.holds_checksums();
            let by_shape = if is_shape { BY_SHAPE } else { 0.0 };
            [leaf, parent, entity, event, by_type, by_shape].into_iter().fold(0.0, f64::max)
        };
        let explained = aim.name.iter().enumerate().map(|(index, word)| explained(index, word));
        mean(weights.name.iter().copied().zip(explained))
    }

    /// The share of the path that the property explains. The first `free` keys need no explanation.
    fn explained_path(self, aim: &Aim<'_>, place: &Place<'_>, free: usize) -> f64 {
        let by = |word: &Word, entity: f64| {
            let by_type = if aim.is_moment() && word.is_time() { BY_TYPE } else { 0.0 };
            let by_role = if aim.is_key && word.text() == "id" { KEY_BY_ID } else { 0.0 };
            [
                by_role,
                self.best(word, &aim.name),
                self.best(word, &aim.entity) * entity,
                self.best(word, &self.survey.event_words) * BY_EVENT_TYPE,
                aim.hint.means(word, self.survey.effort()) * BY_HINT,
                by_type,
            ]
            .into_iter()
            .fold(0.0, f64::max)
        };
        let stands = self.stands_for_parent(aim, place);
        let leaf = place.leaf();
        let in_leaf = leaf.iter().enumerate().map(|(index, word)| {
            let explained = by(word, LEAF_BY_ENTITY).max(alike_in_row(
                leaf,
                index,
                &aim.name,
                self.survey.effort(),
            ));
            (if stands { IDENTITY_WEIGHT } else { weight(word) }, explained)
        });
        let in_parents = place.parents().skip(free).flat_map(|(words, telling)| {
            words.iter().map(move |word| (weight(word) * telling * PARENT_WEIGHT, word))
        });
        mean(in_leaf.chain(in_parents.map(|(weight, word)| (weight, by(word, 1.0)))))
    }

    /// Whether the last key is one that stands for its object, and the object is what the property names.
    fn stands_for_parent(self, aim: &Aim<'_>, place: &Place<'_>) -> bool {
        let named = place.words.len().checked_sub(2).and_then(|index| place.words.get(index));
        is_identity(place)
            && named.is_some_and(|named| {
                aim.name
                    .iter()
                    .all(|word| weight(word) < WEIGHT || self.best(word, named.iter()) >= MEANT)
            })
    }

    /// The share of what the hint says that the path agrees with, words counted by how much they tell.
    fn hinted(self, aim: &Aim<'_>, place: &Place<'_>, weights: &Weights<'_>) -> f64 {
        let parents: Vec<&Word> = place.parents().flat_map(|(words, _)| words).collect();
        let agree = |word: &Word, in_leaf: f64| {
            let leaf = self.best(word, place.leaf()) * in_leaf;
            let parent = self.best(word, parents.iter().copied()) * HINT_IN_PARENT;
            let described = self.best(word, &place.description) * HINT_IN_PARENT;
            leaf.max(parent).max(described)
        };
        let head = aim.hint.head.iter().map(|word| agree(word, 1.0));
        let tail = aim.hint.tail.iter().map(|word| agree(word, HINT_TAIL_IN_LEAF));
        let share = mean(weights.hint.iter().copied().zip(head.chain(tail)));
        if aim.hint.envelope && place.path.len() == 1 { share.max(0.5) } else { share }
    }
}

/// Whether the last key is one that every object may have, to be known by.
fn is_identity(place: &Place<'_>) -> bool {
    place.leaf().iter().all(|word| word.identity().is_some())
}

/// How many keys would stand better for their object than the last one does.
#[allow(clippy::cast_precision_loss, reason = "there are few such keys")]
fn identity_rank(place: &Place<'_>) -> f64 {
    place.leaf().first().and_then(Word::identity).map_or(0.0, |rank| rank as f64)
}

/// Whether a word speaks of the event itself, as in `event_time`.
fn is_event(word: &Word) -> bool {
    matches!(word.text(), "event" | "occurred" | "recorded")
}

/// The share of the last key that name and hint have words for.
fn leaf_known(aim: &Aim<'_>, place: &Place<'_>, effort: &Effort) -> f64 {
    let leaf = place.leaf();
    let known = |(index, word): (usize, &Word)| {
        let by_type =
            if aim.is_moment() && (word.is_time() || is_event(word)) { BY_TYPE } else { 0.0 };
        let by_role = if aim.is_key && word.text() == "id" { KEY_BY_ID } else { 0.0 };
        let known = alike_in_row(leaf, index, &aim.name, effort).max(aim.hint.means(word, effort));
        let known = known.max(by_type).max(by_role);
        (weight(word), known)
    };
    mean(leaf.iter().enumerate().map(known))
}

/// Whether name, hint or entity speak of the object that the value is in, or it is in none.
fn parents_known(aim: &Aim<'_>, place: &Place<'_>, effort: &Effort) -> bool {
    let mut parents = place.parents().flat_map(|(words, _)| words).peekable();
    parents.peek().is_none()
        || parents.any(|word| {
            best(word, aim.name.iter().chain(&aim.entity), effort).max(aim.hint.means(word, effort))
                >= MEANT
        })
}

/// Whether the hint says that it isn't this one.
fn excluded(aim: &Aim<'_>, place: &Place<'_>, effort: &Effort) -> bool {
    let meant = |word: &Word| {
        best(word, &aim.name, effort) >= MEANT
            || aim.hint.means(word, effort) >= MEANT
            || best(word, &aim.entity, effort) >= MEANT
    };
    let here = |word: &Word| {
        best(word, place.words.iter().flat_map(|words| words.iter()), effort) >= MEANT
    };
    (aim.hint.not_envelope && place.path.len() == 1)
        || aim.hint.not.iter().any(|word| !meant(word) && here(word))
}

/// How alike the word at `index` and one of the others are; two neighbours written as one count as well.
fn alike_in_row(row: &[Word], index: usize, others: &[Word], effort: &Effort) -> f64 {
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

fn best<'w>(word: &Word, others: impl IntoIterator<Item = &'w Word>, effort: &Effort) -> f64 {
    others.into_iter().map(|other| word.alike(other, effort)).fold(0.0, f64::max)
}

/// What a word of a name weighs.
pub(super) fn weight(word: &Word) -> f64 {
    match word.class() {
        Class::Glue => GLUE_WEIGHT,
        Class::Time => TIME_WEIGHT,
        Class::Unit => UNIT_WEIGHT,
        Class::Form | Class::Count => FORM_WEIGHT,
        Class::Other => WEIGHT,
    }
}

/// The weighted mean, 0 where nothing weighs anything.
pub(super) fn mean(weighted: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (weights, sum) = weighted.fold((0.0, 0.0), |(weights, sum), (weight, value)| {
        (weights + weight, sum + weight * value)
    });
    if weights > 0.0 { sum / weights } else { 0.0 }
}
