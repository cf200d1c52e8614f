//! A plan tried on samples, without a module.

use crate::evidence::effort::StepBudgets;
use crate::evidence::{SampleEvents, Seen, Task};
use crate::graph::extraction::Extraction;
use crate::plan::{NodeRule, Plan, oracle};

/// A plan, the task that has the samples, and what looking at them is taken from.
#[derive(Clone, Copy)]
pub(super) struct Trial<'t> {
    pub(super) plan: &'t Plan,
    pub(super) task: &'t Task,
    pub(super) efforts: &'t StepBudgets,
}

impl<'t> Trial<'t> {
    /// The types of samples that the plan is for.
    pub(super) fn types(&self) -> Vec<&'t str> {
        let types = self.task.evidence().event_types().map(|(name, _)| name);
        types.filter(|name| self.plan.event_types().matches(name)).collect()
    }

    /// The samples that the plan is for.
    pub(super) fn samples(&self) -> impl Iterator<Item = &'t Seen> + use<'t> {
        let evidence = self.task.evidence();
        let events = self.types().into_iter().filter_map(|name| evidence.of(name));
        events.flat_map(SampleEvents::samples)
    }

    /// Takes what it costs to evaluate the plan for a sample; false where there isn't as much effort left.
    pub(super) fn affords(&self, seen: &Seen) -> bool {
        let mappings = |node: &NodeRule| node.key_fields().len() + node.property_fields().len();
        let mappings: usize = self.plan.nodes().iter().map(mappings).sum();
        self.efforts.values.take(20 * seen.bytes() as u64 + 200 * mappings as u64)
    }

    /// What the plan means for a sample. `None` where that is no result: a module that doesn't do what its plan means has
    /// problems of another kind.
    pub(super) fn evaluate(&self, seen: &Seen) -> Option<Extraction> {
        oracle::eval(self.plan, &seen.event().to_string()).ok()
    }

    /// Whether the plan gives nothing for a sample; no where there is no effort left to tell.
    pub(super) fn gives_nothing(&self, seen: &Seen) -> bool {
        let is_empty = |it: Extraction| it.nodes.is_empty() && it.edges.is_empty();
        self.affords(seen) && self.evaluate(seen).is_some_and(is_empty)
    }
}
