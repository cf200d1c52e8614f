//! Ways to do the same, measured side by side.
//!
//! A machine that others use too is twice as fast in one second as in the next. So the ways take turns, a few milliseconds each,
//! and what counts is the median of each way's turns, with the quarter of them that the machine left alone beside it.

use serde::{Deserialize, Serialize};

use super::report::{fine, rounded};

/// How many turns each way has. A prime: what repeats in the events falls together with no turn.
pub(super) const ROUNDS: usize = 31;
/// How many there are at least, however long they take.
pub(super) const MIN_ROUNDS: usize = 5;

/// What turns took, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Spread {
    /// Of the fastest turn: what the machine can do when it is left alone.
    pub(super) fastest: f64,
    /// A quarter of the turns took less.
    pub(super) p25: f64,
    pub(super) median: f64,
    /// A quarter took more.
    pub(super) p75: f64,
    pub(super) turns: usize,
}

impl Spread {
    pub(super) fn of(mut turns: Vec<f64>) -> Self {
        turns.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let index = (part * turns.len().saturating_sub(1) as f64).round() as usize;
            rounded(turns.get(index).copied().unwrap_or_default())
        };
        Self { fastest: at(0.0), p25: at(0.25), median: at(0.5), p75: at(0.75), turns: turns.len() }
    }
}

/// How many times what another way's turns took in the same rounds, the median.
pub(super) fn ratio(turns: &[f64], first: &[f64]) -> f64 {
    fine(median(turns.iter().zip(first).map(|(turn, first)| turn / first).collect()))
}

/// The median, as it is.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Spread, ratio};

    #[test]
    fn a_spread_is_of_all_turns() {
        let spread = Spread::of(vec![5.0, 1.0, 4.04, 2.0, 3.0]);
        assert_eq!(spread, Spread { fastest: 1.0, p25: 2.0, median: 3.0, p75: 4.0, turns: 5 });
        assert_eq!(Spread::of(Vec::new()), Spread::default());
        assert_eq!(ratio(&[2.0, 9.0, 8.0], &[1.0, 3.0, 2.0]), 3.0);
        assert_eq!(ratio(&[1.0], &[0.0]), 0.0);
    }
}
