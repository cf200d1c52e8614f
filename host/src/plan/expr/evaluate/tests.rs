#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CompiledCondition, CompiledValue, Evaluated, Json, Lookup, is_truthy};
use crate::plan::expr::fuel::{self, OutOfFuel};
use crate::plan::expr::{
    Condition, Conversion, Expression, JsonType, Level, Reference, Source, Template, Test,
};

const PLENTY: u64 = 1 << 40;

/// The members of an object, each as it is written, looked up by where their path comes first.
struct Event {
    names: Vec<String>,
    values: Vec<Option<String>>,
}

impl Event {
    fn new(fields: &[(&str, &str)]) -> Self {
        let values = fields.iter().map(|(_, json)| Some((*json).to_owned())).collect();
        Self { names: fields.iter().map(|(name, _)| (*name).to_owned()).collect(), values }
    }

    fn resolve(&self, reference: &Reference) -> usize {
        let name = reference.path.join(".");
        self.names.iter().position(|it| *it == name).unwrap_or(usize::MAX)
    }
}

impl Lookup for Event {
    fn json(&self, index: usize) -> Option<Json<'_>> {
        self.values.get(index)?.as_deref().map(Json::from)
    }
}

fn path(name: &str) -> Expression {
    Expression::path(Reference::event(&[name.to_owned()]))
}

fn of(source: Source, convert: &[Value]) -> Expression {
    let convert = convert.iter().map(|step| Conversion::from_json(step).unwrap()).collect();
    Expression { source, convert }
}

fn template(text: &str) -> Source {
    Source::Template(Template::parse(text, Level::EVENT).unwrap())
}

/// The JSON of a value, or how else it has come out.
fn evaluate(value: &Expression, event: &Event) -> String {
    let evaluator = CompiledValue::new(value, &mut |reference| event.resolve(reference));
    let mut out = b"before".to_vec();
    let evaluated = evaluator.evaluate(event, &mut out, &mut { PLENTY }).unwrap();
    let json = String::from_utf8(out).unwrap();
    let json = json.strip_prefix("before").unwrap();
    match evaluated {
        Evaluated::Value(kind) => {
            assert_eq!(kind, JsonType::of(json.as_bytes()));
            json.to_owned()
        }
        other => {
            assert_eq!(json, "", "nothing is left behind");
            format!("{other:?}")
        }
    }
}

