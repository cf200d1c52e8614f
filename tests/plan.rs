//! The plan stage: every case of the parser, and the schema held equal to it.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use retort::plan::{self, PlanParseErrorCode as Code};
use retort::problem::Coded;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{shared, workspace_root};

/// A case of the shared contract that Retort differs from: its name, the reason, and the code and
/// path that hold instead; none where it is a plan.
type Difference = (&'static str, &'static str, Option<(Code, &'static str)>);

const DIFFERENCES: &[Difference] = &[
    (
        "order_function_before_key_field",
        "the function is named `class`, which is a keyword, but none of Rust's: it is a name like \
         any other, and so the key's type is the first problem",
        Some((Code::WrongType, "key_field")),
    ),
    ("wrong_type_event_type_list", "a plan may be for several types of events", None),
];

#[derive(Deserialize)]
struct Case {
    name: String,
    /// A string is the text of a plan, anything else a parsed one.
    input: Value,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    ok: bool,
    plan: Option<Value>,
    code: Option<String>,
    path: Option<String>,
    /// All problems, as (code, path).
    problems: Option<Vec<(String, String)>>,
    /// The message of the first problem.
    message: Option<String>,
}

fn cases() -> Vec<Case> {
    let own = Some(workspace_root().join("tests/plans/parser.json"));
    let files = [shared("conformance/plan_parser.json"), own];
    let read = |file| -> Vec<Case> {
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    };
    let mut cases: Vec<Case> = files.into_iter().flatten().flat_map(read).collect();
    for case in &mut cases {
        if let Some((.., instead)) = DIFFERENCES.iter().find(|(name, ..)| *name == case.name) {
            let code = instead.map(|(code, _)| code.to_string());
            assert_ne!(case.expect.code, code, "no longer a difference");
            case.expect.ok = code.is_none();
            case.expect.code = code;
            case.expect.path = instead.map(|(_, path)| path.to_owned());
        }
    }
    cases
}

#[test]
fn differences_name_cases_that_exist() {
    if shared("conformance/plan_parser.json").is_some() {
        let cases = cases();
        for (name, reason, ..) in DIFFERENCES {
            assert!(cases.iter().any(|case| case.name == *name), "{name} ({reason})");
        }
    }
}

#[test]
fn cases_parse_as_expected() {
    for Case { name, input, expect } in cases() {
        let (parsed, problems) = match &input {
            Value::String(text) => (plan::parse(text), plan::problems(text)),
            value => (plan::from_value(value), plan::problems_of_value(value)),
        };
        assert_eq!(parsed.as_ref().err(), problems.first(), "{name}: first problem");
        assert_eq!(parsed.is_ok(), expect.ok, "{name}: {problems:?}");
        match parsed {
            Ok(plan) => {
                // A difference has no normalised form in the shared contract.
                if let Some(expected) = expect.plan {
                    assert_eq!(json!(plan), expected, "{name}");
                }
            }
            Err(error) => {
                assert_eq!(Some(error.code()), expect.code.as_deref(), "{name}: {error}");
                assert_eq!(Some(error.path.as_str()), expect.path.as_deref(), "{name}: {error}");
                if let Some(message) = expect.message {
                    assert_eq!(error.message, message, "{name}");
                }
            }
        }
        if let Some(expected) = expect.problems {
            let found: Vec<(String, String)> =
                problems.into_iter().map(|it| (it.code.to_string(), it.path)).collect();
            assert_eq!(found, expected, "{name}: all problems");
        }
    }
}

#[test]
fn every_code_is_met_by_a_case() {
    let met: BTreeSet<String> = cases().into_iter().filter_map(|case| case.expect.code).collect();
    if shared("conformance/plan_parser.json").is_some() {
        for code in Code::ALL {
            assert!(met.contains(code.as_str()), "no case gives {code}");
        }
    }
}

#[test]
fn normalised_plans_parse_to_themselves_in_the_stated_order() {
    for case in cases().into_iter().filter(|case| case.expect.ok) {
        let plan = match &case.input {
            Value::String(text) => plan::parse(text),
            value => plan::from_value(value),
        }
        .unwrap();
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(plan::parse(&text).unwrap(), plan, "{}", case.name);
        let place = |field: &str| text.find(&format!("\"{field}\":")).unwrap();
        let fields: &[&str] = match plan.form() {
            plan::Form::Short => &[
                "event_type",
                "target_entity_name",
                "function_name",
                "key_field",
                "property_fields",
                "session_id_path",
                "span_handling",
            ],
            plan::Form::Long => {
                &["event_type", "function_name", "nodes", "session_id_path", "span_handling"]
            }
        };
        assert!(fields.iter().map(|it| place(it)).is_sorted(), "{}: {text}", case.name);
    }
}

#[test]
fn text_that_is_nested_deeply_is_refused() {
    for depth in [128, 1_000, 1_000_000] {
        for text in ["[".repeat(depth), "{\"key_field\":".repeat(depth)] {
            assert_eq!(plan::parse(&text).unwrap_err().code, Code::InvalidJson);
        }
    }
}

#[test]
fn messages_are_bounded_and_printable() {
    let name = "\u{1b}[31m\u{202e}\n\"".repeat(1_000);
    let plan = json!({
        "event_type": "e", "target_entity_name": name, "function_name": name, &name: 1,
        "key_field": {"property_name": "k", "source_path": ["k"], &name: 1},
        "property_fields": [{"property_name": "p", "source_path": ["p"], "nulls": name}],
    });
    let problems = plan::problems_of_value(&plan);
    assert_eq!(problems.len(), 5, "{problems:?}");
    for problem in problems {
        for text in [problem.message.clone(), problem.to_string()] {
            // 80 characters, each at most `\u{10ffff}`, and what is said about them.
            assert!(text.len() < 80 * 10 * 2 + 200, "{text}");
            assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}");
        }
    }
}

fn schema() -> jsonschema::Validator {
    jsonschema::draft202012::new(&plan::schema()).unwrap()
}

/// Both directions at once: the schema accepts exactly what has no other problems than those that
/// only the parser can find.
fn schema_agrees(schema: &jsonschema::Validator, value: &Value) -> Result<(), String> {
    let problems = plan::problems_of_value(value);
    let for_the_schema = problems.iter().find(|problem| !problem.code.is_beyond_schema());
    match (schema.is_valid(value), for_the_schema) {
        (true, Some(problem)) => Err(format!("the schema accepts {value}, but: {problem}")),
        (false, None) => Err(format!("the schema rejects {value}, the parser: {problems:?}")),
        _ => Ok(()),
    }
}

#[test]
fn the_schema_is_valid_and_fresh_each_time() {
    assert!(jsonschema::draft202012::meta::is_valid(&plan::schema()));
    let mut mine = plan::schema();
    mine["required"] = json!([]);
    assert_ne!(mine, plan::schema());
    assert_eq!(plan::schema(), serde_json::from_str::<Value>(plan::SCHEMA_TEXT).unwrap());
}

#[test]
fn schema_and_parser_agree_on_the_cases() {
    let schema = schema();
    for case in cases() {
        let value = match case.input {
            Value::String(text) => serde_json::from_str(&text).ok(),
            value => Some(value),
        };
        if let Some(value) = value {
            schema_agrees(&schema, &value).unwrap_or_else(|why| panic!("{}: {why}", case.name));
        }
    }
}

#[test]
fn the_defaults_of_the_schema_are_the_parsers() {
    let schema = plan::schema();
    let minimal = json!({
        "event_type": "e", "target_entity_name": "E", "function_name": "f",
        "key_field": {"property_name": "k", "source_path": ["k"]},
        "span_handling": {},
    });
    let plan = json!(plan::from_value(&minimal).unwrap());
    for field in ["property_fields", "session_id_path"] {
        assert_eq!(schema["properties"][field]["default"], plan[field], "{field}");
    }
    for field in ["span_id_path", "partial_when_path"] {
        let default = &schema["$defs"]["span_handling"]["properties"][field]["default"];
        assert_eq!(*default, plan["span_handling"][field], "{field}");
    }
    let mut without_span = minimal;
    without_span.as_object_mut().unwrap().remove("span_handling");
    let plan = json!(plan::from_value(&without_span).unwrap());
    assert_eq!(schema["properties"]["span_handling"]["default"], plan["span_handling"]);
    let nulls = &schema["$defs"]["field_mapping"]["properties"]["nulls"]["default"];
    assert_eq!(*nulls, json!(plan::Nulls::default()));
}

/// A plan that uses every field, to be mutated.
fn full_plan() -> Value {
    json!({
        "event_type": "order_placed",
        "target_entity_name": "Order",
        "function_name": "read_order",
        "key_field": {"property_name": "order_id", "source_path": ["content", "id"]},
        "property_fields": [
            {"property_name": "status", "source_path": ["content", "status"], "nulls": "keep"},
            {"property_name": "total", "source_path": ["total"], "nulls": "omit"},
            {"property_name": "city", "source_path": ["a", "b", "city"]},
        ],
        "session_id_path": ["ctx", "session"],
        "span_handling": {"span_id_path": ["span_id"], "partial_when_path": ["content", "why"]},
    })
}

#[derive(Clone, Debug)]
enum Mutation {
    Replace(Value),
    Remove,
    Insert(&'static str, Value),
}

/// Values near to what some field takes.
fn fragment() -> impl Strategy<Value = Value> {
    let fragments = vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1.5),
        json!(""),
        json!("keep"),
        json!("fn"),
        json!("order_id"),
        json!("not a name"),
        json!([]),
        json!([""]),
        json!(["a"]),
        json!(["a", 1]),
        json!([["a"]]),
        json!({}),
        json!({"span_id_path": ["s"]}),
        json!({"property_name": "p", "source_path": ["p"]}),
        json!([{"property_name": "p", "source_path": ["p"]}]),
    ];
    select(fragments)
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let names = vec![
        "event_type",
        "property_name",
        "source_path",
        "nulls",
        "span_handling",
        "session_id_path",
        "span_id_path",
        "partial_when_path",
        "property_fields",
        "extra",
        "",
    ];
    prop_oneof![
        3 => fragment().prop_map(Mutation::Replace),
        2 => Just(Mutation::Remove),
        1 => (select(names), fragment()).prop_map(|(name, value)| Mutation::Insert(name, value)),
    ]
}

