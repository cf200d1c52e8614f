//! Chains of conversions against the types of properties: what a chain can give, and what it gives of values that were seen.

use serde_json::Value;

use super::efforts::VALUE;
use crate::evidence::effort::Effort;
use crate::graph::spec::PropertyType;
use crate::graph::validate::value::{Fit, fit};
use crate::plan::expr::{Chain, Conversion, Converted, fuel};

/// What the last step of a chain makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    Text,
    Integer,
    Number,
    Boolean,
    Timestamp,
    Date,
    Anything,
}

/// What a chain gives of a value of this kind.
fn made(chain: &[Conversion], of: Made) -> Made {
    match chain.last() {
        None => of,
        Some(Conversion::ToInt64 | Conversion::Length) => Made::Integer,
        Some(Conversion::ToDouble) => Made::Number,
        Some(Conversion::ToBoolean) => Made::Boolean,
        Some(Conversion::Timestamp) => Made::Timestamp,
        Some(Conversion::Date) => Made::Date,
        Some(Conversion::ParseJson { .. }) => Made::Anything,
        Some(
            Conversion::ToString
            | Conversion::ToJsonText
            | Conversion::Lower
            | Conversion::Upper
            | Conversion::Trim
            | Conversion::Split { .. }
            | Conversion::Regex(_),
        ) => Made::Text,
    }
}

/// Whether a chain can give a value of the type at all, of a value of this kind.
pub(super) fn may_be(chain: &[Conversion], of: Made, property_type: &PropertyType) -> bool {
    match (property_type, made(chain, of)) {
        // Nothing is; that is another finding's matter.
        (PropertyType::Unsupported(_), _) | (_, Made::Anything) => true,
        (PropertyType::String, made) => matches!(made, Made::Text | Made::Timestamp | Made::Date),
        (PropertyType::Bytes, made) => made == Made::Text,
        (PropertyType::Int64, made) => matches!(made, Made::Integer | Made::Number),
        (PropertyType::Double | PropertyType::Float64, made) => {
            matches!(made, Made::Integer | Made::Number)
        }
        (PropertyType::Boolean | PropertyType::Bool, made) => made == Made::Boolean,
        (PropertyType::Timestamp, made) => matches!(made, Made::Text | Made::Timestamp),
        (PropertyType::Date, made) => matches!(made, Made::Text | Made::Date),
    }
}

/// The conversion that gives values of a type.
pub(super) fn conversion_for(property_type: &PropertyType) -> Option<Conversion> {
    match property_type {
        PropertyType::String => Some(Conversion::ToString),
        PropertyType::Int64 => Some(Conversion::ToInt64),
        PropertyType::Double | PropertyType::Float64 => Some(Conversion::ToDouble),
        PropertyType::Boolean | PropertyType::Bool => Some(Conversion::ToBoolean),
        PropertyType::Timestamp => Some(Conversion::Timestamp),
        PropertyType::Date => Some(Conversion::Date),
        PropertyType::Bytes | PropertyType::Unsupported(_) => None,
    }
}

/// What a chain makes of values that were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Judged {
    /// How many become one of the type.
    pub(super) fitting: usize,
    /// How many no longer are there.
    absent: usize,
    /// How many the chain doesn't take.
    failed: usize,
    /// The first that becomes something else, by its place.
    pub(super) unfit: Option<usize>,
    /// Whether some weren't looked at: there was no effort left, or one costs more than an event may.
    is_part: bool,
}

impl Judged {
    /// Whether there are values, and every one of them becomes one of the type.
    pub(super) fn fits(&self) -> bool {
        self.fitting > 0 && self.failed == 0 && self.unfit.is_none() && !self.is_part
    }

    /// Whether there are values, and the chain fails on every one of them.
    pub(super) fn never_succeeds(&self) -> bool {
        let succeeds = self.fitting > 0 || self.absent > 0 || self.unfit.is_some();
        self.failed > 0 && !succeeds && !self.is_part
    }
}

