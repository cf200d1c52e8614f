//! What answers cost, and how much they may.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Reason;
use crate::author::llm::{Completion, LlmRequest, Usage};

/// Characters that are counted as one token where a provider doesn't say what an answer cost.
const CHARS_PER_TOKEN: usize = 4;

/// Tokens, as the provider reports them or as an estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Tokens of prompts.
    pub input_tokens: u64,
    /// Tokens of answers.
    pub output_tokens: u64,
    /// Whether any part of this is an estimate: a quarter of the characters.
    pub estimated: bool,
}

impl Tokens {
    /// Both together.
    #[must_use]
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    pub(super) fn add(&mut self, more: Self) {
        self.input_tokens = self.input_tokens.saturating_add(more.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
        self.estimated |= more.estimated;
    }

    /// What a request costs for being sent, by estimate.
    pub(super) fn of_request(request: &LlmRequest) -> Self {
        let chars = request.messages.iter().map(|message| message.text.chars().count()).sum();
        Self { input_tokens: estimate(chars), output_tokens: 0, estimated: true }
    }

    /// What an answer cost, as it is reported. A provider that reports no input at all has not counted.
    pub(super) fn reported(completion: &Completion) -> Option<Self> {
        let usage = completion.usage.filter(|usage| usage.input_tokens > 0)?;
        let Usage { input_tokens, output_tokens } = usage;
        Some(Self { input_tokens, output_tokens, estimated: false })
    }

    /// What an answer cost by estimate, `asked` for the question included.
    pub(super) fn of_answer(completion: &Completion, asked: Self) -> Self {
        let counted = estimate(completion.text.chars().count());
        let reported = completion.usage.map_or(0, |usage| usage.output_tokens);
        Self { output_tokens: counted.max(reported), ..asked }
    }
}

fn estimate(chars: usize) -> u64 {
    (chars / CHARS_PER_TOKEN) as u64
}

/// What is left to be spent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    tokens: Option<u64>,
    wall: Option<Duration>,
    started: Instant,
}

impl Budget {
    pub(super) fn new(tokens: Option<u64>, wall: Option<Duration>) -> Self {
        Self { tokens, wall, started: Instant::now() }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Waits as long as there is time; `None` when it was spent first.
    pub(super) async fn in_time<F: Future>(&self, future: F) -> Option<F::Output> {
        match self.time_left() {
            None => Some(future.await),
            Some(left) => tokio::time::timeout(left, future).await.ok(),
        }
    }

    /// How much time is left; `None` without a bound.
    fn time_left(&self) -> Option<Duration> {
        self.wall.map(|wall| wall.saturating_sub(self.elapsed()))
    }

    /// Whether a call of this cost still fits into what is left.
    pub(super) fn affords(&self, used: Tokens, asked: Tokens) -> bool {
        self.tokens.is_none_or(|allowed| used.total().saturating_add(asked.total()) <= allowed)
    }

    /// Why no more calls may be made, if none may.
    pub(super) fn spent(&self, used: Tokens) -> Option<Reason> {
        if self.tokens.is_some_and(|allowed| used.total() >= allowed) {
            Some(Reason::TokenBudgetSpent)
        } else if self.time_left().is_some_and(|left| left.is_zero()) {
            Some(Reason::WallBudgetSpent)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::author::llm::FinishReason;
    use serde_json::Value;

    fn completion(text: &str, usage: Option<Usage>) -> Completion {
        Completion { text: text.to_owned(), usage, finish_reason: FinishReason::Stop }
    }

    #[test]
    fn what_is_not_reported_is_a_quarter_of_the_characters() {
        let asked = Tokens::of_request(&LlmRequest::prompt("ééééé ééé", Value::Null));
        let answer = completion("日本語日本語日本", None);
        assert_eq!(Tokens::reported(&answer), None);
        let cost = Tokens::of_answer(&answer, asked);
        assert_eq!(cost, Tokens { input_tokens: 2, output_tokens: 2, estimated: true });
    }

    #[test]
    fn a_report_of_no_input_is_none() {
        let asked = Tokens::of_request(&LlmRequest::prompt("x".repeat(400), Value::Null));
        for (output_tokens, expected) in [(0, 2), (1, 2), (9, 9)] {
            let usage = Usage { input_tokens: 0, output_tokens };
            let answer = completion("xxxxxxxx", Some(usage));
            assert_eq!(Tokens::reported(&answer), None);
            let cost = Tokens::of_answer(&answer, asked);
            let expected = Tokens { input_tokens: 100, output_tokens: expected, estimated: true };
            assert_eq!(cost, expected);
        }
    }

    #[test]
    fn what_is_reported_counts_and_a_sum_with_estimates_is_one() {
        let usage = Usage { input_tokens: 70, output_tokens: 5 };
        let asked = Tokens::of_request(&LlmRequest::prompt("x".repeat(4000), Value::Null));
        let mut sum = Tokens::reported(&completion("{}", Some(usage))).unwrap_or_default();
        assert_eq!((sum.total(), sum.estimated), (75, false));
        sum.add(asked);
        assert_eq!((sum.total(), sum.estimated), (1075, true));
    }

    #[test]
    fn a_budget_of_nothing_allows_nothing() {
        let used = Tokens::default();
        assert_eq!(Budget::new(Some(0), None).spent(used), Some(Reason::TokenBudgetSpent));
        let no_time = Budget::new(None, Some(Duration::ZERO));
        assert_eq!(no_time.spent(used), Some(Reason::WallBudgetSpent));
        assert_eq!(Budget::new(Some(1), Some(Duration::from_secs(3600))).spent(used), None);
        assert_eq!(Budget::new(None, None).spent(used), None);
    }

    #[test]
    fn a_call_has_to_fit_into_what_is_left() {
        let tokens = |input_tokens| Tokens { input_tokens, ..Tokens::default() };
        let budget = Budget::new(Some(100), None);
        assert!(budget.affords(tokens(60), tokens(40)) && !budget.affords(tokens(60), tokens(41)));
        assert!(!budget.affords(tokens(u64::MAX), tokens(1)));
        assert!(Budget::new(None, None).affords(tokens(u64::MAX), tokens(u64::MAX)));
    }
}
