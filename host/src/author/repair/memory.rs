//! What failed before.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::diagnostics::problem::Stage;

/// The SHA-256 of an answer, in hexadecimal. Answers that are the same JSON are the same, whatever their spelling.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AnswerHash(String);

impl AnswerHash {
    /// The hash of an answer: of its canonical form if it is JSON, else of its text without white space around it.
    ///
    /// # Example
    /// ```
    /// use retort::internal::repair::AnswerHash;
    ///
    /// assert_eq!(AnswerHash::of(r#"{"a": 1, "b": 2}"#), AnswerHash::of(r#"{"b":2,"a":1}"#));
    /// assert_ne!(AnswerHash::of("{"), AnswerHash::of("{}"));
    /// ```
    #[must_use]
    pub fn of(answer: &str) -> Self {
        // Objects are kept in the order of their keys, so what is printed is canonical.
        let digest = match serde_json::from_str::<Value>(answer) {
            Ok(value) => Sha256::digest(value.to_string()),
            Err(_) => Sha256::digest(answer.trim()),
        };
        Self(format!("{digest:x}"))
    }

    /// The hexadecimal digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One failure of one answer, reduced to what decides whether and how to go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The stage that found it.
    pub stage: Stage,
    /// The stable code.
    pub code: String,
    /// Where: a JSON Pointer into the plan where that is known, or else the path that the stage names. Empty for the
    /// whole.
    pub path: String,
    /// The answer that failed.
    pub answer: AnswerHash,
}

impl Failure {
    /// A failure of an empty answer.
    #[must_use]
    pub fn new(stage: Stage, code: impl Into<String>, path: impl Into<String>) -> Self {
        Self { stage, code: code.into(), path: path.into(), answer: AnswerHash::of("") }
    }

    /// The same failure, of this answer.
    #[must_use]
    pub fn of_answer(mut self, answer: &str) -> Self {
        self.answer = AnswerHash::of(answer);
        self
    }

    fn signature(&self) -> FailureSignature {
        FailureSignature {
            code: self.code.clone(),
            path: self.path.clone(),
            answer: self.answer.clone(),
        }
    }
}

/// What failures are compared by: the code, the place, and the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FailureSignature {
    code: String,
    path: String,
    answer: AnswerHash,
}

/// The failures so far, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RetryMemory {
    signatures: Vec<FailureSignature>,
}

impl RetryMemory {
    /// Keeps a failure in mind.
    pub fn remember(&mut self, failure: &Failure) {
        self.signatures.push(failure.signature());
    }

    /// How many failures there were.
    #[must_use]
    pub fn attempts(&self) -> usize {
        self.signatures.len()
    }

    /// How many of so many attempts are left after a failure that isn't kept in mind yet.
    #[must_use]
    pub fn attempts_left(&self, max_attempts: usize) -> usize {
        max_attempts.saturating_sub(self.attempts() + 1)
    }

    /// Whether the same answer failed in the same way before.
    #[must_use]
    pub fn knows(&self, failure: &Failure) -> bool {
        self.signatures.contains(&failure.signature())
    }

    /// How often an answer, the same or another, failed with the same code in the same place.
    #[must_use]
    pub fn count(&self, failure: &Failure) -> usize {
        let same = |it: &&FailureSignature| it.code == failure.code && it.path == failure.path;
        self.signatures.iter().filter(same).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_known_by_its_meaning() {
        let failure = Failure::new(Stage::Plan, "wrong_type", "/key_field");
        let mut memory = RetryMemory::default();
        memory.remember(&failure.clone().of_answer(r#"{"b": [1], "a": null}"#));
        let same = failure.clone().of_answer("{\"a\":null,\n\"b\":[1]}");
        let other = failure.clone().of_answer(r#"{"a": null, "b": [2]}"#);
        assert!(memory.knows(&same) && !memory.knows(&other));
        assert_eq!((memory.count(&same), memory.count(&other)), (1, 1));
        let elsewhere = Failure { path: "/event_type".to_owned(), ..same };
        assert_eq!(memory.count(&elsewhere), 0);
    }

    #[test]
    fn memory_is_saved_as_a_list() {
        let mut memory = RetryMemory::default();
        memory.remember(&Failure::new(Stage::Smoke, "nonempty_floor", "").of_answer("{}"));
        let saved = serde_json::to_value(&memory).expect("strings");
        assert_eq!(saved[0]["code"], "nonempty_floor");
        assert_eq!(saved[0]["answer"].as_str().map(str::len), Some(64));
        assert_eq!(serde_json::from_value::<RetryMemory>(saved).expect("the same"), memory);
    }
}
