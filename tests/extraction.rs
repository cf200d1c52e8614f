//! What plans extract of events that aren't JSON objects. All else is in `cases/extraction.rs`.

use retort::Coded;
use retort::plan::{self, eval};

#[test]
fn events_that_are_no_json_objects_are_errors() {
    let plan = plan::parse(
        r#"{
            "event_type": "e", "target_entity_name": "E", "function_name": "f",
            "key_field": {"property_name": "k", "source_path": ["k"]}
        }"#,
    )
    .unwrap();
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(128), "]".repeat(128));
    let cases = [
        ("", "event_not_json"),
        ("{", "event_not_json"),
        ("{} {}", "event_not_json"),
        ("\u{feff}{}", "event_not_json"),
        (r#"{"event_type":"e","k":"\ud800"}"#, "event_not_json"),
        (r#"{"event_type":"other","unread":1e999}"#, "event_not_json"),
        (r#"{"event_type":"other","unread":[1,]}"#, "event_not_json"),
        (&deep, "event_not_json"),
        ("null", "event_not_object"),
        ("true", "event_not_object"),
        ("1", "event_not_object"),
        (r#""e""#, "event_not_object"),
        (r#"[{"event_type":"e"}]"#, "event_not_object"),
    ];
    for (event, code) in cases {
        let error = eval(&plan, event).unwrap_err();
        assert_eq!(error.code(), code, "{event}: {error}");
    }
}
