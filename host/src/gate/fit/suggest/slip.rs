//! The path that can only have been meant: the same one, with a slip of spelling, letter case or level.
//!
//! A path that no sample shows may be right. So nothing but a slip of that very path is put right without asking, and not where
//! samples leave open which path it is a slip of. Whether other values of the plan read what was meant is for the check to say.

use super::path::{PathSearch, Sought, other_spellings};
use crate::evidence::Path;
use crate::evidence::similarity::slip::{Slip, slip};
use crate::evidence::similarity::spelling::{self, Spelled};

/// Words that say no more of a value than that it is one, or that it is of the event. Without separators, in lower case.
const WRAPPERS: &[&str] = &[
    "attributes",
    "body",
    "content",
    "data",
    "details",
    "event",
    "fields",
    "message",
    "object",
    "payload",
    "properties",
    "record",
    "root",
    "value",
];

/// How many other values have to be read where a path leads for a key to be missing, or another one, on the way there.
const COMPANY: usize = 2;

/// A path that is known, with how its keys are spelled.
type KnownPath<'k> = (&'k [String], &'k [Spelled]);

/// Whether a path is of some class.
type PathClass<'c> = dyn Fn(&KnownPath<'_>) -> bool + 'c;

impl PathSearch<'_, '_> {
    /// The one path that what was written is, but for a slip.
    pub(super) fn slipped(&self, sought: &Sought<'_>) -> Option<Path> {
        let mut forms = other_spellings(sought.given);
        forms.insert(0, sought.given.to_vec());
        forms.retain(|form| !form.is_empty());
        let found = self.spelled_alike(&forms, sought);
        let found = found.or_else(|| self.of_other_level(forms.last()?, sought))?;
        let says = |path: &[String]| sought.name.map_or(0.0, |it| spelling::affinity(it, path));
        let is_against =
            joined(sought.given) != joined(&found) && says(sought.given) > says(&found);
        (!is_against && self.is_open(&found, sought)).then_some(found)
    }

    /// The one path of as many keys that are the same but for their spelling, of which letters are wrong in one. Where that is
    /// doubtful the name of the value has to say that it is meant.
    fn spelled_alike(&self, forms: &[Path], sought: &Sought<'_>) -> Option<Path> {
        let of_slip = |wanted: Slip| {
            let is_one = |path: &&[String]| forms.iter().any(|it| keys(it, path) == Some(wanted));
            let mut found = self.known().paths().filter(is_one);
            let first = found.next()?;
            Some((wanted, first, found.next().is_none()))
        };
        // The nearer the better: other letters don't count where the same are there in another form.
        let slips = [Slip::None, Slip::Form, Slip::Letter, Slip::Doubtful];
        let (slip, path, is_only) = slips.into_iter().find_map(of_slip)?;
        let says = |path: &[String]| sought.name.map_or(0.0, |it| spelling::affinity(it, path));
        let is_clear = slip != Slip::Doubtful || says(path) > says(sought.given);
        (is_only && is_clear).then(|| path.to_vec())
    }

    /// The one path that has the same words in other keys, or a key more or less than what was written, of which none says anything
    /// or one is missing. Not where another value is read there as well: who wrote that knows of something there.
    fn of_other_level(&self, written: &[String], sought: &Sought<'_>) -> Option<Path> {
        let known = |length: usize| written.get(..length).is_some_and(|it| self.known().has(it));
        let unknown = (1..=written.len()).find(|length| !known(*length))?;
        let beginning = written.get(..unknown)?;
        if self.others(written).any(|other| other.starts_with(beginning)) {
            return None;
        }
        // The last key says something by being the last one, unless nothing else does.
        let last = written.len().saturating_sub(1);
        let said = |keeps_last: bool| -> Path {
            let is_said = |place: usize, key: &String| {
                place + 1 < unknown || !is_wrapper(key) || (keeps_last && place == last)
            };
            let said = written.iter().enumerate().filter(|(place, key)| is_said(*place, key));
            said.map(|(_, key)| key.clone()).collect()
        };
        let forms = [said(true), said(false)];
        let mut found = forms.iter().filter(|said| !said.is_empty());
        found.find_map(|said| self.of_same_words(written, said, sought))
    }

