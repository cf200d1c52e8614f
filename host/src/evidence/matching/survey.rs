//! The places in events where a value may be taken from, over all event types that are looked at.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use serde_json::Value;

use crate::evidence::effort::StepBudget;
use crate::evidence::similarity::vocabulary::WRAPPERS;
use crate::evidence::similarity::words::{Word, words};
use crate::evidence::value_index::ValueIndex;
use crate::evidence::{Evidence, Path, SampleEvents};
use crate::graph::spec::PropertyType;
use crate::graph::validate::value::{Fit, fit};
use crate::json::{JsonKind, JsonKinds};

/// From here on, two words are the same but for their ending.
const SAME: f64 = 0.9;

/// How many characters a checksum has at least.
const MIN_CHECKSUM: usize = 32;

/// A path at which scalars occur, or may.
#[derive(Clone, Debug)]
pub(crate) struct ValuePlace {
    pub(crate) path: Path,
    /// The words of each key of the path.
    pub(super) words: Vec<Rc<[Word]>>,
    /// How much each key tells, from 0 to 1: one that nearly all paths share tells nothing.
    pub(super) telling: Vec<f64>,
    /// The share of the samples in which it is there; null counts, since events with fixed fields write it.
    pub(crate) coverage: f64,
    /// The share of its values that occur once, among those that aren't null.
    pub(crate) uniqueness: f64,
    /// The kinds of its values, null apart.
    pub(super) kinds: JsonKinds,
    pub(crate) looks: Looks,
    /// What the event schema says about it.
    pub(super) description: Vec<Word>,
}

/// What the values of a place look like.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Looks {
    /// Whether all are moments in time.
    pub(super) moments: bool,
    /// Whether all are checksums: hexadecimal digits, as many as a digest of 128 bits has, or more.
    pub(super) checksums: bool,
    /// Whether none can be an email address, though there are values.
    pub(super) no_emails: bool,
    /// Whether its text values are addresses of pages; `None` where it has none.
    pub(super) urls: Option<bool>,
    /// How much its text values are prose, from 0 to 1: of several words, and long.
    pub(crate) prose: f64,
}

