//! What extractors read and write.

#![allow(clippy::unwrap_used, reason = "a test that can't go on should say where")]

use std::collections::BTreeMap;

use retort_guest::mock::{self, MockResult};
use retort_guest::prelude::*;

extractor! {
    function: try_it,
    event_types: ["a"],
    inputs: { session: ["s"], x: ["x"], when: when r#"{"path": ["x"], "exists": true}"# },
    rows: {
        lines: each ["lines"] { no: ["no"], x: event ["x"] },
        tags: each entries ["tags"] within lines { no: parent ["no"], key: ["key"], value: ["value"] },
    },
}

thread_local! {
    static CHECK: std::cell::Cell<fn(&Event<'_>, &mut Graph)> = const { std::cell::Cell::new(|_, _| {}) };
}

fn try_it(event: &Event<'_>, graph: &mut Graph) {
    CHECK.get()(event, graph);
}

/// Runs this over an event.
fn with(event: &str, check: fn(&Event<'_>, &mut Graph)) -> MockResult {
    CHECK.set(check);
    mock::event::<Extractor>(event).set("when", "true").run()
}

#[test]
fn strings_are_read_without_their_escapes() {
    with(r#"{"x": "a\u00e9\n\"\ud83d\ude00\/"}"#, |event, _| {
        assert_eq!(event.x.str().as_deref(), Some("aé\n\"😀/"));
        assert_eq!(event.x, "aé\n\"😀/");
        assert_eq!(event.x.i64(), None);
    });
    with(r#"{"x": "plain"}"#, |event, _| {
        assert!(matches!(event.x.str(), Some(Cow::Borrowed("plain"))));
    });
}

#[test]
fn numbers_are_read_exactly() {
    with(
        r#"{"x": [1, 1.0, 1e3, 1.5, 9223372036854775807, 18446744073709551615, -0, 1e400]}"#,
        |event, _| {
            let numbers: Vec<_> =
                event.x.items().map(|it| (it.i64(), it.u64(), it.f64())).collect();
            assert_eq!(
                numbers,
                [
                    (Some(1), Some(1), Some(1.0)),
                    (Some(1), Some(1), Some(1.0)),
                    (Some(1000), Some(1000), Some(1000.0)),
                    (None, None, Some(1.5)),
                    (Some(i64::MAX), Some(i64::MAX as u64), Some(i64::MAX as f64)),
                    (None, Some(u64::MAX), Some(u64::MAX as f64)),
                    (Some(0), None, Some(-0.0)),
                    (None, None, None),
                ]
            );
        },
    );
}

record! {
    #[derive(Debug, PartialEq)]
    struct Step { name: String, started_at as "startedAt": Option<i64>, tags: Vec<Tag> }

    #[derive(Debug, PartialEq)]
    struct Tag { k: char_or::Char }
}

mod char_or {
    use super::*;
    #[derive(Debug, PartialEq)]
    pub(super) struct Char(pub(super) char);
    impl FromJson for Char {
        fn from_json(reader: &mut retort_guest::Reader<'_>) -> Result<Self, JsonError> {
            let text = reader.string()?;
            text.chars().next().map(Self).ok_or_else(|| reader.expected("a character"))
        }
    }
}

#[test]
fn values_are_parsed_into_types() {
    with(
        r#"{"x": {"name": "a", "other": [{}], "startedAt": null, "name": "b", "tags": [{"k": "z"}]}}"#,
        |event, _| {
            let step: Step = event.x.parse().unwrap();
            assert_eq!(
                step,
                Step {
                    name: "b".into(),
                    started_at: None,
                    tags: vec![Tag { k: char_or::Char('z') }]
                }
            );
            let error = event.x.parse::<Vec<i64>>().unwrap_err();
            assert_eq!(error.to_string(), "expected an array at byte 0, found an object");
            assert_eq!(event.x.get("name"), "b");
            assert_eq!(event.x.get("tags").at(0).get("k"), "z");
            assert!(event.x.get("no").is_absent() && event.x.at(0).is_absent());
            let tree = event.x.json();
            assert_eq!(tree["tags"][0]["k"].str(), Some("z"));
            assert!(tree["no"][7].is_null());
        },
    );
    with("{}", |event, _| {
        assert_eq!(event.x.parse::<Option<i64>>(), Ok(None));
        assert_eq!(event.x.parse::<i64>().unwrap_err().to_string(), "expected a value, found none");
    });
    with(r#"{"x": {"name": "a"}}"#, |event, _| {
        let error = event.x.parse::<Step>().unwrap_err().to_string();
        assert_eq!(error, "expected an object with the key \"tags\" at byte 0, found an object");
    });
    with(r#"{"x": [[1, "a", true], {"a": 1.5}, 300]}"#, |event, _| {
        type Tuple = ((u8, String, bool), BTreeMap<String, f64>, i64);
        assert_eq!(event.x.parse::<Tuple>().unwrap().1["a"], 1.5);
        let error = event.x.parse::<((u8, String), Json, i64)>().unwrap_err().to_string();
        assert_eq!(error, "expected an array of two elements at byte 10, found a boolean");
        let error = event.x.parse::<(Json, Json, u8)>().unwrap_err().to_string();
        assert!(error.starts_with("expected a whole number that fits u8 at byte "), "{error}");
    });
}

