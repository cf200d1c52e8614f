//! What a guest leaves behind for a call that fails.

use retort::gate::{StructuralLimits, inspect};
use retort::sandbox::{GuestError, RunError};
use retort::{Coded, Limits};

use crate::support::sandbox;

const EVENT: &[u8] = br#"{"event_type":"e"}"#;

/// What is told of a guest that leaves `text` at 64, with `record` in front of it, and fails.
fn told(global: &str, record: &str, text: &str, ending: &str) -> RunError {
    let text = format!(
        r#"(module
            (memory (export "memory") 1 1)
            (global (export "retort_message") {global})
            (data (i32.const 16) "{record}")
            (data (i32.const 64) "{text}")
            (func (export "retort_buffer") (param i32) (result i32) (i32.const 4096))
            (func (export "extract") (param i32 i32) (result i64) {ending})
            (@custom "retort" "{{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}}"))"#
    );
    let wasm = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let inspected = inspect(&wasm, &StructuralLimits::default()).unwrap();
    let mut runner = sandbox(Limits::default()).load(&inspected).unwrap().runner();
    let first = runner.run(EVENT).unwrap_err();
    assert_eq!(runner.run(EVENT).unwrap_err(), first, "the same event gives the same");
    first
}

#[test]
fn a_message_is_told_escaped_on_one_line() {
    let said = r"panicked at src/lib.rs:9:5:\0a\1b[31mno order";
    let error = told("i32 (i32.const 16)", r"\40\00\00\00\29\00\00\00", said, "unreachable");
    assert_eq!(*error.cause(), RunError::Guest(GuestError::Unreachable));
    assert_eq!(error.code(), "unreachable");
    let message =
        r"the extractor executed `unreachable`: panicked at src/lib.rs:9:5:\n\u{1b}[31mno order";
    assert_eq!(error.to_string(), message);
    assert_eq!(error.problem().message, message);
}

#[test]
fn whatever_ended_the_call_the_message_is_told() {
    let looping = "(loop $on (br $on)) unreachable";
    let error = told("i32 (i32.const 16)", r"\40\00\00\00\02\00\00\00", "so", looping);
    assert_eq!((error.code(), error.usage().is_some()), ("out_of_fuel", true));
    assert!(error.to_string().ends_with(": so"), "{error}");
}

#[test]
fn of_a_long_message_the_beginning_is_told() {
    let text = "x".repeat(2_000);
    let error = told("i32 (i32.const 16)", r"\40\00\00\00\ff\ff\ff\7f", &text, "unreachable");
    let RunError::Told { message, .. } = &error else { panic!("{error}") };
    assert_eq!(*message, "x".repeat(500));
}

#[test]
fn a_place_that_is_not_there_holds_no_message() {
    for (global, record) in [
        ("i32 (i32.const 16)", ""),
        ("i32 (i32.const -1)", ""),
        ("i32 (i32.const 65532)", ""),
        ("i32 (i32.const 16)", r"\ff\ff\ff\ff\01\00\00\00"),
        ("i32 (i32.const 16)", r"\ff\ff\00\00\02\00\00\00"),
        ("(mut i32) (i32.const 16)", r"\40\00\00\00\00\00\00\00"),
    ] {
        let error = told(global, record, "so", "unreachable");
        assert_eq!(error, RunError::Guest(GuestError::Unreachable), "{global}, {record}");
    }
}
