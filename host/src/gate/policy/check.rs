//! What a plan or a module reads, held against a policy.

use serde_json::Value;

use super::denied::Denied;
use super::patch::Removals;
use super::relation::rests;
use super::withhold::is_withheld;
use super::{AnyKey, FieldPolicy, Relation, Restriction, relation};
use crate::abi::section::{Input, Rows, Section};
use crate::diagnostics::codes;
use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::sanitize;
use crate::evidence::{Evidence, PathStep, shown_steps, values_at};
use crate::json::JsonKind;
use crate::plan::expr::{Chain, Conversion, Converted, ForEach, Reference, fuel};
use crate::plan::{EVENT_TYPE, Plan, Read};

/// How much of a path, and of a policy's reason, is repeated, in characters.
const QUOTED_CHARS: usize = 200;

/// Fuel that goes into looking at the samples of one plan: what isn't found out then is withheld when it comes.
const LOOKS: u64 = 200_000_000;

/// Whether the conversions of a read make an object or an array of a string, which they do by way of the JSON that it holds.
fn gives_nested(read: &Read<'_>, value: &Value, looks: &mut u64) -> bool {
    let parses = |step: &&Conversion| matches!(step, Conversion::ParseJson { .. });
    if !value.is_string() || !read.convert.iter().any(parses) {
        return false;
    }
    let steps: Vec<Conversion> = read.convert.iter().map(|step| (*step).clone()).collect();
    let given = Chain::new(&steps).apply(&value.to_string(), looks);
    matches!(given, Ok(Converted::Value(json)) if json.starts_with(['{', '[']))
}

/// What becomes of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It is read.
    Read,
    /// A `for_each` goes over what it holds; of the elements, only what is read counts.
    Iterated,
}

impl FieldPolicy {
    /// Whether a plan reads only what it may: event types and conditions, keys, properties and what their templates are made
    /// of, session, spans, the ids of edges, and what each `for_each` goes over. Inside of a `for_each`, what counts is where
    /// a value is in the event.
    ///
    /// Where a property, an edge or what makes a span partial is what reads too much, the finding's patch takes it out of the
    /// plan. It is certain where the very value is denied and nothing else goes with it; of an object that holds denied
    /// values, others may be wanted. Each patch is written for the plan as it is: apply the last one first.
    ///
    /// # Errors
    /// Everything that it may not read, in the plan's order.
    pub fn check_plan(&self, plan: &Plan) -> Result<(), Denied> {
        self.check_reads(plan, |_, _| false)
    }

    /// [`FieldPolicy::check_plan`] by what is known of the plan's events: where a sample or the schema has an object or
    /// an array at a path that `*` matches, it is taken for one that holds what is denied, and so is an entry of a sample whose
    /// key leads along a denied path. What isn't known is [withheld](FieldPolicy::withheld) when it comes.
    ///
    /// # Errors
    /// As [`FieldPolicy::check_plan`].
    pub fn check_plan_knowing(&self, plan: &Plan, evidence: &Evidence) -> Result<(), Denied> {
        let types: Vec<_> =
            evidence.event_types().filter(|(name, _)| plan.event_types().matches(name)).collect();
        let values = |steps: &[PathStep]| -> Vec<&Value> {
            let samples = types.iter().flat_map(|(_, events)| events.samples());
            samples.flat_map(|seen| values_at(seen.event(), steps)).collect()
        };
        let mut looks = LOOKS;
        self.check_reads(plan, |read, steps| match read.is_gone_over() {
            true => self.has_entry_to_withhold(&values(steps), steps, &mut looks),
            false => {
                let holds = |kind| matches!(kind, JsonKind::Object | JsonKind::Array);
                evidence.declared_at(steps).iter().any(holds)
                    || values(steps).into_iter().any(|value| {
                        holds(JsonKind::of(value)) || gives_nested(read, value, &mut looks)
                    })
            }
        })
    }

    /// Whether one of these objects has an entry that is withheld for its key.
    fn has_entry_to_withhold(
        &self,
        values: &[&Value],
        steps: &[PathStep],
        looks: &mut u64,
    ) -> bool {
        let rests: Vec<_> = self.restricted().flat_map(|it| rests(it, steps)).collect();
        let weight: usize = rests.iter().map(Vec::len).sum();
        let keys = values.iter().filter_map(|value| value.as_object()).flat_map(|it| it.keys());
        let mut dotted = keys.filter(|key| key.contains('.'));
        dotted.any(|key| {
            fuel::spend(looks, fuel::TEST.of(key.len()).saturating_mul(weight as u64)).is_ok()
                && is_withheld(&rests, key)
        })
    }

