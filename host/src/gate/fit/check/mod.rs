//! What is wrong with a plan, by what is known of events and graph: one file for each kind of thing that a plan speaks of.
//!
//! A check decides by facts alone whether there is a finding. What would fix it, it asks of [`suggest`](super::suggest).

mod describe;
mod edge;
pub(super) mod event_type;
mod expression;
pub(super) mod for_each;
mod key;
mod misread;
mod name;
mod node;
pub(super) mod path;
mod types;
mod values;
pub(super) mod wrong_iteration;

pub(super) use expression::{keys, unseen_keys};

use serde_json::Value;

use super::scope::Scopes;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::effort::StepBudget;
use crate::graph::GraphSpec;
use crate::plan::Plan;

/// A plan, and what it is checked against.
#[derive(Clone, Copy)]
pub(super) struct Checks<'c, 't> {
    pub(super) plan: &'c Plan,
    pub(super) graph: &'c GraphSpec,
    pub(super) scopes: &'c Scopes<'t>,
    /// The plan as it is written.
    pub(super) written: &'c Value,
    /// Whether there are samples of each of its event types; without, nothing is said of paths and values.
    pub(super) has_samples: bool,
}

impl<'t> Checks<'_, 't> {
    /// What searching for suggestions is taken from.
    fn searches(&self) -> &'t StepBudget {
        &self.scopes.efforts().searches
    }
}

/// How many names a message lists.
const MAX_LISTED: usize = 12;

/// Names as a message lists them.
fn listed<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    let mut listed: Vec<String> = names.by_ref().take(MAX_LISTED).map(quoted).collect();
    let more = names.count();
    if more > 0 {
        listed.push(format!("and {more} more"));
    }
    listed.join(", ")
}
