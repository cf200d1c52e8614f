//! The places in events where a value may be taken from, over all event types that are looked at.

use std::collections::BTreeMap;

use serde_json::Value;

use super::conversion::{Fitting, fitting};
use super::vocabulary::WRAPPERS;
use super::words::{Word, words};
use crate::expr::Conversion;
use crate::graph::spec::PropertyType;
use crate::graph::validate::value::{Fit, fit};
use crate::task::evidence::{Evidence, Kind, Kinds, Path};

/// From here on, two words are the same but for their ending.
const SAME: f64 = 0.9;

/// How many characters a checksum has at least.
const MIN_CHECKSUM: usize = 32;

/// A path at which scalars occur, or may.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) path: Path,
    /// The words of each key of the path.
    pub(super) words: Vec<Vec<Word>>,
    /// How much each key tells, from 0 to 1: one that nearly all paths share tells nothing.
    pub(super) telling: Vec<f64>,
    /// The share of the samples in which it is there; null counts, since events with fixed fields write it.
    pub(crate) coverage: f64,
    /// The share of its values that occur once, among those that aren't null.
    pub(crate) uniqueness: f64,
    /// The kinds of its values, null apart.
    pub(super) kinds: Kinds,
    /// A few of its values.
    pub(crate) examples: Vec<Value>,
    /// What the event schema says about it.
    pub(super) description: Vec<Word>,
}

impl Place {
    /// The words of its last key.
    pub(super) fn leaf(&self) -> &[Word] {
        self.words.last().map_or(&[], Vec::as_slice)
    }

    /// The words of the keys before the last, with how much each tells.
    pub(super) fn parents(&self) -> impl Iterator<Item = (&[Word], f64)> {
        let parents = self.words.len().saturating_sub(1);
        self.words.iter().map(Vec::as_slice).zip(self.telling.iter().copied()).take(parents)
    }

