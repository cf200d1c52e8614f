//! Arrays and maps: where they are, and what is declared of what they hold.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::path::{ENTRY_KEY, ENTRY_VALUE, Path, PathStep};
use super::{Declared, Evidence, SampleEvents, redact};
use crate::json::{JsonKind, JsonKinds};
use crate::plan::expr::{ForEach, Iteration, Over};

/// How many keys an object has to have, over all samples, to be taken for a map.
const MIN_KEYS: usize = 3;

/// How many keys of one path are looked at to tell a map.
const MAX_KEYS: usize = 1_000;

/// Something in events that a `for_each` can go over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collection {
    /// What it is, and where.
    pub iteration: Iteration,
    /// How many elements samples have there, over all of them.
    pub elements: usize,
    /// The kinds of the elements, or of the values of entries, of samples; where there are none, those that are declared.
    pub kinds: JsonKinds,
}

pub(super) fn collections(evidence: &Evidence, event_types: &[&str]) -> Vec<Collection> {
    let events: Vec<&SampleEvents> = event_types.iter().filter_map(|it| evidence.of(it)).collect();
    let mut kinds: BTreeMap<&Path, JsonKinds> = BTreeMap::new();
    for (path, declared) in evidence.declared() {
        kinds.insert(path, declared.kinds);
    }
    for (path, observed) in events.iter().flat_map(|events| events.observed()) {
        let all = kinds.entry(path).or_default();
        *all = all.union(observed.kinds);
    }
    let mut found = Vec::new();
    for (path, kinds) in kinds {
        let values = || events.iter().flat_map(|events| events.seen(path)).map(|(_, value)| value);
        if kinds.contains(JsonKind::Array) {
            let elements = || values().filter_map(Value::as_array).flatten();
            found.push(collection(evidence, Over::Array, path, elements().map(JsonKind::of)));
        }
        if kinds.contains(JsonKind::Object) && is_map(evidence, path, values()) {
            let entries = values().filter_map(Value::as_object).flat_map(|it| it.values());
            found.push(collection(evidence, Over::Entries, path, entries.map(JsonKind::of)));
        }
    }
    found
}

fn collection(
    evidence: &Evidence,
    over: Over,
    path: &Path,
    elements: impl Iterator<Item = JsonKind>,
) -> Collection {
    let (mut count, mut kinds) = (0, JsonKinds::default());
    for kind in elements {
        count += 1;
        kinds.insert(kind);
    }
    let iteration = Iteration::new(over, path.clone());
    if count == 0 {
        let places = PathStep::elements(&ForEach::new(iteration.clone()));
        let declared = places.iter().find_map(|steps| evidence.declared_inside().get(steps));
        kinds = declared.map(|declared| declared.kinds).unwrap_or_default();
    }
    Collection { iteration, elements: count, kinds }
}

/// Whether the keys of an object are data: the schema says so, or they look like it, or they are other ones in most samples.
fn is_map<'v>(evidence: &Evidence, path: &Path, values: impl Iterator<Item = &'v Value>) -> bool {
    let mut steps = PathStep::keys(path);
    steps.push(PathStep::Value);
    if evidence.declared_inside().contains_key(&steps) {
        return true;
    }
    let (mut objects, mut total, mut kinds) = (0, 0, JsonKinds::default());
    let mut keys: BTreeSet<&str> = BTreeSet::new();
    for object in values.filter_map(Value::as_object) {
        objects += 1;
        for (key, value) in object {
            if keys.len() < MAX_KEYS {
                keys.insert(key);
            }
            total += 1;
            if !value.is_null() {
                kinds.insert(JsonKind::of(value));
            }
        }
    }
    // Integers and other numbers are numbers.
    let kinds: Vec<JsonKind> = kinds.iter().collect();
    let of_one_kind =
        kinds.len() < 2 || matches!(kinds.as_slice(), [JsonKind::Integer, JsonKind::Number]);
    let are_data = || keys.iter().filter(|key| redact::is_data(key)).count() * 2 > keys.len();
    let vary = || objects > 1 && total * 2 <= keys.len() * objects;
    keys.len() >= MIN_KEYS && of_one_kind && (are_data() || vary())
}

/// What a schema says about the elements of an iteration: by path from the element, and inside of what it holds.
pub(super) fn narrowed(
    evidence: &Evidence,
    for_each: &ForEach,
) -> (BTreeMap<Path, Declared>, BTreeMap<Vec<PathStep>, Declared>) {
    let (mut declared, mut inside) = (BTreeMap::new(), BTreeMap::new());
    let places = PathStep::taken_from(for_each);
    let is_entry = for_each.innermost().over() == Over::Entries;
    let keys = evidence.declared().iter().map(|(path, it)| (PathStep::keys(path), it));
    let all = evidence.declared_inside().iter().map(|(steps, it)| (steps.clone(), it)).chain(keys);
    for (steps, says) in all {
        for rest in places.iter().filter_map(|element| below(&steps, element)) {
            let value = is_entry.then(|| PathStep::Key(ENTRY_VALUE.to_owned()));
            let steps: Vec<PathStep> = value.into_iter().chain(rest.iter().cloned()).collect();
            let path: Option<Path> = steps.iter().map(PathStep::key).collect();
            let place: &mut Declared = match path {
                Some(path) => declared.entry(path).or_default(),
                None => inside.entry(steps).or_default(),
            };
            place.merge(says);
        }
    }
    if is_entry && !declared.is_empty() {
        let kinds = JsonKinds::from_iter([JsonKind::String]);
        declared.insert(vec![ENTRY_KEY.to_owned()], Declared { kinds, description: None });
    }
    (declared, inside)
}

/// What is left of steps after those to an element. A key of an object is one of its entries.
fn below<'s>(steps: &'s [PathStep], element: &[PathStep]) -> Option<&'s [PathStep]> {
    let (start, rest) = steps.split_at_checked(element.len())?;
    let leads = |(step, wanted): (&PathStep, &PathStep)| {
        step == wanted || (*wanted == PathStep::Value && matches!(step, PathStep::Key(_)))
    };
    start.iter().zip(element).all(leads).then_some(rest)
}
