//! What holds for all conversions of any JSON.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use proptest::prelude::*;
use serde_json::{Value, json};

use super::tests::apply;
use super::{Chain, Conversion, Converted, Data, Json, StepOutcome, time};

/// Any JSON, with text that conversions have something to do with.
fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>(),
        "[ -~]{0,24}",
        "-?[0-9]{1,20}(\\.[0-9]{1,12})?",
        "[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-2][0-9]:[0-5][0-9]:[0-6][0-9](\\.[0-9]{1,12})?([Zz]|[+-][0-2][0-9]:?[0-9]{2}))?",
        "\\{\"a\": ?(1|\"b\"|\\[1, 2\\]|null)\\}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e18..1e18).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(any::<String>(), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_step() -> impl Strategy<Value = Value> {
    let simple: Vec<_> = Conversion::NAMES
        .iter()
        .filter(|name| !matches!(**name, "split" | "regex" | "parse_json"))
        .map(|name| json!(name))
        .collect();
    prop_oneof![
        6 => prop::sample::select(simple),
        1 => ("[a-z0-9 :./-]", -3..3).prop_map(|(separator, index)| json!({"split": {"separator": separator, "index": index}})),
        1 => prop::sample::select(vec![r"(\w+)", r"\d+", r"^(.)(.*)$", r"[^a-z]"])
            .prop_map(|pattern| json!({"regex": {"pattern": pattern}})),
        1 => prop::collection::vec("[ab]", 0..3).prop_map(|path| json!({"parse_json": path})),
    ]
}

proptest! {
    #[test]
    fn whatever_comes_out_is_canonical_json(json in any_json(), convert in prop::collection::vec(any_step(), 0..5)) {
        if let Converted::Value(out) = apply(&Value::Array(convert), &json.to_string()) {
            prop_assert!(crate::json::is_json(out.as_bytes()), "{}", out);
            if out.starts_with('"') {
                let text: String = serde_json::from_str(&out).unwrap();
                prop_assert_eq!(serde_json::to_string(&text).unwrap(), out);
            }
        }
    }

    #[test]
    fn what_steps_leave_as_it_is_is_what_they_give(
        json in any_json(), convert in prop::collection::vec(any_step(), 0..3), fuel in 0..2_000_u64, is_known: bool
    ) {
        let steps: Vec<_> = convert.iter().map(|step| Conversion::from_json(step).unwrap()).collect();
        let (chain, json) = (Chain::new(&steps), json.to_string());
        let (mut left, mut expected) = (fuel, fuel);
        let given = Json { text: &json, may_escape: !is_known || json.contains('\\') };
        prop_assert_eq!(StepOutcome::read_from(given), StepOutcome::read(json.as_str()));
        let kept = chain.kept(given, &mut left);
        if kept == Ok(None) {
            prop_assert_eq!(left, fuel);
        } else {
            let given = chain.run(StepOutcome::read(json.as_str()), &mut expected);
            let given = given.map(|given| match given {
                StepOutcome::There(data) => {
                    let mut out = Vec::new();
                    data.write(&mut out);
                    Some((String::from_utf8(out).unwrap(), data.json_type()))
                }
                StepOutcome::Absent | StepOutcome::Failed => None,
            });
            let kept = kept.map(|kept| kept.map(|(json, kind)| (json.to_owned(), kind)));
            prop_assert_eq!(kept, given);
            prop_assert_eq!(left, expected);
        }
    }

    #[test]
    fn json_as_text_is_parsed_back(json in any_json()) {
        let there_and_back = apply(&json!(["to_json_text", {"parse_json": []}]), &json.to_string());
        match there_and_back {
            Converted::Value(back) => prop_assert_eq!(serde_json::from_str::<Value>(&back).unwrap(), json),
            other => prop_assert!(json.is_null() && other == Converted::Absent),
        }
    }

    #[test]
    fn json_as_text_is_what_serde_json_writes(json in any_json()) {
        prop_assume!(!json.is_null());
        let pretty = serde_json::to_string_pretty(&json).unwrap();
        let expected = serde_json::to_string(&json.to_string()).unwrap();
        prop_assert_eq!(apply(&json!(["to_json_text"]), &pretty), Converted::Value(expected));
    }

    #[test]
    fn a_second_time_changes_nothing(json in any_json(), name in prop::sample::select(vec![
        "to_string", "to_int64", "to_double", "to_boolean", "timestamp", "date", "lower", "trim",
    ])) {
        let once = apply(&json!([name]), &json.to_string());
        prop_assert_eq!(&apply(&json!([name, name]), &json.to_string()), &once);
    }

    #[test]
    fn integers_are_those_of_64_bits(value in any::<i128>(), zeros in 0..5_usize) {
        let digits = format!("{value}");
        let expected = match i64::try_from(value) {
            Ok(value) => Converted::Value(value.to_string()),
            Err(_) => Converted::Failed,
        };
        prop_assert_eq!(&apply(&json!(["to_int64"]), &digits), &expected);
        let point = format!("{value}{}.{}e-{zeros}", "0".repeat(zeros), "0".repeat(zeros + 1));
        prop_assert_eq!(&apply(&json!(["to_int64"]), &point), &expected);
    }

    #[test]
    fn seconds_are_those_of_jiff(seconds in -62_135_596_800_i64..99_999_999_999, nanoseconds in 0..1_000_000_000_i64) {
        let instant = jiff::Timestamp::new(seconds, 0).unwrap();
        let expected = |instant: jiff::Timestamp| Converted::Value(format!("\"{instant}\""));
        prop_assert_eq!(apply(&json!(["timestamp"]), &seconds.to_string()), expected(instant));
        for data in [Data::Number(seconds.to_string().into()), Data::String(instant.to_string().into())] {
            prop_assert_eq!(time::nanoseconds(&data, None), Some(instant.as_nanosecond()));
        }
        let fraction = Data::Number(format!("{seconds}.{nanoseconds:09}").into());
        let behind = i128::from(if seconds < 0 { -nanoseconds } else { nanoseconds });
        let expected_nanoseconds = instant.as_nanosecond() + behind;
        let is_in_range = seconds > -62_135_596_800 || nanoseconds == 0;
        prop_assert_eq!(time::nanoseconds(&fraction, None), is_in_range.then_some(expected_nanoseconds));
        if seconds >= 0 {
            // To microseconds.
            let kept = nanoseconds / 1_000 * 1_000;
            let instant = jiff::Timestamp::new(seconds, kept as i32).unwrap();
            let number = format!("{seconds}.{nanoseconds:09}");
            prop_assert_eq!(apply(&json!(["timestamp"]), &number), expected(instant));
        }
        let offset = jiff::tz::Offset::from_seconds((nanoseconds % 1380 - 690) as i32 * 60).unwrap();
        let there = instant.display_with_offset(offset).to_string();
        prop_assume!(!there.starts_with('-') && !there.starts_with('+'));
        prop_assert_eq!(apply(&json!(["timestamp"]), &json!(there).to_string()), expected(instant));
    }
}
