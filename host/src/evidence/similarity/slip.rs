//! Slips: a name that can only be another one of the same words, written wrongly.
//!
//! How alike names are tells what to suggest. What is put right without asking has to be a slip: `hostIPC` is much like `hostPID`,
//! and another thing. Letter case and separators never make another name; one letter that is wrong, missing, too many or out of its
//! place doesn't where the word is long enough for it to be no other word.

use super::spelling::{plain, words};

/// How many letters the word has at least that lacks one or has one too many, the word in which one is another, and the name in which
/// two changed places.
const MIN_WORD: usize = 5;
const MIN_WORD_OF_ANOTHER: usize = 7;
const MIN_NAME: usize = 4;

/// How a name was written wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slip {
    /// Not at all.
    None,
    /// In other letter case, or with other separators.
    Form,
    /// With one letter wrong, missing, too many or out of place.
    Letter,
    /// The same, but what is written may well be a word of its own: it is short, or the same in number or tense.
    Doubtful,
}

/// The slip by which a name is another one; `None` where it isn't that one.
pub(crate) fn slip(written: &str, meant: &str) -> Option<Slip> {
    if written == meant {
        return Some(Slip::None);
    }
    let (a, b) = (plain(written), plain(meant));
    if a.is_empty() || b.is_empty() {
        return None;
    }
    if a == b {
        return Some(Slip::Form);
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (place, edit) = edited_at(&a, &b)?;
    let is_number = |letters: &[char]| letters.get(place).is_some_and(|it| it.is_numeric());
    if is_number(&a) || is_number(&b) {
        return None;
    }
    let word = word_at(meant, place.min(b.len().saturating_sub(1)))?.chars().count();
    let last =
        |letters: &[char]| letters.get(place).copied().filter(|_| place + 1 == letters.len());
    let is_ending = |letters: &[char]| matches!(last(letters), Some('d' | 'r'));
    let is_clear = match edit {
        Edit::Exchange => b.len() >= MIN_NAME,
        Edit::Another => word >= MIN_WORD_OF_ANOTHER,
        // A letter that is there twice makes no other word.
        Edit::More if is_doubled(&a, place) => word >= MIN_NAME,
        Edit::More => word >= MIN_WORD && !is_ending(&a),
        Edit::Less => word >= MIN_WORD && !is_ending(&b),
    };
    Some(if is_clear { Slip::Letter } else { Slip::Doubtful })
}

/// Whether a letter is one that stands beside it as well.
fn is_doubled(letters: &[char], place: usize) -> bool {
    let before = place.checked_sub(1).and_then(|before| letters.get(before));
    before.is_some() && before == letters.get(place)
}

/// What is different in a text.
#[derive(Clone, Copy)]
enum Edit {
    /// Two neighbours changed places.
    Exchange,
    /// A letter is another one.
    Another,
    /// A letter is too many.
    More,
    /// A letter is missing.
    Less,
}

/// Where a text differs from another one by a single edit, and by which.
fn edited_at(a: &[char], b: &[char]) -> Option<(usize, Edit)> {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let edit = match (a.get(same..)?, b.get(same..)?) {
        ([x, y, a @ ..], [y2, x2, b @ ..]) if x == x2 && y == y2 && a == b => Edit::Exchange,
        ([_, a @ ..], [_, b @ ..]) if a == b => Edit::Another,
        ([_, a @ ..], b) if a == b => Edit::More,
        (a, [_, b @ ..]) if a == b => Edit::Less,
        _ => return None,
    };
    Some((same, edit))
}

/// The word of a name that has the letter with this place among its letters.
fn word_at(name: &str, place: usize) -> Option<String> {
    let mut end = 0;
    words(name).into_iter().find(|word| {
        end += word.chars().filter(|c| c.is_alphanumeric()).count();
        place < end
    })
}

#[cfg(test)]
mod tests {
    use super::{Slip, slip};

    #[test]
    fn the_same_words_are_a_slip_apart() {
        for (written, meant, expected) in [
            ("title", "title", Slip::None),
            ("createdAt", "created_at", Slip::Form),
            ("HOSTIPC", "hostIPC", Slip::Form),
            ("titel", "title", Slip::Letter),
            ("tittle", "title", Slip::Letter),
            ("creatd_at", "created_at", Slip::Letter),
            ("hostNetwrok", "hostNetwork", Slip::Letter),
            ("host_nework", "hostNetwork", Slip::Letter),
            ("usser", "user", Slip::Letter),
            ("labels", "label", Slip::Letter),
        ] {
            assert_eq!(slip(written, meant), Some(expected), "{written} {meant}");
        }
    }

    #[test]
    fn what_may_be_another_word_is_doubtful() {
        for (written, meant) in [
            ("hostIP", "hostIPC"),
            ("tag", "tags"),
            ("merge", "merged"),
            ("ids", "id"),
            ("di", "id"),
            ("date", "data"),
            ("stage", "state"),
            ("model", "mode"),
        ] {
            assert_eq!(slip(written, meant), Some(Slip::Doubtful), "{written} {meant}");
        }
        assert_eq!(slip("spandI", "spanId"), Some(Slip::Letter));
    }

    #[test]
    fn other_words_are_none() {
        for (written, meant) in [
            ("hostIPC", "hostPID"),
            ("created_at", "updated_at"),
            ("head_sha", "head_ref"),
            ("lat", "lon"),
            ("line1", "line2"),
            ("sha1", "sha256"),
            ("total_ms", "total"),
            ("", "a"),
            ("", "_"),
        ] {
            assert_eq!(slip(written, meant), None, "{written} {meant}");
        }
    }
}
