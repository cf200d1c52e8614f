//! The scanner against `serde_json` and against the JSON test suite.

use proptest::prelude::*;
use retort::abi::block::{BlockWriter, SlotKind};
use retort::abi::event::{MAX_DEPTH, Projection, Projector, validate};
use retort::abi::section::Input;
use serde_json::Value;

use crate::support::shared;

mod rows;

/// Events of our own that hold everything the mutations should meet.
pub(crate) const OWN: &[&str] = &[
    r#"{"event_type":"a","content":{"id":"d\u00e9\ud83d\ude42","n":-0.5e+10,"list":[1,[2,{"k":null}],[]],"t":true},"x":{}}"#,
    r#" { "a" : { "b" : { "c" : 1 } , "b" : 5 } , "\u0061" : { "b" : "last" } , "e\"sc" : "\\" } "#,
    r#"{"long":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\naaaaaaaaaaaaaaaaaaaaaa","z":[{"":0},{" ":"été"}],"max":1.7976931348623157e308}"#,
];

/// Lines of a corpus, the first `count` of up to 20 KB.
fn corpus(path: &str, count: usize) -> Vec<String> {
    let Some(path) = shared(path) else { return Vec::new() };
    let text = std::fs::read_to_string(path).expect("the corpus is readable");
    let lines = text.lines().filter(|line| line.len() < 20_000);
    lines.take(count).map(str::to_owned).collect()
}

fn events() -> Vec<String> {
    let mut events: Vec<String> = OWN.iter().map(|event| (*event).to_owned()).collect();
    for path in [
        "corpora/github_webhooks/events.ndjson",
        "corpora/security_logs/aws_cloudtrail.ndjson",
        "corpora/agent_telemetry/seeded_decision.ndjson",
    ] {
        events.extend(corpus(path, 40));
    }
    events
}

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
enum Mutation {
    Set(usize, u8),
    Insert(usize, usize),
    Delete(usize, usize),
    Repeat(usize, usize),
    Truncate(usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let any_offset = any::<usize>;
    prop_oneof![
        (any_offset(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set(at, byte)),
        (any_offset(), 0..TOKENS.len()).prop_map(|(at, token)| Mutation::Insert(at, token)),
        (any_offset(), 1..12usize).prop_map(|(at, len)| Mutation::Delete(at, len)),
        (any_offset(), 1..60usize).prop_map(|(at, len)| Mutation::Repeat(at, len)),
        any_offset().prop_map(Mutation::Truncate),
    ]
}

fn mutate(event: &str, mutations: &[Mutation]) -> Vec<u8> {
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

#[test]
fn real_events_have_the_values_that_serde_json_reads() {
    for event in events() {
        let value: Value = serde_json::from_str(&event).expect("events are JSON");
        same_values(event.as_bytes(), &value).expect("same values");
    }
}

#[test]
fn mutated_events_have_the_same_verdict_and_the_same_values() {
    let events = events();
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

#[test]
fn every_file_of_the_json_test_suite_has_its_verdict() {
    let Some(folder) = shared("corpora/jsontestsuite/test_parsing") else { return };
    let mut seen = [0; 3];
    for entry in std::fs::read_dir(folder).expect("the suite is readable") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read(&path).expect("a file");
        let verdict = validate(&text);
        match &name[..2] {
            "y_" => {
                assert_eq!(verdict, Ok(()), "{name}");
                seen[0] += 1;
            }
            "n_" => {
                assert!(verdict.is_err(), "{name}");
                seen[1] += 1;
            }
            _ => {
                // What the module's documentation states, as this list: all others of the suite are refused.
                const ACCEPTED: &[&str] = &[
                    "i_number_double_huge_neg_exp.json",
                    "i_number_real_underflow.json",
                    "i_number_too_big_neg_int.json",
                    "i_number_too_big_pos_int.json",
                    "i_number_very_big_negative_int.json",
                ];
                assert_eq!(
                    verdict.is_ok(),
                    ACCEPTED.contains(&name.as_str()),
                    "{name}: {verdict:?}"
                );
                let value = serde_json::from_slice::<Value>(&text);
                assert_eq!(verdict.is_ok(), value.is_ok(), "{name}: {value:?}");
                seen[2] += 1;
            }
        }
    }
    assert_eq!(seen, [95, 188, 35]);
}
