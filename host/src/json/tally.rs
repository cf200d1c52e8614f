//! JSON that is looked through without a tree of it being built.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Counts the values of a JSON text, the keys of objects with them, as far as they are allowed.
///
/// It accepts what [`serde_json::Value`] accepts and refuses the rest with the same error, in constant memory.
#[derive(Debug)]
pub(crate) struct Tally {
    left: usize,
    is_exceeded: bool,
}

impl Tally {
    /// Room for this many values.
    pub(crate) fn new(allowed: usize) -> Self {
        Self { left: allowed, is_exceeded: false }
    }

    /// Whether there were more values than allowed: reading ended there.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.is_exceeded
    }

    /// One more.
    pub(crate) fn count<E: Error>(&mut self) -> Result<(), E> {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => {
                self.is_exceeded = true;
                return Err(E::custom("more values than allowed"));
            }
        }
        Ok(())
    }
}

/// Whether a text is JSON.
///
/// # Errors
/// The error that reading it as a [`serde_json::Value`] would give.
pub(crate) fn check(text: &str) -> Result<(), serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    Tally::new(usize::MAX).deserialize(&mut json)?;
    json.end()
}

/// Whether a text holds at most this many values, as far as it is JSON.
pub(crate) fn is_within(text: &str, allowed: usize) -> bool {
    let mut tally = Tally::new(allowed);
    // What is no JSON is for its parser to refuse.
    let _ = tally.deserialize(&mut serde_json::Deserializer::from_str(text));
    !tally.is_exceeded()
}

impl<'de> DeserializeSeed<'de> for &mut Tally {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Tally {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.count()
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.count()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.count()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.count()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.count()
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.count()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.count()?;
        while items.next_element_seed(&mut *self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        self.count()?;
        while entries.next_key_seed(&mut *self)?.is_some() {
            entries.next_value_seed(&mut *self)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::{check, is_within};

    #[test]
    fn values_and_keys_are_counted() {
        for (text, count) in [
            ("null", 1),
            ("\"a\"", 1),
            ("[]", 1),
            ("{}", 1),
            ("[1, -2, 3.5, true]", 5),
            (r#"{"a": {"a": []}, "b": "c"}"#, 7),
            // A key twice takes its time twice.
            (r#"{"a": 1, "a": 2}"#, 5),
        ] {
            assert!(is_within(text, count), "{text}");
            assert!(!is_within(text, count - 1), "{text}");
        }
        assert!(is_within("[1, 2", 3) && !is_within("[1, 2", 2));
    }

    fn agree(text: &str) {
        let tree = serde_json::from_str::<Value>(text);
        let error = |error: serde_json::Error| error.to_string();
        assert_eq!(check(text).map_err(error), tree.map(drop).map_err(error), "{text}");
    }

    #[test]
    fn what_is_refused_is_what_a_tree_refuses() {
        for text in [
            "",
            "{",
            "[",
            "{\"a\"",
            "{\"a\":}",
            "nul",
            "[1,]",
            "[1 2]",
            "{\"a\":1,}",
            "\"\\ud800\"",
            "\"\\x\"",
            "\"a\n\"",
            "1e999",
            "-",
            "01",
            "1.",
            "[1] 2",
            "{1:2}",
            "{null:1}",
            "\u{feff}1",
        ] {
            agree(text);
        }
        for depth in [127, 128, 129, 100_000] {
            agree(&"[".repeat(depth));
            agree(&"{\"a\":".repeat(depth));
            agree(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
        }
    }

    proptest! {
        #[test]
        fn any_text_has_one_verdict(text in "[\\[\\]{}:, \"a\\\\u0-9.eE+-]{0,24}") {
            agree(&text);
        }
    }
}
