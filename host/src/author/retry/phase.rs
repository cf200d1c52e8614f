//! What is asked for at a time: plans, or Rust after them.

use super::Reason;
use crate::author::backend::{Backend, Language};

/// What the model is being asked for, and how many of its answers went into what it was asked for before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phase {
    pub(super) language: Language,
    backend: Backend,
    max_attempts: usize,
    earlier: usize,
}

impl Phase {
    pub(super) fn new(backend: Backend, max_attempts: usize) -> Self {
        Self { language: backend.first(), backend, max_attempts, earlier: 0 }
    }

    /// How many answers this phase may take.
    pub(super) fn attempts(&self) -> usize {
        match self.language {
            Language::Plan => self.backend.plans(self.max_attempts),
            Language::Rust => self.max_attempts.saturating_sub(self.earlier),
        }
    }

    /// The number of an answer, from 1, before which there were so many in this phase.
    pub(super) fn number(&self, before: usize) -> usize {
        self.earlier.saturating_add(before).saturating_add(1)
    }

    /// Rust, where that follows after so many answers.
    pub(super) fn next(&self, answers: usize) -> Option<Self> {
        let may_follow = self.backend == Backend::Auto && self.language == Language::Plan;
        let is_left = answers < self.max_attempts;
        let rust = Self { language: Language::Rust, earlier: answers, ..*self };
        (may_follow && is_left).then_some(rust)
    }
}

/// Whether it is plans that this reason speaks against, so that Rust may do better.
pub(super) fn is_of_plans(reason: Reason) -> bool {
    matches!(reason, Reason::CannotExpress | Reason::MaxAttemptsReached | Reason::RepeatedFailure)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many plans and how many sources there may be.
    fn shares(backend: Backend, max_attempts: usize) -> (usize, usize) {
        let first = Phase::new(backend, max_attempts);
        match first.language {
            Language::Plan => {
                let plans = first.attempts();
                (plans, first.next(plans).map_or(0, |rust| rust.attempts()))
            }
            Language::Rust => (0, first.attempts()),
        }
    }

    #[test]
    fn plans_have_half_of_the_attempts_and_one_at_least() {
        assert_eq!(
            [1, 2, 3, 5, 8].map(|max| shares(Backend::Auto, max)),
            [(1, 0), (1, 1), (1, 2), (2, 3), (4, 4)]
        );
        assert_eq!(shares(Backend::Plan, 5), (5, 0));
        assert_eq!(shares(Backend::Rust, 5), (0, 5));
        // What plans didn't take is left.
        let rust = Phase::new(Backend::Auto, 5).next(1).expect("four attempts are left");
        assert_eq!((rust.attempts(), rust.number(0)), (4, 2));
        assert!(rust.next(2).is_none());
    }
}
