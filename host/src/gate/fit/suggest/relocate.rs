//! Paths that are right from somewhere else: from the event or the parent, inside of an array, or in the JSON of a string.

use serde_json::Value;

use crate::evidence::effort::VALUE;
use crate::evidence::{ENTRY_VALUE, JSON, Path, PathIndex, at, holds_json};
use crate::gate::fit::scope::Scopes;
use crate::plan::expr::{ForEach, Iteration, Level, Over, Reference};

/// How long a path may be that is looked for elsewhere.
const MAX_KEYS: usize = 32;

/// What was meant by a path that isn't there.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::gate::fit) enum Meant {
    /// Another reference, of whatever level.
    Reference(Reference),
    /// What was written from outside of an element, through the array that it is in, where no path leads.
    InElement(Reference),
    /// What is at `rest` of each element of something at the same level.
    Element { iteration: Iteration, rest: Path },
    /// What is at `rest` in the JSON that the string at `path` holds.
    Json { path: Path, rest: Path },
}

/// What a path that isn't known where it starts would be somewhere else. Nothing is guessed: what is found is there.
pub(in crate::gate::fit) fn relocate(
    reference: &Reference,
    for_each: Option<&ForEach>,
    scopes: &Scopes<'_>,
) -> Option<Meant> {
    if reference.path.is_empty() || reference.path.len() > MAX_KEYS {
        return None;
    }
    let plain = without_indices(&reference.path);
    let forms: Vec<&Path> =
        if plain == reference.path { vec![&reference.path] } else { vec![&reference.path, &plain] };
    let inside = forms.iter().find_map(|path| in_element(path, for_each, scopes));
    let elsewhere = || {
        let level = scopes.only_level_with(&reference.path, for_each)?;
        Some(Reference { path: reference.path.clone(), level })
    };
    let known = scopes.at(for_each, reference.level)?;
    let from_array =
        || forms.iter().find_map(|path| behind_array(path, for_each, scopes)).map(Meant::Reference);
    let array = || forms.iter().find_map(|path| through_array(path, known));
    let text = || in_json(&reference.path, known);
    let inside = inside.map(Meant::InElement);
    let elsewhere = || elsewhere().map(Meant::Reference).or_else(from_array);
    inside.or_else(elsewhere).or_else(array).or_else(text)
}

/// A path without the places of elements: `["items", "0", "id"]`, `["items[]", "id"]`, `["items", "*", "id"]`.
fn without_indices(path: &[String]) -> Path {
    let is_index = |key: &str| {
        let key = key.trim_start_matches('[').trim_end_matches(']');
        key.is_empty() || key == "*" || key.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut plain = Path::new();
    for (place, key) in path.iter().enumerate() {
        let bare = match key.strip_suffix(']').and_then(|key| key.rsplit_once('[')) {
            Some((bare, index)) if is_index(index) => bare,
            _ => key,
        };
        let is_place = place > 0 && is_index(key);
        if !bare.is_empty() && !is_place {
            plain.push(bare.to_owned());
        }
    }
    plain
}

/// A path that begins with that of the array it is an element of, or is that of an entry's value without saying so.
fn in_element(
    path: &[String],
    for_each: Option<&ForEach>,
    scopes: &Scopes<'_>,
) -> Option<Reference> {
    let for_each = for_each?;
    let mut prefixes: Vec<(Path, u8)> = Vec::new();
    // No more than the places that a `for_each` may have.
    let mut wholes = vec![Path::new()];
    for (level, iteration) in (1..).zip(for_each.levels()) {
        let own = |whole: &Path| {
            let paths = iteration.paths().iter();
            paths.map(|path| [whole.as_slice(), path].concat()).collect::<Vec<Path>>()
        };
        wholes = wholes.iter().flat_map(own).collect();
        prefixes.extend(wholes.iter().map(|whole| (whole.clone(), level)));
        prefixes.extend(iteration.paths().iter().map(|path| (path.clone(), level)));
    }
    let entry = [&[ENTRY_VALUE.to_owned()], path].concat();
    let level = for_each.level();
    let is_entry = for_each.innermost().over() == Over::Entries;
    if is_entry && scopes.at(Some(for_each), level)?.has(&entry) {
        return Some(Reference { path: entry, level });
    }
    // The deepest first: what is in an inner element is in an outer one, too.
    prefixes.iter().rev().find_map(|(prefix, level)| {
        let rest = path.strip_prefix(prefix.as_slice())?;
        let level = Level(*level);
        let is_there = !prefix.is_empty() && scopes.at(Some(for_each), level)?.has(rest);
        is_there.then(|| Reference { path: rest.to_vec(), level })
    })
}

/// A path that begins with the last keys of that of the array it is an element of.
fn behind_array(
    path: &[String],
    for_each: Option<&ForEach>,
    scopes: &Scopes<'_>,
) -> Option<Reference> {
    let for_each = for_each?;
    let level = for_each.level();
    let known = scopes.at(Some(for_each), level)?;
    let arrays = for_each.innermost().paths().iter();
    let ends = arrays.flat_map(|array| (1..array.len()).filter_map(|from| array.get(from..)));
    let rests = ends.filter_map(|end| path.strip_prefix(end));
    let mut there = rests.filter(|rest| !rest.is_empty() && known.has(rest));
    there.next().map(|rest| Reference { path: rest.to_vec(), level })
}

/// A path that leads through an array: what is left of it is in an element.
fn through_array(path: &[String], known: &PathIndex<'_>) -> Option<Meant> {
    let effort = &known.efforts.searches;
    (1..path.len()).rev().find_map(|length| {
        let (array, rest) = path.split_at_checked(length)?;
        let mut values = known.values(array).take_while(|_| effort.take(VALUE));
        let is_there = values.any(|(_, value)| {
            let elements = value.as_array().into_iter().flatten();
            let mut elements = elements.take_while(|_| effort.take(VALUE));
            elements.any(|element| at(element, rest).is_some())
        });
        let iteration = Iteration::new(Over::Array, array.to_vec());
        is_there.then(|| Meant::Element { iteration, rest: rest.to_vec() })
    })
}

/// A path that leads into a string that holds JSON.
fn in_json(path: &[String], known: &PathIndex<'_>) -> Option<Meant> {
    let effort = &known.efforts.searches;
    (1..path.len()).rev().find_map(|length| {
        let (text, rest) = path.split_at_checked(length)?;
        if !holds_json(known.values(text).map(|(_, value)| value), effort) {
            return None;
        }
        let mut values = known.values(text).filter_map(|(_, value)| value.as_str());
        let is_there = values.any(|text| {
            let may_read = effort.take(JSON.of(text.len()));
            let parsed = may_read.then(|| serde_json::from_str::<Value>(text).ok()).flatten();
            parsed.is_some_and(|parsed| at(&parsed, rest).is_some())
        });
        is_there.then(|| Meant::Json { path: text.to_vec(), rest: rest.to_vec() })
    })
}
