//! What a rule says about a property in words.

use crate::evidence::effort::StepBudget;
use crate::evidence::similarity::vocabulary::{ENVELOPE, NEGATION};
use crate::evidence::similarity::words::{Word, words};

/// A hint, taken apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hint {
    /// Words for what the value is, and what it belongs to.
    pub(super) meant: Vec<Word>,
    /// Words for what isn't meant: `(not the sender of the request)`.
    pub(super) not: Vec<Word>,
    /// Whether the event itself is meant, rather than something in it.
    pub(super) envelope: bool,
    /// Whether the event itself is not meant.
    pub(super) not_envelope: bool,
}

impl Hint {
    pub(crate) fn new(text: &str) -> Self {
        let mut hint = Self::default();
        for clause in text.split(['(', ')', ';', ',', ':']) {
            let lower = clause.to_lowercase();
            // A warning about a value says nothing about where it is.
            if lower.trim_start().starts_with("beware") || lower.trim_start().starts_with("may ") {
                continue;
            }
            hint.clause(clause);
        }
        hint
    }

    fn clause(&mut self, clause: &str) {
        let mut negated = false;
        for word in words(clause) {
            negated |= word.is_one_of(NEGATION);
            let envelope = ENVELOPE.contains(&word.text());
            self.envelope |= envelope && !negated;
            // Most hints have the word `event`, and few mean its outermost fields by it; `not the event's` does.
            self.not_envelope |= negated && (envelope || word.text() == "event");
            if word.is_filler() || NEGATION.contains(&word.text()) {
                continue;
            }
            let list = if negated { &mut self.not } else { &mut self.meant };
            if !list.contains(&word) {
                list.push(word);
            }
        }
    }

    /// How alike a word and one of those for what is meant are.
    pub(super) fn means(&self, word: &Word, effort: &StepBudget) -> f64 {
        self.meant.iter().map(|it| it.alike(word, effort)).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::Hint;
    use crate::evidence::similarity::words::Word;

    #[test]
    fn a_hint_says_what_is_meant_and_what_not() {
        let hint =
            Hint::new("login of the user who opened the issue (not the sender of the request)");
        let text = |words: &[Word]| -> Vec<String> {
            words.iter().map(|word| word.text().to_owned()).collect()
        };
        assert_eq!(text(&hint.meant), ["login", "user", "opened", "issue"]);
        assert_eq!(text(&hint.not), ["sender", "request"]);
    }
}
