//! How alike names and paths are, letter by letter.

use std::collections::BTreeSet;

use super::TYPO_THRESHOLD;
use super::letters::{Letters, MAX_COMPARED, spelling_steps};
use super::words::split;
use crate::evidence::effort::StepBudget;

/// So much of a name is looked at where spelling is left aside: names are compared with every path that is known.
const MAX_SPELLED_CHARS: usize = 1024;

/// How alike names are whose letters are the same, and what is left of how alike others are.
const SAME_LETTERS: f64 = 0.98;
const DIFFERENT: f64 = 0.97;

/// What a glance at two names costs, in steps, and what making one ready costs for each of its bytes.
const GLANCE: u64 = 20;
const READING: u64 = 8;

/// What it costs besides to compare the words of two names, in steps.
const WORDS: u64 = 30;

/// What a segment costs that only one of two paths has.
const GAP: f64 = 0.5;

/// How alike two segments of paths have to be for one to be the other misspelt, and not another one that is missing.
const SAME_SEGMENT: f64 = 0.5;

/// A name without what spelling conventions differ in: letter case and separators.
pub(crate) fn plain(name: &str) -> String {
    plain_chars(name).collect()
}

/// The same, one after the other.
pub(crate) fn plain_chars(name: &str) -> impl Iterator<Item = char> {
    let spelled = name.chars().take(MAX_SPELLED_CHARS);
    spelled.filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// The words of a name, in lower case: `authorLogin`, `author_login` and `author-login` have the same ones.
pub(crate) fn words(name: &str) -> Vec<String> {
    let end = name.char_indices().nth(MAX_SPELLED_CHARS).map(|(end, _)| end);
    split(end.and_then(|end| name.get(..end)).unwrap_or(name))
}

/// A name in the form in which it is compared with others.
pub(crate) struct Spelled {
    name: String,
    plain: String,
    letters: Letters,
}

impl Spelled {
    pub(crate) fn new(name: &str) -> Self {
        let plain = plain(name);
        Self { name: name.to_owned(), letters: Letters::of(&plain), plain }
    }

    /// How alike two names are, as [`names`] tells it, where they are at least as alike as `floor`; 0 where they aren't, or
    /// there is no effort left to compare them.
    fn alike(&self, other: &Self, floor: f64, effort: &StepBudget) -> f64 {
        if !effort.take(GLANCE) {
            return 0.0;
        }
        if self.name == other.name {
            return 1.0;
        }
        if self.plain == other.plain && !self.plain.is_empty() {
            return SAME_LETTERS;
        }
        if !self.is_comparable() || !other.is_comparable() {
            return 0.0;
        }
        let at_most = self.letters.similarity_at_most(&other.letters) * DIFFERENT;
        if at_most < floor || !effort.take(spelling_steps(&self.plain, &other.plain)) {
            return 0.0;
        }
        let alike = strsim::normalized_damerau_levenshtein(&self.plain, &other.plain) * DIFFERENT;
        if alike < floor { 0.0 } else { alike }
    }

    /// The name without separators, in lower case.
    pub(crate) fn plain(&self) -> &str {
        &self.plain
    }

    fn is_comparable(&self) -> bool {
        !self.plain.is_empty() && self.plain.len() <= MAX_COMPARED
    }
}

/// Whether both paths end in the same name.
pub(crate) fn same_leaf(a: &[Spelled], b: &[Spelled]) -> bool {
    matches!((a.last(), b.last()), (Some(a), Some(b)) if a.plain == b.plain)
}

/// The keys of a path, in the form in which they are compared.
pub(crate) fn spelled(path: &[String]) -> Vec<Spelled> {
    path.iter().map(|key| Spelled::new(key)).collect()
}

/// How alike two names are, from 0 to 1: 1 for equal ones, just below for those that differ in case or separators, else by
/// the letters that would have to change. 0 where there is no effort left to compare them.
pub(crate) fn names(a: &str, b: &str, effort: &StepBudget) -> f64 {
    // Making the names ready costs by their lengths.
    let bytes = a.len().min(MAX_SPELLED_CHARS) + b.len().min(MAX_SPELLED_CHARS);
    if a != b && !effort.take(READING * bytes as u64) {
        return 0.0;
    }
    Spelled::new(a).alike(&Spelled::new(b), 0.0, effort)
}

/// How alike two names are, as [`names`] tells it, where one that has all the words of the other is a short form of it.
pub(crate) fn names_or_short_forms(a: &str, b: &str, effort: &StepBudget) -> f64 {
    let bytes = a.len().min(MAX_SPELLED_CHARS) + b.len().min(MAX_SPELLED_CHARS);
    if !effort.take(WORDS + 2 * READING * bytes as u64) {
        return 0.0;
    }
    let (left, right) = (words(a), words(b));
    let (short, long) = if left.len() < right.len() { (&left, &right) } else { (&right, &left) };
    let is_short_form = !short.is_empty() && short.iter().all(|word| long.contains(word));
    names(a, b, effort).max(if is_short_form { TYPO_THRESHOLD } else { 0.0 })
}

/// How alike two paths are, from 0 to 1. Segments may be misspelt, missing or too many. 0 where there is no effort left to
/// compare them.
pub(crate) fn paths(a: &[Spelled], b: &[Spelled], effort: &StepBudget) -> f64 {
    let longest = a.len().max(b.len());
    if longest == 0 || longest > 32 {
        return 0.0;
    }
    let mut above: Vec<f64> = (0..=b.len()).map(|gaps| gaps as f64 * GAP).collect();
    for (row, segment) in a.iter().enumerate() {
        let mut current = vec![(row + 1) as f64 * GAP];
        for (column, other) in b.iter().enumerate() {
            let alike = segment.alike(other, SAME_SEGMENT, effort);
            let changed = if alike >= SAME_SEGMENT { (1.0 - alike) * 0.9 } else { 1.0 };
            let cost = (above[column] + changed).min(above[column + 1] + GAP);
            current.push(cost.min(current[column] + GAP));
        }
        above = current;
    }
    let cost = above.last().copied().unwrap_or(f64::MAX);
    (1.0 - cost / longest as f64).max(0.0)
}

/// Whether the end of a path, one segment or several, is this name: `content.issue.id` ends in `id` and in `issue_id`.
pub(crate) fn ends_in(path: &[String], name: &str) -> bool {
    let name = plain(name);
    let mut rest = name.as_str();
    for segment in path.iter().rev() {
        match rest.strip_suffix(plain(segment).as_str()) {
            Some("") => return !name.is_empty(),
            Some(before) if before.len() < rest.len() => rest = before,
            _ => return false,
        }
    }
    false
}

/// How much of a name a path says, from 0 to 1: the share of its words that the path has, all of it where the path ends in
/// the name.
pub(crate) fn affinity(name: &str, path: &[String]) -> f64 {
    if ends_in(path, name) {
        return 1.0;
    }
    let wanted = words(name);
    let said: BTreeSet<String> = path.iter().flat_map(|segment| words(segment)).collect();
    let found = wanted.iter().filter(|word| said.contains(*word)).count();
    let leaf: BTreeSet<String> =
        path.last().map(|leaf| words(leaf)).into_iter().flatten().collect();
    let in_leaf = wanted.iter().any(|word| leaf.contains(word));
    let share = if wanted.is_empty() { 0.0 } else { found as f64 / wanted.len() as f64 };
    if in_leaf { share * 0.95 } else { share * 0.3 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::evidence::effort::Cancel;

    fn path(dotted: &str) -> Vec<String> {
        dotted.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn names_are_alike_but_for_spelling() {
        let effort = StepBudget::new(u64::MAX, &Cancel::default());
        let names = |a: &str, b: &str| names(a, b, &effort);
        assert!(names("created_at", "createdAt") > 0.97);
        assert!(names("titel", "title") > 0.7 && names("title", "state") < 0.5);
        assert_eq!(names("", "__"), 0.0);
    }

    #[test]
    fn a_path_is_most_like_the_one_that_it_is_a_slip_of() {
        let wanted = path("content.issue.user.login");
        let other = path("content.sender.login");
        for slip in [
            "content.isue.user.login",
            "content.issue.login",
            "issue.user.login",
            "content.issue.data.user.login",
        ] {
            let effort = StepBudget::new(u64::MAX, &Cancel::default());
            let slip_of = |other: &[String]| paths(&spelled(&path(slip)), &spelled(other), &effort);
            assert!(slip_of(&wanted) > 0.8, "{slip}");
            assert!(slip_of(&wanted) > slip_of(&other), "{slip}");
        }
    }

    #[test]
    fn the_end_of_a_path_is_a_name() {
        for name in ["id", "issue_id", "contentIssueID"] {
            assert!(ends_in(&path("content.issue.id"), name), "{name}");
        }
        for name in ["d", "issue", "other_issue_id", ""] {
            assert!(!ends_in(&path("content.issue.id"), name), "{name}");
        }
        assert!(!ends_in(&path("a.-.b"), "a_b") && !ends_in(&[], "a"));
    }

    proptest! {
        #[test]
        fn no_words_are_more_alike(a in "[a-d0é]{0,12}", b in "[a-d0é]{0,12}") {
            let exact = strsim::normalized_damerau_levenshtein(&a, &b);
            prop_assert!(Letters::of(&a).similarity_at_most(&Letters::of(&b)) >= exact - 1e-9);
        }
    }

    #[test]
    fn long_words_are_counted_without_overflow() {
        let (long, short) = (Letters::of(&"a".repeat(100_000)), Letters::of("a"));
        assert!(long.similarity_at_most(&short) < 0.001);
        assert!((long.similarity_at_most(&long) - 1.0).abs() < f64::EPSILON);
    }
}
