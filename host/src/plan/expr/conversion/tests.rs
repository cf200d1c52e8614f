#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use serde_json::{Value, json};

use super::{Chain, Conversion, Converted, MAX_TEXT_BYTES};
use crate::diagnostics::codes;
use crate::plan::expr::fuel::{self, OutOfFuel};

const PLENTY: u64 = 1 << 40;

fn steps(steps: &Value) -> Vec<Conversion> {
    steps.as_array().unwrap().iter().map(|step| Conversion::from_json(step).unwrap()).collect()
}

pub(super) fn apply(convert: &Value, json: &str) -> Converted {
    Chain::new(&steps(convert)).apply(json, &mut { PLENTY }).unwrap()
}

/// Holds one step to a table of JSON that goes in and JSON that comes out.
fn gives(step: &Value, table: &[(&str, &str)]) {
    for (json, expected) in table {
        let converted = apply(&json!([step]), json);
        assert_eq!(converted, Converted::Value((*expected).to_owned()), "{step} of {json}");
    }
}

fn fails(step: &Value, table: &[&str]) {
    for json in table {
        assert_eq!(apply(&json!([step]), json), Converted::Failed, "{step} of {json}");
    }
}

#[test]
fn null_is_absent_whatever_the_step() {
    for name in Conversion::NAMES {
        let step = match *name {
            "split" => json!({"split": {"separator": "/", "index": 0}}),
            "regex" => json!({"regex": {"pattern": "."}}),
            "parse_json" => json!({"parse_json": []}),
            simple => json!(simple),
        };
        assert_eq!(apply(&json!([step]), "null"), Converted::Absent, "{name}");
        assert_eq!(steps(&json!([step]))[0].name(), *name);
        assert_eq!(steps(&json!([step]))[0].to_json(), step);
    }
}

