//! The schema, held equal to the parser.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use retort::plan::{self, OnDuplicate, OnError};
use serde_json::{Value, json};

use super::{long_plan, schema, short_plan};
use crate::support::{schema_agrees, workspace_root};

#[test]
fn the_schema_is_valid_and_fresh_each_time() {
    assert!(jsonschema::draft202012::meta::is_valid(&plan::schema()));
    let mut mine = plan::schema();
    mine["required"] = json!([]);
    assert_ne!(mine, plan::schema());
    assert_eq!(plan::schema(), serde_json::from_str::<Value>(plan::schema_text()).unwrap());
}

#[test]
fn the_published_schema_is_the_generated_one() {
    let file = workspace_root().join("host/src/plan/schema.json");
    let published = std::fs::read_to_string(file).unwrap();
    assert!(published == plan::schema_text(), "`retort plan schema` writes what it should be");
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
        let mut plan = if is_long { long_plan() } else { short_plan() };
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
