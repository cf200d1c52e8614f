//! Results of which it is known, before they are read, that they fit a graph spec: the validator says so of each.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Runner;
use crate::gate::inspect::{self, StructuralLimits};
use crate::graph::Extraction;
use crate::graph::spec::GraphSpec;
use crate::graph::validate::{ValidateOptions, validate};
use crate::plan;
use crate::render::{self, compile};
use crate::sandbox::{Limits, Sandbox};

/// Tasks with steps, which have parts. Edges lead to nodes of the event, of their row, of other rows, and to none.
const PLAN: &str = r#"{
    "event_type": "task", "function_name": "tasks", "session_id_path": ["session"],
    "nodes": [
        {"entity_name": "Task", "key_fields": [{"property_name": "id", "source_path": ["id"]}],
         "property_fields": [{"property_name": "weight", "source_path": ["weight"]},
                             {"property_name": "at", "source_path": ["at"]}]},
        {"entity_name": "Step", "for_each": {"array": ["steps"]},
         "when": {"not": {"source_path": ["skipped"], "truthy": true}},
         "key_fields": [{"property_name": "task", "source_path": ["id"], "from": "event"},
                        {"property_name": "no", "source_path": ["no"]}]},
        {"entity_name": "Part", "for_each": {"array": ["steps"], "for_each": {"array": ["parts"]}},
         "key_fields": [{"property_name": "name", "source_path": []}]}
    ],
    "edges": [
        {"relationship_name": "HAS", "from": "Task", "to": "Step",
         "property_fields": [{"property_name": "since", "source_path": ["since"]}]},
        {"relationship_name": "HAS", "for_each": {"array": ["steps"]}, "when": {"source_path": ["had"], "truthy": true},
         "from": "Task", "to": {"entity_name": "Step", "key_fields": [
            {"property_name": "task", "source_path": ["id"], "from": "event"},
            {"property_name": "no", "source_path": ["no"]}]}},
        {"relationship_name": "AFTER", "from": "Step", "to": {"entity_name": "Step", "key_fields": [
            {"property_name": "task", "source_path": ["id"], "from": "event"},
            {"property_name": "no", "source_path": ["after"]}]}},
        {"relationship_name": "TAKES", "from": "Step", "to": "Part"},
        {"relationship_name": "OF", "from": "Task", "to": {"entity_name": "Owner", "key_fields": [
            {"property_name": "owner", "source_path": ["owner"]}]}},
        {"relationship_name": "WITHIN", "from": "Task", "to": {"entity_name": "Task", "key_fields": [
            {"property_name": "id", "source_path": ["within"]}]}}
    ]}"#;

const SPEC: &str = r#"{
    "entities": [
        {"name": "Task", "key_columns": ["id"], "properties": [
            {"column": "id", "logical_name": "id", "sdk_type": "string"},
            {"column": "weight", "logical_name": "weight", "sdk_type": "double"},
            {"column": "at", "logical_name": "at", "sdk_type": "timestamp"}]},
        {"name": "Step", "key_columns": ["task", "step_no"], "properties": [
            {"column": "task", "logical_name": "task", "sdk_type": "string"},
            {"column": "step_no", "logical_name": "no", "sdk_type": "int64"}]},
        {"name": "Part", "key_columns": ["name"], "properties": [
            {"column": "name", "logical_name": "name", "sdk_type": "string"}]},
        {"name": "Owner", "key_columns": ["owner"], "properties": [
            {"column": "owner", "logical_name": "owner", "sdk_type": "string"}]}],
    "relationships": [
        {"name": "HAS", "from_entity": "Task", "to_entity": "Step",
         "from_columns": ["id"], "to_columns": ["task", "step_no"],
         "properties": [{"column": "since", "logical_name": "since", "sdk_type": "date"}]},
        {"name": "AFTER", "from_entity": "Step", "to_entity": "Step",
         "from_columns": ["task", "step_no"], "to_columns": ["task", "step_no"]},
        {"name": "TAKES", "from_entity": "Step", "to_entity": "Part",
         "from_columns": ["task", "step_no"], "to_columns": ["name"]},
        {"name": "OF", "from_entity": "Task", "to_entity": "Owner",
         "from_columns": ["id"], "to_columns": ["owner"]},
        {"name": "WITHIN", "from_entity": "Task", "to_entity": "Task",
         "from_columns": ["id"], "to_columns": ["id"]}]}"#;

/// A runner of a plan whose results are held to a spec, with or without ends in other results.
fn runner(plan: &str, spec: &str, allows_external: bool) -> Runner {
    let compiled = compile::compile(render::render(&plan::parse(plan).unwrap()).unwrap()).unwrap();
    let inspected = inspect::inspect(compiled.module(), &StructuralLimits::default()).unwrap();
    let inspected = inspect::prove::by_rendering(inspected, &compiled);
    let runner = Sandbox::new(Limits::default()).unwrap().load(&inspected).unwrap().runner();
    let spec = Arc::new(GraphSpec::parse(spec, "spec.json").unwrap());
    runner.holding_to(spec, ValidateOptions { allow_external_endpoints: allows_external })
}

