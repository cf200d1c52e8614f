//! Whether another attempt is worth it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Failure, FailureKind, RetryMemory, classify_failure};

/// How many answers a model may give where nobody says otherwise.
pub const DEFAULT_MAX_ATTEMPTS: usize = 5;

/// When to give up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetryPolicy {
    /// How many answers may fail. Default 5.
    pub max_attempts: usize,
    /// How many answers may fail with the same code in the same place before the next such failure ends the loop. Default 2. The
    /// same failure of the *same* answer ends it the second time, whatever this says: the gates won't judge otherwise.
    pub same_failure_limit: usize,
    /// Kinds of failure that are a person's business at once. None by default.
    pub escalate_on: BTreeSet<FailureKind>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: DEFAULT_MAX_ATTEMPTS,
            same_failure_limit: 2,
            escalate_on: BTreeSet::new(),
        }
    }
}

/// Whether to try again, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum RetryDecision {
    /// Try again.
    Retry {
        /// How many attempts are left, the next one included; at least 1.
        attempts_left: usize,
    },
    /// No attempt is left.
    MaxAttemptsReached,
    /// The same failure came too often.
    RepeatedFailure,
    /// The policy gives failures of this kind to a person.
    Escalate {
        /// The kind.
        kind: FailureKind,
    },
}

/// Decides what follows a failure. `memory` holds the failures before it, and not yet this one.
///
/// The number of attempts is looked at first: a loop that is at its end says so, whatever the last failure was.
///
/// # Example
/// ```
/// use retort::diagnostics::problem::Stage;
/// use retort::author::repair::{Failure, FailureKind, RetryDecision, RetryMemory, RetryPolicy, should_retry};
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
    let attempts_left = memory.attempts_left(policy.max_attempts);
    let kind = classify_failure(failure.stage, &failure.code);
    if attempts_left == 0 {
        RetryDecision::MaxAttemptsReached
    } else if policy.escalate_on.contains(&kind) {
        RetryDecision::Escalate { kind }
    } else if memory.knows(failure) || memory.count(failure) >= policy.same_failure_limit {
        RetryDecision::RepeatedFailure
    } else {
        RetryDecision::Retry { attempts_left }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let expected = [RetryDecision::Retry { attempts_left: 4 }, RetryDecision::RepeatedFailure];
        assert_eq!(decisions, expected);
    }

    #[test]
    fn other_answers_that_fail_alike_end_it_beyond_the_limit() {
        let failures =
            [failure("/a", "1"), failure("/b", "2"), failure("/a", "3"), failure("/a", "4")];
        let decisions = decisions(&RetryPolicy::default(), &failures);
        let expected = [
            RetryDecision::Retry { attempts_left: 4 },
            RetryDecision::Retry { attempts_left: 3 },
            RetryDecision::Retry { attempts_left: 2 },
            RetryDecision::RepeatedFailure,
        ];
        assert_eq!(decisions, expected);
    }

    #[test]
    fn the_end_of_all_attempts_comes_first() {
        let policy = RetryPolicy { max_attempts: 2, ..RetryPolicy::default() };
        let decisions = decisions(&policy, &[failure("/a", "1"), failure("/a", "1")]);
        assert_eq!(decisions[1], RetryDecision::MaxAttemptsReached);
    }

    #[test]
    fn policies_are_read_with_their_defaults() {
        let read = serde_json::from_str::<RetryPolicy>;
        assert_eq!(read("{}").expect("defaults"), RetryPolicy::default());
        let policy = read(r#"{"escalate_on": ["unsafe_request"]}"#).expect("a kind");
        assert!(policy.escalate_on.contains(&FailureKind::UnsafeRequest));
        read(r#"{"same_failure_limits": 1}"#).expect_err("a misspelling");
    }
}
