//! What conversions leave as it is: most values of events are written as they are wanted.

use super::{Conversion, MAX_TEXT_BYTES, number, time};
use crate::plan::expr::JsonType;

impl Conversion {
    /// The type of what it makes of a string or a number where that has the same text: the characters of the one, the digits of the
    /// other. `None` otherwise, and where that isn't known at once.
    pub(in crate::plan::expr) fn keeps(&self, kind: JsonType, text: &str) -> Option<JsonType> {
        let is_string = match kind {
            JsonType::String => true,
            JsonType::Number => false,
            JsonType::Null | JsonType::Boolean | JsonType::Object | JsonType::Array => return None,
        };
        if text.len() > MAX_TEXT_BYTES {
            return None;
        }
        match self {
            Self::ToInt64 => number::is_printed_int64(text).then_some(JsonType::Number),
            Self::ToDouble => (!is_string).then_some(JsonType::Number),
            Self::ToString => is_string.then_some(JsonType::String),
            Self::Timestamp(_) => {
                (is_string && time::is_printed_timestamp(text)).then_some(JsonType::String)
            }
            Self::Date(_) => (is_string && time::is_printed_date(text)).then_some(JsonType::String),
            Self::ToBoolean
            | Self::ToJsonText
            | Self::Lower
            | Self::Upper
            | Self::Trim
            | Self::Split { .. }
            | Self::Regex(_)
            | Self::Length
            | Self::ParseJson { .. } => None,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::expr::conversion::{Data, StepOutcome, Zone};

    fn steps() -> [Conversion; 8] {
        let zone = Zone::named("Europe/Berlin").unwrap();
        [
            Conversion::ToInt64,
            Conversion::ToDouble,
            Conversion::ToString,
            Conversion::ToBoolean,
            Conversion::Timestamp(None),
            Conversion::Timestamp(Some(zone.clone())),
            Conversion::Date(None),
            Conversion::Date(Some(zone)),
        ]
    }

    fn assert_kept(kind: JsonType, text: &str) -> usize {
        let data = || match kind {
            JsonType::String => Data::String(text.into()),
            _ => Data::Number(text.into()),
        };
        let kept = steps().into_iter().filter(|step| match step.keeps(kind, text) {
            None => false,
            Some(JsonType::String) => {
                assert_eq!(step.apply(data()), StepOutcome::There(Data::String(text.into())));
                true
            }
            Some(JsonType::Number) => {
                assert_eq!(step.apply(data()), StepOutcome::There(Data::Number(text.into())));
                true
            }
            Some(other) => panic!("{other:?}"),
        });
        kept.count()
    }

    #[test]
    fn what_is_written_as_it_is_wanted_is_kept() {
        for (text, kept) in [
            ("a", 1),
            ("42", 2),
            ("-0", 1),
            ("2019-05-15T15:20:57Z", 3),
            ("2019-05-15T15:20:57.123456Z", 3),
            ("2019-05-15T15:20:57.5Z", 3),
            ("2019-05-15T15:20:57.50Z", 1),
            ("2019-05-15T15:20:57.1234567Z", 1),
            ("2019-05-15T15:20:57.Z", 1),
            ("2019-05-15T15:20:57z", 1),
            ("2019-05-15 15:20:57Z", 1),
            ("2019-05-15T15:20:57+00:00", 1),
            ("2019-05-15T15:20:60Z", 1),
            ("2019-05-15T24:00:00Z", 1),
            ("2019-13-15T15:20:57Z", 1),
            ("2019-02-29T15:20:57Z", 1),
            ("0000-05-15T15:20:57Z", 1),
            ("0001-01-01T00:00:00Z", 3),
            ("2019-05-15", 3),
            ("2019-02-30", 1),
            ("0000-01-01", 1),
            ("....-..-..", 1),
        ] {
            assert_eq!(assert_kept(JsonType::String, text), kept, "{text}");
        }
        for (text, kept) in [("42", 2), ("4.2", 1), ("1e3", 1)] {
            assert_eq!(assert_kept(JsonType::Number, text), kept, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_kept_is_what_the_step_gives(
            text in "[0-9]{0,4}(-[01][0-9]-[0-3][0-9]([Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,8})?(Z|z|\\+00:00)?)?)?",
            number in "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,3})?",
        ) {
            assert_kept(JsonType::String, &text);
            assert_kept(JsonType::String, &number);
            assert_kept(JsonType::Number, &number);
        }
    }
}