pub(super) fn judge(
    chain: &[Conversion],
    property_type: &PropertyType,
    values: &[&Value],
    effort: &Effort,
) -> Judged {
    let chain = Chain::new(chain);
    let mut judged = Judged::default();
    for (index, value) in values.iter().enumerate() {
        match apply(&chain, value, effort) {
            None => judged.is_part = true,
            Some(Converted::Absent) => judged.absent += 1,
            Some(Converted::Failed) => judged.failed += 1,
            Some(Converted::Value(json)) => match serde_json::from_str::<Value>(&json) {
                Ok(value) if fit(property_type, &value) == Fit::Valid => judged.fitting += 1,
                _ => judged.unfit = judged.unfit.or(Some(index)),
            },
        }
    }
    judged
}

/// What steps make of a value, if they make one of it.
pub(super) fn converted(chain: &[Conversion], value: &Value, effort: &Effort) -> Option<Value> {
    match apply(&Chain::new(chain), value, effort)? {
        Converted::Value(json) => serde_json::from_str(&json).ok(),
        Converted::Absent | Converted::Failed => None,
    }
}

/// What a chain makes of a value, with the fuel that it has where events are served, as long as there is effort.
fn apply(chain: &Chain, value: &Value, effort: &Effort) -> Option<Converted> {
    if effort.is_over() {
        return None;
    }
    let json = value.to_string();
    let given = effort.left().min(fuel::default_for(json.len()));
    let mut fuel = given;
    let made = chain.apply(&json, &mut fuel);
    effort.take(given - fuel + VALUE).then_some(made.ok()).flatten()
}

/// The steps that give values of the type in the place of `own`, with `after` behind them, and whether nothing else could be
/// meant: the same without the last one, or with another in its place or behind it, or that one alone. Values that were
/// seen have to bear it out; without any it is a guess.
pub(super) fn better(
    own: &[Conversion],
    after: &[Conversion],
    property_type: &PropertyType,
    values: &[&Value],
    effort: &Effort,
) -> Option<(Vec<Conversion>, bool)> {
    let (last, before) = own.split_last()?;
    let step = conversion_for(property_type);
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
        return likelier.map(|steps| (steps, false));
    }
    let bare = Some(Vec::new()).filter(|_| own.len() == 1 && gives_type(last));
    let candidates = [
        // A text may be meant to become another one, and what stands there instead doesn't say which.
        (bare.clone().filter(|_| is_text), false),
        (likelier, true),
        (bare, true),
        // A single step that doesn't give the type is the wrong one, where one alone does.
        (other, own.len() == 1 && !is_text),
        (Some(before.to_vec()), false),
        (with(&[]), false),
        (Some(Vec::new()), false),
    ];
    candidates.into_iter().find_map(|(steps, certain)| {
        let steps = steps.filter(|steps| steps.as_slice() != own)?;
        let chain: Vec<Conversion> = steps.iter().chain(after).cloned().collect();
        let fits = judge(&chain, property_type, values, effort).fits();
        fits.then_some((steps, certain))
    })
}

fn gives_type(step: &Conversion) -> bool {
    matches!(
        step,
        Conversion::ToString
            | Conversion::ToInt64
            | Conversion::ToDouble
            | Conversion::ToBoolean
            | Conversion::ToJsonText
            | Conversion::Timestamp
            | Conversion::Date
            | Conversion::Length
    )
}

/// What the chain gives, in words.
pub(super) fn told(chain: &[Conversion]) -> String {
    let last = chain.last().map_or("no conversion", Conversion::name);
    let made = match made(chain, Made::Anything) {
        Made::Text => "a text",
        Made::Integer => "an integer",
        Made::Number => "a number",
        Made::Boolean => "a boolean",
        Made::Timestamp => "a timestamp",
        Made::Date => "a date",
        Made::Anything => "a value",
    };
    format!("{made} by {last}")
}