#[test]
fn without_steps_a_string_is_made_canonical_and_nothing_else() {
    for (json, expected) in [
        (r#""\u0041\/b\u001F\n""#, r#""A/b\u001f\n""#),
        (r#"[ "\u0041" ]"#, r#"[ "\u0041" ]"#),
        ("1.0", "1.0"),
    ] {
        assert_eq!(apply(&json!([]), json), Converted::Value(expected.to_owned()));
    }
}

#[test]
fn to_string() {
    gives(
        &json!("to_string"),
        &[
            (r#""a\"b""#, r#""a\"b""#),
            ("1.50", r#""1.50""#),
            ("-0", r#""-0""#),
            ("true", r#""true""#),
        ],
    );
    fails(&json!("to_string"), &["{}", "[1]"]);
}

#[test]
fn to_int64() {
    gives(
        &json!("to_int64"),
        &[
            ("0", "0"),
            ("-0", "0"),
            ("-0.0e5", "0"),
            ("0e99999999999999999999999", "0"),
            ("1.0", "1"),
            ("1e3", "1000"),
            ("12.50E+1", "125"),
            ("1500e-2", "15"),
            ("-7", "-7"),
            ("9223372036854775807", "9223372036854775807"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("9007199254740993", "9007199254740993"),
            ("9223372036854775807.000", "9223372036854775807"),
            ("0.9223372036854775807e19", "9223372036854775807"),
            (r#""-42""#, "-42"),
            (r#""007""#, "7"),
            (r#""-0""#, "0"),
            (r#""000000000000000000000000000000000000000000001""#, "1"),
            (r#""\u0031""#, "1"),
        ],
    );
    fails(
        &json!("to_int64"),
        &[
            "1.5",
            "1e-1",
            "1e-400",
            "9223372036854775808",
            "-9223372036854775809",
            "1e19",
            "1e300",
            "1e99999999999999999999",
            "true",
            "{}",
            "[]",
            r#""""#,
            r#""-""#,
            r#""+1""#,
            r#""1.0""#,
            r#""1e3""#,
            r#"" 1""#,
            r#""1_000""#,
            r#""١""#,
            r#""9223372036854775808""#,
        ],
    );
}

#[test]
fn to_double() {
    gives(
        &json!("to_double"),
        &[
            ("1", "1"),
            ("1.50", "1.50"),
            (r#""1.50""#, "1.50"),
            (r#""-1e-999""#, "-1e-999"),
            (r#""123456789012345678901234567890.1""#, "123456789012345678901234567890.1"),
        ],
    );
    fails(
        &json!("to_double"),
        &[
            "true",
            "[]",
            r#""""#,
            r#""1.""#,
            r#"".5""#,
            r#""+1""#,
            r#""01""#,
            r#""1 ""#,
            r#"" 1""#,
            r#""1e999""#,
            r#""NaN""#,
            r#""Infinity""#,
            r#""0x10""#,
            r#""-""#,
            r#""1 2""#,
            r#""1,5""#,
        ],
    );
}

#[test]
fn to_boolean() {
    gives(
        &json!("to_boolean"),
        &[
            ("true", "true"),
            ("false", "false"),
            (r#""True""#, "true"),
            (r#""FALSE""#, "false"),
            ("0", "false"),
            ("1", "true"),
            ("1.0", "true"),
            ("-0", "false"),
            ("10e-1", "true"),
        ],
    );
    fails(&json!("to_boolean"), &["2", "-1", "0.5", r#""yes""#, r#""1""#, r#""""#, "{}", "[]"]);
}

#[test]
fn to_json_text() {
    gives(
        &json!("to_json_text"),
        &[
            ("1.50", r#""1.50""#),
            ("true", r#""true""#),
            (r#""a\u0041""#, r#""\"aA\"""#),
            (" [ 1 , { } ]".trim_start(), r#""[1,{}]""#),
            (
                "{ \"b \\u0041\" : [ 1.0 , \"x  \\/y\" ] ,\n\"a\":null, \"a\": 2 }",
                r#""{\"b A\":[1.0,\"x  /y\"],\"a\":null,\"a\":2}""#,
            ),
        ],
    );
}

#[test]
fn timestamp() {
    gives(
        &json!("timestamp"),
        &[
            ("1557933657", r#""2019-05-15T15:20:57Z""#),
            ("1557933657123", r#""2019-05-15T15:20:57.123Z""#),
            ("1557933657123456", r#""2019-05-15T15:20:57.123456Z""#),
            ("1557933657.25", r#""2019-05-15T15:20:57.25Z""#),
            ("1557933657.1234567899", r#""2019-05-15T15:20:57.123456Z""#),
            ("1.557933657e9", r#""2019-05-15T15:20:57Z""#),
            ("1557933657123.5", r#""2019-05-15T15:20:57.1235Z""#),
            ("0", r#""1970-01-01T00:00:00Z""#),
            ("-0", r#""1970-01-01T00:00:00Z""#),
            ("-1", r#""1969-12-31T23:59:59Z""#),
            ("-0.5", r#""1969-12-31T23:59:59.5Z""#),
            ("-0.0000005", r#""1969-12-31T23:59:59.999999Z""#),
            ("1e-30", r#""1970-01-01T00:00:00Z""#),
            ("99999999999", r#""5138-11-16T09:46:39Z""#),
            ("100000000000", r#""1973-03-03T09:46:40Z""#),
            ("100000000000000", r#""1973-03-03T09:46:40Z""#),
            ("99999999999999999", r#""5138-11-16T09:46:39.999999Z""#),
            ("-62135596800", r#""0001-01-01T00:00:00Z""#),
            (r#""1557933657""#, r#""2019-05-15T15:20:57Z""#),
            (r#""1355517523.000005""#, r#""2012-12-14T20:38:43.000005Z""#),
            (r#""2019-05-15T15:20:57Z""#, r#""2019-05-15T15:20:57Z""#),
            (r#""2019-05-15t15:20:57z""#, r#""2019-05-15T15:20:57Z""#),
            (r#""2019-05-15 15:20:57Z""#, r#""2019-05-15T15:20:57Z""#),
            (r#""2019-05-15T15:20:57.120Z""#, r#""2019-05-15T15:20:57.12Z""#),
            (r#""2019-05-15T15:20:57.000Z""#, r#""2019-05-15T15:20:57Z""#),
            (r#""2019-05-15T15:20:57.1234567891Z""#, r#""2019-05-15T15:20:57.123456Z""#),
            (r#""2019-05-15T15:20:57-04:00""#, r#""2019-05-15T19:20:57Z""#),
            (r#""2019-05-15T15:20:57+0530""#, r#""2019-05-15T09:50:57Z""#),
            (r#""2019-05-15T15:20:57+02""#, r#""2019-05-15T13:20:57Z""#),
            (r#""2019-05-15T15:20:57-00:00""#, r#""2019-05-15T15:20:57Z""#),
            (r#""2016-12-31T23:59:60Z""#, r#""2016-12-31T23:59:59Z""#),
            (r#""2020-02-29T00:00:00Z""#, r#""2020-02-29T00:00:00Z""#),
            (r#""0001-01-01T00:00:00Z""#, r#""0001-01-01T00:00:00Z""#),
            (r#""9999-12-31T23:59:59.999999999Z""#, r#""9999-12-31T23:59:59.999999Z""#),
        ],
    );
    fails(
        &json!("timestamp"),
        &[
            "true",
            "[]",
            "100000000000000000",
            "-62135596801",
            "-62135596800.000001",
            "-99999999999",
            "1e99999",
            r#""""#,
            r#""1e9""#,
            r#""+1""#,
            r#""today""#,
            r#""2019-05-15""#,
            r#""2019-05-15T15:20:57""#,
            r#""2019-05-15T15:20Z""#,
            r#""2019-05-15T15:20:57Z ""#,
            r#""2019-05-15T15:20:57.Z""#,
            r#""2019-05-15T15:20:57,5Z""#,
            r#""2019-05-15T15:20:57+24:00""#,
            r#""2019-05-15T15:20:57+02:60""#,
            r#""2019-05-15T15:20:57+2""#,
            r#""2019-05-15T15:20:57+02:""#,
            r#""2019-05-15T15:20:57+02:00[Europe/Berlin]""#,
            r#""2019-02-29T00:00:00Z""#,
            r#""2019-13-01T00:00:00Z""#,
            r#""2019-05-15T24:00:00Z""#,
            r#""2019-05-15T15:20:61Z""#,
            r#""0001-01-01T00:00:00+00:01""#,
            r#""9999-12-31T23:59:59-00:01""#,
            r#""+002019-05-15T15:20:57Z""#,
        ],
    );
}

#[test]
fn date() {
    gives(
        &json!("date"),
        &[
            (r#""2019-05-15""#, r#""2019-05-15""#),
            (r#""2019-05-15T23:20:57-04:00""#, r#""2019-05-16""#),
            ("1557933657", r#""2019-05-15""#),
            (r#""1557933657""#, r#""2019-05-15""#),
            ("-1", r#""1969-12-31""#),
            (r#""0001-01-01""#, r#""0001-01-01""#),
        ],
    );
    fails(
        &json!("date"),
        &[
            r#""2019-02-29""#,
            r#""2019-5-15""#,
            r#""2019-05-15Z""#,
            r#""15.05.2019""#,
            r#""0000-01-01""#,
            "true",
            "{}",
        ],
    );
}

#[test]
fn case_and_space() {
    gives(&json!("lower"), &[(r#""ÄB\nσΣ""#, r#""äb\nσς""#), (r#""a1""#, r#""a1""#)]);
    gives(&json!("upper"), &[(r#""straße""#, r#""STRASSE""#), (r#""A1""#, r#""A1""#)]);
    gives(
        &json!("trim"),
        &[
            (r#""\t a b\u00a0\u2003""#, r#""a b""#),
            (r#"" ""#, r#""""#),
            (r#""\n\n""#, r#""""#),
            ("\"\u{3000}a \"", r#""a""#),
        ],
    );
    for step in ["lower", "upper", "trim"] {
        fails(&json!(step), &["1", "true", "[]", "{}"]);
    }
}

#[test]
fn split() {
    let part =
        |separator: &str, index: i32| json!({"split": {"separator": separator, "index": index}});
    gives(&part("/", 0), &[(r#""a/b/c""#, r#""a""#), (r#""abc""#, r#""abc""#), (r#""""#, r#""""#)]);
    gives(
        &part("/", 1),
        &[(r#""a/b/c""#, r#""b""#), (r#""a//c""#, r#""""#), (r#""\/b\/\n""#, r#""b""#)],
    );
    gives(
        &part("/", -1),
        &[(r#""a/b/c""#, r#""c""#), (r#""abc""#, r#""abc""#), (r#""a/""#, r#""""#)],
    );
    gives(&part("/", -3), &[(r#""a/b/c""#, r#""a""#)]);
    gives(&part("ää", 1), &[(r#""1ää2ää3""#, r#""2""#)]);
    // From the left, whatever end parts are counted from.
    gives(&part("aa", -1), &[(r#""aaa""#, r#""a""#)]);
    fails(&part("/", 3), &[r#""a/b/c""#, "1", "[]"]);
    fails(&part("/", -4), &[r#""a/b/c""#]);
    fails(&part("/", i32::MIN), &[r#""a""#]);
    fails(&part("/", i32::MAX), &[r#""a""#]);
}

#[test]
fn regex() {
    let pattern = |pattern: &str| json!({"regex": {"pattern": pattern}});
    let group =
        |pattern: &str, group: Value| json!({"regex": {"pattern": pattern, "group": group}});
    gives(&pattern(r"^v(\d+)\.(\d+)"), &[(r#""v12.3""#, r#""12""#), (r#""v٣.0""#, r#""٣""#)]);
    gives(&pattern(r"\d+"), &[(r#""a 12 34""#, r#""12""#)]);
    gives(&pattern(r"x*"), &[(r#""abc""#, r#""""#)]);
    gives(&group(r"^v(\d+)\.(\d+)", json!(2)), &[(r#""v12.3""#, r#""3""#)]);
    gives(&group(r"^v(\d+)\.(\d+)", json!(0)), &[(r#""v12.3""#, r#""v12.3""#)]);
    gives(
        &group(r"(?P<year>\d{4})-(?<month>\d\d)", json!("month")),
        &[(r#""2019-05""#, r#""05""#)],
    );
    gives(&group(&"(.)".repeat(16), json!(16)), &[(r#""\n123456789abcdefg""#, r#""g""#)]);
    gives(&pattern(r"\s(\S+)$"), &[(r#""\u0041\n\"b\"""#, r#""\"b\"""#)]);
    fails(&pattern(r"^v(\d+)"), &[r#""w12""#, "12", "true", "[]"]);
    fails(&pattern(r"a|(b)"), &[r#""a""#]);
    fails(&pattern("."), &[&json!("a".repeat((64 << 10) + 1)).to_string()]);
}

#[test]
fn length() {
    gives(
        &json!("length"),
        &[
            (r#""""#, "0"),
            (r#""aä😀\n\ud83d\ude00""#, "5"),
            ("[]", "0"),
            ("[ ]", "0"),
            (r#"[1, [2, 3], {"a": []} , "],["]"#, "4"),
            ("{}", "0"),
            (r#"{ "a": 1, "b" : {"c": 1, "d": 2}, "\u0061": 2 }"#, "2"),
        ],
    );
    fails(&json!("length"), &["1", "true"]);
}

#[test]
fn the_path_of_parse_json_has_as_many_keys_as_an_event_may_need() {
    let path = |keys: usize| json!({"parse_json": vec!["k"; keys]});
    assert!(Conversion::from_json(&path(256)).is_ok());
    let error = Conversion::from_json(&path(257)).expect_err("one too many");
    assert_eq!((error.at.as_str(), error.code), (".parse_json", codes::INVALID_VALUE));
    assert!(error.to_string().ends_with("at most 256 keys, found 257"), "{error}");
}

#[test]
fn parse_json() {
    let at = |path: &[&str]| json!({"parse_json": path});
    let text = |inner: &str| json!(inner).to_string();
    for (path, inner, expected) in [
        (&[][..], " {\"a\": [1,  2]}\n", r#"{"a": [1,  2]}"#),
        (&[], r#""a\u0041""#, r#""aA""#),
        (&[], "1.50", "1.50"),
        (&["a", "b"], r#"{"a": {"b": "x"}}"#, r#""x""#),
        (&["a"], r#"{"a": 1, "b": 2, "\u0061" : 3}"#, "3"),
        (&["a", "b"], r#"{"a": 1, "a": {"b": true, "b": false}}"#, "false"),
        (&["a.b"], r#"{"a.b": 1}"#, "1"),
    ] {
        gives(&at(path), &[(&text(inner), expected)]);
    }
    for (path, inner) in [
        (&[][..], "null"),
        (&["a"], r#"{"a": null}"#),
        (&["a"], r#"{"b": 1}"#),
        (&["a"], r#"[{"a": 1}]"#),
        (&["0"], "[1]"),
        (&["a", "b"], r#"{"a": {"b": 1}, "a": 5}"#),
        (&["a", "b"], r#"{"a": {"b": 1}, "a": {"b": null}}"#),
    ] {
        assert_eq!(apply(&json!([at(path)]), &text(inner)), Converted::Absent, "{inner}");
    }
    let deep = |depth: usize| text(&("[".repeat(depth) + &"]".repeat(depth)));
    gives(&at(&[]), &[(&deep(127), &("[".repeat(127) + &"]".repeat(127)))]);
    fails(
        &at(&[]),
        &[
            "1",
            "true",
            "{}",
            "[]",
            r#""""#,
            r#"" ""#,
            r#""{""#,
            r#""{} x""#,
            r#""'a'""#,
            r#""1e999""#,
            r#""\"\\ud800\"""#,
            r#""\ufeff1""#,
            r#""NaN""#,
            &deep(128),
            &deep(100_000),
        ],
    );
}

#[test]
fn steps_follow_each_other() {
    for (convert, json, expected) in [
        (json!(["trim", "to_int64"]), r#""\t42 ""#, "42"),
        (
            json!([{"parse_json": ["city"]}, "trim", "upper"]),
            r#""{\"city\": \" Bonn\\n\"}""#,
            r#""BONN""#,
        ),
        (json!([{"parse_json": []}, {"parse_json": ["a"]}]), r#""\"{\\\"a\\\": [1]}\"""#, "[1]"),
        (json!(["to_json_text", "length"]), "[1, 2]", "5"),
        (json!(["to_string", {"split": {"separator": ".", "index": 0}}]), "12.5", r#""12""#),
    ] {
        assert_eq!(apply(&convert, json), Converted::Value(expected.to_owned()), "{convert}");
    }
    // A step that has found nothing ends the chain, and so does one that has failed.
    let convert = json!([{"parse_json": ["a"]}, "to_int64"]);
    assert_eq!(apply(&convert, r#""{}""#), Converted::Absent);
    assert_eq!(apply(&convert, r#""{""#), Converted::Failed);
}

#[test]
fn a_text_that_grows_without_end_fails() {
    let convert = Value::Array(vec![json!("to_json_text"); 64]);
    assert_eq!(apply(&convert, r#""\"""#), Converted::Failed);
    let long = json!("a".repeat(MAX_TEXT_BYTES)).to_string();
    assert_eq!(apply(&json!(["to_string"]), &long), Converted::Value(long.clone()));
    assert_eq!(apply(&json!(["to_json_text"]), &long), Converted::Failed);
}

#[test]
fn steps_cost_what_the_table_says() {
    let names: Vec<_> = fuel::COSTS.iter().map(|cost| cost.what).collect();
    assert_eq!(names[..2], ["value", "test"]);
    assert_eq!(&names[2..names.len() - 4], Conversion::NAMES);
    assert_eq!(names[names.len() - 4..], ["expression", "look", "text", "sha256"]);

    let chain = Chain::new(&steps(&json!(["trim", "lower"])));
    let price = fuel::VALUE.of(6) + Conversion::Trim.cost().of(4) + Conversion::Lower.cost().of(2);
    let mut fuel = price;
    assert_eq!(chain.apply(r#"" AB ""#, &mut fuel), Ok(Converted::Value(r#""ab""#.into())));
    assert_eq!(fuel, 0);
    let mut fuel = price - 1;
    assert_eq!(chain.apply(r#"" AB ""#, &mut fuel), Err(OutOfFuel { missing: 1 }));
    assert_eq!(fuel, 0);

    let [deep, flat] = [json!({"parse_json": ["a", "b"]}), json!({"parse_json": []})]
        .map(|step| Conversion::from_json(&step).unwrap().cost());
    assert_eq!((deep.step, deep.byte), (3 * flat.step, 3 * flat.byte));
}
