//! What it may cost to hold a plan to a task.

use crate::evidence::Evidence;
use crate::evidence::effort::{Cancel, Effort};

/// How many steps the look at values may take: conversions and conditions by their fuel, every value by what finding it costs.
/// A thousand samples of ten converted properties take some five million.
pub(crate) const VALUE_STEPS: u64 = 300_000_000;

/// How many steps the search for what would mend a plan may take. Twenty wrong paths among a thousand that are known take some
/// ten million.
pub(crate) const SEARCH_STEPS: u64 = 300_000_000;

/// What finding one value of a sample costs.
pub(crate) const VALUE: u64 = 20;

/// What may be taken for one plan: values are looked at whatever else is searched for, so that what is wrong with a plan
/// doesn't depend on how much of it is wrong.
#[derive(Debug)]
pub(crate) struct Efforts {
    /// For what decides whether the plan fits.
    pub(crate) values: Effort,
    /// For suggestions alone.
    pub(crate) searches: Effort,
}

impl Efforts {
    /// The memory that elements may take which are looked at to make a suggestion, and then let go, in bytes.
    pub(crate) fn room(&self) -> Effort {
        Evidence::room_within(&self.searches)
    }

    pub(crate) fn new(cancel: &Cancel) -> Self {
        Self {
            values: Effort::new(VALUE_STEPS, cancel),
            searches: Effort::new(SEARCH_STEPS, cancel),
        }
    }
}