    /// The one path of the same words as what was said, in the first way in which any is.
    fn of_same_words(
        &self,
        written: &[String],
        said: &[String],
        sought: &Sought<'_>,
    ) -> Option<Path> {
        let words = [joined(written), joined(said)];
        let [_, said_words] = &words;
        let own: Vec<&String> = said.iter().filter(|key| !is_wrapper(key)).collect();
        let is_same_words = |(_, keys): &KnownPath<'_>| {
            words.iter().any(|words| says(keys.iter().map(Spelled::plain), words))
        };
        let is_wrapped_otherwise = |(path, keys): &KnownPath<'_>| {
            let told = path.iter().zip(*keys).filter(|(_, key)| !says_nothing(key));
            told.map(|(key, _)| key).eq(own.iter().copied()) && self.read_beside(path) > 0
        };
        let ends = |path: &[String]| sought.name.is_some_and(|it| spelling::ends_in(path, it));
        let is_cut = |(path, keys): &KnownPath<'_>| {
            // What was wrapped wrongly may be wrapped rightly.
            let is_bare = said.len() < written.len();
            let wrapped = keys.iter().take_while(|key| is_bare && says_nothing(key)).count();
            let inner = keys.get(wrapped..).unwrap_or_default();
            missing_from(said_words, inner).is_some_and(|missing| {
                let is_named = ends(path) && !ends(said);
                is_named || self.is_read_behind(path, wrapped + missing, written, is_bare)
            })
        };
        let classes: [&PathClass<'_>; 3] = [&is_same_words, &is_wrapped_otherwise, &is_cut];
        // The first class that has any decides.
        classes.into_iter().find_map(|class| {
            let known = self.known().spelled().iter().map(|(path, keys)| (*path, keys.as_slice()));
            let mut found = known.filter(|(path, _)| *path != written).filter(class);
            let (first, _) = found.next()?;
            Some(found.next().is_none().then(|| first.to_vec()))
        })?
    }

    /// Whether other values are read behind the key of a path that was left out, and none beside that key or where it was looked for.
    fn is_read_behind(
        &self,
        path: &[String],
        missing: usize,
        written: &[String],
        is_bare: bool,
    ) -> bool {
        let Some(inside) = path.get(..=missing).filter(|it| it.len() < path.len()) else {
            return false;
        };
        let behind = self.others(written).filter(|other| other.starts_with(inside)).count();
        let parent = written.split_last().map_or(written, |(_, parent)| parent);
        let around = path.get(..missing).unwrap_or_default();
        let is_beside = |other: &&[String]| {
            other.split_last().is_some_and(|(_, it)| it == parent || (!is_bare && it == around))
        };
        behind >= COMPANY && !self.others(written).any(|other| is_beside(&other))
    }

    /// How many other values are read from the object that a path leads into.
    fn read_beside(&self, path: &[String]) -> usize {
        let parent = path.split_last().map(|(_, parent)| parent);
        self.others(path).filter(|other| other.split_last().map(|(_, it)| it) == parent).count()
    }
}

fn is_wrapper(key: &str) -> bool {
    WRAPPERS.iter().any(|wrapper| spelling::plain_chars(key).eq(wrapper.chars()))
}

/// The same of a key whose spelling is known.
fn says_nothing(key: &Spelled) -> bool {
    WRAPPERS.contains(&key.plain())
}

/// Whether a path is another one but for a slip of spelling, or for words in it that say nothing.
pub(in crate::gate::fit) fn is_slip(written: &[String], path: &[String]) -> bool {
    let mut forms = other_spellings(written);
    forms.push(written.to_vec());
    let is_wrapped = || written.len() > path.len() && joined(&bare(written)) == joined(path);
    let is_spelled = |form: &Path| keys(form, path).is_some_and(|slip| slip != Slip::Doubtful);
    forms.iter().any(is_spelled) || is_wrapped()
}

/// The keys of a path that say something.
fn bare(path: &[String]) -> Path {
    path.iter().filter(|key| !is_wrapper(key)).cloned().collect()
}

/// The worst slip of the keys of a path as another one; `None` where they aren't the same.
fn keys(written: &[String], path: &[String]) -> Option<Slip> {
    if written.len() != path.len() {
        return None;
    }
    let slips: Vec<Slip> =
        written.iter().zip(path).map(|(a, b)| slip(a, b)).collect::<Option<_>>()?;
    let letters = slips.iter().filter(|it| **it >= Slip::Letter).count();
    (letters <= 1).then(|| slips.into_iter().max().unwrap_or(Slip::None))
}

/// The words of a path, however they are divided into keys.
fn joined(path: &[String]) -> String {
    path.iter().map(|key| spelling::plain(key)).collect()
}

/// Whether these are the words of keys, however they are divided into them.
fn says<'k>(keys: impl IntoIterator<Item = &'k str>, words: &str) -> bool {
    let mut left = words;
    for key in keys {
        let Some(rest) = left.strip_prefix(key) else { return false };
        left = rest;
    }
    left.is_empty()
}

/// The place of the one key of a path that these words lack, where they are those of all others.
fn missing_from(words: &str, keys: &[Spelled]) -> Option<usize> {
    let bytes: usize = keys.iter().map(|key| key.plain().len()).sum();
    let lacks = bytes.checked_sub(words.len())?;
    let others = |place: usize| {
        keys.iter().enumerate().filter(move |(at, _)| *at != place).map(|(_, key)| key.plain())
    };
    let is_as_long = |place: &usize| keys.get(*place).is_some_and(|key| key.plain().len() == lacks);
    let mut places = (0..keys.len()).filter(is_as_long);
    places.find(|place| keys.len() > 1 && says(others(*place), words))
}
