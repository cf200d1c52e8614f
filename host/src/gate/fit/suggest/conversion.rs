//! The conversions that were meant, by what they make of values that were seen.

use serde_json::Value;

use crate::evidence::conversion;
use crate::evidence::effort::StepBudget;
use crate::evidence::is_scalar;
use crate::evidence::similarity::ranking::Likely;
use crate::evidence::similarity::spelling;
use crate::gate::fit::mapping::{Leaf, Mapping};
use crate::graph::spec::PropertyType;
use crate::plan::expr::{Conversion, Zone};

/// The conversion that makes every value that a mapping reads at `path` one of its type. Null doesn't count.
pub(in crate::gate::fit) fn missing_conversion(
    mapping: &Mapping<'_>,
    property_type: &PropertyType,
    time_zone: Option<&Zone>,
    path: &[String],
    values: &[&Value],
    effort: &StepBudget,
) -> Option<Likely<Conversion>> {
    let is_its_own = mapping.reads_its_name(path);
    let affinity = spelling::affinity(mapping.name(), path);
    let values: Vec<&Value> = values.iter().copied().filter(|it| !it.is_null()).collect();
    let has = |kind: fn(&Value) -> bool| values.iter().any(|value| kind(value));
    let (step, certain) = match property_type {
        // The text of a whole object or array fits any property, right or wrong: the name has to say that it is meant.
        PropertyType::String if has(Value::is_object) && !is_its_own => return None,
        PropertyType::String if has(Value::is_array) && !is_its_own => return None,
        PropertyType::String if has(Value::is_object) => (Conversion::ToJsonText, false),
        PropertyType::String if has(Value::is_array) => (Conversion::ToJsonText, true),
        // Whatever is a number can be a text.
        PropertyType::String => (Conversion::ToString, is_its_own || affinity >= 0.5),
        PropertyType::Int64 if !values.iter().all(|it| is_scalar(it)) => {
            (Conversion::Length, false)
        }
        property_type => (Conversion::to_type(property_type)?.in_zone(time_zone), true),
    };
    let fits =
        conversion::outcome(std::slice::from_ref(&step), property_type, &values, effort).fits();
    fits.then(|| Likely::new(step, certain))
}

/// The steps that give values of the type in the place of those of a leaf, with those after it following them: the same without the last one,
/// or with another in its place or after it, or that one alone. Values that were
/// seen have to bear it out; without any it is a guess.
pub(in crate::gate::fit) fn better_chain(
    leaf: &Leaf<'_>,
    property_type: &PropertyType,
    time_zone: Option<&Zone>,
    values: &[&Value],
    effort: &StepBudget,
) -> Option<Likely<Vec<Conversion>>> {
    let (own, after) = (leaf.own, &leaf.after);
    let (last, before) = own.split_last()?;
    let step = Conversion::to_type(property_type).map(|step| step.in_zone(time_zone));
    let with = |steps: &[Conversion]| {
        step.as_ref().map(|step| [steps, std::slice::from_ref(step)].concat())
    };
    let replaced = with(before);
    let appended = with(own);
    let is_text = *property_type == PropertyType::String;
    // Steps that take a text apart are there for a reason; those that give a type, or letters of one case where no text is
    // wanted, may be the wrong ones.
    let is_wrong =
        gives_type(last) || (!is_text && matches!(last, Conversion::Lower | Conversion::Upper));
    let (likelier, other) = if is_wrong { (replaced, appended) } else { (appended, replaced) };
    if values.is_empty() {
        return likelier.map(|steps| Likely::new(steps, false));
    }
    let bare = Some(Vec::new()).filter(|_| own.len() == 1 && gives_type(last));
    let candidates = [
        // A text may be meant to become another one, and what is there instead doesn't say which.
        (bare.clone().filter(|_| is_text), false),
        (likelier, true),
        (bare, true),
        // A single step that doesn't give the type is the wrong one, where one alone does.
        (other, own.len() == 1 && !is_text),
        (Some(before.to_vec()), false),
        (with(&[]), false),
        (Some(Vec::new()), false),
    ];
    // Without a step that takes a value apart all of it would be where a part was wanted, and of the right type at that.
    let parts = |steps: &[Conversion]| steps.iter().filter(|it| takes_apart(it)).count();
    candidates.into_iter().find_map(|(steps, certain)| {
        let steps = steps.filter(|steps| steps.as_slice() != own)?;
        if parts(&steps) < parts(own) {
            return None;
        }
        let chain: Vec<Conversion> = steps.iter().chain(after).cloned().collect();
        let fits = conversion::outcome(&chain, property_type, values, effort).fits();
        fits.then(|| Likely::new(steps, certain))
    })
}

/// Whether a step gives a part of what it takes.
fn takes_apart(step: &Conversion) -> bool {
    matches!(step, Conversion::Split { .. } | Conversion::Regex(_) | Conversion::ParseJson { .. })
}

fn gives_type(step: &Conversion) -> bool {
    let takes_text_apart = matches!(
        step,
        Conversion::Lower
            | Conversion::Upper
            | Conversion::Trim
            | Conversion::Split { .. }
            | Conversion::Regex(_)
            | Conversion::ParseJson { .. }
    );
    !takes_text_apart
}
