//! The scanner against `serde_json`. Real events and the JSON test suite are in `cases/event.rs`.

mod columns;
mod first;
mod rows;
mod values;

use retort::internal::{
    block::SlotKind,
    event::{Projection, Projector},
    section::Input,
};
use retort::sandbox::MAX_DEPTH;

pub(crate) use self::values::same_values;

/// Events of our own that hold everything the mutations should meet.
pub(crate) const OWN: &[&str] = &[
    r#"{"event_type":"a","content":{"id":"d\u00e9\ud83d\ude42","n":-0.5e+10,"list":[1,[2,{"k":null}],[]],"t":true},"x":{}}"#,
    r#" { "a" : { "b" : { "c" : 1 } , "b" : 5 } , "\u0061" : { "b" : "last" } , "e\"sc" : "\\" } "#,
    r#"{"long":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\naaaaaaaaaaaaaaaaaaaaaa","z":[{"":0},{" ":"été"}],"max":1.7976931348623157e308}"#,
];

fn events() -> Vec<String> {
    OWN.iter().map(|event| (*event).to_owned()).collect()
}

#[test]
fn events_have_the_values_that_serde_json_reads() {
    values::events_have_the_values_that_serde_json_reads(&events());
}

#[test]
fn rows_are_what_serde_json_reads() {
    columns::rows_are_what_serde_json_reads(&events());
}

#[test]
fn mutated_events_have_the_same_verdict_and_the_same_values() {
    values::mutated_events_have_the_same_verdict_and_the_same_values(&events());
}

#[test]
fn the_last_of_duplicate_keys_wins_at_every_level() {
    let inputs = [vec!["b"], vec!["b", "c"]]
        .map(|path| Input::json(&path.into_iter().map(str::to_owned).collect::<Vec<_>>()));
    let projector = Projector::new(&inputs);
    let mut projection = Projection::default();
    for (event, b, c) in [
        (r#"{"b":{"c":1},"b":5}"#, "5", None),
        (r#"{"b":{"c":1},"b":{}}"#, "{}", None),
        (r#"{"b":{"c":1},"b":{"c":3}}"#, r#"{"c":3}"#, Some("3")),
        (r#"{"b":5,"b":{"c":1,"\u0063":2}}"#, r#"{"c":1,"\u0063":2}"#, Some("2")),
    ] {
        projector.project(event.as_bytes(), &mut projection).expect("valid");
        let text = |index| {
            let slot = projector.slot(&projection, index);
            (slot.kind != SlotKind::Absent).then(|| &event[slot.start as usize..slot.end as usize])
        };
        assert_eq!((text(0), text(1)), (Some(b), c), "{event}");
    }
}

#[test]
fn a_key_repeated_a_million_times_costs_no_more_than_other_keys() {
    // 1024 inputs below one key that occurs half a million times: clearing them at each would move 8 GiB.
    let input = |index: usize| Input::json(&["a".to_owned(), format!("k{index}")]);
    let inputs: Vec<Input> = (0..1024).map(input).collect();
    let projector = Projector::new(&inputs);
    let mut projection = Projection::default();
    let mut event = String::from("{");
    for _ in 0..250_000 {
        event.push_str(r#""a":{"k7":1},"a":1,"#);
    }
    event.push_str(r#""a":{"k9":2}}"#);
    projector.project(event.as_bytes(), &mut projection).expect("valid");
    assert_eq!(projector.slot(&projection, 7).kind, SlotKind::Absent);
    assert_eq!(projector.slot(&projection, 9).kind, SlotKind::Number);
}

#[test]
fn a_path_deeper_than_any_event_is_absent() {
    let deep = Input::json(&vec!["a".to_owned(); MAX_DEPTH + 1]);
    let projector = Projector::new(&[deep]);
    let mut projection = Projection::default();
    projector.project(br#"{"a":{"a":1}}"#, &mut projection).expect("valid");
    assert_eq!(projector.slot(&projection, 0).kind, SlotKind::Absent);
}
