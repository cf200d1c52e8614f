//! How much work goes into what isn't indispensable: suggestions, drafts, a look at every value.
//!
//! Work is counted in steps and never in time, so that the same input gives the same answer on every machine. A step is
//! some two nanoseconds of a machine of today, as a unit of [fuel](crate::plan::expr::fuel) does. Whoever searches takes its
//! steps before it makes them, and ends where they aren't given. A [`Cancel`] ends the same searches for somebody who no
//! longer waits for what comes of them.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A word to somebody at work, from another thread, that nobody waits for what comes of it.
///
/// ```
/// use retort::evidence::Cancel;
///
/// let cancel = Cancel::default();
/// let told = cancel.clone();
/// cancel.cancel();
/// assert!(told.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Says it, for good.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was said.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The steps that a search may take.
#[derive(Debug)]
pub(crate) struct StepBudget {
    steps: u64,
    taken: Cell<u64>,
    counted: Cell<u64>,
    is_over: Cell<bool>,
    cancel: Cancel,
}

impl StepBudget {
    /// So many steps, as long as nobody cancels them.
    #[must_use]
    pub(crate) fn new(steps: u64, cancel: &Cancel) -> Self {
        let [taken, counted] = [Cell::new(0), Cell::new(0)];
        Self { steps, taken, counted, is_over: Cell::new(false), cancel: cancel.clone() }
    }

    /// Takes steps; whether they may be made. From the first that may not, none is given any more.
    pub(crate) fn take(&self, steps: u64) -> bool {
        let taken = self.taken.get().saturating_add(steps);
        if self.is_over() || taken > self.steps || self.cancel.is_cancelled() {
            self.is_over.set(true);
            return false;
        }
        self.taken.set(taken);
        true
    }

    /// Takes the steps of another effort, which was given what is left of this one or less; whether they may be made. This one
    /// is over too where the other one had all of it, and that wasn't enough.
    pub(crate) fn take_all(&self, other: &Self) -> bool {
        let had_all = other.steps >= self.left();
        let enough = self.take(other.taken());
        if other.is_over() && had_all {
            self.is_over.set(true);
        }
        enough && !self.is_over()
    }

    /// Whether steps were asked for that weren't given.
    #[must_use]
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// How many were taken.
    #[must_use]
    pub(crate) fn taken(&self) -> u64 {
        self.taken.get()
    }

    /// Counts one more of what is looked at, whatever that is.
    pub(crate) fn count(&self) {
        self.counted.set(self.counted.get() + 1);
    }

    /// How much was looked at.
    pub(crate) fn counted(&self) -> u64 {
        self.counted.get()
    }

    /// How many may still be taken.
    #[must_use]
    pub(crate) fn left(&self) -> u64 {
        if self.is_over() { 0 } else { self.steps - self.taken.get() }
    }

    /// What ends it before its time.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// What a search has found, unless it ended before it was done: the best of a part isn't the best.
    pub(crate) fn whole<T>(&self, found: Option<T>) -> Option<T> {
        found.filter(|_| !self.is_over())
    }
}

/// How many steps the look at values may take: conversions and conditions by their fuel, every value by what finding it costs.
/// A thousand samples of ten converted properties take some five million.
pub(crate) const VALUE_STEPS: u64 = 300_000_000;

/// How many steps the search for what would fix a plan may take. Twenty wrong paths among a thousand that are known take some
/// ten million.
pub(crate) const SEARCH_STEPS: u64 = 300_000_000;

/// What finding one value of a sample costs.
pub(crate) const VALUE: u64 = 20;

/// What may be taken for one plan: values are looked at whatever else is searched for, so that what is wrong with a plan
/// doesn't depend on how much of it is wrong.
#[derive(Debug)]
pub(crate) struct StepBudgets {
    /// For what decides whether the plan fits.
    pub(crate) values: StepBudget,
    /// For suggestions alone.
    pub(crate) searches: StepBudget,
}

impl StepBudgets {
    /// The memory that elements may take which are looked at to make a suggestion, and then let go, in bytes.
    pub(crate) fn room(&self) -> StepBudget {
        super::Evidence::room_within(&self.searches)
    }

    pub(crate) fn new(cancel: &Cancel) -> Self {
        Self {
            values: StepBudget::new(VALUE_STEPS, cancel),
            searches: StepBudget::new(SEARCH_STEPS, cancel),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cancel, StepBudget};

    #[test]
    fn what_is_not_given_ends_it() {
        let effort = StepBudget::new(10, &Cancel::default());
        assert!(effort.take(4) && effort.take(6) && !effort.is_over());
        assert_eq!((effort.taken(), effort.left()), (10, 0));
        assert!(!effort.take(1) && effort.is_over() && !effort.take(0));
        assert_eq!(effort.whole(Some(1)), None);
        // Fewer steps than were refused aren't given either: what a search leaves out doesn't depend on what comes next.
        let effort = StepBudget::new(10, &Cancel::default());
        assert!(!effort.take(11) && !effort.take(1));
        assert_eq!((effort.taken(), effort.left()), (0, 0));
    }

    #[test]
    fn a_part_of_it_may_be_used_up_without_all_of_it() {
        let part = |whole: &StepBudget, steps: u64, taken: u64| {
            let part = StepBudget::new(steps.min(whole.left()), &Cancel::default());
            part.take(taken);
            whole.take_all(&part)
        };
        let whole = StepBudget::new(10, &Cancel::default());
        assert!(part(&whole, 4, 4) && part(&whole, 4, 5) && part(&whole, 4, 4));
        assert_eq!((whole.taken(), whole.is_over()), (8, false));
        assert!(!part(&whole, 4, 3) && whole.is_over());
    }

    #[test]
    fn cancelling_ends_it() {
        let cancel = Cancel::default();
        let effort = StepBudget::new(u64::MAX, &cancel);
        assert!(effort.take(1));
        cancel.cancel();
        assert!(!effort.take(1) && effort.is_over());
    }
}
