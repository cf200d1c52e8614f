//! Names and texts as words, and how alike two words are.

use super::letters::{Letters, MAX_COMPARED, spelling_steps};
use super::vocabulary::{
    CHECKSUM, COUNT, FORM, GLUE, GROUPS, IDENTITY, STOP, TIME, UNITS, canonical,
};
use crate::evidence::effort::StepBudget;

/// How alike two words are that differ in their ending alone: `lock`, `locked`, `locks`.
const SAME_STEM: f64 = 0.92;

/// How alike a word and its own beginning are, `star` and `stargazers`, or two words with a long beginning in common.
const PREFIX: f64 = 0.7;

/// How alike two words are of which one is the other misspelt.
const MISSPELT: f64 = 0.6;

/// How alike the letters of two words are at least for one to be the other misspelt. Higher than for whole names: words are
/// short, and `order` isn't `border`.
const MISSPELT_LETTERS: f64 = 0.8;

/// The fewest characters by which a beginning tells something of a word.
const MIN_PREFIX: usize = 4;

/// The fewest bytes that two words have to begin with in common, besides two thirds of the longer one.
const MIN_SHARED: usize = 7;

/// The fewest characters of a word that may be another one misspelt: short words are too near each other.
const MIN_MISSPELT: usize = 6;

/// What a glance at two words costs, in steps.
const GLANCE: u64 = 5;

/// What a word of a name is for, the first of these that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Class {
    /// It holds the name together.
    Glue,
    /// It says when something is.
    Time,
    /// A unit of measure.
    Unit,
    /// It says in which form a value is written.
    Form,
    /// It says that something is counted.
    Count,
    /// It says what a value is of.
    Other,
}

impl Class {
    fn of(word: &str) -> Self {
        let classes = [
            (GLUE, Self::Glue),
            (TIME, Self::Time),
            (UNITS, Self::Unit),
            (FORM, Self::Form),
            (COUNT, Self::Count),
        ];
        let found = classes.iter().find(|(words, _)| words.contains(&word));
        found.map_or(Self::Other, |(_, class)| *class)
    }
}

/// A word in lower case, in the spelling that its abbreviations stand for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Word {
    text: String,
    stem: String,
    /// The groups of the vocabulary that it is in, a bit each.
    groups: u64,
    letters: Letters,
    class: Class,
    /// Whether it is a word for a moment, and whether one for a checksum.
    is_time: bool,
    is_checksum: bool,
    /// How well it stands for the object that it is a key of, 0 the best; nothing where it doesn't.
    identity: Option<usize>,
}

impl Word {
    /// A word that is in lower case.
    pub(crate) fn new(text: &str) -> Self {
        let text = canonical(text).to_owned();
        let stem = stem(&text).to_owned();
        let letters = Letters::of(&text);
        let identity = IDENTITY.iter().position(|it| *it == text);
        let class = Class::of(&text);
        let (groups, is_time, is_checksum) = (0, false, false);
        let mut word = Self { text, stem, groups, letters, class, is_time, is_checksum, identity };
        for (index, (_, group)) in GROUPS.iter().enumerate() {
            word.groups |= u64::from(word.is_one_of(group)) << index;
        }
        word.is_time = word.is_one_of(TIME);
        word.is_checksum = word.is_one_of(CHECKSUM);
        word
    }

    /// Whether the word is for what identifies contents: `sha`, `digest`.
    pub(crate) fn is_checksum(&self) -> bool {
        self.is_checksum
    }

    pub(crate) fn class(&self) -> Class {
        self.class
    }

    /// How well the word stands for the object that it is a key of, 0 the best: `login`, `name`.
    pub(crate) fn identity(&self) -> Option<usize> {
        self.identity
    }

