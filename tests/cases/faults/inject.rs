//! Faults that models make, one at a time, wherever each applies.

mod names;
mod paths;
mod shape;
pub(super) mod whole;

use serde_json::Value;

use super::case::Case;

/// How many faults of one kind are made in one plan.
pub(super) const MAX_PER_KIND: usize = 12;

/// How many of them, where there are many plans and many kinds.
pub(super) const FEW_PER_KIND: usize = 4;

/// A right plan with one fault.
pub(super) struct Fault {
    /// What a model would answer.
    pub(super) text: String,
    /// Where it is: pointers into the faulty plan, any of which names it.
    pub(super) places: Vec<String>,
    /// Why no gate can know, if none can. Told by rule: see the kind.
    pub(super) unknowable: Option<&'static str>,
    /// What it is about, for a list of those that slip through.
    pub(super) what: String,
}

/// A kind of fault.
pub(super) struct Kind {
    pub(super) name: &'static str,
    make: fn(&Case, &mut Vec<Fault>),
}

pub(super) const KINDS: &[Kind] = &[
    Kind { name: "typo in a path", make: paths::typo },
    Kind { name: "missing segment", make: paths::missing_segment },
    Kind { name: "extra segment", make: paths::extra_segment },
    Kind { name: "wrong letter case", make: paths::letter_case },
    Kind { name: "path as dotted string", make: paths::dotted_path },
    Kind { name: "invented path", make: paths::invented_path },
    Kind { name: "path of another type", make: paths::other_type },
    Kind { name: "invented field", make: names::invented_field },
    Kind { name: "misspelt property", make: names::misspelt_property },
    Kind { name: "swapped fields", make: names::swapped },
    Kind { name: "missing required field", make: shape::missing_field },
    Kind { name: "unknown field", make: shape::unknown_field },
    Kind { name: "misspelt field", make: shape::misspelt_field },
    Kind { name: "wrong JSON type", make: shape::json_type },
    Kind { name: "duplicate property", make: shape::duplicate },
    Kind { name: "invalid identifier", make: names::identifier },
    Kind { name: "wrong event type", make: names::event_type },
    Kind { name: "wrong entity", make: names::entity },
    Kind { name: "wrong key", make: names::wrong_key },
    Kind { name: "wrong session path", make: paths::session },
    Kind { name: "wrong span path", make: paths::span },
];

impl Kind {
    /// A kind that is told by its faults.
    pub(super) const fn new(name: &'static str, make: fn(&Case, &mut Vec<Fault>)) -> Self {
        Self { name, make }
    }

    /// Every fault of this kind in the case's plan; of more than `most`, some, evenly spread.
    pub(super) fn inject(&self, case: &Case, most: usize) -> Vec<Fault> {
        let mut faults = Vec::new();
        (self.make)(case, &mut faults);
        let step = faults.len().div_ceil(most).max(1);
        faults.into_iter().step_by(step).collect()
    }
}

const EXISTS: &str = "is a path that exists or is behind a null, of the same type";
const DEFAULT: &str = "is the default, which events need not have";
const NAMES_SAY_NOTHING: &str = "is which of two properties is which, and their names don't say";
const SEVERAL_TYPES: &str = "is another event type that samples have";

/// The case's plan with something else at a place.
pub(super) fn with(case: &Case, at: &str, value: Value) -> Value {
    let mut plan = case.plan.clone();
    *plan.pointer_mut(at).unwrap() = value;
    plan
}

pub(super) fn fault(plan: &Value, place: impl Into<String>, what: impl Into<String>) -> Fault {
    let (places, what) = (vec![place.into()], what.into());
    Fault { text: plan.to_string(), places, unknowable: None, what }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn exchanged(name: &str) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    if let Some(i) = (1..letters.len()).rev().find(|i| letters[*i] != letters[i - 1]) {
        letters.swap(i, i - 1);
    }
    letters.into_iter().collect()
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        name + &word[..1.min(word.len())].to_uppercase() + &word[1.min(word.len())..]
    })
}
