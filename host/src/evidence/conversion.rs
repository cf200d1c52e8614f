//! What conversions make of values that were seen, and the one that makes them be of a type.

use jiff::Timestamp;
use serde_json::Value;

use crate::evidence::effort::{StepBudget, VALUE};
use crate::graph::spec::PropertyType;
use crate::graph::validate::value::{Fit, fit};
use crate::plan::expr::{Chain, Conversion, Converted, fuel};

/// What one value may cost to be converted. Samples are short, and whoever wrote a longer text meant no moment by it.
const FITTING_FUEL: u64 = 1_000_000;

/// Moments that computers record, in seconds since 1970: from 1990 to 2100. What is before or after is a count
/// of something.
const PLAUSIBLE: std::ops::Range<i64> = 631_152_000..4_102_444_800;

/// What has to be done to values for all of them to be of a type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fitting {
    /// Nothing.
    AsTheyAre,
    /// They aren't of the type before this, or are written in several forms, of which it makes one.
    By(Conversion),
    /// No conversion helps.
    Unfit,
}

/// What has to be done to these values, none of which is null, to be of the type. Of no values, nothing is known; nor where
/// there is no effort left to convert them.
pub(super) fn fitting<'v>(
    property_type: &PropertyType,
    values: impl Iterator<Item = &'v Value>,
    effort: &StepBudget,
) -> Option<Fitting> {
    let step = Conversion::to_type(property_type);
    let chain = step.as_ref().map(|step| Chain::new(std::slice::from_ref(step)));
    let (mut all_fit, mut all_alike, mut any) = (true, true, false);
    for value in values {
        any = true;
        let fits = fit(property_type, value) == Fit::Valid;
        all_fit &= fits;
        if fits && !is_moment(property_type) {
            continue;
        }
        let converted =
            chain.as_ref().and_then(|it| apply(it, &value.to_string(), FITTING_FUEL, effort));
        if effort.is_over() {
            return None;
        }
        let converted = converted.and_then(into_value);
        let Some(converted) = converted.filter(|it| is_plausible(property_type, value, it)) else {
            if fits {
                continue;
            }
            return Some(Fitting::Unfit);
        };
        all_alike &= converted == *value;
    }
    any.then(|| match step {
        Some(step) if !all_fit || !all_alike => Fitting::By(step),
        _ => Fitting::AsTheyAre,
    })
}

fn is_moment(property_type: &PropertyType) -> bool {
    matches!(property_type, PropertyType::Timestamp)
}

/// Whether what was made of a value is of the type, and may be what was meant by it: any number is a moment.
fn is_plausible(property_type: &PropertyType, value: &Value, converted: &Value) -> bool {
    if fit(property_type, converted) != Fit::Valid {
        return false;
    }
    let is_number = value.is_number()
        || value.as_str().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    match (property_type, converted.as_str()) {
        (PropertyType::Timestamp | PropertyType::Date, Some(text)) if is_number => {
            let at = text.parse::<Timestamp>().or_else(|_| format!("{text}T00:00:00Z").parse());
            at.is_ok_and(|at: Timestamp| PLAUSIBLE.contains(&at.as_second()))
        }
        _ => true,
    }
}

/// Whether a chain can give a value of the type at all, of values of the type `of`, or of any.
pub(crate) fn may_give(
    chain: &[Conversion],
    of: Option<PropertyType>,
    property_type: &PropertyType,
) -> bool {
    // Of an unsupported type nothing is; that is another finding's matter.
    let is_unsupported = matches!(property_type, PropertyType::Unsupported(_));
    let given = chain.last().map_or(of, Conversion::gives);
    is_unsupported || given.is_none_or(|given| property_type.overlaps(&given))
}

/// What a chain makes of values that were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChainOutcome {
    /// How many become one of the type.
    pub(crate) fitting: usize,
    /// How many no longer are there.
    absent: usize,
    /// How many the chain doesn't take.
    failed: usize,
    /// The first that becomes something else, by its place.
    pub(crate) unfit: Option<usize>,
    /// Whether some weren't looked at: there was no effort left, or one costs more than an event may.
    is_part: bool,
}

impl ChainOutcome {
    /// Whether there are values, and every one of them becomes one of the type.
    pub(crate) fn fits(&self) -> bool {
        self.fitting > 0 && self.failed == 0 && self.unfit.is_none() && !self.is_part
    }

