//! Words compared letter by letter: what that costs, and what it can come to at most.

/// Longer names than this are equal or they aren't: comparing letter by letter takes the product of the lengths.
pub(super) const MAX_COMPARED: usize = 64;

/// The letters and digits that are counted each by itself; all others are counted together.
const COUNTED: usize = 37;

/// How often each letter occurs in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Letters {
    counts: [u8; COUNTED],
    chars: u32,
}

impl Letters {
    pub(crate) fn of(word: &str) -> Self {
        let mut letters = Self { counts: [0; COUNTED], chars: 0 };
        for c in word.chars() {
            let kind = match c {
                'a'..='z' => c as usize - 'a' as usize,
                '0'..='9' => 26 + c as usize - '0' as usize,
                _ => COUNTED - 1,
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
