//! The plan stage: every case of the parser, and the schema held equal to it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use retort::expr::{OnDuplicate, OnError};
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
    let own = workspace_root().join("tests/plans/parser.json");
    let mut files: Vec<PathBuf> =
        shared("conformance/plan_parser.json").into_iter().chain([own]).collect();
    let by_construct = std::fs::read_dir(workspace_root().join("tests/plan")).unwrap();
    files.extend(by_construct.map(|entry| entry.unwrap().path()));
    let read = |file| -> Vec<Case> {
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    };
    let mut cases: Vec<Case> = files.into_iter().flat_map(read).collect();
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

/// A plan in the long form, with `count` entries in the list at a pointer.
fn with_list(pointer: &str, entry: &Value, count: usize) -> Value {
    let mut plan = full_long_plan();
    let list: Vec<Value> = (0..count)
        .map(|index| match entry {
            Value::String(text) => json!(text.replace('#', &index.to_string())),
            Value::Object(fields) if fields.contains_key("property_name") => {
                let mut fields = fields.clone();
                fields.insert("property_name".to_owned(), json!(format!("p{index}")));
                Value::Object(fields)
            }
            other => other.clone(),
        })
        .collect();
    *plan.pointer_mut(pointer).unwrap() = json!(list);
    plan
}

#[test]
fn lists_have_a_limit_and_are_read_no_further() {
    let property = json!({"property_name": "p", "source_path": ["a"]});
    let test = json!({"source_path": ["a"], "exists": true});
    let edge = json!({"relationship_name": "R", "from": "order", "to": "order"});
    for (pointer, entry, limit) in [
        ("/event_type", json!("t#"), 64),
        ("/when/all", test.clone(), 64),
        ("/when/all/1/any", test.clone(), 64),
        ("/when/all/0/one_of", json!("v#"), 64),
        ("/nodes", full_long_plan()["nodes"][0].clone(), 64),
        ("/nodes/0/key_fields", property.clone(), 64),
        ("/nodes/0/property_fields", property.clone(), 1024),
        ("/nodes/1/property_fields/0/coalesce", json!({"constant": 1}), 64),
        ("/nodes/1/property_fields/0/convert", json!("trim"), 64),
        ("/edges", edge, 64),
        ("/edges/1/to/key_fields", property.clone(), 64),
        ("/edges/0/property_fields", property, 1024),
        ("/span_handling", json!({}), 64),
    ] {
        let follow_on = |problem: &plan::PlanParseError| {
            matches!(problem.code, Code::UnknownNode | Code::DuplicateNodeName)
        };
        let mut fits = plan::problems_of_value(&with_list(pointer, &entry, limit));
        fits.retain(|problem| !follow_on(problem));
        assert_eq!(fits, [], "{pointer}");
        let mut large = with_list(pointer, &entry, limit + 1);
        if let Some(Value::Array(list)) = large.pointer_mut(pointer) {
            list[limit] = json!(null);
        }
        let mut problems = plan::problems_of_value(&large);
        problems.retain(|problem| !follow_on(problem));
        let [problem] = problems.as_slice() else { panic!("{pointer}: {problems:?}") };
        assert_eq!(problem.code, Code::TooManyItems, "{pointer}");
        assert_eq!(problem.pointer, pointer);
        let found = format!("expected at most {limit} entries, found {}", limit + 1);
        assert_eq!(problem.message, found, "{pointer}");
        assert!(!schema().is_valid(&large), "{pointer}");
    }
}

#[test]
fn every_problem_points_into_the_plan() {
    for Case { name, input, .. } in cases() {
        let value = match input {
            Value::String(text) => serde_json::from_str(&text).unwrap_or_default(),
            value => value,
        };
        for problem in plan::problems_of_value(&value) {
            let there = value.pointer(&problem.pointer).is_some();
            let is_missing = problem.code == Code::MissingRequiredField;
            assert!(there || is_missing, "{name}: {problem}, {}", problem.pointer);
        }
    }
}

