//! The conversion that makes values be of a type.

use jiff::Timestamp;
use serde_json::Value;

use crate::evidence::effort::Effort;
use crate::graph::spec::PropertyType;
use crate::graph::validate::value::{Fit, fit};
use crate::plan::expr::{Chain, Conversion, Converted};

/// What one value may cost to be converted. Samples are short, and whoever wrote a longer text meant no moment by it.
const FUEL: u64 = 1_000_000;

/// What looking at it costs besides.
const VALUE: u64 = 100;

/// Moments that computers record, in seconds since 1970: from 1990 to 2100. What is before or after is a count
/// of something.
const PLAUSIBLE: std::ops::Range<i64> = 631_152_000..4_102_444_800;

/// What has to be done to values for all of them to be of a type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fitting {
    /// Nothing.
    AsTheyAre,
    /// They are of the type, but written in several forms, of which this makes one.
    Uniform(Conversion),
    /// They aren't of the type before this.
    Converted(Conversion),
    /// No conversion helps.
    Unfit,
}

/// What has to be done to these values, none of which is null, to be of the type. Of no values, nothing is known; nor where
/// there is no effort left to convert them.
pub(super) fn fitting<'v>(
    property_type: &PropertyType,
    values: impl Iterator<Item = &'v Value>,
    effort: &Effort,
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
        let mut fuel = FUEL.min(effort.left());
        let given = fuel;
        let converted = match chain.as_ref().map(|it| it.apply(&value.to_string(), &mut fuel)) {
            Some(Ok(Converted::Value(json))) => serde_json::from_str::<Value>(&json).ok(),
            _ => None,
        };
        if !effort.take(given - fuel + VALUE) {
            return None;
        }
        let Some(converted) = converted.filter(|it| is_plausible(property_type, value, it)) else {
            if fits {
                continue;
            }
            return Some(Fitting::Unfit);
        };
        all_alike &= converted == *value;
    }
    any.then(|| match step {
        Some(step) if !all_fit => Fitting::Converted(step),
        Some(step) if !all_alike => Fitting::Uniform(step),
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Fitting, fitting};
    use crate::evidence::effort::{Cancel, Effort};
    use crate::graph::spec::PropertyType::{self, Boolean, Date, Double, Int64, String, Timestamp};
    use crate::plan::expr::Conversion;

    fn of(property_type: &PropertyType, values: &Value) -> Option<Fitting> {
        let effort = Effort::new(u64::MAX, &Cancel::default());
        fitting(property_type, values.as_array().into_iter().flatten(), &effort)
    }

    #[test]
    fn values_are_converted_where_they_have_to_be() {
        use Fitting::{AsTheyAre, Converted, Unfit, Uniform};
        for (property_type, values, expected) in [
            (Timestamp, json!(["2019-05-15T15:20:57Z"]), AsTheyAre),
            (Timestamp, json!(["2019-05-15T17:20:57+02:00"]), Uniform(Conversion::Timestamp)),
            (Timestamp, json!([1_557_933_657]), Converted(Conversion::Timestamp)),
            (
                Timestamp,
                json!([1_557_933_657, "2019-05-15T15:20:57Z"]),
                Converted(Conversion::Timestamp),
            ),
            (Timestamp, json!([1_557_933_657_000_u64]), Converted(Conversion::Timestamp)),
            (Timestamp, json!([12]), Unfit),
            (Timestamp, json!(["soon"]), Unfit),
            (Date, json!(["2019-05-15T23:20:57-04:00"]), Converted(Conversion::Date)),
            (String, json!(["a", 7, true]), Converted(Conversion::ToString)),
            (String, json!(["2019-05-15T17:20:57+02:00"]), AsTheyAre),
            (Int64, json!(["7", 8]), Converted(Conversion::ToInt64)),
            (Int64, json!(["7b"]), Unfit),
            (Double, json!(["7.5"]), Converted(Conversion::ToDouble)),
            (Boolean, json!(["TRUE", 0]), Converted(Conversion::ToBoolean)),
            (Boolean, json!([[]]), Unfit),
        ] {
            assert_eq!(of(&property_type, &values), Some(expected), "{values}");
        }
        assert_eq!(of(&Timestamp, &json!([])), None);
    }
}
