//! Which of several things an event type belongs to.

use crate::plan::EventPattern;

/// Numbers by event types and prefixes of them: a type itself comes before any prefix, and a longer prefix before a shorter one.
#[derive(Debug, Default)]
pub(super) struct TypeTable {
    /// By the event type as the text of JSON, the way `serde_json` writes it.
    by_text: foldhash::HashMap<Vec<u8>, usize>,
    /// The same for prefixes, without the quote at the end.
    by_prefix: foldhash::HashMap<Vec<u8>, usize>,
    /// How long these are, the longest first.
    prefix_lengths: Vec<usize>,
}

impl TypeTable {
    /// Adds a type or, as in `order.*`, a prefix. Whether it is a prefix.
    pub(super) fn add(&mut self, event_type: &str, number: usize) -> bool {
        match EventPattern::new(event_type) {
            EventPattern::Exact(exact) => {
                self.by_text.insert(json_text(&exact), number);
                false
            }
            EventPattern::Prefix(prefix) => {
                let mut text = json_text(&prefix);
                text.pop();
                let place = self.prefix_lengths.partition_point(|length| *length > text.len());
                if self.prefix_lengths.get(place) != Some(&text.len()) {
                    self.prefix_lengths.insert(place, text.len());
                }
                self.by_prefix.insert(text, number);
                true
            }
        }
    }

    /// The number of an event type that is given as the text of JSON, if it is written without needless escapes.
    pub(super) fn get(&self, text: &[u8]) -> Option<usize> {
        // Canonical text escapes each character by itself, so that texts begin alike where types do.
        let by_prefix = || {
            let prefixes = self.prefix_lengths.iter().filter_map(|length| text.get(..*length));
            prefixes.filter_map(|prefix| self.by_prefix.get(prefix)).next()
        };
        self.by_text.get(text).or_else(by_prefix).copied()
    }
}

/// A string as the text of JSON.
fn json_text(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_most_of_a_type_counts() {
        let mut table = TypeTable::default();
        let types = ["a.*", "a.b.*", "a.b.c", "a.b.d.*"];
        let is_prefix: Vec<bool> =
            types.iter().enumerate().map(|(number, it)| table.add(it, number)).collect();
        assert_eq!(is_prefix, [true, true, false, true]);
        for (event_type, number) in [("a.b.c", 2), ("a.b.x", 1), ("a.b.d.e", 3), ("a.x", 0)] {
            assert_eq!(table.get(&json_text(event_type)), Some(number), "{event_type}");
        }
        assert_eq!(table.get(&json_text("b")), None);
    }
}