    /// Whether the word says when something is: `at`, `date`.
    pub(crate) fn is_time(&self) -> bool {
        self.is_time
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// How alike two words are: 1 for the same word, 0 for words that have nothing to do with each other, or that there is no
    /// effort left to compare.
    pub(crate) fn alike(&self, other: &Self, effort: &StepBudget) -> f64 {
        if !effort.take(GLANCE) {
            return 0.0;
        }
        if self.text == other.text {
            return 1.0;
        }
        if self.stem == other.stem {
            return SAME_STEM;
        }
        let both = self.groups & other.groups;
        if both == 0 {
            return self.spelled_like(other, effort);
        }
        let shared = GROUPS.iter().enumerate().filter(|(index, _)| both >> index & 1 == 1);
        shared.map(|(_, (weight, _))| *weight).fold(0.0, f64::max)
    }

    /// Whether the word says nothing about where a value is: `the`, `which`.
    pub(crate) fn is_filler(&self) -> bool {
        STOP.contains(&self.text.as_str())
    }

    /// Whether this is one of these words, in whatever ending.
    pub(crate) fn is_one_of(&self, words: &[&str]) -> bool {
        // A stem is the beginning of its word, and that is faster to see than what the stem is.
        let of_stem = |word: &str| word.starts_with(self.stem.as_str()) && self.stem == stem(word);
        words.iter().any(|word| self.text == *word || of_stem(word))
    }

    fn spelled_like(&self, other: &Self, effort: &StepBudget) -> f64 {
        let (a, b) = (self.stem.as_str(), other.stem.as_str());
        let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        if short.len() >= MIN_PREFIX && long.starts_with(short) {
            return PREFIX;
        }
        // `vulnerable`, `vulnerability`.
        let same = short.bytes().zip(long.bytes()).take_while(|(a, b)| a == b).count();
        if same >= MIN_SHARED && same * 3 >= long.len() * 2 {
            return PREFIX;
        }
        // Whole words of like length and letters alone: comparing letter by letter takes long.
        let of_like_length = self.text.len().abs_diff(other.text.len()) * 5 <= long.len();
        let may_be = || self.letters.similarity_at_most(&other.letters) >= MISSPELT_LETTERS;
        let near = || strsim::normalized_damerau_levenshtein(&self.text, &other.text);
        let is_comparable =
            short.len() >= MIN_MISSPELT && long.len() <= MAX_COMPARED && of_like_length;
        let may_compare = || effort.take(spelling_steps(&self.text, &other.text));
        if is_comparable && may_be() && may_compare() && near() >= MISSPELT_LETTERS {
            MISSPELT
        } else {
            0.0
        }
    }
}

/// A name or a text in words, in lower case: separated by whatever isn't a letter or digit, and where `camelCase` or an
/// `HTTPHeader` begins a new one.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(char) = chars.next() {
        let is_word = char.is_alphanumeric();
        let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        let begins = before.is_none_or(|before| {
            let after_lower = before.is_lowercase() || before.is_numeric();
            char.is_uppercase() && (after_lower || (before.is_uppercase() && next_is_lower))
        });
        match words.last_mut() {
            Some(word) if is_word && !begins => word.extend(char.to_lowercase()),
            _ if is_word => words.push(char.to_lowercase().collect()),
            _ => {}
        }
        before = is_word.then_some(char);
    }
    words
}

/// The words of a name or a text, each in the spelling that its abbreviations stand for.
pub(crate) fn words(text: &str) -> Vec<Word> {
    split(text).iter().map(|word| Word::new(word)).collect()
}

/// A word without the ending of a plural or a verb form, where enough of it is left.
fn stem(word: &str) -> &str {
    const ENDINGS: &[&str] =
        &["ments", "ment", "ings", "ing", "ies", "ied", "ed", "es", "s", "y", "e"];
    const SHORTEST: usize = 3;
    // Not endings: `status`, `analysis`, `access`.
    const WHOLE: &[&str] = &["us", "is", "ss"];
    let mut stem = word;
    // `issues`: first the plural, then the `e` that `issuing` has lost.
    for _ in 0..2 {
        if WHOLE.iter().any(|whole| stem.ends_with(whole)) {
            break;
        }
        let rest = |ending: &&str| {
            stem.strip_suffix(*ending).filter(|rest| rest.chars().count() >= SHORTEST)
        };
        match ENDINGS.iter().find_map(rest) {
            Some(rest) => stem = rest,
            None => break,
        }
    }
    // `merged`, `merge`; `stopped`, `stop`.
    let mut chars = stem.chars().rev();
    match (chars.next(), chars.next()) {
        (Some(last), Some(before))
            if last == before && stem.chars().count() > SHORTEST && stem.len() < word.len() =>
        {
            stem.strip_suffix(last).unwrap_or(stem)
        }
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::{Word, words};
    use crate::evidence::effort::{Cancel, StepBudget};

    #[test]
    fn names_are_split_into_words() {
        for (name, parts) in [
            ("repo_full_name", "repository full name"),
            ("userIdentity.sourceIPAddress", "user identity source ip address"),
            ("HTMLUrl", "html url"),
            ("sha256", "sha256"),
            ("  ", ""),
            ("größeInKB", "größe in kb"),
        ] {
            let found: Vec<String> = words(name).iter().map(|it| it.text().to_owned()).collect();
            assert_eq!(found.join(" "), parts, "{name}");
        }
    }

    #[test]
    fn likeness_is_symmetric_and_ordered() {
        let effort = StepBudget::new(u64::MAX, &Cancel::default());
        let alike = |a: &str, b: &str| {
            let (a, b) = (Word::new(a), Word::new(b));
            let alike = a.alike(&b, &effort);
            assert!((alike - b.alike(&a, &effort)).abs() < f64::EPSILON);
            alike
        };
        let steps = [
            alike("title", "title"),
            alike("issues", "issue"),
            alike("state", "status"),
            alike("stars", "stargazers"),
            alike("milestone", "milestnoe"),
            alike("title", "number"),
        ];
        assert!(steps.windows(2).all(|pair| pair[0] > pair[1]), "{steps:?}");
        assert!(alike("merged", "merge") > 0.9);
        assert!(alike("created", "closed") < 0.1);
        assert!(alike("id", "is") < 0.1);
    }
}
