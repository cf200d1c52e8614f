//! A runner of a rendered extractor, which keeps its instance, under limits that events break.

use retort::plan::{self, Plan};
use retort::sandbox::Sandbox;
use retort::{Coded, Limits, RunError, Runner};

use crate::support::rendered;

/// The code of what a runner makes of an event.
fn code(runner: &mut Runner, event: &[u8]) -> &'static str {
    runner.run(event).map_or_else(|error| error.code(), |_| "ok")
}

fn plan() -> Plan {
    plan::parse(
        r#"{"event_type": "e", "target_entity_name": "E", "function_name": "f",
            "key_field": {"property_name": "k", "source_path": ["k"]},
            "property_fields": [{"property_name": "v", "source_path": ["v"]}]}"#,
    )
    .unwrap()
}

/// A rendered extractor, which keeps its instance, under these limits.
fn warm(limits: Limits) -> Runner {
    let extractor = Sandbox::new(limits).unwrap().load(&rendered(&plan())).unwrap();
    assert!(extractor.is_reset_safe());
    extractor.runner()
}

fn event(value: &str) -> Vec<u8> {
    format!(r#"{{"event_type":"e","k":1,"v":{value}}}"#).into_bytes()
}

#[test]
fn a_warm_runner_serves_the_next_event_after_every_failure() {
    let good = event("\"small\"");
    let expected = warm(Limits::default()).run(&good).unwrap().json.to_vec();
    let spent = warm(Limits::default()).run(&good).unwrap().fuel;
    let large = event(&format!("\"{}\"", "x".repeat(5000)));
    let defaults = Limits::default;
    let cases: [(&str, Limits, Vec<u8>); 10] = [
        (
            "event_not_utf8",
            defaults(),
            event("\"\u{e9}\"").into_iter().filter(|b| *b != 0xc3).collect(),
        ),
        ("event_not_json", defaults(), event("[1,]")),
        ("event_not_object", defaults(), b"[]".to_vec()),
        ("event_too_large", options!(Limits { event_bytes: 4000, ..defaults() }), large.clone()),
        ("input_too_large", options!(Limits { input_bytes: 4000, ..defaults() }), large.clone()),
        ("input_too_large", defaults(), event(&format!("\"{}\"", "x".repeat(1 << 20)))),
        ("output_too_large", options!(Limits { output_bytes: 4000, ..defaults() }), large.clone()),
        // The block fits, the result with its constant text doesn't: the guest itself says so.
        ("output_too_large", defaults(), event(&format!("\"{}\"", "x".repeat((1 << 20) - 100)))),
        // Enough for the small event and not for copying 5,000 bytes.
        (
            "out_of_fuel",
            options!(Limits { fuel_base: spent + 500, fuel_per_byte: 0, ..defaults() }),
            large,
        ),
        // A value that fits an event is too deep inside a result.
        ("result_not_json", defaults(), event(&format!("{}{}", "[".repeat(125), "]".repeat(125)))),
    ];
    for (expect, limits, bad) in cases {
        let mut runner = warm(limits);
        for _ in 0..2 {
            assert_eq!(runner.run(&good).unwrap().json, expected, "around {expect}");
            assert_eq!(code(&mut runner, &bad), expect);
            assert_eq!(code(&mut runner, &bad), expect);
        }
        assert_eq!(runner.run(&good).unwrap().json, expected, "after {expect}");
    }
}

#[test]
fn limits_above_what_a_rendered_extractor_holds_are_told_as_limits() {
    let roomy =
        options!(Limits { input_bytes: 8 << 20, output_bytes: 8 << 20, ..Limits::default() });
    let mut runner = warm(roomy);
    let cases = [("input_too_large", 2 << 20), ("output_too_large", (1 << 20) - 100)];
    for (expect, length) in cases {
        let problem =
            runner.run(&event(&format!("\"{}\"", "x".repeat(length)))).unwrap_err().problem();
        assert_eq!(
            (problem.code.name, problem.allowed),
            (expect, Some(1 << 20)),
            "{}",
            problem.message
        );
        assert!(problem.used > problem.allowed, "{}", problem.message);
    }
}

#[test]
fn an_input_block_counts_whole_even_where_the_event_has_none_of_its_inputs() {
    // A head of 8 bytes and four slots of 12.
    assert_eq!(
        code(&mut warm(options!(Limits { input_bytes: 56, ..Limits::default() })), b"{}"),
        "ok"
    );
    assert_eq!(
        code(&mut warm(options!(Limits { input_bytes: 55, ..Limits::default() })), b"{}"),
        "input_too_large"
    );
}

#[test]
fn limits_are_told_with_what_was_used_and_what_was_allowed() {
    let mut runner = warm(options!(Limits { output_bytes: 300, ..Limits::default() }));
    let large = event(&format!("\"{}\"", "x".repeat(5000)));
    let RunError::Guest(error) = runner.run(&large).unwrap_err() else { panic!("not the guest") };
    let (used, allowed) = error.usage().unwrap();
    assert!(used > 5000 && allowed == 300, "{used} of {allowed}");
    let problem = RunError::from(error).problem();
    assert_eq!((problem.used, problem.allowed), (Some(used), Some(300)));
}

#[test]
fn an_engine_that_cannot_be_built_is_an_error_of_its_own() {
    // The static gate refuses imports and whatever wasmtime would refuse, so that of the errors of loading only this one
    // can be provoked.
    for stack_bytes in [0, (1 << 20) + 1, usize::MAX] {
        let error =
            Sandbox::new(options!(Limits { stack_bytes, ..Limits::default() })).unwrap_err();
        assert_eq!(error.code(), "engine_failed");
    }
}
