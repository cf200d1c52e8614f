#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::{
    Input, MAX_ENTRIES, MAX_EVENT_TYPES, MAX_INPUTS, MAX_LEVELS, MAX_PATH_KEYS, MAX_PATH_SEGMENTS,
    MAX_ROWS, Section,
};
use crate::abi::event::MAX_EVENT_TYPE_BYTES;
use crate::diagnostics::problem::Coded;

fn code(json: &str) -> &'static str {
    Section::parse(json.as_bytes()).map_or_else(|error| error.code(), |_| "ok")
}

fn inputs(json: &str) -> String {
    format!(r#"{{"abi":1,"function":"f","event_types":["e"],"inputs":{json}}}"#)
}

fn event_types(types: &[String]) -> String {
    let types = serde_json::Value::from(types);
    format!(r#"{{"abi":1,"function":"f","event_types":{types},"inputs":[]}}"#)
}

fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("e{index}")).collect()
}

#[test]
fn what_is_written_is_read_again() {
    let json = r#"{"abi":1,"function":"extract_x","event_types":["a","b\n"],"inputs":[{"path":["content","id"],"as":"json"},{"path":[],"as":"truthy"}]}"#;
    let section = Section::parse(json.as_bytes()).unwrap();
    assert_eq!(section.to_json(), json.as_bytes());
    let made = Section::new(
        "extract_x",
        vec!["a".into(), "b\n".into()],
        vec![Input::json(&["content".into(), "id".into()]), Input::truthy(&[])],
        vec![],
    );
    assert_eq!(made.unwrap(), section);
}

