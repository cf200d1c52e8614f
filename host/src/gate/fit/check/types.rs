//! Values against the types of their properties, as they are and as conversions make them.

use json_patch::Patch;
use serde_json::Value;

use super::describe::{chain_described, described, no_scalar, shown};
use crate::diagnostics::codes::{
    CONVERSION_NEVER_SUCCEEDS, Code, TYPE_MISMATCH, UNSUPPORTED_TYPE, WRONG_CONVERSION,
};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::{bounded, quoted};
use crate::evidence::conversion::{self, ChainOutcome};
use crate::evidence::similarity::ranking::Likely;
use crate::evidence::similarity::spelling;
use crate::evidence::{Path, Seen};
use crate::gate::fit::mapping::{Leaf, Mapping};
use crate::gate::fit::scope::RelevantSamples;
use crate::gate::fit::smallest;
use crate::gate::fit::suggest::{PathSearch, better_chain, missing_conversion};
use crate::graph::spec::PropertyType;
use crate::graph::validate::value::{Fit, expected, fit};
use crate::json::{JsonKind, JsonKinds};
use crate::plan::Nulls;
use crate::plan::expr::{Conversion, Query, Reference};

/// What the values of a mapping are outcome by.
pub(super) struct TypeCheck<'b, 'k, 't> {
    pub(super) mapping: &'b Mapping<'b>,
    pub(super) search: &'b PathSearch<'k, 't>,
    pub(super) samples: &'b RelevantSamples<'t>,
}