#[test]
fn every_path_that_is_read_is_pointed_to() {
    let plan = plan::from_value(&full_long_plan()).unwrap();
    let written = json!(plan);
    let reads = plan.reads();
    for read in &reads {
        let place = written.pointer(&read.pointer).unwrap_or_else(|| panic!("{read:?}"));
        match place {
            Value::String(template) => {
                let keys = read.reference.path.iter();
                assert!(keys.into_iter().all(|key| template.contains(key)), "{read:?}");
            }
            path => assert_eq!(*path, json!(read.reference.path), "{read:?}"),
        }
        assert!(
            usize::from(read.reference.level.0)
                <= read.for_each.map_or(0, |it| it.levels().count())
        );
    }
    let pointers: Vec<&str> = reads.iter().map(|read| read.pointer.as_str()).collect();
    insta::assert_snapshot!(pointers.join("\n"), @r"
    /when/all/0/source_path
    /when/all/1/any/0/source_path
    /when/all/1/any/1/not/source_path
    /nodes/0/key_fields/0/source_path
    /nodes/0/property_fields/0/source_path
    /nodes/1/for_each/array
    /nodes/1/for_each/for_each/entries
    /nodes/1/when/source_path
    /nodes/1/key_fields/0/source_path
    /nodes/1/key_fields/1/source_path
    /nodes/1/property_fields/0/coalesce/0/template
    /nodes/1/property_fields/0/coalesce/0/template
    /nodes/1/property_fields/0/coalesce/1/source_path
    /edges/0/when/source_path
    /edges/0/edge_id
    /edges/0/edge_id
    /edges/0/property_fields/0/source_path
    /edges/1/to/key_fields/0/source_path
    /edges/1/for_each/array
    /session_id_path
    /span_handling/0/span_id_path
    /span_handling/0/partial_when_path
    /span_handling/1/span_id_path
    /span_handling/1/for_each/array
    /span_handling/1/when/source_path
    /span_handling/1/partial_when/source_path
    ");
}

#[test]
fn a_hostile_plan_is_read_in_time_in_proportion_to_its_size() {
    let entry = json!({"property_name": 1, "source_path": [1, 2], "convert": ["none"]});
    let node = json!({"entity_name": "", "key_fields": vec![entry.clone(); 10_000]});
    let many = json!({"nodes": vec![node; 3], "event_type": vec![json!(1); 100_000]});
    let started = std::time::Instant::now();
    // Each property has four problems, and each list as many entries as it may have.
    assert_eq!(plan::problems_of_value(&many).len(), 1 + 1 + 64 + 3 * (2 + 64 * 4));
    let names: Value = (0..10_000)
        .map(|index| (format!("field_{index}"), json!(1)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    assert_eq!(plan::problems_of_value(&names).len(), 10_000 + 4);
    let mut deep = json!({"source_path": ["a"], "exists": true});
    for _ in 0..100 {
        deep = json!({"all": [deep.clone(), {"not": deep}]});
        if deep.to_string().len() > 1_000_000 {
            break;
        }
    }
    let when = json!({"event_type": "e", "function_name": "f", "nodes": [], "when": deep});
    assert!(
        plan::problems_of_value(&when)
            .iter()
            .all(|it| it.code == Code::TooDeep || it.pointer == "/nodes")
    );
    // Some four milliseconds each, all of them a minute.
    let step = json!({"regex": {"pattern": r"\w{15}"}});
    let property = json!({"property_name": "p", "source_path": ["a"], "convert": vec![step; 64]});
    let patterns = json!({"property_fields": vec![property; 200]});
    let too_large = |problem: &&plan::PlanParseError| problem.code == Code::PatternTooLarge;
    assert_eq!(plan::problems_of_value(&patterns).iter().filter(too_large).count(), 1);
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
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
    let mapping = &schema["$defs"]["field_mapping"]["properties"];
    assert_eq!(mapping["nulls"]["default"], json!(plan::Nulls::default()));
    assert_eq!(schema["$defs"]["on_error"]["default"], json!(OnError::default()));
    assert_eq!(schema["properties"]["on_duplicate"]["default"], json!(OnDuplicate::default()));
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

/// A plan in the long form that uses every construct, to be mutated.
fn full_long_plan() -> Value {
    json!({
        "event_type": ["order.placed", "order.changed.*"],
        "when": {"all": [
            {"source_path": ["kind"], "one_of": ["a", 1]},
            {"any": [
                {"source_path": ["test"], "exists": true},
                {"not": {"source_path": ["test"], "truthy": true}},
            ]},
        ]},
        "function_name": "read_order",
        "nodes": [
            {
                "entity_name": "Order",
                "name": "order",
                "key_fields": [{"property_name": "order_id", "source_path": ["content", "id"]}],
                "property_fields": [
                    {"property_name": "state", "source_path": ["state"], "nulls": "keep"},
                    {"property_name": "source", "constant": "shop"},
                ],
            },
            {
                "entity_name": "Parcel",
                "for_each": {"array": ["lines"], "for_each": {"entries": ["parcels"]}},
                "when": {"source_path": ["value", "sent"], "equals": true},
                "key_fields": [
                    {"property_name": "line", "source_path": ["no"], "from": "parent", "on_error": "reject", "convert": ["to_string"]},
                    {"property_name": "parcel", "source_path": ["key"]},
                ],
                "property_fields": [{
                    "property_name": "label",
                    "coalesce": [
                        {"template": "{$.content.id}/{^.no}", "convert": ["upper"]},
                        {"source_path": ["value", "at"], "from": "event"},
                    ],
                    "convert": [{"split": {"separator": "/", "index": 0}}, {"regex": {"pattern": "a+"}}, {"parse_json": ["x"]}],
                }],
            },
        ],
        "edges": [
            {
                "relationship_name": "SENT_IN",
                "from": "order",
                "to": "Parcel",
                "when": {"source_path": ["key"], "starts_with": "p"},
                "edge_id": "{$.content.id}-{key}",
                "property_fields": [{"property_name": "weight", "source_path": [], "from": "parent"}],
            },
            {
                "relationship_name": "BOUGHT_BY",
                "from": "order",
                "to": {
                    "entity_name": "Customer",
                    "key_fields": [{"property_name": "customer_id", "source_path": ["buyer"]}],
                },
                "for_each": {"array": ["buyers"]},
            },
        ],
        "on_duplicate": "reject",
        "session_id_path": ["ctx", "session"],
        "span_handling": [
            {"span_id_path": ["span_id"], "partial_when_path": ["content", "why"]},
            {
                "span_id_path": [],
                "for_each": {"array": ["spans"]},
                "when": {"source_path": ["spans"], "from": "event", "is_type": "array"},
                "partial_when": {"source_path": [], "exists": true},
            },
        ],
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
        json!("order.*"),
        json!("parent"),
        json!("{$.a}{b}"),
        json!("trim"),
        json!(["trim", {"regex": {"pattern": "a"}}]),
        json!({"source_path": ["a"], "exists": true}),
        json!({"not": {"source_path": [], "equals": 1}}),
        json!([{"constant": 1}, {"template": "x{a}"}]),
        json!({"array": ["a"]}),
        json!({"entries": [], "for_each": {"array": []}}),
        json!({"entity_name": "X", "key_fields": [{"property_name": "k", "constant": "x"}]}),
        json!({"relationship_name": "R", "from": "order", "to": "Parcel"}),
        json!({"split": {"separator": "/", "index": -1}}),
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
        "nodes",
        "edges",
        "from",
        "constant",
        "template",
        "coalesce",
        "convert",
        "on_error",
        "when",
        "all",
        "equals",
        "exists",
        "for_each",
        "array",
        "entries",
        "name",
        "partial_when",
        "on_duplicate",
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
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3_000) })]

    #[test]
    fn schema_and_parser_agree_on_mutated_plans(
        is_long in any::<bool>(),
        mutations in prop::collection::vec((any::<Index>(), mutation()), 1..4),
    ) {
        thread_local!(static SCHEMA: jsonschema::Validator = schema());
        let mut plan = if is_long { full_long_plan() } else { full_plan() };
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
