//! Ways to do the same, measured side by side.
//!
//! A machine that others use too is twice as fast in one second as in the next. So the ways take turns, a few milliseconds
//! each, and what counts is the median of each way's times and of what they are to the first way's in the same round.

use std::time::Instant;

/// One way: its name, and what one turn of it does.
pub type Way<'a> = (String, Box<dyn FnMut() + 'a>);

/// What one way took for one event.
#[derive(Debug)]
pub struct Figures {
    /// The way's name.
    pub name: String,
    /// Nanoseconds, the median of all turns.
    pub median: f64,
    /// Nanoseconds of the fastest turn: what the machine can do when it is left alone.
    pub fastest: f64,
    /// How many times what the first way took in the same round, the median.
    pub ratio: f64,
    /// Nanoseconds more than the first way took in the same round, the median.
    pub more: f64,
}

/// Gives each way `rounds` turns of `events` events each, after one to warm up.
pub fn take(mut ways: Vec<Way<'_>>, rounds: usize, events: usize) -> Vec<Figures> {
    let mut times = vec![Vec::with_capacity(rounds); ways.len()];
    ways.iter_mut().for_each(|(_, way)| way());
    for _ in 0..rounds {
        for ((_, way), times) in ways.iter_mut().zip(&mut times) {
            let start = Instant::now();
            way();
            times.push(start.elapsed().as_nanos() as f64 / events as f64);
        }
    }
    let first = times.first().cloned().unwrap_or_default();
    let figures = |((name, _), times): ((String, _), Vec<f64>)| Figures {
        name,
        fastest: times.iter().copied().fold(f64::INFINITY, f64::min),
        ratio: median(times.iter().zip(&first).map(|(time, first)| time / first).collect()),
        more: median(times.iter().zip(&first).map(|(time, first)| time - first).collect()),
        median: median(times),
    };
    ways.into_iter().zip(times).map(figures).collect()
}

/// The median; NaN of nothing.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