    /// Whether all that is known of its values is that they may be null.
    pub(super) fn is_unseen(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Whether all its values are moments in time.
    pub(super) fn holds_moments(&self) -> bool {
        !self.examples.is_empty()
            && self.examples.iter().all(|value| fit(&PropertyType::Timestamp, value) == Fit::Valid)
    }

    /// Whether all its values are checksums: hexadecimal digits, as many as a digest of 128 bits has, or more.
    pub(super) fn holds_checksums(&self) -> bool {
        let is_checksum = |value: &Value| {
            value.as_str().is_some_and(|it| {
                it.len() >= MIN_CHECKSUM && it.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
        };
        !self.examples.is_empty() && self.examples.iter().all(is_checksum)
    }

    /// Whether none of its values can be an email address, though there are values.
    pub(super) fn lacks_emails(&self) -> bool {
        let is_email = |value: &Value| value.as_str().is_some_and(|it| it.contains('@'));
        !self.examples.is_empty() && !self.examples.iter().any(is_email)
    }

    /// Whether its text values are addresses of pages; `None` where it has none.
    pub(crate) fn holds_urls(&self) -> Option<bool> {
        let mut texts = self.examples.iter().filter_map(Value::as_str).peekable();
        texts.peek()?;
        Some(texts.all(|text| text.contains("://")))
    }
}

/// Everything that is known of the events of some types, in the form in which names are compared with it.
#[derive(Clone, Debug)]
pub(crate) struct Survey<'e> {
    evidence: &'e Evidence,
    /// The one with the most samples first.
    event_types: Vec<&'e str>,
    places: Vec<Place>,
    /// In how many places a word occurs.
    frequency: BTreeMap<Word, usize>,
    pub(super) event_words: Vec<Word>,
}

impl<'e> Survey<'e> {
    /// Looks at events of these types, or of all types where none of these has a sample.
    pub(crate) fn new(evidence: &'e Evidence, event_types: &[&str]) -> Self {
        let known = |name: &&str| evidence.event_types().find(|(it, _)| it == name);
        let mut event_types: Vec<&str> =
            event_types.iter().filter_map(known).map(|(name, _)| name).collect();
        if event_types.is_empty() {
            event_types = evidence.event_types().map(|(name, _)| name).collect();
        }
        if event_types.is_empty() {
            // There are no samples, as of the elements of an array that is always empty: what is declared is all there is.
            event_types.push("");
        }
        let places = places(evidence, &event_types);
        let mut frequency = BTreeMap::new();
        for word in places.iter().flat_map(|place| place.words.iter().flatten()) {
            *frequency.entry(word.clone()).or_default() += 1;
        }
        let event_words = event_types.first().map_or_else(Vec::new, |name| words(name));
        Self { evidence, event_types, places, frequency, event_words }
    }

    /// Where values may be taken from, by code point of their paths.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// The place at a path.
    pub(crate) fn place(&self, path: &[String]) -> Option<&Place> {
        let found = self.places.binary_search_by(|place| place.path.as_slice().cmp(path)).ok()?;
        self.places.get(found)
    }

    /// Whether a word occurs in a path, in whatever ending.
    pub(super) fn knows(&self, word: &Word) -> bool {
        self.frequency.keys().any(|known| known.alike(word) >= SAME)
    }

    /// How much a word of a text tells about where a value is: 0 where it occurs in no path, most where it occurs in few.
    pub(crate) fn rarity(&self, word: &Word) -> f64 {
        let count: usize = self
            .frequency
            .iter()
            .filter(|(known, _)| known.alike(word) >= super::score::MEANT)
            .map(|(_, count)| count)
            .sum();
        if count == 0 { 0.0 } else { 1.0 + (ratio(self.places.len(), count)).max(1.0).ln() }
    }

    /// Whether every value at a path that isn't null is of the type. Where no value was seen, what the schema declares
    /// decides, and where nothing is declared, anything may be there.
    pub(crate) fn fits(&self, path: &[String], property_type: &PropertyType) -> bool {
        if let Some(fits) = self.values_fit(path, property_type) {
            return fits;
        }
        let declared = self.evidence.declared().get(path).map(|it| it.kinds).unwrap_or_default();
        let wanted = kinds_of(property_type);
        let mut declared = declared.iter().filter(|kind| *kind != Kind::Null).peekable();
        declared.peek().is_none() || declared.any(|kind| wanted.contains(&kind))
    }

    /// The same, told by samples alone; `None` where no value was seen.
    pub(crate) fn values_fit(&self, path: &[String], property_type: &PropertyType) -> Option<bool> {
        let mut values = self.values(path).peekable();
        values.peek()?;
        Some(values.all(|value| fit(property_type, value) == Fit::Valid))
    }

    /// The conversion that makes every value at a path be of the type, or be written alike where they are of it already;
    /// `None` where nothing has to be done, or nothing helps.
    pub(crate) fn conversion(
        &self,
        path: &[String],
        property_type: &PropertyType,
    ) -> Option<Conversion> {
        // A few values tell most often that no conversion will do.
        let examples = self.place(path).map_or(&[][..], |place| &place.examples);
        if fitting(property_type, examples.iter()) == Some(Fitting::Unfit) {
            return None;
        }
        match fitting(property_type, self.values(path))? {
            Fitting::Uniform(step) | Fitting::Converted(step) => Some(step),
            Fitting::AsTheyAre | Fitting::Unfit => None,
        }
    }

    /// The values at a path that aren't null.
    pub(crate) fn values<'s>(&'s self, path: &'s [String]) -> impl Iterator<Item = &'s Value> {
        let of_type = |name: &&'e str| self.evidence.of(name);
        let seen = self.event_types.iter().filter_map(of_type).flat_map(|it| it.seen(path));
        seen.map(|(_, value)| value).filter(|value| !value.is_null())
    }
}

/// The kinds of values that a type takes.
fn kinds_of(property_type: &PropertyType) -> &'static [Kind] {
    match property_type {
        PropertyType::String
        | PropertyType::Bytes
        | PropertyType::Date
        | PropertyType::Timestamp => &[Kind::String],
        PropertyType::Int64 => &[Kind::Integer],
        PropertyType::Double | PropertyType::Float64 => &[Kind::Integer, Kind::Number],
        PropertyType::Boolean | PropertyType::Bool => &[Kind::Boolean],
        PropertyType::Unsupported(_) => &[],
    }
}

#[derive(Default)]
struct Sum {
    present: usize,
    distinct: usize,
    kinds: Kinds,
    examples: Vec<Value>,
}

fn places(evidence: &Evidence, event_types: &[&str]) -> Vec<Place> {
    let mut sums: BTreeMap<Path, Sum> = BTreeMap::new();
    let mut total = 0;
    for event_type in event_types {
        total += evidence.of(event_type).map_or(0, crate::task::evidence::SampleEvents::count);
        for (path, observed) in evidence.paths(event_type) {
            let sum = sums.entry(path.clone()).or_default();
            sum.present += observed.present;
            sum.distinct = sum.distinct.max(observed.distinct);
            sum.kinds = sum.kinds.union(observed.kinds);
            sum.examples.extend(observed.examples.iter().cloned());
        }
    }
    let is_place = |path: &Path, kinds: Kinds| {
        let declared = evidence.declared().get(path).map(|it| it.kinds).unwrap_or_default();
        let all = kinds.union(declared);
        let scalar = |kind| !matches!(kind, Kind::Null | Kind::Array | Kind::Object);
        // A plan can't name an empty key.
        let can_be_named = !path.is_empty() && !path.iter().any(String::is_empty);
        can_be_named && (all.iter().any(scalar) || !all.iter().any(|kind| kind != Kind::Null))
    };
    sums.retain(|path, sum| is_place(path, sum.kinds));
    let mut below: BTreeMap<&[String], usize> = BTreeMap::new();
    for path in sums.keys() {
        for length in 1..path.len() {
            *below.entry(path.get(..length).unwrap_or_default()).or_default() += 1;
        }
    }
    // Events have the same keys in many places, and taking one apart is most of the work.
    let mut taken_apart: BTreeMap<&str, Vec<Word>> = BTreeMap::new();
    for key in sums.keys().flatten() {
        taken_apart.entry(key).or_insert_with(|| words(key));
    }
    let words_of = |key: &str| taken_apart.get(key).cloned().unwrap_or_default();
    let telling = |path: &Path| -> Vec<f64> {
        let one = |index: usize| {
            let wraps = |key: &String| words_of(key).iter().all(|word| word.is_one_of(WRAPPERS));
            if index + 1 < path.len() && path.iter().take(index + 1).all(wraps) {
                return 0.0;
            }
            let prefix = path.get(..=index).unwrap_or_default();
            1.0 - below.get(prefix).map_or(0.0, |count| ratio(*count, sums.len()))
        };
        (0..path.len()).map(one).collect()
    };
    let place = |(path, sum): (&Path, &Sum)| Place {
        words: path.iter().map(|key| words_of(key)).collect(),
        telling: telling(path),
        coverage: ratio(sum.present, total),
        uniqueness: ratio(sum.distinct, sum.present).min(1.0),
        kinds: sum.kinds.iter().filter(|kind| *kind != Kind::Null).collect(),
        examples: sum.examples.clone(),
        description: evidence
            .declared()
            .get(path)
            .and_then(|declared| declared.description.as_deref())
            .map_or_else(Vec::new, words),
        path: path.clone(),
    };
    sums.iter().map(place).collect()
}

/// One count as a share of another.
#[allow(clippy::cast_precision_loss, reason = "counts of samples and paths are far below 2^52")]
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
