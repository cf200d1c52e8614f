//! What a plan or a module reads, held against a policy.

use serde_json::Value;

use super::denied::Denied;
use super::{AnyKey, FieldPolicy, Relation, Restriction, relation};
use crate::abi::section::Input;
use crate::finding::{Finding, patch};
use crate::plan::Plan;
use crate::problem::Stage;
use crate::task::evidence::{Evidence, Kind, Step, dotted};
use crate::untrusted::sanitize;

/// How much of a path, and of a policy's reason, is repeated, in characters.
const QUOTED_CHARS: usize = 200;

impl FieldPolicy {
    /// Whether a plan reads only what it may: key, properties, session, span, and the text that decides whether a span
    /// is handled.
    ///
    /// Where a property or `partial_when_path` is what reads too much, the finding's patch takes it out of the plan. It is
    /// certain where the very value is denied; of an object that holds denied values, others may be wanted. Each patch is
    /// written for the plan as it stands: apply the last one first.
    ///
    /// # Errors
    /// Everything that it may not read, in the plan's order.
    pub fn check_plan(&self, plan: &Plan) -> Result<(), Denied> {
        self.check_reads(plan, |_| false)
    }

    /// [`FieldPolicy::check_plan`] by what is known of the plan's events: where a sample or the schema has an object or
    /// an array at a path that `*` matches, it is taken for one that holds what is denied.
    ///
    /// # Errors
    /// As [`FieldPolicy::check_plan`].
    pub fn check_plan_knowing(&self, plan: &Plan, evidence: &Evidence) -> Result<(), Denied> {
        self.check_reads(plan, |path| {
            let declared = evidence.declared().get(path).map(|declared| declared.kinds);
            let is_declared = |kind| declared.is_some_and(|kinds| kinds.contains(kind));
            let holds = |value: &Value| value.is_object() || value.is_array();
            is_declared(Kind::Object)
                || is_declared(Kind::Array)
                || evidence
                    .of(plan.event_type())
                    .is_some_and(|events| events.seen(path).any(|(_, value)| holds(value)))
        })
    }

    fn check_reads(
        &self,
        plan: &Plan,
        is_object: impl Fn(&[String]) -> bool,
    ) -> Result<(), Denied> {
        let mut findings = Vec::new();
        let mut check = |place: String, optional: Option<String>, path: &[String]| {
            let Some(finding) = self.finding(place, path, &is_object) else { return };
            findings.push(match optional.map(|place| patch::remove(&place)) {
                Some(patch) if self.denies(path) => finding.mended_by(patch),
                Some(patch) => finding.perhaps(patch),
                None => finding,
            });
        };
        check("/key_field/source_path".to_owned(), None, plan.key_field().source_path());
        for (index, property) in plan.property_fields().iter().enumerate() {
            let place = format!("/property_fields/{index}");
            check(format!("{place}/source_path"), Some(place), property.source_path());
        }
        check("/session_id_path".to_owned(), None, plan.session_id_path());
        if let Some(span) = plan.span_handling() {
            check("/span_handling/span_id_path".to_owned(), None, span.span_id_path());
            if let Some(path) = span.partial_when_path() {
                let place = "/span_handling/partial_when_path".to_owned();
                check(place.clone(), Some(place), path);
            }
        }
        Denied::unless_empty(findings)
    }

    /// Whether a module declares only inputs that it may read. Pointers of findings are into its section. To ask of an
    /// object whether it is truthy counts as reading it.
    ///
    /// # Errors
    /// Everything that it may not read, in the order of its inputs.
    pub fn check_inputs(&self, inputs: &[Input]) -> Result<(), Denied> {
        let finding = |(index, input): (usize, &Input)| {
            let place = format!("/inputs/{index}/path");
            let path = input.references().first().map_or(&[][..], |it| it.path.as_slice());
            if path.is_empty() && !self.whole_event {
                return Some(Finding::new(
                    Stage::Policy,
                    "whole_event_not_granted",
                    place,
                    "the paths of the fields that are needed",
                    "the whole event, which the policy doesn't grant",
                ));
            }
            self.finding(place, path, |_| true)
        };
        Denied::unless_empty(inputs.iter().enumerate().filter_map(finding).collect())
    }

    /// What is wrong with reading a path; nothing if it may be read. `is_object` tells whether a value at a path may hold
    /// others.
    fn finding(
        &self,
        place: String,
        path: &[String],
        is_object: impl Fn(&[String]) -> bool,
    ) -> Option<Finding> {
        if path == ["event_type"] {
            return None;
        }
        let name = if path.is_empty() {
            "the whole event".to_owned()
        } else {
            format!("path {}", sanitize(&dotted(path), QUOTED_CHARS))
        };
        let finding = |code, expected: &str, observed: String, restriction: &Restriction| {
            let reason = restriction.reason().map(|reason| sanitize(reason, QUOTED_CHARS));
            let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            Finding::new(Stage::Policy, code, place.clone(), expected, observed + &reason)
        };
        let steps = Step::keys(path);
        let covers =
            |it: &&Restriction| relation(it.path(), &steps, AnyKey::Each) == Relation::Covered;
        let lies_above = |it: &&Restriction| match relation(it.path(), &steps, AnyKey::Each) {
            Relation::Above => true,
            Relation::PerhapsAbove => is_object(path),
            Relation::Covered | Relation::Apart => false,
        };
        if let Some(it) = self.deny.iter().find(covers) {
            let observed = format!("{name} is denied by policy");
            return Some(finding("path_denied", "a path that the policy allows", observed, it));
        }
        let inner = |it: &Restriction| sanitize(&dotted(it.path()), QUOTED_CHARS);
        if let Some(it) = self.deny.iter().find(lies_above) {
            let observed = format!("{name} holds {}, which is denied by policy", inner(it));
            return Some(finding("path_denied", "a path that the policy allows", observed, it));
        }
        let it = self.explicit.iter().find(lies_above)?;
        let observed =
            format!("{name} holds {}, which by policy has to be read by its own name", inner(it));
        Some(finding("path_not_explicit", "a path of what is needed alone", observed, it))
    }
}
