//! The first of several paths, by itself and as a part of another value: the one is taken as it is, the other evaluated.

use proptest::prelude::*;
use retort::internal::{
    block::BlockWriter,
    event::{Projection, Projector},
    section::Section,
};
use serde_json::{Value, json};

/// Values by which it is decided, as an event writes them.
const VALUES: &[&str] = &[
    "null",
    r#""""#,
    r#""plain""#,
    r#""\u00e9\"\/""#,
    "-0.50e+1",
    "true",
    r#"{"b" : [1]}"#,
    "[ ]",
];

/// What is made of an event: the block, and the fuel.
fn made(value: &Value, empty: &str, event: &str) -> (Vec<u8>, u64) {
    let section = json!({
        "abi": 1, "function": "f", "event_types": ["e"], "empty": empty, "inputs": [value],
    });
    let section = Section::parse(section.to_string().as_bytes()).expect("a section");
    let projector = Projector::of(&section);
    let mut projection = Projection::default();
    projector.project(event.as_bytes(), &mut projection).expect("an event");
    let mut writer = BlockWriter::default();
    let block = writer.write(&projector, event.as_bytes(), &projection, usize::MAX);
    (block.expect("a block").to_vec(), writer.spent().fuel)
}

proptest! {
    #[test]
    fn the_first_of_several_paths_is_the_same_as_a_part_of_another_value(
        members in prop::collection::vec(prop::option::of(prop::sample::select(VALUES)), 3),
        constant in prop::option::of(prop::sample::select(&["é\"", "", "x"][..])),
        empty in prop::sample::select(&["value", "absent"][..]),
    ) {
        let written = ["a", "b", "c"].into_iter().zip(&members);
        let written = written.filter_map(|(key, value)| Some(format!("\"{key}\":{}", (*value)?)));
        let event = format!("{{{}}}", written.collect::<Vec<_>>().join(","));
        let paths = ["a", "b", "c"].map(|key| json!({"path": [key]}));
        let constant = constant.map(|constant| json!({"constant": constant}));
        let values: Vec<Value> = paths.into_iter().chain(constant).collect();
        let alone = json!({"coalesce": values});
        let part = json!({"coalesce": [alone]});
        prop_assert_eq!(made(&alone, empty, &event), made(&part, empty, &event), "{}", event);
    }
}