/// Whether it is known of the event's result that it fits, and whether the validator says so.
fn fits(runner: &mut Runner, event: &str) -> (bool, bool) {
    let (spec, options) = runner.graph.clone().unwrap();
    let outcome = runner.run(event.as_bytes()).unwrap();
    let result: Extraction = serde_json::from_slice(outcome.json).unwrap();
    let is_valid = validate(&spec, &result, options).ok();
    (outcome.is_known_to_fit(), is_valid)
}

fn task(fields: &str) -> String {
    format!(r#"{{"event_type":"task","session":"s","id":"t","weight":1.5,{fields}}}"#)
}

#[test]
fn what_fits_is_known_without_reading_it() {
    for (fields, is_known) in [
        (r#""steps":[]"#, [true, true]),
        (r#""steps":[{"no":1,"since":"2024-02-29"},{"no":2}]"#, [true, true]),
        // To another row, before and behind, and to the same.
        (r#""steps":[{"no":1,"after":2},{"no":2,"after":1},{"no":3,"after":3}]"#, [true, true]),
        (r#""steps":[{"no":1,"parts":["a","b\n"]},{"no":2,"parts":["c"]}]"#, [true, true]),
        // The same nodes again: the last ones stay.
        (r#""steps":[{"no":1,"parts":["a","a"]},{"no":1,"parts":["a"]}]"#, [true, true]),
        (r#""steps":[{"no":1,"skipped":true},{"no":2}]"#, [true, true]),
        (r#""steps":[{"no":1,"had":true},{"no":2}]"#, [true, true]),
        (r#""steps":[{"no":1,"had":true,"skipped":true},{"no":1}]"#, [true, true]),
        // To itself.
        (r#""within":"t""#, [true, true]),
        // To nodes of other results, or to none.
        (r#""owner":"o=1""#, [true, false]),
        (r#""owner":"arn:owner:1""#, [true, false]),
        (r#""within":"u""#, [true, false]),
        (r#""steps":[{"no":1,"after":7}]"#, [true, false]),
        (r#""steps":[{"no":1,"skipped":true},{"no":2,"after":1}]"#, [true, false]),
        (r#""steps":[{"no":1,"had":true,"skipped":true},{"no":2}]"#, [true, false]),
        // What has to be read.
        (r#""owner":"x,owner=y""#, [false, false]),
        (r#""owner":"x:Owner:y""#, [false, false]),
        (r#""owner":"\u003a""#, [true, false]),
        (r#""owner":"\"""#, [false, false]),
        (r#""owner":"""#, [false, false]),
        // What doesn't fit.
        (r#""at":"today""#, [false, false]),
        (r#""steps":[{"no":1,"since":"2023-02-29"}]"#, [false, false]),
        (r#""steps":[{"no":"1"}]"#, [false, false]),
        (r#""steps":[{"no":1,"parts":[""]}]"#, [false, false]),
        (r#""weight":"2""#, [false, false]),
    ] {
        let event = task(fields);
        for (allows_external, is_known) in [true, false].into_iter().zip(is_known) {
            let (known, valid) = fits(&mut runner(PLAN, SPEC, allows_external), &event);
            assert_eq!(known, is_known, "{fields} {allows_external}");
            assert!(valid || !known, "{fields} {allows_external}");
        }
    }
}

/// Where edges have wrong constant text, no result with one is known to fit, and one without still is.
#[test]
fn an_edge_of_a_wrong_form_is_left_to_the_validator() {
    let with = task(r#""steps":[{"no":1,"parts":["a"]}],"within":"t""#);
    let without = task(r#""steps":[{"no":1,"skipped":true}]"#);
    for (is, other) in [
        (r#""name": "HAS""#, r#""name": "HAD""#),
        (r#""to_columns": ["name"]"#, r#""to_columns": ["name", "size"]"#),
        (r#""to_entity": "Part""#, r#""to_entity": "Owner""#),
        (r#""from_entity": "Step""#, r#""from_entity": "Task""#),
    ] {
        let spec = SPEC.replace(is, other);
        assert_ne!(spec, SPEC);
        let Ok(_) = GraphSpec::parse(&spec, "spec.json") else { continue };
        let mut runner = runner(PLAN, &spec, true);
        assert_eq!(fits(&mut runner, &with), (false, false), "{other}");
        assert_eq!(fits(&mut runner, &without), (true, true), "{other}");
    }
}

/// Values lie in the same places of the rows of both lists.
#[test]
fn a_row_of_another_list_has_no_node() {
    let plan = r#"{
        "event_type": "task", "function_name": "tasks", "session_id_path": ["session"],
        "nodes": [
            {"entity_name": "Task", "key_fields": [{"property_name": "id", "source_path": ["id"]}]},
            {"entity_name": "Part", "for_each": {"array": ["has"]},
             "key_fields": [{"property_name": "name", "source_path": ["name"]}]}],
        "edges": [{"relationship_name": "NEEDS", "for_each": {"array": ["needs"]}, "from": "Task",
            "to": {"entity_name": "Part", "key_fields": [{"property_name": "name", "source_path": ["name"]}]}}]}"#;
    let spec = SPEC.replace(r#""relationships": ["#, r#""relationships": [
        {"name": "NEEDS", "from_entity": "Task", "to_entity": "Part", "from_columns": ["id"], "to_columns": ["name"]},"#);
    let mut runner = runner(plan, &spec, false);
    let has = r#""has":[{"name":"a"},{"name":"b"}]"#;
    for (needs, is_known) in [("b", true), ("c", false)] {
        let event = task(&format!(r#"{has},"needs":[{{"name":"{needs}"}}]"#));
        assert_eq!(fits(&mut runner, &event), (is_known, is_known), "{needs}");
    }
}

/// The validator would take a part of the first key's value for the second key.
#[test]
fn names_that_split_an_id_are_left_to_the_validator() {
    let plan = r#"{
        "event_type": "task", "function_name": "tasks", "session_id_path": ["session"],
        "nodes": [{"entity_name": "E", "key_fields": [
            {"property_name": "a", "source_path": ["a"]}, {"property_name": "id", "source_path": ["b"]}]}]}"#;
    let spec = |name: &str| {
        json!({"entities": [{"name": "E", "key_columns": ["a", "id"], "properties": [
            {"column": "a", "logical_name": "a", "sdk_type": "string"},
            {"column": "id", "logical_name": name, "sdk_type": "string"}]}]})
    };
    for (name, value, is_known, is_valid) in [
        ("no", "foo,a=q,x", true, true),
        ("x,id", "foo", false, true),
        ("x,id", "foo,a=q,x", false, false),
        ("a=\u{f8ff}8\u{f8ff},id", "foo", false, true),
    ] {
        let event = task(&format!(r#""a":"{value}","b":"1""#));
        let mut runner = runner(plan, &spec(name).to_string(), false);
        assert_eq!(fits(&mut runner, &event), (is_known, is_valid), "{name} {value}");
    }
}

/// One of each id is kept, however many there are.
#[test]
fn an_edge_to_many_equal_nodes_is_known() {
    let steps = vec![json!({"no": 1, "after": 1}); 8_000];
    let event = task(&format!(r#""steps":{}"#, Value::from(steps)));
    assert_eq!(fits(&mut runner(PLAN, SPEC, false), &event), (true, true));
}

/// A value that may break an id into other parts, or be that of another row.
fn text() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => "[ab]".prop_map(Value::from),
        2 => prop::sample::select(vec![
            "", ":", ",", "=", "\\", "\"", "é", "\u{1}", "s:Owner:owner=a", ":Owner:", ",owner=", "a,owner=b", ",no=1",
            ":Task:id=t", ":Step:task=a,no=1", "a:Part:name=b", "Owner", "1",
        ])
        .prop_map(Value::from),
        1 => prop::sample::select(vec![
            json!(null), json!(true), json!(1), json!(-0.0), json!(2.5), json!([1]), json!({"a": 1}),
        ]),
    ]
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![6 => (0..4_i64).prop_map(Value::from), 1 => text()]
}

fn step() -> impl Strategy<Value = Value> {
    let since = prop::option::of(prop::sample::select(vec!["2024-02-29", "2023-02-29"]));
    let parts = prop::collection::vec(text(), 0..3);
    let after = prop::option::of(number());
    let (skipped, had) = (prop::bool::weighted(0.2), prop::bool::weighted(0.2));
    (number(), after, skipped, had, since, parts).prop_map(
        |(no, after, skipped, had, since, parts)| json!({"no": no, "after": after, "skipped": skipped, "had": had, "since": since, "parts": parts}),
    )
}

fn event() -> impl Strategy<Value = Value> {
    let steps = prop::collection::vec(step(), 0..5);
    let (owner, within) = (prop::option::of(text()), prop::option::of(text()));
    (text(), text(), owner, within, steps).prop_map(|(session, id, owner, within, steps)| {
        json!({"event_type": "task", "session": session, "id": id, "owner": owner, "within": within, "steps": steps})
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn what_is_known_to_fit_is_valid(events in prop::collection::vec(event(), 128)) {
        for allows_external in [false, true] {
            let mut runner = runner(PLAN, SPEC, allows_external);
            for event in &events {
                let (known, valid) = fits(&mut runner, &event.to_string());
                prop_assert!(valid || !known, "{}", event);
            }
        }
    }
}