    /// The paths that are denied or explicit.
    pub(super) fn restricted(&self) -> impl Iterator<Item = &[String]> {
        self.deny.iter().chain(&self.explicit).map(Restriction::path)
    }

    fn check_reads(
        &self,
        plan: &Plan,
        mut is_known: impl FnMut(&Read<'_>, &[PathStep]) -> bool,
    ) -> Result<(), Denied> {
        let mut findings = Vec::new();
        let mut removals = Removals::default();
        for read in plan.reads() {
            let places = PathStep::resolved(&read.reference, read.for_each);
            let usage = if read.is_gone_over() { Use::Iterated } else { Use::Read };
            let mut finding_at = |steps: &Vec<PathStep>| {
                // An entry as a whole is an object, whatever events there are.
                let is_entry =
                    read.reference.path.is_empty() && steps.last() == Some(&PathStep::Value);
                let mut known = None;
                let is_object = || {
                    read.takes_nested
                        || is_entry
                        || *known.get_or_insert_with(|| is_known(&read, steps))
                };
                let finding = self.finding(&read.pointer, steps, usage, is_object);
                let finding = finding.or_else(|| self.parsed_finding(&read, steps))?;
                Some((finding, self.covers(steps)))
            };
            let finding = places.iter().find_map(|it| self.whole_event(&read.pointer, it));
            let finding = finding.map(|it| (it, false));
            let Some((finding, is_denied)) =
                finding.or_else(|| places.iter().find_map(&mut finding_at))
            else {
                continue;
            };
            findings.push(match removals.of(&read) {
                Some((patch, true)) if is_denied => finding.with_fix(patch),
                Some((patch, _)) => finding.with_suggestion(patch),
                None => finding,
            });
        }
        Denied::unless_empty(findings)
    }

    /// What is wrong with reading what a string holds as JSON, whose keys go on from those of the event.
    fn parsed_finding(&self, read: &Read<'_>, steps: &[PathStep]) -> Option<Finding> {
        let mut parsed = steps.to_vec();
        let mut behind = None;
        for (at, conversion) in read.convert.iter().enumerate() {
            if let Conversion::ParseJson { path } = conversion {
                parsed.extend(PathStep::keys(path));
                behind = Some(at + 1);
            }
        }
        let takes_nested = read.convert.get(behind?).is_some_and(|next| next.takes_nested());
        self.finding(&read.pointer, &parsed, Use::Read, || takes_nested)
    }

    /// Whether a module declares only inputs that it may read. Pointers of findings are into its section. To ask of an
    /// object whether it is truthy counts as reading it.
    ///
    /// # Errors
    /// Everything that it may not read, in the order of its iterations and inputs.
    pub fn check_section(&self, section: &Section) -> Result<(), Denied> {
        let mut findings = Vec::new();
        let rows = section.rows();
        for (index, row) in rows.iter().enumerate() {
            let Some(for_each) = Rows::for_each(rows, index) else { continue };
            let place = format!("/rows/{index}");
            let gone_over = PathStep::gone_over(&for_each);
            let over = |steps: &Vec<PathStep>| self.of_module(&place, steps, Use::Iterated);
            findings.extend(gone_over.iter().find_map(over));
            let made_of = format!("{place}/expression");
            let read =
                |reference: &Reference| self.read_by_module(&made_of, reference, for_each.outer());
            findings.extend(row.made_of().into_iter().find_map(read));
            let place = format!("{place}/where");
            let read =
                |reference: &Reference| self.read_by_module(&place, reference, Some(&for_each));
            findings.extend(row.references().into_iter().find_map(read));
        }
        for (index, input) in section.inputs().iter().enumerate() {
            let for_each = input.rows.and_then(|row| Rows::for_each(rows, row));
            let place = place(index, input);
            let read =
                |reference: &Reference| self.read_by_module(&place, reference, for_each.as_ref());
            findings.extend(input.references().into_iter().find_map(read));
        }
        Denied::unless_empty(findings)
    }

    /// What is wrong with a path that a module reads, wherever the elements around it are.
    fn read_by_module(
        &self,
        place: &str,
        reference: &Reference,
        for_each: Option<&ForEach>,
    ) -> Option<Finding> {
        let places = PathStep::resolved(reference, for_each);
        places.iter().find_map(|steps| self.of_module(place, steps, Use::Read))
    }

    /// What is wrong with what a module reads. It can do what it likes with an object.
    fn of_module(&self, place: &str, steps: &[PathStep], usage: Use) -> Option<Finding> {
        self.whole_event(place, steps)
            .or_else(|| self.finding(place, steps, usage, || usage == Use::Read))
    }

    /// What is wrong with reading the whole event. The root has to be gone through by keys: all of its entries are the event.
    fn whole_event(&self, place: &str, steps: &[PathStep]) -> Option<Finding> {
        let is_whole = !matches!(steps.first(), Some(PathStep::Key(_)));
        (is_whole && !self.whole_event).then(|| {
            Finding::new(
                Stage::Policy,
                codes::WHOLE_EVENT_NOT_GRANTED,
                place,
                "the paths of the fields that are needed",
                "the whole event, which the policy doesn't grant",
            )
        })
    }

    /// Whether what is somewhere in an event is denied, or below what is.
    fn covers(&self, steps: &[PathStep]) -> bool {
        self.deny.iter().any(|it| relation(it.path(), steps, AnyKey::Each) == Relation::Covered)
    }

    /// What is wrong with reading what is somewhere in an event; nothing if it may be read. `is_object` tells whether a
    /// value there may hold others, and of an object that is gone over, whether a key of it may stand for several.
    fn finding(
        &self,
        place: &str,
        steps: &[PathStep],
        usage: Use,
        mut is_object: impl FnMut() -> bool,
    ) -> Option<Finding> {
        if let [PathStep::Key(key)] = steps
            && key == EVENT_TYPE
        {
            return None;
        }
        let name = if steps.is_empty() {
            "the whole event".to_owned()
        } else {
            format!("path {}", sanitize(&shown_steps(steps), QUOTED_CHARS))
        };
        let finding = |code, expected: &str, observed: String, restriction: &Restriction| {
            let reason = restriction.reason().map(|reason| sanitize(reason, QUOTED_CHARS));
            let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            Finding::new(Stage::Policy, code, place, expected, observed + &reason)
        };
        let of = |it: &Restriction, any_key| relation(it.path(), steps, any_key);
        if let Some(it) = self.deny.iter().find(|it| of(it, AnyKey::Each) == Relation::Covered) {
            let observed = format!("{name} is denied by policy");
            return Some(finding(
                codes::PATH_DENIED,
                "a path that the policy allows",
                observed,
                it,
            ));
        }
        let mut lies_above = |it: &&Restriction| match (usage, of(it, AnyKey::Each)) {
            (Use::Iterated, _) => !rests(it.path(), steps).is_empty() && is_object(),
            (Use::Read, Relation::Above) => true,
            (Use::Read, Relation::PerhapsAbove) => is_object(),
            (Use::Read, Relation::Covered | Relation::Apart) => false,
        };
        let inner = |it: &Restriction| {
            let keys: Vec<PathStep> = PathStep::keys(it.path());
            sanitize(&shown_steps(&keys), QUOTED_CHARS)
        };
        if let Some(it) = self.deny.iter().find(&mut lies_above) {
            let observed = format!("{name} holds {}, which is denied by policy", inner(it));
            return Some(finding(
                codes::PATH_DENIED,
                "a path that the policy allows",
                observed,
                it,
            ));
        }
        // Whoever reads the entries of an object reads what is explicit among them without its name.
        let is_unnamed = |it: &&Restriction| {
            usage == Use::Read
                && of(it, AnyKey::Each) == Relation::Covered
                && of(it, AnyKey::Unnamed) != Relation::Covered
        };
        let it = self.explicit.iter().find(|it| lies_above(it) || is_unnamed(it))?;
        let observed =
            format!("{name} holds {}, which by policy has to be read by its own name", inner(it));
        Some(finding(codes::PATH_NOT_EXPLICIT, "a path of what is needed alone", observed, it))
    }
}

/// Where the paths of an input are in its section.
fn place(index: usize, input: &Input) -> String {
    use crate::abi::section::InputKind;
    use crate::plan::expr::Source;
    let field = match &input.what {
        InputKind::Truthy(_) => "path",
        InputKind::When(_) => "when",
        InputKind::Value(value) => match value.source {
            Source::Path(_) => "path",
            Source::Constant(_) => "constant",
            Source::Template(_) => "template",
            Source::Coalesce(_) => "coalesce",
            Source::Query(_) => "expression",
        },
    };
    format!("/inputs/{index}/{field}")
}
