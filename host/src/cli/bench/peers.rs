//! What else deals with the same events: to see the figures of a bundle in proportion.

use std::hint::black_box;
use std::time::Instant;

use retort::internal::event::validate;
use retort::internal::oracle;
use retort::plan::Plan;

use super::report::{PeerFigures, rates};
use super::turns::{Spread, ratio};

/// The peers by their names in reports: the native evaluator of the plan,
const ORACLE: &str = "oracle";
/// `serde_json`, reading events into its `Value` and doing nothing with them,
pub(super) const READING: &str = "serde_json";
/// and the validation of events that every run begins with.
pub(super) const VALIDATION: &str = "validation";

/// The oracle gets one event of so many.
const ORACLE_SHARE: usize = 20;

/// What is done with an event.
type Deal<'a> = Box<dyn FnMut(&[u8]) + 'a>;

/// Another way to deal with the same events, on one thread.
pub(super) struct Peer<'a> {
    name: &'static str,
    run: Deal<'a>,
    /// It gets one event of so many.
    share: usize,
    next: usize,
    times: Vec<f64>,
}

impl<'a> Peer<'a> {
    fn new(name: &'static str, share: usize, run: impl FnMut(&[u8]) + 'a) -> Self {
        Self { name, run: Box::new(run), share, next: 0, times: Vec::new() }
    }

    /// All that there are: the oracle only where there is a plan.
    pub(super) fn all(plan: Option<&'a Plan>) -> Vec<Self> {
        let oracle = plan.map(|plan| {
            Self::new(ORACLE, ORACLE_SHARE, move |event| {
                if let Ok(event) = std::str::from_utf8(event) {
                    let _ = black_box(oracle::eval(plan, event));
                }
            })
        });
        let reading = Self::new(READING, 1, |event| {
            black_box(serde_json::from_slice::<serde_json::Value>(event).is_ok());
        });
        let validation = Self::new(VALIDATION, 1, |event| {
            black_box(validate(black_box(event)).is_ok());
        });
        oracle.into_iter().chain([reading, validation]).collect()
    }

    pub(super) fn turn(&mut self, events: &[&[u8]]) {
        let count = (events.len() / self.share).max(1);
        // The next ones of the turn each time: in the end all have been in it.
        let turn = events.iter().cycle().skip(self.next).take(count);
        self.next = (self.next + count) % events.len().max(1);
        let start = Instant::now();
        turn.for_each(|event| (self.run)(event));
        self.times.push(start.elapsed().as_nanos() as f64 / count as f64);
    }

    pub(super) fn forget(&mut self) {
        self.times.clear();
    }

    pub(super) fn figures(self, mean_bytes: f64, first: &[f64]) -> PeerFigures {
        let ratio = ratio(&self.times, first);
        let ns_per_event = Spread::of(self.times);
        let (events_per_s, mb_per_s) = rates(ns_per_event.median, mean_bytes);
        PeerFigures { name: self.name.to_owned(), ns_per_event, events_per_s, mb_per_s, ratio }
    }
}
