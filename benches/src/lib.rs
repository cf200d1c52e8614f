//! What the benches run: real events in three sizes, one plan for each, and the same extraction written by hand.
//!
//! The events are those of the shared corpora where they lie beside the checkout, else those of the examples.

pub mod beside;
pub mod bundles;
pub mod by_hand;
pub mod dataset;
pub mod guests;
pub mod native;
pub mod resident;
pub mod turns;
pub mod versions;
pub mod whole;
