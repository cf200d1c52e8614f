//! What a declaration becomes.

#![allow(clippy::unwrap_used, reason = "a test that can't go on should say where")]

use retort_guest::__private::{Declaration, Extractor as _, Input, section, section_length};
use retort_guest::prelude::*;

mod everything {
    use super::*;

    extractor! {
        function: read_all,
        event_types: ["a", "b.*", "say \"hi\"\\\n"],
        on_duplicate: "reject",
        empty: "absent",
        time_zone: "Europe/Berlin",
        inputs: {
            session: ["session_id"],
            paid: truthy ["content", "paid"],
            test: when r#"{"path": ["a"], "equals": "}"}"# if paid,
            note: expression "a[?b == '\"'].c | [0]" if test,
            total: ["total"] as ["to_double", r#"{"split": {"separator": "/", "index": -1}}"#] or reject,
            either: json r#"{"coalesce": [{"path": ["a"]}, {"path": ["b"]}]}"# as ["trim",] if test unseen,
        },
        rows: {
            lines: each ["lines"] if test {
                sku: ["sku"],
                gift: truthy ["gift"],
                total: event ["total"],
                text: ["text"] as ["lower"] if gift,
                other: ["other"] if paid unseen,
            },
            tags: each entries ["tags"] within lines where r#"{"path": ["key"], "level": 2, "exists": true}"# unseen {
                line: parent ["sku"],
                event_id: parent2 ["id"],
                key: ["key"],
                all: [],
                made: expression "value.x",
            },
            firsts: each json r#"{"first_of": [["a"], ["b"]]}"# { x: ["x"] },
            found: each expression "a[*].b[]" { y: ["y"], },
        },
    }

    fn read_all(event: &Event<'_>, graph: &mut Graph) {
        let _ = (event.lines().len(), graph);
    }
}

#[test]
fn all_that_a_section_can_say_is_said() {
    const DECLARATION: Declaration = everything::Extractor::DECLARATION;
    const LENGTH: usize = section_length(&DECLARATION);
    static SECTION: [u8; LENGTH] = section(&DECLARATION);
    let expected = concat!(
        r#"{"abi":1,"function":"read_all","event_types":["a","b.*","say \"hi\"\\\u000a"],"inputs":["#,
        r#"{"path":["session_id"]},"#,
        r#"{"path":["content","paid"],"as":"truthy"},"#,
        r#"{"when":{"path": ["a"], "equals": "}"},"if":1},"#,
        r#"{"expression":{"text":"a[?b == '\"'].c | [0]"},"if":2},"#,
        r#"{"path":["total"],"as":["to_double",{"split": {"separator": "/", "index": -1}}],"on_error":"reject"},"#,
        r#"{"coalesce": [{"path": ["a"]}, {"path": ["b"]}],"as":["trim"],"if":2},"#,
        r#"{"path":["sku"],"level":1,"rows":0},"#,
        r#"{"path":["gift"],"level":1,"as":"truthy","rows":0},"#,
        r#"{"path":["total"],"rows":0},"#,
        r#"{"path":["text"],"level":1,"as":["lower"],"rows":0,"if":7},"#,
        r#"{"path":["other"],"level":1,"rows":0,"if":1},"#,
        r#"{"path":["sku"],"level":1,"rows":1},"#,
        r#"{"path":["id"],"rows":1},"#,
        r#"{"path":["key"],"level":2,"rows":1},"#,
        r#"{"path":[],"level":2,"rows":1},"#,
        r#"{"expression":{"text":"value.x","level":2},"rows":1},"#,
        r#"{"path":["x"],"level":1,"rows":2},"#,
        r#"{"path":["y"],"level":1,"rows":3}],"#,
        r#""rows":[{"array":["lines"],"if":2},"#,
        r#"{"entries":["tags"],"within":0,"where":{"path": ["key"], "level": 2, "exists": true}},"#,
        r#"{"first_of": [["a"], ["b"]]},"#,
        r#"{"expression":{"text":"a[*].b[]"}}],"#,
        r#""on_duplicate":"reject","empty":"absent","time_zone":"Europe/Berlin"}"#,
    );
    assert_eq!(std::str::from_utf8(&SECTION), Ok(expected));
}