#[test]
fn json_is_read_strictly_and_to_a_depth() {
    for text in [
        "",
        "nul",
        "01",
        "1.",
        "-",
        "1e",
        "\"",
        "\"\\x\"",
        "\"\\ud800\"",
        "\"\n\"",
        "[1,]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":1,}",
        "[",
        "{",
        "1 1",
        "\"\\u12\"",
        "\"\\ud800\\u0041\"",
        "tru e",
        "+1",
        ".5",
    ] {
        assert!(Json::parse(text).is_err(), "{text}");
    }
    for text in ["0", "-0.5e+7", " [ ] ", "{\"\":{}}", "\"\\ud83d\\ude00\"", "true"] {
        assert!(Json::parse(text).is_ok(), "{text}");
    }
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(Json::parse(&nested(128)).is_ok());
    assert!(Json::parse(&nested(129)).is_err());
}

#[test]
fn rows_lie_beside_those_around_them() {
    let event =
        r#"{"x": "e", "lines": [{"no": 1, "tags": {"a": 1, "b": null, "a": 2}}, {"no": 2}, 3]}"#;
    with(event, |event, _| {
        let lines: Vec<_> = event.lines().map(|line| (line.no.i64(), line.x == "e")).collect();
        assert_eq!(lines, [(Some(1), true), (Some(2), true), (None, true)]);
        assert_eq!(event.lines().len(), 3);
        assert_eq!(event.lines().nth(1).and_then(|line| line.no.i64()), Some(2));
        assert!(event.lines().nth(3).is_none());
        let tags: Vec<String> = event
            .tags()
            .map(|tag: rows::tags<'_>| format!("{:?} {:?} {:?}", tag.no, tag.key, tag.value))
            .collect();
        assert_eq!(tags, [r#"1 "a" 2"#, r#"1 "b" null"#]);
    });
}

#[test]
fn a_graph_is_well_formed_whatever_is_done_with_it() {
    let result = with(r#"{"s": "s\"1", "x": {"deep": [null, "\u00e9"]}}"#, |event, graph| {
        graph.session(event.session);
        let customer =
            graph.node("Customer").key("id", "c\\1").key("no", 7_u8).reference().unwrap();
        // Begun and thrown away, in all ways.
        let _ = graph.node("Never").key("id", 1);
        let _ = graph.node("Never").label("x");
        assert!(graph.node("Never").add().is_none());
        assert!(graph.node("Never").key("id", event.x).add().is_none());
        assert!(graph.node("Never").key("id", None::<&str>).key("b", 1).reference().is_none());
        let mut node =
            graph.node("Order").label("Gift \"").key("id", "a\nb").key("id", 8).add().unwrap();
        node.set("n", 1).set("absent", event.when.get("x")).set("x", event.x).set("n", 2.5);
        node.set("id", "not the key").set("nan", f64::NAN).set("null", Null).set("m", -5_i64);
        node.set("list", vec![Some("a"), None]).set("map", BTreeMap::from([("k", 1), ("\"", 2)]));
        node.set("n", None::<i64>)
            .set("keep", event.x.at(9).keep_null())
            .set("tree", event.x.json());
        node.set("c", 'é').set("m", true);
        let order = node.id();
        graph.edge("PLACED\"BY", order, customer).set("a", 1).set("b", 2).set("a", 3);
        assert!(graph.edge_with_id(event.x, "NO", order, customer).is_none());
        graph.edge_with_id("e", "E", customer, order).unwrap();
        graph.fully_handled("p\"1");
        graph.fully_handled("");
        graph.fully_handled(event.x);
        graph.partially_handled(3);
        graph.partially_handled(4);
    });
    assert_eq!(
        result.json,
        concat!(
            r#"{"nodes":[{"node_id":"s\"1:Order:id=a\nb,id=8","entity_name":"Order","labels":["Order","Gift \""],"#,
            r#""properties":[{"name":"id","value":"a\nb"},{"name":"x","value":{"deep": [null, "\u00e9"]}},"#,
            r#"{"name":"n","value":2.5},{"name":"null","value":null},{"name":"list","value":["a",null]},"#,
            r#"{"name":"map","value":{"\"":2,"k":1}},{"name":"tree","value":{"deep":[null,"é"]}},"#,
            r#"{"name":"c","value":"é"},{"name":"m","value":true}]}],"#,
            r#""edges":[{"edge_id":"s\"1:Order:id=a\nb,id=8:PLACED\"BY:s\"1:Customer:id=c\\1,no=7","#,
            r#""relationship_name":"PLACED\"BY","from_node_id":"s\"1:Order:id=a\nb,id=8","#,
            r#""to_node_id":"s\"1:Customer:id=c\\1,no=7","properties":[{"name":"b","value":2},{"name":"a","value":3}]},"#,
            r#"{"edge_id":"e","relationship_name":"E","from_node_id":"s\"1:Customer:id=c\\1,no=7","#,
            r#""to_node_id":"s\"1:Order:id=a\nb,id=8","properties":[]}],"#,
            r#""fully_handled_span_ids":["p\"1"],"partially_handled_span_ids":["3","4"]}"#,
        )
    );
}

#[test]
fn of_the_same_name_the_last_property_counts_but_for_keys() {
    let result = with("{}", |_, graph| {
        let mut node = graph.node("A").key("a1", 1).key("a2", 2).key("a1", 3).add().unwrap();
        node.set("a2", "key");
        let names: Vec<String> = (0..40).map(|number| format!("name {number}")).collect();
        // Values with all that could be taken for the end of a property, and names that are longer than most.
        let long = "long \"},{\"name\":\" ".repeat(10);
        for round in 0..3 {
            for name in &names {
                node.set(name, vec![long.as_str(), "\\"]).set(name, round);
            }
            node.set(&long, round);
        }
        let node = node.id();
        let mut edge = graph.edge("E", node, node);
        edge.set("n", 1).set("n", BTreeMap::from([("}", 1)])).set("n", None::<&str>).set("n", 2);
    });
    let node = result.node("A");
    assert_eq!(node.id, ":A:a1=1,a2=2,a1=3");
    assert_eq!(node.properties.len(), 2 + 40 + 1);
    assert_eq!(node.property("a2").i64(), Some(2));
    assert!((0..40).all(|it| node.property(&format!("name {it}")).i64() == Some(2)));
    assert_eq!(result.edges[0].properties.len(), 1);
}

#[test]
fn a_property_that_nests_too_deep_ends_the_call() {
    fn nested(levels: usize) -> String {
        format!("{{\"x\": {}1{}}}", "[".repeat(levels), "]".repeat(levels))
    }
    fn set(event: &Event<'_>, graph: &mut Graph) {
        let mut node = graph.node("A").key("a", 1).add().unwrap();
        node.set("tree", BTreeMap::from([("a", vec![event.x.json()])]));
        node.set("value", [[event.x]]);
    }
    assert!(with(&nested(120), set).json.contains("[[1]]"));
    let ended = std::panic::catch_unwind(|| with(&nested(121), set)).unwrap_err();
    let message = ended.downcast_ref::<String>().unwrap();
    assert_eq!(message, "a property nests more than 122 levels, and a result has no room for that");
    let ended = std::panic::catch_unwind(|| {
        with(&nested(121), |event, graph| {
            graph.node("A").key("a", 1).add().unwrap().set("value", [[event.x]]);
        })
    });
    assert!(ended.is_err());
}

#[test]
fn an_event_without_nodes_and_edges_is_declined() {
    let result = with("{}", |_, graph| graph.fully_handled("p"));
    assert!(result.is_empty());
}

#[test]
fn a_mock_says_what_it_cannot_work_out() {
    let panic = std::panic::catch_unwind(|| mock::event::<Extractor>("{}").run()).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(message.contains("only the host can work out `when`"), "{message}");
}

#[test]
fn whatever_the_block_holds_is_read_without_a_panic() {
    use retort_guest::__private::{Block, Extractor as _};
    CHECK.set(|event, graph| {
        for line in event.lines().take(20) {
            let _ = graph.node("A").key("x", line.x).add();
        }
        for value in [event.x, event.session] {
            let _ = (
                value.str(),
                value.json(),
                value.i64(),
                value.get("a"),
                value.at(1),
                value.is_true(),
            );
        }
    });
    let good = mock::event::<Extractor>(r#"{"s": "a", "x": {"a": [1]}, "lines": [{"no": 1}, {}]}"#);
    let good = good.set("when", "true").block();
    for at in 0..good.len() {
        let _ = Extractor::call(Block::new(&good[..at]));
        for flip in [1, 0x80, 0xff] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            let _ = Extractor::call(Block::new(&bad));
        }
    }
}
