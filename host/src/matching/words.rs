//! Names and texts as words, and how alike two words are.

use super::vocabulary::{GROUPS, STOP, TIME, canonical};

/// How alike two words are that differ in their ending alone: `lock`, `locked`, `locks`.
const SAME_STEM: f64 = 0.92;

/// How alike a word and its own beginning are, `star` and `stargazers`, or two words with a long beginning in common.
const PREFIX: f64 = 0.7;

/// How alike two words are that a slip of the finger tells apart.
const TYPO: f64 = 0.6;

/// Which share of a word's characters may differ for it to be a slip of the finger.
const TYPO_SIMILARITY: f64 = 0.8;

/// The fewest characters by which a beginning tells something of a word.
const MIN_PREFIX: usize = 4;

/// The fewest bytes that two words have to begin with in common, besides two thirds of the longer one.
const MIN_SHARED: usize = 7;

/// The fewest characters of a word in which a slip may be looked for: short words are too near each other.
const MIN_TYPO: usize = 6;

/// A word in lower case, in the spelling that its abbreviations stand for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Word {
    text: String,
    stem: String,
    /// The groups of the vocabulary that it is in, a bit each.
    groups: u64,
    /// Whether it is a word for a moment.
    is_time: bool,
}

impl Word {
    pub(crate) fn new(text: &str) -> Self {
        let text = canonical(&text.to_lowercase()).to_owned();
        let stem = stem(&text).to_owned();
        let mut word = Self { text, stem, groups: 0, is_time: false };
        for (index, (_, group)) in GROUPS.iter().enumerate() {
            word.groups |= u64::from(word.is_one_of(group)) << index;
        }
        word.is_time = word.is_one_of(TIME);
        word
    }

    /// Whether the word says when something is: `at`, `date`.
    pub(super) fn is_time(&self) -> bool {
        self.is_time
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// How alike two words are: 1 for the same word, 0 for words that have nothing to do with each other.
    pub(crate) fn alike(&self, other: &Self) -> f64 {
        if self.text == other.text {
            return 1.0;
        }
        if self.stem == other.stem {
            return SAME_STEM;
        }
        let both = self.groups & other.groups;
        if both == 0 {
            return self.spelled_like(other);
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
        // A stem is the beginning of its word, and that is told faster than what the stem is.
        let of_stem = |word: &str| word.starts_with(self.stem.as_str()) && self.stem == stem(word);
        words.iter().any(|word| self.text == *word || of_stem(word))
    }

    fn spelled_like(&self, other: &Self) -> f64 {
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
        // Whole words of like length alone: comparing letter by letter takes long.
        let of_like_length = self.text.len().abs_diff(other.text.len()) * 5 <= long.len();
        let near = || strsim::normalized_damerau_levenshtein(&self.text, &other.text);
        if short.len() >= MIN_TYPO && of_like_length && near() >= TYPO_SIMILARITY {
            TYPO
        } else {
            0.0
        }
    }
}

/// The words of a name or a text: parted by whatever isn't a letter or digit, and where `camelCase` or an `HTTPHeader`
/// begins a new one.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(char) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        let begins = char.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_numeric()
                    || (before.is_uppercase() && next_is_lower)
            });
        if (begins || !char.is_alphanumeric()) && !word.is_empty() {
            words.push(Word::new(&word));
            word.clear();
        }
        if char.is_alphanumeric() {
            word.push(char);
        }
        before = Some(char);
    }
    if !word.is_empty() {
        words.push(Word::new(&word));
    }
    words
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

    #[test]
    fn names_are_parted() {
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
        let alike = |a: &str, b: &str| {
            let (a, b) = (Word::new(a), Word::new(b));
            assert!((a.alike(&b) - b.alike(&a)).abs() < f64::EPSILON);
            a.alike(&b)
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
