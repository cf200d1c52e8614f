//! How alike two spellings can be at most, told without comparing them letter by letter.

/// The letters and digits that are counted each by itself; all others are counted together.
const KINDS: usize = 37;

/// How often each letter occurs in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Letters {
    counts: [u8; KINDS],
    chars: u32,
}

impl Letters {
    pub(crate) fn of(word: &str) -> Self {
        let mut letters = Self { counts: [0; KINDS], chars: 0 };
        for c in word.chars() {
            let kind = match c {
                'a'..='z' => c as usize - 'a' as usize,
                '0'..='9' => 26 + c as usize - '0' as usize,
                _ => KINDS - 1,
            };
            if let Some(count) = letters.counts.get_mut(kind) {
                *count = count.saturating_add(1);
            }
            letters.chars = letters.chars.saturating_add(1);
        }
        letters
    }

    /// The similarity that two words have at most, from 0 to 1: whatever only one of them has, somebody has to write or take
    /// out, and one change does away with one letter of each.
    pub(crate) fn similarity_at_most(&self, other: &Self) -> f64 {
        let longest = self.chars.max(other.chars);
        if longest == 0 {
            return 1.0;
        }
        let (mut mine, mut others) = (0_u32, 0_u32);
        for (a, b) in self.counts.iter().zip(&other.counts) {
            mine += u32::from(a.saturating_sub(*b));
            others += u32::from(b.saturating_sub(*a));
        }
        let least = mine.max(others).max(self.chars.abs_diff(other.chars));
        1.0 - f64::from(least) / f64::from(longest)
    }
}

/// What it costs to compare two words letter by letter, in steps.
pub(crate) fn spelling_steps(a: &str, b: &str) -> u64 {
    100 + 8 * (a.len() as u64) * (b.len() as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Letters;

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