#[test]
fn each_rule_has_its_code() {
    let cases = [
        ("ok", r#" {"inputs":[],"event_types":["e"],"function":"_f9","abi":1} "#),
        ("section_not_json", ""),
        ("section_not_json", r#"{"abi":1"#),
        ("section_not_json", r#"{"abi":1,"function":"f","event_types":["e"],"inputs":[]} x"#),
        ("section_wrong_shape", r#"[1,"f",["e"],[]]"#),
        ("section_wrong_shape", r#"{"function":"f","event_types":["e"],"inputs":[]}"#),
        ("section_wrong_shape", r#"{"abi":1,"function":"f","event_types":["e"]}"#),
        ("section_wrong_shape", r#"{"abi":"1","function":"f","event_types":["e"],"inputs":[]}"#),
        (
            "section_wrong_shape",
            r#"{"abi":1,"abi":1,"function":"f","event_types":["e"],"inputs":[]}"#,
        ),
        (
            "section_wrong_shape",
            r#"{"abi":1,"function":"f","event_types":["e"],"inputs":[],"x":0}"#,
        ),
        (
            "section_wrong_shape",
            r#"{"abi":1,"function":"f","function":"f","event_types":["e"],"inputs":[]}"#,
        ),
        ("section_abi_version", r#"{"abi":2,"entry":"f"}"#),
        ("section_function", r#"{"abi":1,"function":"","event_types":["e"],"inputs":[]}"#),
        ("section_function", r#"{"abi":1,"function":"9f","event_types":["e"],"inputs":[]}"#),
        ("section_function", r#"{"abi":1,"function":"f-g","event_types":["e"],"inputs":[]}"#),
        ("section_function", r#"{"abi":1,"function":"memory","event_types":["e"],"inputs":[]}"#),
        ("section_function", r#"{"abi":1,"function":"_start","event_types":["e"],"inputs":[]}"#),
        (
            "section_function",
            r#"{"abi":1,"function":"_initialize","event_types":["e"],"inputs":[]}"#,
        ),
        (
            "section_function",
            r#"{"abi":1,"function":"retort_buffer","event_types":["e"],"inputs":[]}"#,
        ),
        ("section_event_types", r#"{"abi":1,"function":"f","event_types":[],"inputs":[]}"#),
        ("section_event_types", r#"{"abi":1,"function":"f","event_types":[""],"inputs":[]}"#),
        ("section_event_types", r#"{"abi":1,"function":"f","event_types":["e","e"],"inputs":[]}"#),
        ("ok", &event_types(&numbered(MAX_EVENT_TYPES))),
        ("section_event_types", &event_types(&numbered(MAX_EVENT_TYPES + 1))),
        ("ok", &event_types(&["e".repeat(MAX_EVENT_TYPE_BYTES)])),
        ("section_event_types", &event_types(&["e".repeat(MAX_EVENT_TYPE_BYTES + 1)])),
        ("section_wrong_shape", &inputs(r#"[[["a"],"json"]]"#)),
        ("section_wrong_shape", &inputs(r#"[{"as":"json"}]"#)),
        ("section_wrong_shape", &inputs(r#"[{"path":["a"],"as":"text"}]"#)),
        ("section_wrong_shape", &inputs(r#"[{"path":["a"],"as":null}]"#)),
        ("section_wrong_shape", &inputs(r#"[{"path":["a"],"path":["a"]}]"#)),
        ("section_wrong_shape", &inputs(r#"[{"path":["a",1]}]"#)),
        ("ok", &inputs(&format!("[{}]", vec![r#"{"path":[]}"#; MAX_INPUTS].join(",")))),
        (
            "section_inputs",
            &inputs(&format!("[{}]", vec![r#"{"path":[]}"#; MAX_INPUTS + 1].join(","))),
        ),
        (
            "ok",
            &inputs(&format!(r#"[{{"path":[{}]}}]"#, vec![r#""k""#; MAX_PATH_SEGMENTS].join(","))),
        ),
        (
            "section_inputs",
            &inputs(&format!(
                r#"[{{"path":[{}]}}]"#,
                vec![r#""k""#; MAX_PATH_SEGMENTS + 1].join(",")
            )),
        ),
    ];
    for (expected, json) in cases {
        assert_eq!(code(json), expected, "{json}");
    }
}

/// A section that has all there is.
const WHOLE: &str = concat!(
    r#"{"abi":1,"function":"f","event_types":["a","b.*"],"inputs":["#,
    r#"{"when":{"all":[{"path":["event_type"],"one_of":["a",1,true]},{"any":[{"path":["b"],"exists":true},"#,
    r#"{"not":{"path":["c"],"is_type":"array"}},{"path":["d"],"starts_with":"x"}]}]}},"#,
    r#"{"path":["t"],"as":["trim",{"split":{"index":-1,"separator":"/"}},{"parse_json":["a"]}],"if":0,"on_error":"reject"},"#,
    r#"{"template":["a{",{"path":["x"]},{"path":["y"]}],"as":["lower"]},"#,
    r#"{"coalesce":[{"path":["x"]},{"constant":"EUR"},{"template":[{"path":["z"]}],"as":["upper"]}],"if":0},"#,
    r#"{"path":[],"level":1,"as":"json","rows":0},"#,
    r#"{"path":["q"],"level":1,"as":"truthy","rows":0,"if":0},"#,
    r#"{"when":{"path":["q"],"level":1,"equals":1.5},"rows":0,"if":5},"#,
    r#"{"template":[{"path":["id"],"level":1},":",{"path":[],"level":2}],"rows":1}],"#,
    r#""rows":[{"array":["lines"],"if":0},{"entries":["tags"],"within":0}],"on_duplicate":"last"}"#
);

#[test]
fn the_whole_language_is_written_as_it_is_read() {
    let section = Section::parse(WHOLE.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(section.to_json()).unwrap(), WHOLE);
    assert_eq!((section.inputs().len(), section.rows().len()), (8, 2));
    let made = Section::new(
        "f",
        section.event_types().to_vec(),
        section.inputs().to_vec(),
        section.rows().to_vec(),
    )
    .unwrap()
    .with_on_duplicate(section.on_duplicate().unwrap());
    assert_eq!(made, section);
}

#[test]
fn what_the_language_doesnt_have_is_refused() {
    for (from, to, expected) in [
        (r#""exists":true"#, r#""exists":false"#, "wrong_shape"),
        (r#""exists":true"#, r#""exists":true,"truthy":true"#, "wrong_shape"),
        (r#","exists":true"#, "", "wrong_shape"),
        (r#""starts_with":"x""#, r#""starts_with":1"#, "wrong_shape"),
        (r#""is_type":"array""#, r#""is_type":"list""#, "wrong_shape"),
        (r#"["a",1,true]"#, r#"["a",null]"#, "wrong_shape"),
        (r#"["a",1,true]"#, "[]", "wrong_shape"),
        (r#"{"not":{"#, r#"{"not":{"not":1,"not":2,"#, "wrong_shape"),
        (r#""index":-1"#, r#""index":-1,"index":2"#, "wrong_shape"),
        (r#""index":-1"#, r#""index":"last""#, "wrong_shape"),
        (r#""trim""#, r#""reverse""#, "wrong_shape"),
        (r#""as":["lower"]"#, r#""as":[]"#, "wrong_shape"),
        (r#""as":["lower"]"#, r#""as":"truthy""#, "wrong_shape"),
        (r#""as":["lower"]"#, r#""level":0"#, "wrong_shape"),
        (r#"{"constant":"EUR"}"#, r#"{"constant":null}"#, "wrong_shape"),
        (r#"{"constant":"EUR"}"#, r#"{"constant":"EUR","rows":0}"#, "wrong_shape"),
        (r#"["a{","#, r#"["","#, "wrong_shape"),
        (r#"{"path":["y"]}"#, "1", "wrong_shape"),
        (r#""on_error":"reject""#, r#""on_error":"stop""#, "wrong_shape"),
        (r#""on_error":"reject""#, r#""on_error":1"#, "wrong_shape"),
        (r#""on_duplicate":"last""#, r#""on_duplicate":"first""#, "wrong_shape"),
        (r#""on_duplicate":"last""#, r#""on_duplicate":null"#, "wrong_shape"),
        (r#"{"array":["lines"]"#, r#"{"array":["lines"],"entries":[]"#, "wrong_shape"),
        (r#"{"array":["lines"]"#, r#"["#, "not_json"),
        (r#"{"array":["lines"]"#, r#"{"path":["lines"]"#, "wrong_shape"),
        (r#""level":2"#, r#""level":5"#, "wrong_shape"),
        (r#""level":2"#, r#""level":3"#, "inputs"),
        (r#""level":2"#, r#""level":null"#, "wrong_shape"),
        (r#""path":[],"level":1"#, r#""path":[],"level":2"#, "inputs"),
        (r#"{"path":["x"]},{"constant""#, r#"{"path":["x"],"level":1},{"constant""#, "inputs"),
        (r#""rows":1}]"#, r#""rows":2}]"#, "inputs"),
        (r#""if":5}"#, r#""if":4}"#, "inputs"),
        (r#""if":5}"#, r#""if":6}"#, "inputs"),
        (r#""rows":0,"if":0"#, r#""rows":1,"if":6"#, "inputs"),
        (r#""rows":1}]"#, r#""rows":1,"if":5}]"#, "inputs"),
        (r#""within":0"#, r#""within":1"#, "rows"),
        (r#""within":0}"#, r#""within":0},{"array":[],"within":2}"#, "rows"),
        (
            r#""within":0}"#,
            r#""within":0},{"array":[],"within":1},{"array":[],"within":2},{"array":[],"within":3}"#,
            "rows",
        ),
        (r#"["lines"],"if":0"#, r#"["lines"],"if":1"#, "rows"),
        (r#"["lines"],"if":0"#, r#"["lines"],"if":5"#, "rows"),
    ] {
        let json = WHOLE.replacen(from, to, 1);
        assert_ne!(json, WHOLE, "{from}");
        assert_eq!(code(&json), format!("section_{expected}"), "{json}");
    }
}

const DEEP: &str = r#"{"abi":1,"function":"f","event_types":["e"],"inputs":[{"path":["t"],"as":["timestamp"],"rows":3},{"path":["n"],"level":4,"as":"json","rows":3}],"rows":[{"array":["a"],"where":{"path":["x"],"level":1,"exists":true}},{"first_of":[["b"],[],["c","d"]],"within":0},{"entries":["e"],"within":1,"where":{"all":[{"path":["x"],"exists":true},{"path":[],"level":3,"is_type":"object"}]}},{"array":["value"],"within":2}],"empty":"absent","time_zone":"Europe/Berlin"}"#;

#[test]
fn iterations_nest_have_several_paths_and_conditions() {
    let section = Section::parse(DEEP.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(section.to_json()).unwrap(), DEEP);
    let long = vec!["\"k\""; MAX_PATH_SEGMENTS + 1].join(",");
    let not = r#"{"not":"#.repeat(MAX_LEVELS);
    let nested = format!(r#"{not}{{"path":["x"],"exists":true}}{}"#, "}".repeat(MAX_LEVELS));
    let many = vec![r#"{"path":["x"],"exists":true}"#; MAX_ENTRIES + 1].join(",");
    let eight = [r#"["p"]"#; 8].join(",");
    let condition = r#"{"path":["x"],"level":1,"exists":true}"#;
    for (from, to, expected) in [
        (r#"[["b"],[],["c","d"]]"#, r#"[["b"]]"#.to_owned(), "wrong_shape"),
        (r#"[["b"],[],["c","d"]]"#, format!("[{eight},[]]"), "wrong_shape"),
        (r#"[["b"],[],["c","d"]]"#, r#"["b","c"]"#.to_owned(), "wrong_shape"),
        (r#"[["b"],[],["c","d"]]"#, format!(r#"[["b"],[{long}]]"#), "rows"),
        (condition, r#"{"path":["x"],"exists":false}"#.to_owned(), "wrong_shape"),
        (condition, r#"{"path":["x"],"level":2,"exists":true}"#.to_owned(), "rows"),
        (condition, format!(r#"{{"path":[{long}],"exists":true}}"#), "rows"),
        (condition, nested, "rows"),
        (condition, format!(r#"{{"all":[{many}]}}"#), "rows"),
        (r#""absent""#, r#""null""#.to_owned(), "wrong_shape"),
        (r#""Europe/Berlin""#, r#""Europe/Nowhere""#.to_owned(), "wrong_shape"),
        (r#""level":4"#, r#""level":5"#.to_owned(), "wrong_shape"),
        (r#""array":["a"]"#, format!(r#""first_of":[{eight}]"#), "ok"),
    ] {
        let json = DEEP.replacen(from, &to, 1);
        assert_ne!(json, DEEP, "{from}");
        let expected =
            if expected == "ok" { expected.to_owned() } else { format!("section_{expected}") };
        assert_eq!(code(&json), expected, "{json}");
    }
    // An expression gives what is gone over, at any level that there is.
    for (list, expected) in [
        (r#""expression":{"text":"x[?y]","level":1}"#, "ok"),
        (r#""expression":{"text":"$event.x[]"}"#, "ok"),
        (r#""expression":{"text":"x","level":2}"#, "section_rows"),
        (r#""expression":{"text":"x[","level":1}"#, "section_wrong_shape"),
        (r#""expression":{"level":1}"#, "section_wrong_shape"),
        (r#""expression":"x""#, "section_wrong_shape"),
        (r#""expression":{"text":"x"},"array":["b"]"#, "section_wrong_shape"),
    ] {
        let json = DEEP.replacen(r#""first_of":[["b"],[],["c","d"]]"#, list, 1);
        assert_eq!(code(&json), expected, "{json}");
        if expected == "ok" {
            let section = Section::parse(json.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(section.to_json()).unwrap(), json);
        }
    }
    // Eight paths at each of three levels are more places than anyone looks at.
    let places = DEEP
        .replacen(r#""array":["a"]"#, &format!(r#""first_of":[{eight}]"#), 1)
        .replacen(r#"[["b"],[],["c","d"]]"#, &format!("[{eight}]"), 1)
        .replacen(r#""array":["value"]"#, r#""first_of":[["value"],["x"]]"#, 1);
    assert_eq!(code(&places), "section_rows");
}

#[test]
fn lists_and_nesting_are_bounded() {
    let nested = |open: &str, inner: &str, close: &str, levels: usize| {
        inputs(&format!("[{}{inner}{}]", open.repeat(levels), close.repeat(levels)))
    };
    let test = r#"{"path":["a"],"exists":true}"#;
    let when = |levels| {
        let inner = nested(r#"{"not":"#, test, "}", levels);
        inner.replacen(r#""inputs":["#, r#""inputs":[{"when":"#, 1).replace("]}", "}]}")
    };
    // The path inside ends in "]," and is left alone by the last replacement.
    assert_eq!(code(&when(MAX_LEVELS - 1)), "ok", "{}", when(1));
    assert_eq!(code(&when(MAX_LEVELS)), "section_inputs");
    let coalesce = |levels| nested(r#"{"coalesce":["#, r#"{"path":["a"]}"#, "]}", levels);
    assert_eq!(code(&coalesce(MAX_LEVELS - 1)), "ok");
    assert_eq!(code(&coalesce(MAX_LEVELS)), "section_inputs");
    assert_eq!(code(&coalesce(200)), "section_not_json");
    let template = |pieces| {
        inputs(&format!(r#"[{{"template":[{}]}}]"#, vec![r#"{"path":["a"]}"#; pieces].join(",")))
    };
    assert_eq!(code(&template(MAX_ENTRIES)), "ok");
    assert_eq!(code(&template(MAX_ENTRIES + 1)), "section_inputs");
    let rows = |rows| {
        let rows = vec![r#"{"array":["a"]}"#; rows].join(",");
        inputs("[]").replace("[]", &format!(r#"[],"rows":[{rows}]"#))
    };
    assert_eq!((code(&rows(MAX_ROWS)), code(&rows(MAX_ROWS + 1))), ("ok", "section_rows"));
}

#[test]
fn a_message_says_where_and_stays_on_one_line() {
    let hostile = "{\"abi\":1,\"x\\nIgnore the above\":0}";
    let error = Section::parse(hostile.as_bytes()).unwrap_err().to_string();
    assert!(!error.contains('\n') && error.contains("unknown field"), "{error}");
}

#[test]
fn the_patterns_of_all_inputs_share_one_budget() {
    let one = r#"{"path":["a"],"as":[{"regex":{"pattern":"\\w{12}"}}]}"#;
    let several = |count: usize| inputs(&format!("[{}]", vec![one; count].join(",")));
    assert!(Section::parse(several(4).as_bytes()).is_ok());
    // Alone each of them is fine; a thousand would take minutes to compile.
    assert_eq!(code(&several(1000)), "section_wrong_shape");
}

#[test]
fn the_keys_of_all_paths_are_limited_together() {
    // Each input has paths of two keys and of 126; an iteration adds its own.
    let section = |inputs: usize, rows: usize| {
        let keys = vec!["\"k\""; 126].join(",");
        let input = format!(r#"{{"coalesce":[{{"path":["a","b"]}},{{"path":[{keys}]}}]}}"#);
        let row = vec!["\"r\""; rows].join(",");
        format!(
            r#"{{"abi":1,"function":"f","event_types":["e"],"rows":[{{"array":[{row}]}}],"inputs":[{}]}}"#,
            vec![input; inputs].join(",")
        )
    };
    assert_eq!(128 * 128, MAX_PATH_KEYS);
    assert!(Section::parse(section(127, 126).as_bytes()).is_ok());
    let error = Section::parse(section(128, 1).as_bytes()).expect_err("one key too many");
    assert_eq!(error.code(), "section_inputs");
    assert_eq!(error.usage(), Some((MAX_PATH_KEYS as u64 + 1, MAX_PATH_KEYS as u64)));
}
