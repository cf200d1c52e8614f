//! The scanner against `serde_json`.

use proptest::prelude::*;
use retort::internal::{
    block::{BlockWriter, SlotKind},
    event::{Projection, Projector, validate},
    section::Input,
};
use serde_json::Value;

/// Tokens that turn one text into another that is nearly JSON.
const TOKENS: &[&[u8]] = &[
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"1e999",
    b"-",
    b"0",
    b".5",
    b"e9",
    b"\\ud800",
    b"\\udc00",
    b"\\u00",
    b"\xff",
    b"\xc3\xa9",
    b"\0",
    b"\x1f",
    b" ",
    b"\n",
    b"\xed\xa0\x80",
    b"tru",
    b"\"a\":1,",
    b"{\"b\":{\"c\":2}}",
];

#[derive(Clone, Debug)]
pub(crate) enum Mutation {
    Set(usize, u8),
    Insert(usize, usize),
    Delete(usize, usize),
    Repeat(usize, usize),
    Truncate(usize),
}

pub(crate) fn mutation() -> impl Strategy<Value = Mutation> {
    let any_offset = any::<usize>;
    prop_oneof![
        (any_offset(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set(at, byte)),
        (any_offset(), 0..TOKENS.len()).prop_map(|(at, token)| Mutation::Insert(at, token)),
        (any_offset(), 1..12usize).prop_map(|(at, len)| Mutation::Delete(at, len)),
        (any_offset(), 1..60usize).prop_map(|(at, len)| Mutation::Repeat(at, len)),
        any_offset().prop_map(Mutation::Truncate),
    ]
}

pub(crate) fn mutate(event: &str, mutations: &[Mutation]) -> Vec<u8> {
    let mut text = event.as_bytes().to_vec();
    for mutation in mutations {
        let size = text.len().max(1);
        let range = |at: usize, len: usize| (at % size)..(at % size + len).min(text.len());
        match *mutation {
            Mutation::Set(at, byte) => {
                if let Some(place) = text.get_mut(at % size) {
                    *place = byte;
                }
            }
            Mutation::Insert(at, token) => {
                let at = at % size;
                text.splice(at..at, TOKENS[token].iter().copied());
            }
            Mutation::Delete(at, len) => drop(text.drain(range(at, len))),
            Mutation::Repeat(at, len) => {
                let range = range(at, len);
                let (end, copy) = (range.end, text[range].to_vec());
                text.splice(end..end, copy);
            }
            Mutation::Truncate(at) => text.truncate(at % size),
        }
        if text.is_empty() {
            break;
        }
    }
    text
}

/// A key that is asked for below every value, and that events have only by chance.
const SELDOM: &str = "no such key";

/// Every path of `value` through objects, with the value there.
fn paths<'a>(
    value: &'a Value,
    prefix: &mut Vec<String>,
    found: &mut Vec<(Vec<String>, &'a Value)>,
) {
    if let Value::Object(members) = value {
        for (key, member) in members {
            prefix.push(key.clone());
            found.push((prefix.clone(), member));
            paths(member, prefix, found);
            prefix.pop();
        }
    }
}

/// Projects paths of `event` that occur and paths that don't, and compares with what `serde_json` reads.
pub(crate) fn same_values(event: &[u8], value: &Value) -> Result<(), TestCaseError> {
    let mut found = vec![(Vec::new(), value)];
    paths(value, &mut Vec::new(), &mut found);
    let mut inputs: Vec<Input> = Vec::new();
    for (path, _) in &found {
        let mut below = path.clone();
        below.push(SELDOM.to_owned());
        for path in [path.clone(), below] {
            inputs.push(Input::json(&path));
        }
    }
    let projector = Projector::new(&inputs);
    let mut projection = Projection::default();
    projector
        .project(event, &mut projection)
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    let mut writer = BlockWriter::default();
    let block = writer
        .write(&projector, event, &projection, usize::MAX)
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    for (index, (path, expected)) in found.iter().enumerate() {
        let record = |field: usize| {
            let at = 8 + 24 * index + 4 * field;
            u32::from_le_bytes(block[at..at + 4].try_into().expect("four bytes")) as usize
        };
        let text = &block[record(1)..record(1) + record(2)];
        let read: Value = serde_json::from_slice(text)
            .map_err(|error| TestCaseError::fail(format!("{path:?}: {error}")))?;
        prop_assert_eq!(&read, *expected, "at {:?}", path);
        if let Value::String(_) = expected {
            let canonical = serde_json::to_vec(expected).expect("a string");
            prop_assert_eq!(text, canonical, "canonical at {:?}", path);
        }
        let below = projector.slot(&projection, 2 * index + 1).kind;
        prop_assert_eq!(
            below == SlotKind::Absent,
            expected.get(SELDOM).is_none(),
            "below {:?}",
            path
        );
    }
    Ok(())
}

/// These events have the values that `serde_json` reads.
pub(crate) fn events_have_the_values_that_serde_json_reads(events: &[String]) {
    for event in events {
        let value: Value = serde_json::from_str(event).expect("events are JSON");
        same_values(event.as_bytes(), &value).expect("same values");
    }
}

/// Whatever is changed in one of these events, it has the verdict and the values that `serde_json` gives it.
pub(crate) fn mutated_events_have_the_same_verdict_and_the_same_values(events: &[String]) {
    let config =
        ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() };
    let cases = (0..events.len(), proptest::collection::vec(mutation(), 1..4));
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let outcome = runner.run(&cases, |(index, mutations)| {
        let text = mutate(&events[index], &mutations);
        let expected = serde_json::from_slice::<Value>(&text);
        let verdict = validate(&text);
        prop_assert_eq!(
            verdict.is_ok(),
            expected.is_ok(),
            "{:?} and {:?} on {}",
            verdict,
            expected,
            String::from_utf8_lossy(&text)
        );
        match expected {
            Ok(value) if value.is_object() => same_values(&text, &value),
            _ => {
                let refused = Projector::new(&[]).project(&text, &mut Projection::default());
                prop_assert!(refused.is_err());
                Ok(())
            }
        }
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
