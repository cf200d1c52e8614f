//! What a model is told of a panic: where it was, and what the standard library says of it.
//!
//! The text of any other panic is the extractor's own, made while it read an event: it may hold what samples hold, of which a model
//! sees the shape alone.

use std::borrow::Cow;

/// What stands before the place of a panic.
const PANICKED: &str = "panicked at ";

/// What stands behind its text, where the calls that led there are known.
const CALLS: &str = "; at src/lib.rs:";

/// What stands for a text that isn't told.
const WITHHELD: &str = "with a text of the extractor's own, which may hold values of the sample";

/// What the standard library says, with `#` for numbers.
const KNOWN: &[&str] = &[
    "attempt to add with overflow",
    "attempt to calculate the remainder with a divisor of zero",
    "attempt to calculate the remainder with overflow",
    "attempt to divide by zero",
    "attempt to divide with overflow",
    "attempt to multiply with overflow",
    "attempt to negate with overflow",
    "attempt to shift left with overflow",
    "attempt to shift right with overflow",
    "attempt to subtract with overflow",
    "called `Option::unwrap()` on a `None` value",
    "capacity overflow",
    "index out of bounds: the len is # but the index is #",
    "internal error: entered unreachable code",
    "mid > len",
    "not implemented",
    "not yet implemented",
    "range end index # out of range for slice of length #",
    "range start index # out of range for slice of length #",
    "slice index starts at # but ends at #",
];

/// A diagnostic, or a message, without the texts of panics that nobody knows.
pub(super) fn without_texts(text: &str) -> Cow<'_, str> {
    if !text.contains(PANICKED) {
        return Cow::Borrowed(text);
    }
    let mut told = String::new();
    for (index, part) in text.split(PANICKED).enumerate() {
        if index == 0 {
            told.push_str(part);
            continue;
        }
        told.push_str(PANICKED);
        let line = part.find('\n').unwrap_or(part.len());
        let (line, rest) = part.split_at(line);
        let (said, calls) = line.split_at(line.find(CALLS).unwrap_or(line.len()));
        let (place, said) = said.split_once(": ").unwrap_or(("", said));
        if !place.is_empty() {
            told.push_str(place);
            told.push_str(": ");
        }
        told.push_str(if is_known(said) { said } else { WITHHELD });
        told.push_str(calls);
        told.push_str(rest);
    }
    Cow::Owned(told)
}

fn is_known(said: &str) -> bool {
    let mut form = String::new();
    for character in said.trim_end().chars() {
        match character.is_ascii_digit() {
            true if form.ends_with('#') => {}
            true => form.push('#'),
            false => form.push(character),
        }
    }
    KNOWN.contains(&form.as_str())
}

#[cfg(test)]
mod tests {
    use super::{WITHHELD, without_texts};

    #[test]
    fn only_what_the_library_says_is_told() {
        let of = |said: &str| {
            format!(
                "unreachable: panicked at src/lib.rs:9:5: {said}; at src/lib.rs:9:5 in `f`\nnext"
            )
        };
        for said in [
            "index out of bounds: the len is 3 but the index is 17",
            "called `Option::unwrap()` on a `None` value",
        ] {
            assert_eq!(without_texts(&of(said)), of(said));
        }
        for said in ["ada@example.com", "index out of bounds: the len is x", "a: b; c", ""] {
            assert_eq!(without_texts(&of(said)), of(WITHHELD), "{said}");
        }
        let twice = format!("{}{}", of("a panicked at b"), of("ada"));
        assert!(!without_texts(&twice).contains("ada"), "{}", without_texts(&twice));
        let cut = "panicked at src/lib.rs:9:5: ada";
        assert_eq!(without_texts(cut), format!("panicked at src/lib.rs:9:5: {WITHHELD}"));
        assert_eq!(without_texts("nothing of it"), "nothing of it");
    }
}
