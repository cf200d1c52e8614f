//! The sample run, checked against the conformance cases.
//!
//! Each case becomes a guest whose results are the case's outcomes: the events carry the number of the outcome, and the
//! guest returns the data that lies there, or traps.

mod compile_gate;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use retort::bundle::smoke::{MAX_FUEL, Samples, SmokeError, SmokeOptions, SmokeReport, smoke};
use retort::diagnostics::problem::Coded;
use retort::gate::inspect::{StructuralLimits, inspect};
use retort::graph::GraphSpec;
use retort::render::compile::compile_text;
use retort::sandbox::{Extractor, Limits};
use serde_json::{Value, json};

use crate::support::{sandbox, shared};

/// Cases that rest on merging the results of all events. Each event is validated by itself, as it is served, so that a
/// good node of a later event doesn't hide a bad one: (name, number of failures found).
const NOT_MERGED: &[(&str, usize)] = &[("same_node_id_across_events_is_merged_last_wins", 1)];

fn cases() -> Option<Value> {
    let text = fs::read_to_string(shared("conformance/smoke.json")?).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

/// What a guest does for one event.
enum Does {
    Returns(String),
    Traps(&'static str),
}

impl Does {
    fn of(outcome: &Value) -> Self {
        let good = json!({"nodes": [], "edges": [], "fully_handled_span_ids": [],
            "partially_handled_span_ids": []});
        let with = |key: &str, value: Value| {
            let mut bad = good.clone();
            bad[key] = value;
            Self::Returns(bad.to_string())
        };
        if let Some(result) = outcome.get("result") {
            return Self::Returns(result.to_string());
        }
        if outcome.get("raise").is_some() {
            return Self::Traps("unreachable");
        }
        // What another type is in a result that is JSON: a value of a JSON type that doesn't belong there.
        match outcome.get("return_type").or(outcome.get("malformed_result")).and_then(Value::as_str)
        {
            Some("dict") => Self::Returns("{}".to_owned()),
            Some("NoneType") => Self::Returns("null".to_owned()),
            Some("nodes_is_tuple") => with("nodes", json!({"0": {}})),
            Some("full_is_list") => with("fully_handled_span_ids", json!({"s": true})),
            Some("partial_is_str") => with("partially_handled_span_ids", json!("s")),
            _ => panic!("no guest does {outcome}"),
        }
    }
}

/// A guest that does what `outcomes` say, by the number that the event holds as `outcome`.
fn guest(outcomes: &[Does], event_types: &BTreeSet<&str>) -> Vec<u8> {
    const DATA: usize = 1 << 16;
    let section = json!({"abi": 1, "function": "extract", "event_types": event_types,
        "inputs": [{"path": ["outcome"]}]});
    let (mut body, mut data, mut at) = (String::new(), String::new(), DATA);
    for (number, outcome) in outcomes.iter().enumerate() {
        let digit = usize::from(b'0') + number;
        let then = match outcome {
            Does::Traps(code) => (*code).to_owned(),
            Does::Returns(text) => {
                let packed = at << 32 | text.len();
                writeln!(data, "(data (i32.const {at}) {text:?})").unwrap();
                at += text.len();
                format!("(return (i64.const {packed}))")
            }
        };
        writeln!(body, "(if (i32.eq (local.get $digit) (i32.const {digit})) (then {then}))")
            .unwrap();
    }
    let text = format!(
        r#"(module
            (memory (export "memory") 4 4)
            (func (export "retort_buffer") (param i32) (result i32) (i32.const 8))
            (func (export "extract") (param $block i32) (param i32) (result i64) (local $digit i32)
                ;; The text of slot 0: its offset stands 12 bytes behind the start of the block.
                (local.set $digit (i32.load8_u (i32.add (local.get $block)
                    (i32.load offset=12 (local.get $block)))))
                {body}
                unreachable)
            {data}
            (@custom "retort" {section:?}))"#,
        section = section.to_string(),
    );
    compile_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn load(module: &[u8], limits: Limits) -> Extractor {
    let inspected = inspect(module, &StructuralLimits::default()).unwrap();
    sandbox(limits).load(&inspected).unwrap()
}

/// The events of a case, each with the number of its outcome; and their types.
fn events(case: &Value) -> (String, BTreeSet<&str>) {
    let mut text = String::new();
    let mut types = BTreeSet::new();
    for (number, entry) in case["events"].as_array().unwrap().iter().enumerate() {
        assert!(number < 10, "one digit tells the outcomes apart");
        let mut event = entry["event"].clone();
        event["outcome"] = json!(number);
        types.insert(entry["event"]["event_type"].as_str().unwrap());
        writeln!(text, "{event}").unwrap();
    }
    (text, types)
}

/// The outcome of one case: the report, and whether the gate passed.
fn run(case: &Value) -> (SmokeReport, bool) {
    let (text, types) = events(case);
    let outcomes: Vec<Does> = case["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| Does::of(&entry["outcome"]))
        .collect();
    let extractor = load(&guest(&outcomes, &types), Limits::default());
    let samples = Samples::parse(&text, "events").unwrap();
    let spec = (case["validate_against_spec"] == true)
        .then(|| GraphSpec::parse(&case["spec"].to_string(), "spec.json").unwrap());
    let options = SmokeOptions {
        min_nonempty_results: case["min_nonempty_results"].as_u64().unwrap(),
        ..SmokeOptions::default()
    };
    match smoke(&extractor, None, &samples, spec.as_ref(), options) {
        Ok(smoked) => (smoked.report().clone(), true),
        Err(SmokeError::Failed(failed)) => (failed.report().clone(), false),
        Err(SmokeError::Host(error)) => panic!("{error}"),
    }
}

#[test]
fn reports_are_those_of_the_cases() {
    let Some(all) = cases() else { return };
    let mut ran = 0;
    for case in all["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let expect = &case["expect"];
        if expect["raises"] == "argument_error" {
            let (text, _) = events(case);
            assert_eq!(Samples::parse(&text, "events").unwrap_err().code(), "no_samples", "{name}");
            continue;
        }
        let (report, passed) = run(case);
        let value = serde_json::to_value(&report).unwrap();
        let known: Vec<&str> =
            all["report_fields"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(value.as_object().unwrap().len(), known.len());
        for field in [
            "events_processed",
            "events_with_exception",
            "events_with_wrong_return_type",
            "events_with_nonempty_result",
            "min_nonempty_results",
            "nonempty_event_types",
        ] {
            assert_eq!(value[field], expect[field], "{name}: {field}");
        }
        // The texts are ours, and as many.
        assert_eq!(report.exceptions.len() as u64, report.events_with_exception, "{name}");
        let wrong = expect["wrong_return_types"].as_array().unwrap().len();
        assert_eq!(report.wrong_return_types.len(), wrong, "{name}");
        let failures: Vec<Value> = report
            .validation_failures
            .iter()
            .map(|failure| {
                json!({"scope": failure.scope, "code": failure.code, "path": failure.path})
            })
            .collect();
        if let Some((_, found)) = NOT_MERGED.iter().find(|(other, _)| *other == name) {
            assert_eq!((failures.len(), passed), (*found, false), "{name}");
        } else {
            assert_eq!(json!(failures), expect["validation_failures"], "{name}");
            assert_eq!(json!(passed), expect["ok"], "{name}");
            assert_eq!(json!(report.ok()), expect["ok"], "{name}");
        }
        ran += 1;
    }
    assert!(ran > 0);
}

/// Ways in which a run can fail around the extractor, with what stands for each of them here. The rest have no equivalent:
/// nothing is handed to another process (`inputs_not_transferable`), and limits can be raised but not switched off or be
/// negative (`timeout_disabled`, `memory_limit_disabled`, `memory_limit_negative`).
const HARNESS: &[(&str, &str, &str)] = &[
    ("timeout", "(loop $again (br $again)) unreachable", "deadline_exceeded: "),
    ("crash_or_oom", "(drop (memory.grow (i32.const 1024))) unreachable", "memory_exceeded: "),
];

#[test]
fn what_the_host_stops_is_an_exception_of_its_event() {
    let Some(all) = cases() else { return };
    for (name, body, prefix) in HARNESS {
        let list = all["harness_failures"].as_array().unwrap();
        let case = list.iter().find(|case| case["name"] == *name).unwrap();
        let count = case["n_events"].as_u64().unwrap();
        // The first event goes well. It still counts: there is no process whose end would take it along.
        let good = r#"{"nodes":[],"edges":[],"fully_handled_span_ids":["s"],"partially_handled_span_ids":[]}"#;
        let types = BTreeSet::from(["a"]);
        let mut text = String::new();
        for number in 0..=count {
            let outcome = u64::from(number > 0);
            writeln!(text, r#"{{"event_type":"a","outcome":{outcome}}}"#).unwrap();
        }
        let module = guest(&[Does::Returns(good.to_owned()), Does::Traps(body)], &types);
        let limits = Limits {
            fuel_base: u64::MAX / 4,
            deadline_ms: 50,
            memory_bytes: 1 << 20,
            ..Limits::default()
        };
        let samples = Samples::parse(&text, "events").unwrap();
        let extractor = load(&module, limits);
        let failed = smoke(&extractor, None, &samples, None, SmokeOptions::default());
        let Err(SmokeError::Failed(failed)) = failed else { panic!("{name}: {failed:?}") };
        let report = failed.report();
        assert_eq!(report.events_with_exception, count, "{name}");
        assert_eq!(report.events_with_nonempty_result, 1, "{name}");
        for exception in &report.exceptions {
            assert!(exception.starts_with(prefix), "{name}: {exception}");
        }
        assert!(failed.problems().iter().all(|problem| problem.used.is_some()), "{name}");
    }
}

#[test]
fn samples_take_so_much_fuel_together() {
    let event = "{\"event_type\":\"a\",\"outcome\":0}\n";
    let each = Limits::default().fuel(event.trim_end().len());
    let enough = (MAX_FUEL / each + 1) as usize;
    let extractor =
        load(&guest(&[Does::Traps("unreachable")], &BTreeSet::from(["a"])), Limits::default());
    for (samples, processed) in [(enough, enough), (enough + 1, enough), (enough + 50, enough)] {
        let parsed = Samples::parse(&event.repeat(samples), "events").unwrap();
        let failed = smoke(&extractor, None, &parsed, None, SmokeOptions::default());
        let Err(SmokeError::Failed(failed)) = failed else { panic!("{failed:?}") };
        let report = failed.report();
        assert_eq!(report.events_processed, processed as u64);
        let ended = report.exceptions.last().unwrap().starts_with("samples_out_of_fuel: ");
        assert_eq!(ended, samples > processed, "{:?}", report.exceptions.last());
        let last = failed.samples().last().unwrap();
        assert_eq!(last.line, processed + usize::from(ended));
    }
}

#[test]
fn a_module_that_is_none_has_no_report() {
    // `module_import_failure`: the static gate turns it down, and nothing is run.
    let rejected = inspect(b"\0asm\x01\0\0\0\x01", &StructuralLimits::default()).unwrap_err();
    assert_eq!(rejected.problems()[0].code(), "malformed_module");
}
