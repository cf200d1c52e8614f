//! Chains of conversions against the types of properties: what a chain can give, and what it gives of values that were seen.

use serde_json::Value;

use crate::evidence::effort::{Effort, VALUE};
use crate::graph::spec::PropertyType;
use crate::graph::validate::value::{Fit, fit};
use crate::plan::expr::{Chain, Conversion, Converted, fuel};

/// Whether a chain can give a value of the type at all, of values of the type `of`, or of any.
pub(super) fn may_give(
    chain: &[Conversion],
    of: Option<PropertyType>,
    property_type: &PropertyType,
) -> bool {
    // Of an unsupported type nothing is; that is another finding's matter.
    let is_unsupported = matches!(property_type, PropertyType::Unsupported(_));
    let given = chain.last().map_or(of, Conversion::gives);
    is_unsupported || given.is_none_or(|given| property_type.overlaps(&given))
}

/// What a chain gives, in words.
pub(super) fn described(chain: &[Conversion]) -> String {
    let last = chain.last().map_or("no conversion", Conversion::name);
    let given = match chain.last().and_then(Conversion::gives) {
        Some(PropertyType::String) => "a text".to_owned(),
        Some(PropertyType::Int64) => "an integer".to_owned(),
        Some(PropertyType::Double) => "a number".to_owned(),
        Some(other) => format!("a {}", other.as_str()),
        None => "a value".to_owned(),
    };
    format!("{given} by {last}")
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