fn event() -> Event {
    Event::new(&[
        ("text", r#""a\u0041\n""#),
        ("plain", r#""x/y""#),
        ("number", "1.50"),
        ("yes", "true"),
        ("null", "null"),
        ("object", r#"{ "a" : "\u0041" }"#),
        ("array", "[ ]"),
    ])
}

#[test]
fn values_are_copied_and_strings_canonical() {
    for (name, expected) in [
        ("text", r#""aA\n""#),
        ("plain", r#""x/y""#),
        ("number", "1.50"),
        ("yes", "true"),
        ("null", "null"),
        ("object", r#"{ "a" : "\u0041" }"#),
        ("array", "[ ]"),
        ("nowhere", "Absent"),
    ] {
        assert_eq!(evaluate(&path(name), &event()), expected, "{name}");
    }
}

#[test]
fn null_is_past_all_conversions() {
    let at = |name: &str| Source::Path(Reference::event(&[name.to_owned()]));
    assert_eq!(evaluate(&of(at("null"), &[json!("lower")]), &event()), "null");
    assert_eq!(evaluate(&of(at("nowhere"), &[json!("lower")]), &event()), "Absent");
    assert_eq!(evaluate(&of(at("number"), &[json!("lower")]), &event()), "Failed");
    assert_eq!(evaluate(&of(at("text"), &[json!("lower")]), &event()), r#""aa\n""#);
    assert_eq!(evaluate(&of(at("plain"), &[json!({"parse_json": []})]), &event()), "Failed");
}

#[test]
fn constants_are_there() {
    for (constant, expected) in
        [(json!("a\"\u{1}"), r#""a\"\u0001""#), (json!(1.5), "1.5"), (json!(true), "true")]
    {
        assert_eq!(evaluate(&of(Source::Constant(constant), &[]), &event()), expected);
    }
    assert_eq!(evaluate(&of(Source::Constant(json!("1")), &[json!("to_int64")]), &event()), "1");
}

#[test]
fn templates_are_put_together() {
    for (text, convert, expected) in [
        ("", json!([]), r#""""#),
        ("{{\"\n}}", json!([]), r#""{\"\n}""#),
        ("{plain}:{number}{yes}", json!([]), r#""x/y:1.50true""#),
        ("<{text}>", json!([]), r#""<aA\n>""#),
        ("{plain}{nowhere}", json!([]), "Absent"),
        ("{plain}{null}", json!([]), "Absent"),
        ("{object}", json!([]), "Absent"),
        ("{array}", json!([]), "Absent"),
        ("{text}!", json!(["upper"]), r#""AA\n!""#),
        ("{number}{yes}", json!(["to_double"]), "Failed"),
        ("{number}2", json!(["to_double"]), "1.502"),
        ("{nowhere}", json!(["to_double"]), "Absent"),
    ] {
        // A line break in the template is one in the text.
        let expected = expected.replace("{\\\"\n}", "{\\\"\\n}").replace("{\"\n}", "{\\\"\\n}");
        let value = of(template(text), convert.as_array().unwrap());
        assert_eq!(evaluate(&value, &event()), expected, "{text}");
    }
}

#[test]
fn a_template_that_is_too_long_fails() {
    let long = json!("a".repeat(1 << 20)).to_string();
    let event = Event::new(&[("long", &long)]);
    let text = |times: usize| of(template(&"{long}".repeat(times)), &[json!("length")]);
    assert_eq!(evaluate(&text(15), &event), (15 << 20).to_string());
    assert_eq!(evaluate(&text(17), &event), "Failed");
}

#[test]
fn the_first_value_that_is_there_counts() {
    let number = |name: &str| of(path(name).source, &[json!("to_int64")]);
    for (values, convert, expected) in [
        (vec![path("nowhere"), path("plain")], json!([]), r#""x/y""#),
        (vec![path("null"), path("number")], json!([]), "1.50"),
        (vec![path("array"), path("number")], json!([]), "[ ]"),
        (vec![number("plain"), path("yes")], json!([]), "true"),
        (vec![number("plain"), path("nowhere")], json!([]), "Failed"),
        (vec![path("nowhere"), path("null")], json!([]), "Absent"),
        (vec![path("nowhere"), of(template("{text}{null}"), &[])], json!(["lower"]), "Absent"),
        (vec![path("nowhere"), of(template("{text}-"), &[])], json!(["lower"]), r#""aa\n-""#),
        (vec![number("plain"), path("text")], json!(["to_int64"]), "Failed"),
    ] {
        let value = of(Source::Coalesce(values.clone()), convert.as_array().unwrap());
        assert_eq!(evaluate(&value, &event()), expected, "{values:?}");
        let nested = of(Source::Coalesce(vec![path("nowhere"), value]), &[]);
        assert_eq!(evaluate(&nested, &event()), expected, "{values:?}");
    }
}

#[test]
fn references_are_resolved_in_the_order_in_which_they_are_written() {
    let value = of(
        Source::Coalesce(vec![path("a"), of(template("{b}{a}"), &[]), path("c")]),
        &[json!("lower")],
    );
    let mut seen = Vec::new();
    let _ = CompiledValue::new(&value, &mut |reference| {
        seen.push(reference.path.concat());
        0
    });
    assert_eq!(seen, ["a", "b", "a", "c"]);
    let written: Vec<_> = value.references().iter().map(|it| it.path.concat()).collect();
    assert_eq!(seen, written);
}

fn holds(json: &str, test: &Test) -> bool {
    let event = Event::new(&[("a", json)]);
    let condition = Condition::Test(Reference::event(&["a".to_owned()]), test.clone());
    let evaluator = CompiledCondition::new(&condition, &mut |reference| event.resolve(reference));
    evaluator.holds(&event, &mut { PLENTY }).unwrap()
}

#[test]
fn tests_hold_for_the_values_of_the_documentation() {
    let one_of = |values: Value| Test::OneOf(values.as_array().unwrap().clone());
    let equals = Test::Equals;
    let starts = |text: &str| Test::StartsWith(text.to_owned());
    for (test, hold, others) in [
        (Test::Exists, vec!["0", "false", r#""""#, "[]", "{}"], vec!["null"]),
        (
            Test::Truthy,
            vec!["1", "1e-400", "-0.001", r#"" ""#, "[0]", "[ null ]", r#"{"a":0}"#, "true"],
            vec!["null", "false", "0", "-0.00e7", r#""""#, "[]", "[ \n]", "{ }"],
        ),
        (
            equals(json!("aé\n😀")),
            vec![r#""aé\n😀""#, r#""\u0061\u00e9\u000A\ud83d\uDE00""#],
            vec![r#""aé\n""#, r#""aé\n😀!""#, r#""aé\\n😀""#, "1", "null", r#"["aé\n😀"]"#],
        ),
        (equals(json!("")), vec![r#""""#], vec![r#""a""#, "0", "null", "[]", "false"]),
        (equals(json!("1")), vec![r#""1""#], vec!["1"]),
        (
            equals(json!(1)),
            vec!["1", "1.0", "1e0", "10e-1"],
            vec![r#""1""#, "2", "true", "1.5", "-1", "[1]"],
        ),
        (equals(json!(0)), vec!["0", "-0", "0.0", "0e7"], vec!["false", r#""""#, "null", "1e-300"]),
        (equals(json!(9007199254740993_i64)), vec!["9007199254740993"], vec!["9007199254740992"]),
        (
            equals(json!(u64::MAX)),
            vec!["18446744073709551615", "18446744073709551615.0"],
            vec!["18446744073709551614"],
        ),
        (equals(json!(0.5)), vec!["0.5", "5e-1", "0.50"], vec!["0.6", r#""0.5""#]),
        (equals(json!(true)), vec!["true"], vec!["false", "1", r#""true""#]),
        (equals(json!(false)), vec!["false"], vec!["true", "0", "null"]),
        (
            one_of(json!(["a", 2, true])),
            vec![r#""a""#, "2.0", "true"],
            vec![r#""b""#, "1", "false", "null", "{}"],
        ),
        (
            starts("refs/\"é"),
            vec![r#""refs/\"é""#, r#""refs\/\u0022\u00e9x""#],
            vec![r#""refs/""#, r#""xrefs/\"é""#, "1", "null", r#"["refs/\"é"]"#],
        ),
        (Test::IsType(JsonType::String), vec![r#""""#], vec!["1", "null"]),
        (Test::IsType(JsonType::Number), vec!["-1e3"], vec![r#""1""#, "true"]),
        (Test::IsType(JsonType::Boolean), vec!["true", "false"], vec!["null"]),
        (Test::IsType(JsonType::Object), vec!["{}"], vec!["[]"]),
        (Test::IsType(JsonType::Array), vec!["[]"], vec!["{}"]),
        (Test::IsType(JsonType::Null), vec!["null"], vec!["0", "false"]),
    ] {
        for json in hold {
            assert!(holds(json, &test), "{test:?} holds for {json}");
        }
        for json in others {
            assert!(!holds(json, &test), "{test:?} doesn't hold for {json}");
        }
    }
}

#[test]
fn conditions_are_combined_and_cost_what_they_look_at() {
    let event = event();
    let test = |name: &str, test: Test| Condition::Test(Reference::event(&[name.to_owned()]), test);
    let (yes, no) = (test("yes", Test::Exists), test("nowhere", Test::Exists));
    let not = |condition: &Condition| Condition::Not(Box::new(condition.clone()));
    for (condition, expected, tests) in [
        (Condition::All(vec![yes.clone(), yes.clone()]), true, 2),
        (Condition::All(vec![no.clone(), yes.clone()]), false, 1),
        (Condition::Any(vec![no.clone(), yes.clone()]), true, 2),
        (Condition::Any(vec![yes.clone(), no.clone()]), true, 1),
        (Condition::Any(vec![no.clone(), not(&yes)]), false, 2),
        (not(&no), true, 1),
        (not(&Condition::All(vec![yes.clone(), not(&no)])), false, 2),
    ] {
        let evaluator = CompiledCondition::new(&condition, &mut |it| event.resolve(it));
        let mut fuel = PLENTY;
        assert_eq!(evaluator.holds(&event, &mut fuel), Ok(expected), "{condition:?}");
        assert_eq!(PLENTY - fuel, tests * fuel::TEST.of(0), "{condition:?}");
    }
    // Where nothing is, no test holds.
    for nothing in [Test::Truthy, Test::IsType(JsonType::Null), Test::StartsWith("a".into())] {
        let evaluator =
            CompiledCondition::new(&test("nowhere", nothing), &mut |it| event.resolve(it));
        assert_eq!(evaluator.holds(&event, &mut { PLENTY }), Ok(false));
    }
}

#[test]
fn what_costs_more_than_is_left_leaves_nothing_behind() {
    let event = event();
    let value = of(Source::Coalesce(vec![path("null"), of(template("{plain}-{text}"), &[])]), &[]);
    let evaluator = CompiledValue::new(&value, &mut |it| event.resolve(it));
    let mut fuel = PLENTY;
    evaluator.evaluate(&event, &mut Vec::new(), &mut fuel).unwrap();
    let price = PLENTY - fuel;
    assert_eq!(
        price,
        [4, 5, 1, 11].map(|bytes| fuel::VALUE.of(bytes)).iter().sum::<u64>(),
        "null, a string, a dash and another string"
    );
    for less in [0, 1, price / 2, price - 1] {
        let (mut out, mut fuel) = (b"x".to_vec(), less);
        let OutOfFuel { missing } = evaluator.evaluate(&event, &mut out, &mut fuel).unwrap_err();
        assert!((1..=price - less).contains(&missing), "{missing}");
        assert_eq!((out.as_slice(), fuel), (&b"x"[..], 0));
    }
}

proptest! {
    #[test]
    fn strings_are_canonical_in_values_and_templates(text in any::<String>(), other in any::<String>()) {
        let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
        let event = Event::new(&[("a", &format!("\"{escaped}\"")), ("b", &json!(other).to_string())]);
        prop_assert_eq!(evaluate(&path("a"), &event), json!(text).to_string());
        let value = of(template("{a}\"{b}"), &[]);
        prop_assert_eq!(evaluate(&value, &event), json!(format!("{text}\"{other}")).to_string());
    }

    #[test]
    fn truth_and_numbers_are_those_of_serde_json(left in any::<f64>(), right in any::<i64>(), same in any::<bool>()) {
        prop_assume!(left.is_finite());
        prop_assert_eq!(is_truthy(json!(left).to_string().as_bytes()), left != 0.0);
        let wanted = if same { json!(right as f64) } else { json!(right) };
        prop_assert!(holds(&right.to_string(), &Test::Equals(wanted)));
        prop_assert_eq!(holds(&json!(left).to_string(), &Test::Equals(json!(right))), left == right as f64);
    }
}