    /// Whether there are values, and the chain fails on every one of them.
    pub(crate) fn never_succeeds(&self) -> bool {
        let succeeds = self.fitting > 0 || self.absent > 0 || self.unfit.is_some();
        self.failed > 0 && !succeeds && !self.is_part
    }
}

pub(crate) fn outcome(
    chain: &[Conversion],
    property_type: &PropertyType,
    values: &[&Value],
    effort: &StepBudget,
) -> ChainOutcome {
    let chain = Chain::new(chain);
    let mut outcome = ChainOutcome::default();
    for (index, value) in values.iter().enumerate() {
        match apply_as_served(&chain, value, effort) {
            None => outcome.is_part = true,
            Some(Converted::Absent) => outcome.absent += 1,
            Some(Converted::Failed) => outcome.failed += 1,
            Some(made) => match into_value(made) {
                Some(value) if fit(property_type, &value) == Fit::Valid => outcome.fitting += 1,
                _ => outcome.unfit = outcome.unfit.or(Some(index)),
            },
        }
    }
    outcome
}

/// What steps make of a value, if they make one of it.
pub(crate) fn converted(chain: &[Conversion], value: &Value, effort: &StepBudget) -> Option<Value> {
    into_value(apply_as_served(&Chain::new(chain), value, effort)?)
}

/// What a chain makes of a value, with the fuel that it has where events are served, as long as there is effort.
fn apply_as_served(chain: &Chain, value: &Value, effort: &StepBudget) -> Option<Converted> {
    let json = value.to_string();
    apply(chain, &json, fuel::default_for(json.len()), effort)
}

/// What a chain makes of a value's JSON within some fuel, as long as there is effort.
fn apply(chain: &Chain, json: &str, fuel: u64, effort: &StepBudget) -> Option<Converted> {
    let given = effort.left().min(fuel);
    let mut fuel = given;
    let made = chain.apply(json, &mut fuel);
    effort.take(given - fuel + VALUE).then_some(made.ok()).flatten()
}

fn into_value(made: Converted) -> Option<Value> {
    match made {
        Converted::Value(json) => serde_json::from_str(&json).ok(),
        Converted::Absent | Converted::Failed => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Fitting, fitting};
    use crate::evidence::effort::{Cancel, StepBudget};
    use crate::graph::spec::PropertyType::{self, Boolean, Date, Double, Int64, String, Timestamp};
    use crate::plan::expr::Conversion;

    fn of(property_type: &PropertyType, values: &Value) -> Option<Fitting> {
        let effort = StepBudget::new(u64::MAX, &Cancel::default());
        fitting(property_type, values.as_array().into_iter().flatten(), &effort)
    }

    #[test]
    fn values_are_converted_where_they_have_to_be() {
        use Fitting::{AsTheyAre, By, Unfit};
        for (property_type, values, expected) in [
            (Timestamp, json!(["2019-05-15T15:20:57Z"]), AsTheyAre),
            (Timestamp, json!(["2019-05-15T17:20:57+02:00"]), By(Conversion::Timestamp(None))),
            (Timestamp, json!([1_557_933_657]), By(Conversion::Timestamp(None))),
            (
                Timestamp,
                json!([1_557_933_657, "2019-05-15T15:20:57Z"]),
                By(Conversion::Timestamp(None)),
            ),
            (Timestamp, json!([1_557_933_657_000_u64]), By(Conversion::Timestamp(None))),
            (Timestamp, json!([12]), Unfit),
            (Timestamp, json!(["soon"]), Unfit),
            (Date, json!(["2019-05-15T23:20:57-04:00"]), By(Conversion::Date(None))),
            (String, json!(["a", 7, true]), By(Conversion::ToString)),
            (String, json!(["2019-05-15T17:20:57+02:00"]), AsTheyAre),
            (Int64, json!(["7", 8]), By(Conversion::ToInt64)),
            (Int64, json!(["7b"]), Unfit),
            (Double, json!(["7.5"]), By(Conversion::ToDouble)),
            (Boolean, json!(["TRUE", 0]), By(Conversion::ToBoolean)),
            (Boolean, json!([[]]), Unfit),
        ] {
            assert_eq!(of(&property_type, &values), Some(expected), "{values}");
        }
        assert_eq!(of(&Timestamp, &json!([])), None);
    }
}
