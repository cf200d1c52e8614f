//! Values against the types of their properties, as they are and as conversions make them.

use serde_json::Value;

use super::chain::{self, Judged};
use super::known::{is_scalar, smallest};
use super::mapping::{Leaf, Mapping};
use super::names::propose;
use super::nearest::{Nearest, Search, Sought};
use super::paths::{no_scalar, repath, shown};
use super::scope::Site;
use super::{
    CONVERSION_NEVER_SUCCEEDS, TYPE_MISMATCH, UNSUPPORTED_TYPE, WRONG_CONVERSION, likeness,
};
use crate::diagnostics::codes::Code;
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::{bounded, quoted};
use crate::evidence::Seen;
use crate::graph::spec::PropertyType;
use crate::graph::validate::value::{Fit, expected, fit};
use crate::plan::Nulls;
use crate::plan::expr::{Conversion, Reference, Source};

/// What the values of a mapping are judged by.
pub(super) struct Bench<'b, 'k, 't> {
    pub(super) mapping: &'b Mapping<'b>,
    pub(super) search: &'b Search<'k, 't>,
    pub(super) site: &'b Site<'t>,
}

impl Bench<'_, '_, '_> {
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
        let judged = chain::judge(&chain, property_type, &[constant], self.site.effort());
        if judged.fits() {
            return None;
        }
        let at = format!("{}/constant", leaf.at);
        let observed = crate::graph::text::described(constant);
        if leaf.is_converted() {
            return Some(self.wrong_chain(leaf, &[constant], property_type, &judged, observed));
        }
        let code = code(property_type, constant);
        let finding = Finding::new(Stage::Fit, code, &at, self.wanted(property_type), observed);
        let meant = chain::conversion_for(property_type)
            .and_then(|step| chain::converted(&[step], constant, self.search.effort()))
            .filter(|value| fit(property_type, value) == Fit::Valid);
        Some(match meant {
            Some(value) => finding.with_fix(patch::replace(&at, value)),
            None => finding,
        })
    }

    /// What is wrong with the type of a text that is put together.
    pub(super) fn template(&self, leaf: &Leaf<'_>) -> Option<Finding> {
        let property_type = self.mapping.property_type()?;
        let chain = leaf.chain(leaf.own);
        if chain::may_be(&chain, chain::Made::Text, property_type) {
            return None;
        }
        if leaf.is_converted() {
            let judged = Judged::default();
            let observed = chain::told(&chain);
            return Some(self.wrong_chain(leaf, &[], property_type, &judged, observed));
        }
        let at = format!("{}/template", leaf.at);
        let wanted = self.wanted(property_type);
        let finding = Finding::new(Stage::Fit, TYPE_MISMATCH, at, wanted, "a text");
        let step = chain::conversion_for(property_type);
        let add = step.map(|step| patch::add(&format!("{}/convert", leaf.at), [step]));
        Some(propose(finding, add.map(|patch| (patch, false))))
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
        Some(repath(finding, &at, self.inside(&reference.path)))
    }

    fn mismatch(&self, leaf: &Leaf<'_>, reference: &Reference) -> Option<Finding> {
        let property_type = self.mapping.property_type()?;
        let kept = self.mapping.field.nulls() == Nulls::Keep;
        let mut values = self.site.values(reference);
        values.retain(|(_, value)| kept || !value.is_null());
        let bytes: usize = values.iter().filter_map(|(_, it)| it.as_str()).map(str::len).sum();
        if !self.site.effort().take(bytes as u64) {
            return None;
        }
        let fails = |(_, value): &&(&Seen, &Value)| fit(property_type, value) != Fit::Valid;
        let failing: Vec<(&Seen, &Value)> = values.iter().filter(fails).copied().collect();
        // What the schema declares is no value: words for types are used loosely in schemas, and samples decide.
        let (_, value) = failing.first()?;
        if !self.site.has_keys() && failing.len() < values.len() {
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
        let place = if only_null { nulls.clone() } else { source.clone() };
        let code = code(property_type, value);
        let mut finding =
            Finding::new(Stage::Fit, code, place, self.wanted(property_type), observed);
        finding.event = smallest(failing.iter().map(|(seen, _)| *seen));
        if only_null {
            return Some(finding.with_fix(patch::remove(&nulls)));
        }
        if matches!(property_type, PropertyType::Unsupported(_)) {
            return Some(finding.with_suggestion(patch::remove(&self.mapping.at)));
        }
        let there: Vec<&Value> = values.iter().map(|(_, value)| *value).collect();
        let conversion = self.missing_conversion(property_type, reference, &there);
        // A path of the property's own name is the right one, if a conversion makes it so.
        let is_its_own = self.mapping.reads_its_name(&reference.path);
        let is_told = conversion.as_ref().is_some_and(|(_, certain)| *certain && is_its_own);
        let inside = if is_told { None } else { self.inside(&reference.path) };
        Some(match (conversion, inside) {
            (Some((step, certain)), inside) if inside.as_ref().is_none_or(|it| !it.certain) => {
                let add = patch::add(&format!("{}/convert", leaf.at), [step]);
                propose(finding, Some((add, certain)))
            }
            (_, inside) => repath(finding, &source, inside),
        })
    }

    /// The conversion that makes every value one of the type, and whether nothing else could be meant.
    fn missing_conversion(
        &self,
        property_type: &PropertyType,
        reference: &Reference,
        values: &[&Value],
    ) -> Option<(Conversion, bool)> {
        let is_its_own = self.mapping.reads_its_name(&reference.path);
        let affinity = likeness::affinity(self.mapping.name(), &reference.path);
        let values: Vec<&Value> = values.iter().copied().filter(|it| !it.is_null()).collect();
        let has = |kind: fn(&Value) -> bool| values.iter().any(|value| kind(value));
        let (step, certain) = match property_type {
            PropertyType::String if has(Value::is_object) => (Conversion::ToJsonText, false),
            PropertyType::String if has(Value::is_array) => (Conversion::ToJsonText, is_its_own),
            // Whatever is a number can be a text.
            PropertyType::String => (Conversion::ToString, is_its_own || affinity >= 0.5),
            PropertyType::Int64 if !values.iter().all(|it| is_scalar(it)) => {
                (Conversion::Length, false)
            }
            property_type => (chain::conversion_for(property_type)?, true),
        };
        let effort = self.search.effort();
        let fits = chain::judge(std::slice::from_ref(&step), property_type, &values, effort).fits();
        fits.then_some((step, certain))
    }

    /// What is wrong with what conversions make of what is at a path.
    fn converted(&self, leaf: &Leaf<'_>, reference: &Reference) -> Option<Finding> {
        let property_type = self.mapping.property_type()?;
        let mut seen = self.site.values(reference);
        seen.retain(|(_, value)| !value.is_null());
        let values: Vec<&Value> = seen.iter().map(|(_, value)| *value).collect();
        let chain = leaf.chain(leaf.own);
        let may_be = chain::may_be(&chain, chain::Made::Anything, property_type);
        let judged = chain::judge(&chain, property_type, &values, self.site.effort());
        let is_wrong = judged.unfit.is_some() && (self.site.has_keys() || judged.fitting == 0);
        // One of several may be there for events that no sample is of.
        let fails = judged.never_succeeds() && self.site.has_keys() && !leaf.is_alternative;
        if may_be && !is_wrong && !fails {
            return None;
        }
        let shown_as = shown(&reference.path);
        let observed = match (judged.unfit, values.first()) {
            (Some(index), _) => {
                let value = values.get(index).map(|value| described(value)).unwrap_or_default();
                format!("{}, made of {value} at {shown_as}", chain::told(&chain))
            }
            (None, Some(value)) if fails => {
                let value = described(value);
                let count = values.len();
                format!(
                    "{}, which fails on all {count} values at {shown_as}, first {value}",
                    chain::told(&chain)
                )
            }
            _ => chain::told(&chain),
        };
        let shows =
            judged.unfit.map_or(&seen[..], |index| seen.get(index..=index).unwrap_or_default());
        let mut finding = self.wrong_chain(leaf, &values, property_type, &judged, observed);
        finding.event = smallest(shows.iter().map(|(seen, _)| *seen));
        Some(finding)
    }

    /// A chain that gives no value of the type, with the one that does.
    fn wrong_chain(
        &self,
        leaf: &Leaf<'_>,
        values: &[&Value],
        property_type: &PropertyType,
        judged: &Judged,
        observed: String,
    ) -> Finding {
        let code = match judged.never_succeeds() {
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
        let better =
            chain::better(leaf.own, &leaf.after, property_type, values, self.search.effort());
        propose(
            finding,
            better.map(|(steps, certain)| {
                let patch = match steps.is_empty() {
                    true => patch::remove(&at),
                    false => patch::replace(&at, steps),
                };
                (patch, certain)
            }),
        )
    }

    /// What to read instead of a path of the wrong type: something inside of it, or what has the property's name.
    fn inside(&self, path: &[String]) -> Option<Nearest> {
        let mapping = self.mapping;
        let name = mapping.property.map_or(mapping.name(), |it| &it.logical_name);
        let sought = Sought {
            given: path,
            name: Some(name),
            property_type: mapping.property_type(),
            is_key: mapping.is_key,
        };
        if let Some(named) = self.search.named(&sought).filter(|it| it.certain) {
            return Some(named);
        }
        let slip = self.search.slip(&sought)?;
        let is_inside = slip.path.starts_with(path);
        let said = likeness::affinity(name, &slip.path) > likeness::affinity(name, path);
        (is_inside || said).then_some(Nearest { certain: slip.certain && is_inside, ..slip })
    }
}

fn code(property_type: &PropertyType, value: &Value) -> Code {
    match fit(property_type, value) {
        Fit::Unsupported => UNSUPPORTED_TYPE,
        Fit::Valid | Fit::Mismatch => TYPE_MISMATCH,
    }
}

/// A value of an event, as far as a finding repeats it: of text, only how long it is.
pub(super) fn described(value: &Value) -> String {
    match value {
        Value::String(text) => format!("a string of {} characters", text.chars().count()),
        value => crate::graph::text::described(value),
    }
}

/// The references of what a key is told to be there by: its paths.
pub(super) fn keys<'a>(mappings: &'a [Mapping<'a>]) -> Vec<&'a Reference> {
    let of_key = mappings.iter().filter(|it| it.is_key);
    let path = |mapping: &Mapping<'a>| match &mapping.field.value().source {
        Source::Path(reference) => Some(reference),
        Source::Constant(_) | Source::Template(_) | Source::Coalesce(_) => None,
    };
    of_key.filter_map(path).collect()
}
