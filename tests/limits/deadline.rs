//! One deadline for an event, wherever its time goes.

use std::time::{Duration, Instant};

use retort::gate::Inspected;
use retort::sandbox::{BlockError, GuestError};
use retort::{Coded, Limits, RunError};

use super::{NO_INPUTS, doing, figures, load, module};

fn limits(deadline_ms: u64) -> Limits {
    options!(Limits {
        deadline_ms,
        fuel_base: u64::MAX,
        input_bytes: 64 << 20,
        ..Limits::default()
    })
}

/// What an event ends in that takes far longer than its deadline.
fn late(module: &Inspected, deadline_ms: u64, event: &str) -> RunError {
    let mut runner = load(module, limits(deadline_ms)).runner();
    let started = Instant::now();
    let error = runner.run(event.as_bytes()).unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let (code, used, allowed) = {
        let problem = error.problem();
        let (code, used, allowed) = figures(&problem);
        (code.to_owned(), used, allowed)
    };
    assert_eq!((code.as_str(), allowed), ("deadline_exceeded", deadline_ms), "{error}");
    assert!(used >= allowed && used < 5_000, "{error}");
    error
}

#[test]
fn reading_an_event_is_part_of_its_time() {
    let event = format!(r#"{{"event_type":"e","v":[{}1]}}"#, "1,".repeat(1 << 20));
    let error = late(&module(NO_INPUTS, "1 1", &doing("")), 1, &event);
    assert!(matches!(error, RunError::Deadline { .. }), "{error}");
}

#[test]
fn what_the_host_works_out_is_part_of_its_time() {
    // Sixty columns of each row, so that little of the time goes into reading the event.
    let column = r#"{"path":[],"level":1,"rows":0,"as":["timestamp"]}"#;
    let section = format!(
        r#"{{"abi":1,"function":"extract","event_types":["e"],"rows":[{{"array":["v"]}}],"inputs":[{}]}}"#,
        [column; 60].join(",")
    );
    let times = vec!["2024-05-06T07:08:09.123+02:00"; 5_000].join("\",\"");
    let event = format!(r#"{{"event_type":"e","v":["{times}"]}}"#);
    let error = late(&module(&section, "1 1", &doing("")), 60, &event);
    assert!(matches!(error, RunError::Input(BlockError::Deadline { .. })), "{error}");
}

#[test]
fn instantiation_is_part_of_its_time() {
    let stalls =
        format!(r#"(func (export "_initialize") (loop $l (br $l))) {}"#, doing("(unreachable)"));
    let error = late(&module(NO_INPUTS, "1 1", &stalls), 50, r#"{"event_type":"e"}"#);
    assert!(matches!(error, RunError::Guest(GuestError::Deadline { .. })), "{error}");
}

#[test]
fn the_call_is_part_of_its_time() {
    let stalls = module(NO_INPUTS, "1 1", &doing("(loop $l (br $l))"));
    let error = late(&stalls, 50, r#"{"event_type":"e"}"#);
    assert!(matches!(error, RunError::Guest(GuestError::Deadline { .. })), "{error}");
}

#[test]
fn checking_the_result_is_part_of_its_time() {
    // Two million span ids, made by copying what is there already behind itself.
    let ids = "\\22\\22,\\22\\22,\\22\\22,\\22\\22,";
    let head = r#"{\22nodes\22:[],\22edges\22:[],\22partially_handled_span_ids\22:[],\22fully_handled_span_ids\22:["#;
    let head_bytes = head.replace(r"\22", "\"").len();
    let (end, first) = (2048 + head_bytes + (3 << 21), 2048 + head_bytes);
    let functions = format!(
        r#"(data (i32.const 2048) "{head}{ids}")
        (func (export "extract") (param i32 i32) (result i64) (local $n i32)
            (local.set $n (i32.const 12))
            (loop $double
                (memory.copy (i32.add (i32.const {first}) (local.get $n)) (i32.const {first}) (local.get $n))
                (local.set $n (i32.shl (local.get $n) (i32.const 1)))
                (br_if $double (i32.lt_u (local.get $n) (i32.const {}))))
            (i32.store (i32.const {}) (i32.const 0x7d5d2222))
            (i64.or (i64.shl (i64.const 2048) (i64.const 32)) (i64.const {})))"#,
        3 << 21,
        end,
        head_bytes + (3 << 21) + 4,
    );
    let module = module(NO_INPUTS, "128 128", &functions);
    let mut runner = load(&module, limits(10_000)).runner();
    let shape = runner.run(br#"{"event_type":"e"}"#).unwrap().shape;
    assert_eq!(shape.fully_handled, (1 << 21) + 1);
    late(&module, 20, r#"{"event_type":"e"}"#);
}

#[test]
fn the_runner_goes_on_after_its_deadline() {
    let section = r#"{"abi":1,"function":"extract","event_types":["e"],
        "inputs":[{"path":["bad"],"as":"truthy"}]}"#;
    // Its first text begins behind one slot, and `true` has four bytes.
    let stalls =
        doing("(if (i32.eq (i32.load (i32.const 1040)) (i32.const 4)) (then (loop $l (br $l))))");
    let mut runner = load(&module(section, "1 1", &stalls), limits(30)).runner();
    for _ in 0..2 {
        assert!(runner.run(br#"{"event_type":"e","bad":false}"#).is_ok());
        let error = runner.run(br#"{"event_type":"e","bad":true}"#).unwrap_err();
        assert_eq!(error.code(), "deadline_exceeded");
    }
}