mod known_otherwise {
    use super::*;

    extractor! { function: read as "Extractor", event_types: ["a"], inputs: { id: ["id"] } }

    fn read(event: &Event<'_>, graph: &mut Graph) {
        graph.session(event.id);
        graph.node("A").key("id", event.id).add();
    }
}

#[test]
fn a_function_may_be_known_by_a_name_that_it_could_not_have() {
    assert_eq!(known_otherwise::Extractor::DECLARATION.function, "Extractor");
    let result = retort_guest::mock::event::<known_otherwise::Extractor>(r#"{"id":1}"#).run();
    assert_eq!(result.node("A").id, "1:A:id=1");
}

mod minimal {
    use super::*;

    extractor! { function: by_hand -> String, event_types: ["a"], inputs: {} }

    fn by_hand(_: &Event<'_>) -> String {
        r#"{"nodes":[],"edges":[],"fully_handled_span_ids":["a"],"partially_handled_span_ids":[]}"#
            .into()
    }
}

#[test]
fn a_result_can_be_written_by_hand() {
    assert_eq!(minimal::Extractor::DECLARATION.inputs.len(), 0);
    let result = retort_guest::mock::event::<minimal::Extractor>("{}").run();
    assert_eq!(result.fully_handled, ["a"]);
}

/// What the compiler would say.
fn refused(declaration: &Declaration) -> String {
    let declaration = *declaration;
    let panic = std::panic::catch_unwind(|| section_length(&declaration)).unwrap_err();
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn mistakes_are_refused_by_name() {
    const PLAIN: Input = Input {
        name: "x",
        kind: None,
        path: Some(&["a"]),
        text: None,
        convert: None,
        guard: None,
        on_error: None,
    };
    const BASE: Declaration = Declaration {
        function: "read",
        event_types: &["a"],
        on_duplicate: None,
        empty: None,
        time_zone: None,
        inputs: &[PLAIN],
        rows: &[],
    };
    macro_rules! input {
        ($($field:ident: $value:expr),*) => {
            refused(&Declaration { inputs: &[PLAIN, Input { name: "y", $($field: $value,)* ..PLAIN }], ..BASE })
        };
    }
    assert!(section_length(&BASE) > 0);
    for (found, expected) in [
        (refused(&Declaration { function: "memory", ..BASE }), "function: `memory` is reserved"),
        (refused(&Declaration { function: "retort_x", ..BASE }), "begin with retort_"),
        (refused(&Declaration { event_types: &[], ..BASE }), "event_types: expected 1 to 1024"),
        (refused(&Declaration { event_types: &["a", "a"], ..BASE }), "found \"a\" twice"),
        (
            refused(&Declaration { empty: Some("no"), ..BASE }),
            "empty: expected \"value\" or \"absent\"",
        ),
        (input!(kind: Some("then")), "input `y`: expected `event`, `parent`"),
        (input!(kind: Some("parent")), "input `y`: there is no `parent`"),
        (input!(path: None), "input `y`: expected a path"),
        (input!(text: Some("a")), "input `y`: expected a path or a text"),
        (input!(guard: Some("y")), "input `y`: no earlier input is `y`"),
        (input!(on_error: Some("omit")), "input `y`: expected `or reject`"),
        (input!(kind: Some("json"), path: None), "`y`: expected a text of JSON"),
        (input!(kind: Some("json"), path: None, text: Some("[]")), "`y`: expected a JSON object"),
        (
            input!(kind: Some("json"), path: None, text: Some("{\"a\"")),
            "`y`: expected JSON, found text that breaks off",
        ),
        (
            input!(kind: Some("when"), path: None, text: Some("{]")),
            "found a bracket that closes none",
        ),
        (input!(kind: Some("when"), path: None, text: Some("{} ")), "found more behind it"),
        (
            input!(kind: Some("when"), path: None, text: Some("{\"\n\"}")),
            "found a control character",
        ),
    ] {
        assert!(found.contains(expected), "{found:?}, not {expected:?}");
    }
}