impl Looks {
    fn of(examples: &[&Value]) -> Self {
        let is_moment = |value: &Value| fit(&PropertyType::Timestamp, value) == Fit::Valid;
        let is_checksum = |value: &Value| {
            value.as_str().is_some_and(|it| {
                it.len() >= MIN_CHECKSUM && it.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
        };
        let is_email = |value: &Value| value.as_str().is_some_and(|it| it.contains('@'));
        let mut texts = examples.iter().filter_map(|it| it.as_str()).peekable();
        let any = !examples.is_empty();
        Self {
            moments: any && examples.iter().all(|it| is_moment(it)),
            checksums: any && examples.iter().all(|it| is_checksum(it)),
            no_emails: any && !examples.iter().any(|it| is_email(it)),
            prose: prose(examples),
            urls: texts.peek().is_some().then(|| texts.all(|text| text.contains("://"))),
        }
    }
}

/// How much texts are prose, from 0 to 1: of several words, and long.
fn prose(examples: &[&Value]) -> f64 {
    const LONG: f64 = 60.0;
    let texts: Vec<&str> = examples.iter().filter_map(|it| it.as_str()).collect();
    if texts.is_empty() {
        return 0.0;
    }
    let one = |text: &&str| {
        #[allow(clippy::cast_precision_loss, reason = "a text is far shorter than 2^52")]
        let length = text.chars().count() as f64;
        if text.contains(' ') { (length / LONG).min(1.0) } else { 0.0 }
    };
    #[allow(clippy::cast_precision_loss, reason = "eight examples of an event type are kept")]
    let count = texts.len() as f64;
    texts.iter().map(one).sum::<f64>() / count
}

impl ValuePlace {
    /// The words of its last key.
    pub(crate) fn leaf(&self) -> &[Word] {
        self.words.last().map_or(&[], Rc::as_ref)
    }

    /// The words of the keys before the last, with how much each tells.
    pub(super) fn parents(&self) -> impl Iterator<Item = (&[Word], f64)> {
        let parents = self.words.len().saturating_sub(1);
        self.words.iter().map(Rc::as_ref).zip(self.telling.iter().copied()).take(parents)
    }

    /// Whether all that is known of its values is that they may be null.
    pub(super) fn is_unseen(&self) -> bool {
        self.kinds.is_empty()
    }
}

/// Everything that is known of the events of some types, in the form in which names are compared with it.
#[derive(Debug)]
pub(crate) struct Survey<'e> {
    values: ValueIndex<'e>,
    places: Vec<ValuePlace>,
    /// In how many places a word occurs.
    frequency: BTreeMap<Word, usize>,
    pub(super) event_words: Vec<Word>,
    /// How much the words that were asked for tell.
    asked: RefCell<HashMap<Word, Telling>>,
}

/// How much a word tells about where a value is.
#[derive(Clone, Copy, Debug)]
struct Telling {
    /// Whether it occurs in a path, in whatever ending.
    is_known: bool,
    rarity: f64,
}

impl<'e> Survey<'e> {
    /// Looks at events of these types, or of all types where none of these has a sample.
    pub(crate) fn new(
        evidence: &'e Evidence,
        event_types: &[&str],
        effort: &'e StepBudget,
    ) -> Self {
        let known = |name: &&str| evidence.name_of(name);
        let mut event_types: Vec<&str> = event_types.iter().filter_map(known).collect();
        if event_types.is_empty() {
            event_types = evidence.event_types().map(|(name, _)| name).collect();
        }
        let events: Vec<&SampleEvents> =
            event_types.iter().filter_map(|name| evidence.of(name)).collect();
        let places = places(evidence, &events, effort);
        let mut frequency = BTreeMap::new();
        for word in
            places.iter().flat_map(|place| place.words.iter().flat_map(|words| words.iter()))
        {
            *frequency.entry(word.clone()).or_default() += 1;
        }
        let event_words = event_types.first().map_or_else(Vec::new, |name| words(name));
        let values = ValueIndex::new(evidence, events, effort);
        Self { values, places, frequency, event_words, asked: RefCell::default() }
    }

    /// What comparing names and values with it is taken from.
    pub(crate) fn effort(&self) -> &'e StepBudget {
        self.values.effort()
    }

    /// What is at the places, and at any other path.
    pub(crate) fn values(&self) -> &ValueIndex<'e> {
        &self.values
    }

    /// Where values may be taken from, by code point of their paths.
    pub(crate) fn places(&self) -> &[ValuePlace] {
        &self.places
    }

    /// The place at a path.
    pub(crate) fn place(&self, path: &[String]) -> Option<&ValuePlace> {
        let by_path = |place: &ValuePlace| place.path.as_slice().cmp(path);
        self.places.get(self.places.binary_search_by(by_path).ok()?)
    }

    /// Whether a word occurs in a path, in whatever ending.
    pub(super) fn knows(&self, word: &Word) -> bool {
        self.telling(word).is_known
    }

    /// How much a word of a text tells about where a value is: 0 where it occurs in no path, most where it occurs in few.
    pub(crate) fn rarity(&self, word: &Word) -> f64 {
        self.telling(word).rarity
    }

    fn telling(&self, word: &Word) -> Telling {
        if let Some(telling) = self.asked.borrow().get(word) {
            return *telling;
        }
        let (mut is_known, mut count) = (false, 0);
        for (known, times) in &self.frequency {
            let alike = known.alike(word, self.effort());
            is_known |= alike >= SAME;
            count += if alike >= super::weights::MEANT { *times } else { 0 };
        }
        let rarity =
            if count == 0 { 0.0 } else { 1.0 + (ratio(self.places.len(), count)).max(1.0).ln() };
        let telling = Telling { is_known, rarity };
        self.asked.borrow_mut().insert(word.clone(), telling);
        telling
    }
}

