//! What would fix a plan: for each kind of thing that a plan may name wrongly, the search for what was meant.
//!
//! Nothing in here decides whether a plan fits. What is found is a [`Likely`](crate::evidence::similarity::ranking::Likely):
//! with the certainty that nothing else could be meant, or as a guess. A search that comes to the end of its effort finds
//! nothing, because the best of a part isn't the best.

mod conversion;
mod event_type;
mod for_each;
mod key;
mod name;
mod path;
mod relocate;
mod rewrite;
mod slip;

pub(super) use conversion::{better_chain, missing_conversion};
pub(crate) use event_type::{likely_event_type, likely_event_type_of, likely_prefix};
pub(crate) use for_each::{ElementPath, iterations_with};
pub(super) use for_each::{
    Through, added_for_each, collections, nearest_collection, reads_elements,
};
pub(super) use key::missing_key;
pub(super) use name::is_half;
pub(crate) use name::{called, likely_entity, likely_property, means_key, said_most};
pub(crate) use path::{NearestPath, PathSearch, Sought, other_spellings};
pub(super) use relocate::{Meant, relocate};
pub(super) use rewrite::{has_list, in_long_form, parsed, rewritten};
pub(super) use slip::is_slip;

use crate::diagnostics::untrusted::is_hidden;

/// How long a name may be that is suggested.
const MAX_NAME_CHARS: usize = 120;

/// What it costs to see whether samples of a type have a path, in steps.
const LOOKUP: u64 = 100;

/// Whether a name from an event may appear in a suggestion. Long ones, and ones with characters that don't show, are a model's
/// to write if it means them: what is suggested is read by models and people as Retort's own words.
pub(crate) fn is_presentable(name: &str) -> bool {
    name.chars().nth(MAX_NAME_CHARS).is_none() && !name.chars().any(is_hidden)
}