impl TypeCheck<'_, '_, '_> {
    /// What is wrong with what is at a known path.
    pub(super) fn path(&self, leaf: &Leaf<'_>, reference: &Reference) -> Option<Finding> {
        if leaf.is_converted() {
            return self.converted(leaf, reference);
        }
        self.not_scalar(leaf, reference).or_else(|| self.mismatch(leaf, reference))
    }

    /// What is wrong with a value that is the same for every event.
    pub(super) fn constant(&self, leaf: &Leaf<'_>, constant: &Value) -> Option<Finding> {
        let property_type = self.mapping.property_type()?;
        let chain = leaf.chain(leaf.own);
        let outcome =
            conversion::outcome(&chain, property_type, &[constant], self.samples.effort());
        if outcome.fits() {
            return None;
        }
        let at = format!("{}/constant", leaf.at);
        let observed = crate::graph::described(constant);
        if leaf.is_converted() {
            return Some(self.wrong_chain(leaf, &[constant], property_type, &outcome, observed));
        }
        let code = code(property_type, constant);
        let finding = Finding::new(Stage::Fit, code, &at, self.wanted(property_type), observed);
        let step = Conversion::to_type(property_type);
        let step = step.map(|step| step.in_zone(self.samples.time_zone()));
        let meant = step
            .and_then(|step| conversion::converted(&[step], constant, self.search.effort()))
            .filter(|value| fit(property_type, value) == Fit::Valid);
        let replaced = meant.map(|value| Likely::new(patch::replace(&at, value), true));
        Some(finding.suggesting(replaced))
    }

    /// What is wrong with the type of a text that is put together.
    pub(super) fn template(&self, leaf: &Leaf<'_>) -> Option<Finding> {
        let property_type = self.mapping.property_type()?;
        let chain = leaf.chain(leaf.own);
        if conversion::may_give(&chain, Some(PropertyType::String), property_type) {
            return None;
        }
        if leaf.is_converted() {
            let outcome = ChainOutcome::default();
            let observed = chain_described(&chain);
            return Some(self.wrong_chain(leaf, &[], property_type, &outcome, observed));
        }
        let at = format!("{}/template", leaf.at);
        let wanted = self.wanted(property_type);
        let finding = Finding::new(Stage::Fit, TYPE_MISMATCH, at, wanted, "a text");
        let step = Conversion::to_type(property_type);
        let add = step.map(|step| patch::add(&format!("{}/convert", leaf.at), [step]));
        Some(finding.suggesting(add.map(|patch| Likely::new(patch, false))))
    }

    /// What is wrong with the type of what an expression gives for the samples.
    pub(super) fn expression(&self, leaf: &Leaf<'_>, query: &Query) -> Option<Finding> {
        let property_type = self.mapping.property_type()?;
        let results = self.samples.evaluated(query);
        let there = results.iter().filter_map(|(seen, it)| Some((*seen, it.as_ref()?)));
        let there: Vec<(&Seen, &Value)> = there.filter(|(_, it)| !it.is_null()).collect();
        let values: Vec<&Value> = there.iter().map(|(_, value)| *value).collect();
        let at = format!("{}/expression", leaf.at);
        let wanted = self.wanted(property_type);
        let chain = leaf.chain(leaf.own);
        if values.is_empty() {
            let kinds = query.gives();
            if chain.is_empty() && !may_be(property_type, kinds) {
                let observed = format!("an expression that gives {kinds}");
                return Some(Finding::new(Stage::Fit, TYPE_MISMATCH, at, wanted, observed));
            }
            let fails = results.iter().all(|(_, result)| result.is_none());
            if results.is_empty() || !fails || leaf.is_alternative || !self.samples.has_keys() {
                return None;
            }
            let observed = format!("an expression that fails for all {} samples", results.len());
            let finding = Finding::new(Stage::Fit, CONVERSION_NEVER_SUCCEEDS, at, wanted, observed);
            return Some(Finding { event: smallest(results.iter().map(|(it, _)| *it)), ..finding });
        }
        let effort = self.samples.effort();
        let outcome = conversion::outcome(&chain, property_type, &values, effort);
        let Some(unfit) = outcome.unfit else {
            let fails = outcome.never_succeeds() && !leaf.is_alternative;
            return fails.then(|| {
                let observed = chain_described(&chain);
                self.wrong_chain(leaf, &values, property_type, &outcome, observed)
            });
        };
        if !self.samples.has_keys() && outcome.fitting > 0 {
            return None;
        }
        let (seen, value) = there.get(unfit)?;
        let observed = format!("{} from the expression", described(value));
        let finding = if leaf.is_converted() {
            self.wrong_chain(leaf, &values, property_type, &outcome, observed)
        } else {
            let code = code(property_type, value);
            let finding = Finding::new(Stage::Fit, code, at, wanted, observed);
            let step = Conversion::to_type(property_type).filter(|step| {
                let step = std::slice::from_ref(step);
                conversion::outcome(step, property_type, &values, effort).fits()
            });
            let add = step.map(|step| patch::add(&format!("{}/convert", leaf.at), [step]));
            let add = add.map(|patch| Likely::new(patch, false));
            finding.suggesting(add.or_else(|| self.left_out(leaf)))
        };
        Some(Finding { event: smallest([*seen].into_iter()), ..finding })
    }

    fn wanted(&self, property_type: &PropertyType) -> String {
        format!(
            "{} for {} ({})",
            expected(property_type),
            quoted(self.mapping.name()),
            bounded(property_type.as_str(), 40)
        )
    }

    /// A key has to be a scalar in at least one sample, or no event ever gives a node.
    fn not_scalar(&self, leaf: &Leaf<'_>, reference: &Reference) -> Option<Finding> {
        let known = self.search.known();
        if !self.mapping.is_key || known.admits(&reference.path, None) {
            return None;
        }
        let at = format!("{}/source_path", leaf.at);
        let finding = no_scalar(&at, &reference.path, known);
        let meant = self.meant(&reference.path);
        Some(finding.suggesting(meant.map(|it| it.replacing(&at))))
    }

    fn mismatch(&self, leaf: &Leaf<'_>, reference: &Reference) -> Option<Finding> {
        let property_type = self.mapping.property_type()?;
        let kept = self.mapping.field.nulls() == Nulls::Keep;
        let mut values = self.samples.values(reference);
        values.retain(|(_, value)| kept || !value.is_null());
        let bytes: usize = values.iter().filter_map(|(_, it)| it.as_str()).map(str::len).sum();
        if !self.samples.effort().take(bytes as u64) {
            return None;
        }
        let fails = |(_, value): &&(&Seen, &Value)| fit(property_type, value) != Fit::Valid;
        let failing: Vec<(&Seen, &Value)> = values.iter().filter(fails).copied().collect();
        // What the schema declares is no value: words for types are used loosely in schemas, and samples decide.
        let (_, value) = failing.first()?;
        if !self.samples.has_keys() && failing.len() < values.len() {
            return None;
        }
        let source = format!("{}/source_path", leaf.at);
        let observed = format!(
            "{} at {}, in {} of {} samples with a value there",
            described(value),
            shown(&reference.path),
            failing.len(),
            values.len()
        );
        let only_null = failing.iter().all(|(_, value)| value.is_null());
        let nulls = format!("{}/nulls", self.mapping.at);
        let pointer = if only_null { nulls.clone() } else { source.clone() };
        let code = code(property_type, value);
        let mut finding =
            Finding::new(Stage::Fit, code, pointer, self.wanted(property_type), observed);
        finding.event = smallest(failing.iter().map(|(seen, _)| *seen));
        if only_null {
            return Some(finding.with_fix(patch::remove(&nulls)));
        }
        if matches!(property_type, PropertyType::Unsupported(_)) {
            return Some(finding.with_suggestion(patch::remove(&self.mapping.at)));
        }
        let there: Vec<&Value> = values.iter().map(|(_, value)| *value).collect();
        let (path, effort) = (&reference.path, self.search.effort());
        let zone = self.samples.time_zone();
        let conversion =
            missing_conversion(self.mapping, property_type, zone, path, &there, effort);
        // A path of the property's own name is the right one, if a conversion makes it so.
        let is_right = conversion.as_ref().is_some_and(Likely::is_certain)
            && self.mapping.reads_its_name(path);
        let meant = if is_right { None } else { self.meant(path) };
        let is_other_path = meant.as_ref().is_some_and(Likely::is_certain);
        let convert = conversion.filter(|_| !is_other_path);
        let chain = format!("{}/convert", leaf.at);
        let convert = convert.map(|it| it.map(|step| [step]).added(&chain));
        let replaced = || meant.map(|it| it.replacing(&source));
        Some(finding.suggesting(convert.or_else(replaced).or_else(|| self.left_out(leaf))))
    }

    /// What is wrong with what conversions make of what is at a path.
    fn converted(&self, leaf: &Leaf<'_>, reference: &Reference) -> Option<Finding> {
        let property_type = self.mapping.property_type()?;
        let mut seen = self.samples.values(reference);
        seen.retain(|(_, value)| !value.is_null());
        let values: Vec<&Value> = seen.iter().map(|(_, value)| *value).collect();
        let chain = leaf.chain(leaf.own);
        let may_be = conversion::may_give(&chain, None, property_type);
        let outcome = conversion::outcome(&chain, property_type, &values, self.samples.effort());
        let is_wrong = outcome.unfit.is_some() && (self.samples.has_keys() || outcome.fitting == 0);
        // One of several may be there for events that no sample is of.
        let fails = outcome.never_succeeds() && self.samples.has_keys() && !leaf.is_alternative;
        if may_be && !is_wrong && !fails {
            return None;
        }
        let shown_as = shown(&reference.path);
        let observed = match (outcome.unfit, values.first()) {
            (Some(index), _) => {
                let value = values.get(index).map(|value| described(value)).unwrap_or_default();
                format!("{}, made of {value} at {shown_as}", chain_described(&chain))
            }
            (None, Some(value)) if fails => {
                let value = described(value);
                let count = values.len();
                format!(
                    "{}, which fails on all {count} values at {shown_as}, first {value}",
                    chain_described(&chain)
                )
            }
            _ => chain_described(&chain),
        };
        let shows =
            outcome.unfit.map_or(&seen[..], |index| seen.get(index..=index).unwrap_or_default());
        let mut finding = self.wrong_chain(leaf, &values, property_type, &outcome, observed);
        finding.event = smallest(shows.iter().map(|(seen, _)| *seen));
        Some(finding)
    }

    /// A chain that gives no value of the type, with the one that does.
    fn wrong_chain(
        &self,
        leaf: &Leaf<'_>,
        values: &[&Value],
        property_type: &PropertyType,
        outcome: &ChainOutcome,
        observed: String,
    ) -> Finding {
        let code = match outcome.never_succeeds() {
            true => CONVERSION_NEVER_SUCCEEDS,
            false => WRONG_CONVERSION,
        };
        // Where the value has none of its own, those around it are at fault.
        let at = if leaf.own.is_empty() { &self.mapping.at } else { &leaf.at };
        let at = format!("{at}/convert");
        let finding = Finding::new(Stage::Fit, code, &at, self.wanted(property_type), observed);
        if leaf.own.is_empty() {
            return finding;
        }
        let better = better_chain(
            leaf,
            property_type,
            self.samples.time_zone(),
            values,
            self.search.effort(),
        );
        let replaced = better.map(|it| {
            it.map(|steps| match steps.is_empty() {
                true => patch::remove(&at),
                false => patch::replace(&at, steps),
            })
        });
        finding.suggesting(replaced.or_else(|| self.left_out(leaf)))
    }

    /// The plan without the property, where nothing is known that would be right: none is better than a wrong one.
    fn left_out(&self, leaf: &Leaf<'_>) -> Option<Likely<Patch>> {
        let is_done = !self.search.effort().is_over();
        let is_free = is_done && !self.mapping.is_key && !leaf.is_alternative;
        is_free.then(|| Likely::new(patch::remove(&self.mapping.at), false))
    }

    /// What to read instead of a path of the wrong type: something inside of it, or what has the property's name.
    fn meant(&self, path: &[String]) -> Option<Likely<Path>> {
        let mapping = self.mapping;
        let sought = mapping.sought(path);
        if let Some(named) = self.search.named(&sought).filter(Likely::is_certain) {
            return Some(named);
        }
        let nearest = self.search.most_alike(&sought)?.path;
        let is_inside = nearest.item.starts_with(path);
        let said = |path| spelling::affinity(sought.name.unwrap_or_default(), path);
        let is_said = said(&nearest.item) > said(path);
        (is_inside || is_said).then(|| nearest.only_if(is_inside))
    }
}

/// Whether a value of one of these kinds may be one of a type.
fn may_be(property_type: &PropertyType, kinds: JsonKinds) -> bool {
    let has = |kind| kinds.contains(kind);
    match property_type {
        PropertyType::Int64 | PropertyType::Double | PropertyType::Float64 => {
            has(JsonKind::Integer) || has(JsonKind::Number)
        }
        PropertyType::Boolean | PropertyType::Bool => has(JsonKind::Boolean),
        PropertyType::String
        | PropertyType::Timestamp
        | PropertyType::Date
        | PropertyType::Bytes => has(JsonKind::String),
        PropertyType::Unsupported(_) => true,
    }
}

fn code(property_type: &PropertyType, value: &Value) -> Code {
    match fit(property_type, value) {
        Fit::Unsupported => UNSUPPORTED_TYPE,
        Fit::Valid | Fit::Mismatch => TYPE_MISMATCH,
    }
}
