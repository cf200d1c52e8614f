//! The sample run, checked against the contract's cases: each becomes a guest whose results are the case's outcomes.

mod compile_gate;
#[path = "../smoke/guest.rs"]
mod guest;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use libtest_mimic::Trial;
use retort::bundle::{SmokeError, SmokeOptions, SmokeReport};
use retort::internal::smoke::smoke;
use retort::{Coded, GraphSpec, Limits, Samples};
use serde_json::{Value, json};

use self::guest::{Does, guest, load};
use crate::trial::{json_of, of_contract, on_shared};

/// Cases that rest on merging the results of all events. Each event is validated by itself, as it is served, so that a
/// good node of a later event doesn't hide a bad one: (name, number of failures found).
const NOT_MERGED: &[(&str, usize)] = &[("same_node_id_across_events_is_merged_last_wins", 1)];

/// Ways in which a run can fail around the extractor, with what stands for each of them here. The rest have no equivalent:
/// nothing is handed to another process (`inputs_not_transferable`), and limits can be raised but not switched off or be
/// negative (`timeout_disabled`, `memory_limit_disabled`, `memory_limit_negative`).
const HARNESS: &[(&str, &str, &str)] = &[
    ("timeout", "(loop $again (br $again)) unreachable", "deadline_exceeded: "),
    ("crash_or_oom", "(drop (memory.grow (i32.const 1024))) unreachable", "memory_exceeded: "),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = of_contract("smoke", named, the_report_is_that_of_the_case);
    for (name, body, prefix) in HARNESS {
        trials.push(on_shared(
            format!("conformance::smoke/{name}"),
            "conformance/smoke.json",
            move |path| what_the_host_stops_is_an_exception_of_its_event(&path, name, body, prefix),
        ));
    }
    trials.extend(compile_gate::trials());
    trials
}

/// The cases, each with the number of fields that a report has.
fn named(text: &str) -> Vec<(String, (Value, usize))> {
    let all: Value = serde_json::from_str(text).unwrap();
    let fields = all["report_fields"].as_array().unwrap().len();
    let cases = all["cases"].as_array().unwrap().iter();
    cases.map(|case| (case["name"].as_str().unwrap().to_owned(), (case.clone(), fields))).collect()
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
    let options = options!(SmokeOptions {
        min_nonempty_results: case["min_nonempty_results"].as_u64().unwrap(),
        ..SmokeOptions::default()
    });
    match smoke(&extractor, None, &samples, spec.as_ref(), options) {
        Ok(smoked) => (smoked.report().clone(), true),
        Err(SmokeError::Failed(failed)) => (failed.report().clone(), false),
        Err(error) => panic!("{error}"),
    }
}

fn the_report_is_that_of_the_case((case, fields): (Value, usize)) {
    let expect = &case["expect"];
    if expect["raises"] == "argument_error" {
        let (text, _) = events(&case);
        assert_eq!(Samples::parse(&text, "events").unwrap_err().code(), "no_samples");
        return;
    }
    let (report, passed) = run(&case);
    let value = serde_json::to_value(&report).unwrap();
    assert_eq!(value.as_object().unwrap().len(), fields);
    for field in [
        "events_processed",
        "events_with_exception",
        "events_with_wrong_return_type",
        "events_with_nonempty_result",
        "min_nonempty_results",
        "nonempty_event_types",
    ] {
        assert_eq!(value[field], expect[field], "{field}");
    }
    // The texts are ours, and as many.
    assert_eq!(report.exceptions.len() as u64, report.events_with_exception);
    let wrong = expect["wrong_return_types"].as_array().unwrap().len();
    assert_eq!(report.wrong_return_types.len(), wrong);
    let failures: Vec<Value> = report
        .validation_failures
        .iter()
        .map(|failure| json!({"scope": failure.scope, "code": failure.code, "path": failure.path}))
        .collect();
    if let Some((_, found)) = NOT_MERGED.iter().find(|(other, _)| case["name"] == **other) {
        assert_eq!((failures.len(), passed), (*found, false));
    } else {
        assert_eq!(json!(failures), expect["validation_failures"]);
        assert_eq!(json!(passed), expect["ok"]);
        assert_eq!(json!(report.ok()), expect["ok"]);
    }
}

fn what_the_host_stops_is_an_exception_of_its_event(
    path: &Path,
    name: &str,
    body: &'static str,
    prefix: &str,
) {
    let all: Value = json_of(path);
    let list = all["harness_failures"].as_array().unwrap();
    let case = list.iter().find(|case| case["name"] == name).unwrap();
    let count = case["n_events"].as_u64().unwrap();
    // The first event goes well. It still counts: there is no process whose end would take it along.
    let good =
        r#"{"nodes":[],"edges":[],"fully_handled_span_ids":["s"],"partially_handled_span_ids":[]}"#;
    let types = BTreeSet::from(["a"]);
    let mut text = String::new();
    for number in 0..=count {
        let outcome = u64::from(number > 0);
        writeln!(text, r#"{{"event_type":"a","outcome":{outcome}}}"#).unwrap();
    }
    let module = guest(&[Does::Returns(good.to_owned()), Does::Traps(body)], &types);
    let limits = options!(Limits {
        fuel_base: u64::MAX / 4,
        deadline_ms: 50,
        memory_bytes: 1 << 20,
        ..Limits::default()
    });
    let samples = Samples::parse(&text, "events").unwrap();
    let extractor = load(&module, limits);
    let failed = smoke(&extractor, None, &samples, None, SmokeOptions::default());
    let Err(SmokeError::Failed(failed)) = failed else { panic!("{failed:?}") };
    let report = failed.report();
    assert_eq!(report.events_with_exception, count);
    assert_eq!(report.events_with_nonempty_result, 1);
    for exception in &report.exceptions {
        assert!(exception.starts_with(prefix), "{exception}");
    }
    assert!(failed.problems().iter().all(|problem| problem.used.is_some()));
}
