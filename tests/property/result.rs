//! The check of results against what serde makes of the same text.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use retort::Coded;
use retort::graph::Extraction;
use retort::internal::result;
use serde_json::Value;
use serde_json::value::RawValue;

use super::config;

/// A result that uses all of the shape.
pub(crate) const RESULT: &str = r#"{"nodes": [{"node_id":"s:E:k=1","entity_name":"E","labels":["E","F"],
    "properties":[{"name":"k","value":-1.5e3},{"name":"v","value":{"a":[1,null,{"b":"\u0041\n"}]}}]}],
  "edges":[{"edge_id":"x","relationship_name":"R","from_node_id":"a","to_node_id":"b","properties":[]}],
  "fully_handled_span_ids":["s"],"partially_handled_span_ids":["t","u"]}"#;

/// What is put into a result to break it, or to leave it whole.
const TOKENS: &[&str] = &[
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "true",
    "1e999",
    "-",
    "0",
    ".5",
    "\\ud800",
    "\u{e9}",
    "\0",
    " ",
    "\n",
    "\"x\"",
    "\"x\",",
    "\"nodes\":[],",
    "\"labels\":[],",
    "\"name\":\"n\",",
    "{\"name\":\"n\",\"value\":1},",
    "[[[[",
    "{}",
    "\\u006e",
    ",\"edges\":[]",
];

#[derive(Clone, Debug)]
enum Edit {
    Insert(Index, &'static str),
    Delete(Index, usize),
    /// Puts a token of the text in the place of another.
    Replace(Index, Index),
    Swap(Index, Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<Index>(), select(TOKENS)).prop_map(|(at, token)| Edit::Insert(at, token)),
        (any::<Index>(), 1..4usize).prop_map(|(at, count)| Edit::Delete(at, count)),
        (any::<Index>(), any::<Index>()).prop_map(|(at, from)| Edit::Replace(at, from)),
        (any::<Index>(), any::<Index>()).prop_map(|(one, other)| Edit::Swap(one, other)),
    ]
}

/// The tokens of a JSON text, strings whole: edits of tokens leave more of the shape than edits of bytes.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' {
            let mut escaped = false;
            let end = rest.char_indices().skip(1).find(|(_, c)| {
                let ends = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                ends
            });
            end.map_or(rest.len(), |(at, _)| at + 1)
        } else if first.is_ascii_alphanumeric() || first == '-' {
            rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c))
                .unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        tokens.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    tokens
}

fn edited(edits: &[Edit]) -> String {
    let mut tokens = tokens(RESULT);
    for edit in edits {
        if tokens.is_empty() {
            break;
        }
        let size = tokens.len();
        match edit {
            Edit::Insert(at, token) => tokens.insert(at.index(size + 1), (*token).to_owned()),
            Edit::Delete(at, count) => {
                let at = at.index(size);
                tokens.drain(at..(at + count).min(size));
            }
            Edit::Replace(at, from) => tokens[at.index(size)] = tokens[from.index(size)].clone(),
            Edit::Swap(one, other) => tokens.swap(one.index(size), other.index(size)),
        }
    }
    tokens.concat()
}

/// Whether a text is a result, by serde alone: keys are borrowed, so that an escaped one is none.
fn is_result(text: &str) -> bool {
    // What is looked into below is looked into as raw text, so the whole has to be JSON first.
    serde_json::from_str::<Value>(text).is_ok()
        && exact(text, &["nodes", "edges", "fully_handled_span_ids", "partially_handled_span_ids"])
            .is_some_and(|parts| {
                items(parts[0]).is_some_and(|nodes| nodes.into_iter().all(is_node))
                    && items(parts[1]).is_some_and(|edges| edges.into_iter().all(is_edge))
                    && are_strings(parts[2])
                    && are_strings(parts[3])
            })
}

fn is_node(text: &str) -> bool {
    exact(text, &["node_id", "entity_name", "labels", "properties"]).is_some_and(|parts| {
        is_string(parts[0])
            && is_string(parts[1])
            && are_strings(parts[2])
            && are_properties(parts[3])
    })
}

fn is_edge(text: &str) -> bool {
    exact(text, &["edge_id", "relationship_name", "from_node_id", "to_node_id", "properties"])
        .is_some_and(|parts| {
            parts[..4].iter().all(|part| is_string(part)) && are_properties(parts[4])
        })
}

fn are_properties(text: &str) -> bool {
    items(text).is_some_and(|items| {
        items
            .into_iter()
            .all(|item| exact(item, &["name", "value"]).is_some_and(|parts| is_string(parts[0])))
    })
}

/// The values of an object with exactly these keys, in the order of `keys`.
fn exact<'a>(text: &'a str, keys: &[&str]) -> Option<Vec<&'a str>> {
    struct Members<'a>(Vec<(&'a str, &'a RawValue)>);
    impl<'de> serde::Deserialize<'de> for Members<'de> {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Members<'de>;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<Self::Value, A::Error> {
                    let mut members = Vec::new();
                    while let Some(member) = map.next_entry()? {
                        members.push(member);
                    }
                    Ok(Members(members))
                }
            }
            deserializer.deserialize_map(Visitor)
        }
    }
    let Members(members) = serde_json::from_str(text).ok()?;
    let by_key: BTreeMap<&str, &'a RawValue> = members.iter().copied().collect();
    if members.len() != keys.len() || by_key.len() != keys.len() {
        return None;
    }
    keys.iter().map(|key| by_key.get(key).map(|value| value.get())).collect()
}

fn items(text: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

fn is_string(text: &str) -> bool {
    serde_json::from_str::<String>(text).is_ok()
}

fn are_strings(text: &str) -> bool {
    serde_json::from_str::<Vec<String>>(text).is_ok()
}

/// Holds the check of a text to what serde makes of it.
pub(crate) fn agrees(text: &str) -> Result<(), TestCaseError> {
    let verdict = result::check(text.as_bytes());
    prop_assert_eq!(verdict.is_ok(), is_result(text), "{:?}: {}", verdict, text);
    match verdict {
        Ok(shape) => {
            let found: Extraction = serde_json::from_str(text).unwrap();
            prop_assert_eq!(
                (shape.nodes, shape.edges, shape.fully_handled, shape.partially_handled),
                (
                    found.nodes.len(),
                    found.edges.len(),
                    found.fully_handled_span_ids.len(),
                    found.partially_handled_span_ids.len()
                )
            );
        }
        Err(error) => {
            let is_json = serde_json::from_str::<Value>(text).is_ok();
            let expected = if is_json { "result_wrong_shape" } else { error.code() };
            prop_assert_eq!(error.code(), expected, "{}", text);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(16.0))]

    #[test]
    fn the_check_accepts_exactly_what_serde_does(edits in prop::collection::vec(edit(), 0..5)) {
        agrees(&edited(&edits))?;
    }

    #[test]
    fn the_check_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        prop_assert!(result::check(&bytes).is_err());
    }
}

#[test]
fn edits_leave_some_results_whole() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    assert!(is_result(RESULT));
    let mut whole = 0;
    for _ in 0..500 {
        let edits = prop::collection::vec(edit(), 1..4).new_tree(&mut runner).unwrap().current();
        let text = edited(&edits);
        whole += usize::from(text != RESULT && is_result(&text));
    }
    assert!(whole > 10, "{whole}");
}