/// The JSON Pointers of a value and of all below it.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                pointers(field, &format!("{at}/{name}"), found);
            }
        }
        _ => {}
    }
}

fn mutate(plan: &mut Value, place: &Index, mutation: Mutation) {
    let mut places = Vec::new();
    pointers(plan, "", &mut places);
    let place = place.get(&places);
    match mutation {
        Mutation::Replace(value) => *plan.pointer_mut(place).unwrap() = value,
        Mutation::Insert(name, value) => match plan.pointer_mut(place).unwrap() {
            Value::Object(fields) => drop(fields.insert(name.to_owned(), value)),
            Value::Array(items) => items.push(value),
            other => *other = value,
        },
        Mutation::Remove => {
            let Some((parent, name)) = place.rsplit_once('/') else { return };
            match plan.pointer_mut(parent).unwrap() {
                Value::Object(fields) => drop(fields.remove(name)),
                Value::Array(items) => drop(items.remove(name.parse().unwrap())),
                _ => unreachable!("only arrays and objects have members"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn schema_and_parser_agree_on_mutated_plans(
        mutations in prop::collection::vec((any::<Index>(), mutation()), 1..4),
    ) {
        thread_local!(static SCHEMA: jsonschema::Validator = schema());
        let mut plan = full_plan();
        for (place, mutation) in mutations {
            mutate(&mut plan, &place, mutation);
        }
        SCHEMA.with(|schema| schema_agrees(schema, &plan)).map_err(TestCaseError::fail)?;
        let parsed = plan::parse(&plan.to_string());
        let problems = plan::problems_of_value(&plan);
        prop_assert_eq!(parsed.as_ref().err(), problems.first());
        if let Ok(parsed) = parsed {
            prop_assert_eq!(plan::from_value(&json!(parsed)), Ok(parsed));
        }
    }

    #[test]
    fn any_text_gives_a_plan_or_a_problem(text in "\\PC*|[\\[\\]{}\",:a-z0-9 ]*") {
        prop_assert_eq!(plan::parse(&text).err(), plan::problems(&text).into_iter().next());
    }
}
