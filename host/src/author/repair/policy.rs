//! Whether another attempt is worth it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Failure, FailureKind, RetryMemory, classify_failure};
use crate::diagnostics::codes::Code;

/// When to give up before all attempts are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetryPolicy {
    /// How many answers may fail with the same code in the same place before the next such failure ends the loop. Default 2. The
    /// same failure of the *same* answer ends it the second time, whatever this says: the gates won't judge otherwise.
    pub same_failure_limit: usize,
    /// Kinds of failure that are a person's business at once. None by default.
    pub escalate_on: BTreeSet<FailureKind>,
    /// Codes by which a failure is a person's business at once, of whatever kind it is. None by default.
    pub escalate_codes: BTreeSet<Code>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            same_failure_limit: 2,
            escalate_on: BTreeSet::new(),
            escalate_codes: BTreeSet::new(),
        }
    }
}

/// Whether to try again, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum RetryDecision {
    /// Try again.
    Retry,
    /// The same failure came too often.
    RepeatedFailure,
    /// The policy gives failures of this kind, or of this code, to a person.
    Escalate {
        /// The kind.
        kind: FailureKind,
    },
}

/// Decides what follows a failure. `memory` holds the failures before it, and not yet this one.
///
/// How many attempts there may be is the loop's to say ([`RetryMemory::attempts_left`]).
///
/// # Example
/// ```
/// use retort::author::RetryPolicy;
/// use retort::diagnostics::{FailureKind, Stage};
/// use retort::internal::repair::{Failure, RetryDecision, RetryMemory, should_retry};
///
/// let policy = RetryPolicy { escalate_on: [FailureKind::UnsafeRequest].into(), ..Default::default() };
/// let denied = Failure::new(Stage::Inspect, "import_refused", "");
/// let decision = should_retry(&policy, &RetryMemory::default(), &denied);
/// assert_eq!(decision, RetryDecision::Escalate { kind: FailureKind::UnsafeRequest });
/// ```
#[must_use]
pub fn should_retry(
    policy: &RetryPolicy,
    memory: &RetryMemory,
    failure: &Failure,
) -> RetryDecision {
    let kind = classify_failure(failure.stage, &failure.code);
    let is_escalated = || policy.escalate_codes.iter().any(|code| *code == failure.code.as_str());
    if policy.escalate_on.contains(&kind) || is_escalated() {
        RetryDecision::Escalate { kind }
    } else if memory.knows(failure) || memory.count(failure) >= policy.same_failure_limit {
        RetryDecision::RepeatedFailure
    } else {
        RetryDecision::Retry
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::codes;
    use crate::diagnostics::problem::Stage;

    fn failure(path: &str, answer: &str) -> Failure {
        Failure::new(Stage::Fit, "type_mismatch", path).of_answer(answer)
    }

    /// What is decided after each of these failures in turn.
    fn decisions(policy: &RetryPolicy, failures: &[Failure]) -> Vec<RetryDecision> {
        let mut memory = RetryMemory::default();
        let decide = |failure: &Failure| {
            let decision = should_retry(policy, &memory, failure);
            memory.remember(failure);
            decision
        };
        failures.iter().map(decide).collect()
    }

    #[test]
    fn the_same_answer_ends_it_at_once() {
        let decisions =
            decisions(&RetryPolicy::default(), &[failure("/a", "1"), failure("/a", "1")]);
        let expected = [RetryDecision::Retry, RetryDecision::RepeatedFailure];
        assert_eq!(decisions, expected);
    }

    #[test]
    fn other_answers_that_fail_alike_end_it_beyond_the_limit() {
        let failures =
            [failure("/a", "1"), failure("/b", "2"), failure("/a", "3"), failure("/a", "4")];
        let decisions = decisions(&RetryPolicy::default(), &failures);
        let expected = [
            RetryDecision::Retry,
            RetryDecision::Retry,
            RetryDecision::Retry,
            RetryDecision::RepeatedFailure,
        ];
        assert_eq!(decisions, expected);
    }

    #[test]
    fn a_code_can_be_a_persons_business_beside_its_kind() {
        let escalate_codes = [codes::TYPE_MISMATCH].into();
        let policy = RetryPolicy { escalate_codes, ..RetryPolicy::default() };
        let decide = |code: &str| {
            should_retry(&policy, &RetryMemory::default(), &Failure::new(Stage::Fit, code, ""))
        };
        let escalate = RetryDecision::Escalate { kind: FailureKind::ReasoningError };
        assert_eq!(decide("type_mismatch"), escalate);
        assert_eq!(decide("unknown_path"), RetryDecision::Retry);
    }

    #[test]
    fn policies_are_read_with_their_defaults() {
        let read = serde_json::from_str::<RetryPolicy>;
        assert_eq!(read("{}").expect("defaults"), RetryPolicy::default());
        let policy = r#"{"escalate_on": ["unsafe_request"], "escalate_codes": ["path_denied"]}"#;
        let policy = read(policy).expect("a kind and a code");
        assert!(policy.escalate_on.contains(&FailureKind::UnsafeRequest));
        assert!(policy.escalate_codes.contains(&codes::PATH_DENIED));
        read(r#"{"escalate_codes": ["path_denid"]}"#).expect_err("no code");
        read(r#"{"same_failure_limits": 1}"#).expect_err("a misspelling");
    }
}
