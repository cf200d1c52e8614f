//! What remedies look at: a plan that can't be read, what is wrong with it, and the task that it is for.

use std::cell::RefCell;

use serde_json::Value;

use super::iteration::IterationScope;
use super::path_context::PathContext;
use super::renames::Renames;
use super::tolerant::TolerantPlan;
use crate::author::function_name;
use crate::diagnostics::codes;
use crate::evidence::effort::{StepBudget, StepBudgets};
use crate::evidence::similarity::ranking::Likely;
use crate::evidence::{Evidence, PathIndex, Task};
use crate::gate::fit::suggest::likely_event_type;
use crate::gate::fit::{Elements, Scopes};
use crate::plan::PlanParseError;
use crate::plan::expr::Level;
use crate::plan::expr::conversion::{Conversion, PatternBudget};

/// The events that a plan is for.
pub(super) struct Target<'a> {
    /// The event type that is stated or meant.
    pub(super) event_type: Option<Likely<&'a str>>,
    /// The types of samples that it matches.
    pub(super) types: Vec<&'a str>,
}

impl<'a> Target<'a> {
    pub(super) fn of(
        plan: &TolerantPlan<'a>,
        evidence: &'a Evidence,
        searches: &StepBudget,
    ) -> Self {
        let types = evidence.event_types().map(|(name, _)| name);
        let matches = |name: &&str| plan.event_patterns.iter().any(|it| it.matches(name));
        let types: Vec<&str> = types.filter(matches).collect();
        if let Some(first) = types.first() {
            return Self { event_type: Some(Likely::new(*first, true)), types };
        }
        let paths: Vec<&[String]> =
            plan.rules.iter().flat_map(|rule| rule.paths(Level::EVENT)).collect();
        let key = plan.rules.first().and_then(|rule| rule.keys().next());
        let key = key.filter(|it| it.level.is_event()).and_then(|it| it.path.as_deref());
        let event_type = likely_event_type(plan.event_type, key, &paths, evidence, searches);
        Self { event_type, types: event_type.map(|it| it.item).into_iter().collect() }
    }

    /// What samples and schema say about the elements of all iterations of the plan.
    pub(super) fn elements(
        &self,
        plan: &TolerantPlan<'_>,
        evidence: &Evidence,
        efforts: &StepBudgets,
    ) -> Elements {
        Elements::of(plan.iterations(), evidence, &self.types, &efforts.room())
    }
}

/// A plan that can't be read, beside the task that it is for.
pub(super) struct Context<'c, 'a> {
    pub(super) plan: &'c TolerantPlan<'a>,
    pub(super) task: &'a Task,
    pub(super) renames: Renames,
    /// Whether more than one field is missing: to complete the plan would be to write it.
    pub(super) lacks_several: bool,
    pub(super) target: &'c Target<'a>,
    scopes: Scopes<'c>,
    /// What is left for the patterns that remedies hold.
    patterns: RefCell<PatternBudget>,
}

impl<'c, 'a> Context<'c, 'a> {
    pub(super) fn new(
        plan: &'c TolerantPlan<'a>,
        problems: &[PlanParseError],
        task: &'a Task,
        target: &'c Target<'a>,
        elements: &'c Elements,
        efforts: &'c StepBudgets,
    ) -> Self {
        let renames = Renames::find(plan.json, problems, &efforts.searches);
        let is_absent = |problem: &&PlanParseError| {
            problem.code == codes::MISSING_REQUIRED_FIELD && !renames.supply(&problem.pointer)
        };
        Self {
            plan,
            task,
            lacks_several: problems.iter().filter(is_absent).nth(1).is_some(),
            renames,
            target,
            scopes: Scopes::new(task.evidence(), elements, &target.types, efforts),
            patterns: RefCell::default(),
        }
    }

    /// Whether a value is a step of a conversion. All patterns that are looked at have the budget of one plan together.
    pub(super) fn is_step(&self, value: &Value) -> bool {
        Conversion::from_json_within(value, &mut self.patterns.borrow_mut()).is_ok()
    }

    pub(super) fn efforts(&self) -> &'c StepBudgets {
        self.scopes.efforts()
    }

    /// What searches for what is meant are taken from.
    pub(super) fn searches(&self) -> &'c StepBudget {
        &self.efforts().searches
    }

    /// What is known where the paths of a place start; `None` where a `for_each` around it can't be read.
    pub(super) fn scope(&self, at: &str) -> Option<PathContext<'_, 'c, 'a>> {
        let level = self.plan.level(at);
        let known = self.known(self.plan.scope(at)?, level)?;
        Some(PathContext { rule: self.plan.rule_around(at), known, level })
    }

    /// What is known of values that paths of a level lead to.
    pub(super) fn known(&self, scope: &IterationScope, level: Level) -> Option<&PathIndex<'c>> {
        match scope {
            IterationScope::Unreadable => None,
            scope => self.scopes.at(scope.for_each(), level),
        }
    }

    /// The one level at which there is a path, if it is there at one alone.
    pub(super) fn only_level_with(&self, path: &[String], scope: &IterationScope) -> Option<Level> {
        match scope {
            IterationScope::Unreadable => None,
            scope => self.scopes.only_level_with(path, scope.for_each()),
        }
    }

    /// A name for the function: of the first entity, else of the event type.
    pub(super) fn function_name(&self) -> String {
        let entity = self.plan.rules.iter().find_map(|rule| rule.entity);
        let of = entity.map(|it| it.item.name.as_str());
        function_name(of.or(self.target.event_type.map(|it| it.item)).unwrap_or("event"))
    }
}