#[derive(Default)]
struct Sum<'e> {
    present: usize,
    distinct: usize,
    kinds: JsonKinds,
    examples: Vec<&'e Value>,
}

fn places<'e>(
    evidence: &'e Evidence,
    events: &[&'e SampleEvents],
    effort: &StepBudget,
) -> Vec<ValuePlace> {
    let declared = evidence.declared().keys().map(|path| (path, Sum::default()));
    let mut sums: BTreeMap<&Path, Sum<'e>> = declared.collect();
    let total = events.iter().map(|events| events.count()).sum();
    for events in events {
        for (path, observed) in events.observed() {
            let sum = sums.entry(path).or_default();
            sum.present += observed.present;
            sum.distinct = sum.distinct.max(observed.distinct);
            sum.kinds = sum.kinds.union(observed.kinds);
            sum.examples.extend(&observed.examples);
        }
    }
    let is_place = |path: &Path, kinds: JsonKinds| {
        let declared = evidence.declared().get(path).map(|it| it.kinds).unwrap_or_default();
        let all = kinds.union(declared);
        // A plan can't name an empty key.
        let can_be_named = !path.is_empty() && !path.iter().any(String::is_empty);
        can_be_named
            && (all.iter().any(JsonKind::is_scalar)
                || !all.iter().any(|kind| kind != JsonKind::Null))
    };
    sums.retain(|path, sum| is_place(path, sum.kinds) && effort.take(place_steps(path)));
    let mut below: HashMap<&[String], usize> = HashMap::new();
    for path in sums.keys() {
        for length in 1..path.len() {
            *below.entry(path.get(..length).unwrap_or_default()).or_default() += 1;
        }
    }
    // Events have the same keys in many places, and taking one apart is most of the work.
    let mut taken_apart: HashMap<&str, (Rc<[Word]>, bool)> = HashMap::new();
    for key in sums.keys().copied().flatten() {
        taken_apart.entry(key).or_insert_with(|| {
            let words = words(key);
            let wraps = words.iter().all(|word| word.is_one_of(WRAPPERS));
            (words.into(), wraps)
        });
    }
    let words_of = |key: &String| {
        taken_apart.get(key.as_str()).map_or_else(|| Rc::from([]), |(words, _)| Rc::clone(words))
    };
    let wraps = |key: &String| taken_apart.get(key.as_str()).is_some_and(|(_, wraps)| *wraps);
    let telling = |path: &Path| -> Vec<f64> {
        let one = |index: usize| {
            if index + 1 < path.len() && path.iter().take(index + 1).all(wraps) {
                return 0.0;
            }
            let prefix = path.get(..=index).unwrap_or_default();
            1.0 - below.get(prefix).map_or(0.0, |count| ratio(*count, sums.len()))
        };
        (0..path.len()).map(one).collect()
    };
    let place = |(path, sum): (&&Path, &Sum<'e>)| ValuePlace {
        words: path.iter().map(words_of).collect(),
        telling: telling(path),
        coverage: ratio(sum.present, total),
        uniqueness: ratio(sum.distinct, sum.present).min(1.0),
        kinds: sum.kinds.iter().filter(|kind| *kind != JsonKind::Null).collect(),
        looks: Looks::of(&sum.examples),
        description: evidence
            .declared()
            .get(*path)
            .and_then(|declared| declared.description.as_deref())
            .map_or_else(Vec::new, words),
        path: (*path).clone(),
    };
    sums.iter().map(place).collect()
}

/// What it costs to make a path ready to be compared: where it branches off, each of its beginnings tells.
fn place_steps(path: &[String]) -> u64 {
    let bytes: usize = path.iter().map(String::len).sum();
    let keys = path.len() as u64;
    500 + 10 * bytes as u64 + 40 * keys * keys
}

/// One count as a share of another.
#[allow(clippy::cast_precision_loss, reason = "counts of samples and paths are far below 2^52")]
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
