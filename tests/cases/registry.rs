//! Bundles and fallbacks by event type: the cases of the contract, by number.
//!
//! They are written for functions of Python, which may be no functions or take other arguments. Here a fallback is
//! an `Extract`, so that a program with such a one isn't compiled: these cases are [named](IMPOSSIBLE), and held to be about nothing
//! else.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use libtest_mimic::Trial;
use retort::bundle::{Digest, Expect, discover};
use retort::graph::Extraction;
use retort::runtime::{Decision, ExtractError, Extractors, Wiring};
use retort::{Coded, GraphSpec, Limits, Pipeline, Registry, Samples, Store, Task};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::sandbox;
use crate::trial::{json_of, of_contract, on_shared};

/// The cases that types make impossible.
const IMPOSSIBLE: [&str; 5] = [
    "fallback_value_null",
    "fallback_value_not_callable",
    "fallback_value_one_argument",
    "fallback_value_keyword_only",
    "bad_fallback_outside_allowlist_still_raises",
];

#[derive(Deserialize)]
struct Case {
    name: String,
    given: Given,
    expect: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Given {
    bundle_event_types: Vec<String>,
    fallback_event_types: Vec<String>,
    allowlist: Option<Vec<String>>,
    rejected_bundles: BTreeMap<String, String>,
    decision: Option<String>,
    invocations: Option<usize>,
}

#[derive(Deserialize)]
struct File {
    wiring: Value,
    cases: Vec<Case>,
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = of_contract("registry", named, |case| check(&case));
    trials.push(on_shared(
        "registry::there_are_as_many_cases_as_are_run",
        "conformance/registry.json",
        |path| {
            let file: File = json_of(&path);
            assert_eq!(file.cases.len(), 24);
            assert_eq!(file.wiring, wiring());
        },
    ));
    trials
}

fn named(text: &str) -> Vec<(String, Case)> {
    let file: File = serde_json::from_str(text).unwrap();
    let numbered = (1..).zip(file.cases);
    numbered.map(|(number, case)| (format!("{number:02}_{}", case.name), case)).collect()
}

fn check(case: &Case) {
    match case.name.as_str() {
        name if IMPOSSIBLE.contains(&name) => {
            assert_eq!(case.expect, json!({"raises": "type_error"}));
        }
        "callback_not_for_fallback_only" => {
            let calls = calls(&[], &["a"], &["a"]);
            assert_eq!((calls.len(), &case.expect["callback_calls"]), (0, &json!(0)));
        }
        "callback_error_propagates" => error_of_the_hook(case),
        "callback_runs_after_outcome_before_return" => order(case),
        name if name.starts_with("callback_") => callback(case),
        "runtime_dispatch_event_without_type" => no_type(case),
        "runtime_dispatch_extractor_error_propagates_by_default" => error_of_the_extractor(case),
        "runtime_merge_edges_concatenated" => edges_are_concatenated(case),
        "runtime_merge_span_sets_united" => span_sets_are_united(case),
        _ => compare(case),
    }
}

/// What stands for which entry, as the registry has it for each combination.
fn wiring() -> Value {
    let entries = [(true, true), (false, true), (true, false), (false, false)];
    let of = |(bundle, fallback): (bool, bool)| {
        let types = |is_there: bool| if is_there { &["a"][..] } else { &[] };
        let root = tempfile::tempdir().unwrap();
        let gates = gates();
        types(bundle).iter().for_each(|it| store(root.path(), it, "read", &gates));
        let registry = Registry::open(root.path(), &gates);
        let wiring = types(fallback).iter().fold(Wiring::default(), |wiring, it| {
            wiring.with_fallback(*it, |_: &[u8]| Ok(Extraction::default()))
        });
        let coverage = wiring.over(&registry).coverage().clone();
        let has = |list: &[String]| list == ["a"];
        let entry = match (has(&coverage.wrapped), has(&coverage.passed_through)) {
            (true, false) => json!("wrapped"),
            (false, true) => json!("fallback unchanged"),
            (false, false) => Value::Null,
            (true, true) => panic!("{coverage:?}"),
        };
        let audits =
            [has(&coverage.bundles_without_fallback), has(&coverage.fallbacks_without_bundle)];
        let audit = match audits {
            [false, false] => Value::Null,
            [true, false] => json!("bundles_without_fallback"),
            [false, true] => json!("fallbacks_without_bundle"),
            [true, true] => panic!("{coverage:?}"),
        };
        json!({"bundle": bundle, "fallback": fallback, "entry": entry, "audit": audit})
    };
    entries.into_iter().map(of).collect()
}

/// Gates whose extractors take few bytes of an event.
pub(crate) fn gates() -> Pipeline {
    Pipeline::from(sandbox(options!(Limits { input_bytes: 4_096, ..Limits::default() })))
}

const GRAPH: &str = r#"{"entities": [{"name": "Order", "key_columns": ["id"], "properties": [
    {"column": "id", "logical_name": "id", "sdk_type": "string"},
    {"column": "total", "logical_name": "total", "sdk_type": "double"}]}]}"#;

/// Puts a bundle of orders of this event type.
pub(crate) fn store(root: &Path, event_type: &str, function: &str, gates: &Pipeline) {
    let plan = json!({
        "event_type": event_type, "target_entity_name": "Order",
        "function_name": format!("{function}_{event_type}"),
        "key_field": {"property_name": "id", "source_path": ["id"]},
        "property_fields": [{"property_name": "total", "source_path": ["total"]}],
        "span_handling": {"span_id_path": ["span_id"]},
    });
    let sample = event(event_type, json!(7.5));
    let graph = GraphSpec::parse(GRAPH, "graph").unwrap();
    let task = Task::new(graph, Samples::parse(&sample, "samples").unwrap());
    let accepted = gates.accept(&plan.to_string(), &task).unwrap();
    let now = retort::jiff::Timestamp::UNIX_EPOCH;
    accepted.store(&Store::open(root).unwrap(), now).unwrap();
}

pub(crate) fn event(event_type: &str, total: Value) -> String {
    json!({"event_type": event_type, "session_id": "s", "span_id": "p", "id": "1", "total": total})
        .to_string()
}

fn compare(case: &Case) {
    let (root, gates) = (tempfile::tempdir().unwrap(), gates());
    let mut pinned: Vec<Digest> = Vec::new();
    let Given { bundle_event_types, fallback_event_types, allowlist, rejected_bundles, .. } =
        &case.given;
    for event_type in bundle_event_types {
        let before = fingerprints(root.path());
        store(root.path(), event_type, "read", &gates);
        let path = {
            let after = fingerprints(root.path());
            after.into_iter().find(|it| !before.contains(it)).unwrap()
        };
        match rejected_bundles.get(event_type).map(String::as_str) {
            None => pinned.push(path.parse().unwrap()),
            Some("fingerprint_mismatch") => {}
            Some("event_type_collision") => {
                store(root.path(), event_type, "also_read", &gates);
                // With the record of what is active there would be one that serves.
                std::fs::remove_file(root.path().join(".active.json")).unwrap();
                let both = fingerprints(root.path());
                pinned.extend(both.iter().map(|it| it.parse::<Digest>().unwrap()));
            }
            Some("manifest_unreadable") => {
                let manifest = root.path().join(path).join(retort::bundle::MANIFEST_FILE);
                std::fs::write(manifest, "?").unwrap();
            }
            Some(other) => panic!("{other}"),
        }
    }
    let expect = Expect { any_of: Some(&pinned), ..Expect::default() };
    let found = discover(root.path(), &expect, allowlist.as_deref(), &gates);
    let registry = Registry::new(found, &gates);
    let mut wiring = Wiring::default();
    for event_type in fallback_event_types {
        wiring = wiring.with_fallback(event_type, |_: &[u8]| Ok(Extraction::default()));
    }
    if let Some(allowlist) = allowlist {
        wiring = wiring.with_allowlist(allowlist);
    }
    let extractors = wiring.over(&registry);
    assert_eq!(serde_json::to_value(extractors.coverage()).unwrap(), case.expect);
    let codes: Vec<&str> = registry.failures().iter().map(|failure| failure.code()).collect();
    for code in rejected_bundles.values() {
        assert!(codes.contains(&code.as_str()), "{codes:?}");
    }
    assert_eq!(codes.is_empty(), rejected_bundles.is_empty(), "{codes:?}");
}

fn fingerprints(root: &Path) -> Vec<String> {
    let names = std::fs::read_dir(root).unwrap().map(|it| it.unwrap().file_name());
    names.map(|it| it.into_string().unwrap()).filter(|it| !it.starts_with('.')).collect()
}

/// What a hook was told of these events, with bundles and fallbacks of these types.
fn calls(bundles: &[&str], fallbacks: &[&str], events: &[&str]) -> Vec<(String, Decision)> {
    let events: Vec<String> = events.iter().map(|it| event(it, json!(7.5))).collect();
    calls_on(bundles, fallbacks, &events)
}

fn calls_on(bundles: &[&str], fallbacks: &[&str], events: &[String]) -> Vec<(String, Decision)> {
    let (root, gates) = (tempfile::tempdir().unwrap(), gates());
    bundles.iter().for_each(|it| store(root.path(), it, "read", &gates));
    let registry = Registry::open(root.path(), &gates);
    let mut calls = Vec::new();
    let wiring = Wiring::default().on_outcome(|event_type, extracted| {
        calls.push((event_type.to_owned(), extracted.decision().unwrap()));
    });
    let wiring = fallbacks
        .iter()
        .fold(wiring, |wiring, it| wiring.with_fallback(*it, |_: &[u8]| Ok(Extraction::default())));
    let mut extractors = wiring.over(&registry);
    for event in events {
        extractors.extract(event.as_bytes()).unwrap();
    }
    drop(extractors);
    calls
}

fn callback(case: &Case) {
    let total = match case.given.decision.as_deref() {
        None | Some("compiled_unchanged") => json!(7.5),
        Some("compiled_filtered") => json!("much"),
        // More than its extractor takes.
        Some("fallback_for_event") => json!("x".repeat(10_000)),
        Some(other) => panic!("{other}"),
    };
    let events = vec![event("a", total); case.given.invocations.unwrap_or(1)];
    let calls = calls_on(&["a"], &["a"], &events);
    assert_eq!(json!(calls.len()), case.expect["callback_calls"]);
    let decision = case.given.decision.as_deref().unwrap_or("compiled_unchanged");
    for (event_type, found) in &calls {
        assert_eq!((event_type.as_str(), json!(found)), ("a", json!(decision)));
    }
}

/// With a bundle and a fallback of the type `a`.
fn with_one<T>(wiring: Wiring<'_>, run: impl FnOnce(&mut Extractors<'_, '_>) -> T) -> T {
    let (root, gates) = (tempfile::tempdir().unwrap(), gates());
    store(root.path(), "a", "read", &gates);
    let registry = Registry::open(root.path(), &gates);
    run(&mut wiring.over(&registry))
}

fn error_of_the_hook(case: &Case) {
    assert_eq!(case.expect["raises"], "callback error");
    let wiring = Wiring::default()
        .with_fallback("a", |_: &[u8]| Ok(Extraction::default()))
        .on_outcome(|_, _| panic!("callback error"));
    with_one(wiring, |extractors| {
        let event = event("a", json!(7.5));
        let extract = AssertUnwindSafe(|| drop(extractors.extract(event.as_bytes())));
        let raised = catch_unwind(extract).unwrap_err();
        assert_eq!(raised.downcast_ref::<&str>(), Some(&"callback error"));
    });
}

fn order(case: &Case) {
    let steps = RefCell::new(Vec::new());
    let wiring = Wiring::default()
        .with_fallback("a", |_: &[u8]| {
            steps.borrow_mut().push("(fallback)");
            Ok(Extraction::default())
        })
        .on_outcome(|_, extracted| {
            // The extractor has run, and its result was held to the spec, where there is a decision.
            assert_eq!(extracted.decision(), Some(Decision::FallbackForEvent));
            steps.borrow_mut().push("callback");
        });
    with_one(wiring, |extractors| {
        let event = event("a", json!("x".repeat(10_000)));
        extractors.extract(event.as_bytes()).unwrap();
        steps.borrow_mut().push("return result");
    });
    let expected = case.expect["order"].as_array().unwrap();
    assert_eq!(json!(steps.into_inner()), json!(expected[2..]));
    assert_eq!(expected[..2], [json!("compiled"), json!("validate")]);
}

fn no_type(case: &Case) {
    assert_eq!(case.expect["result"], "empty");
    let wiring = Wiring::default().with_fallback("a", |_: &[u8]| panic!("isn't asked"));
    with_one(wiring, |extractors| {
        for event in [r#"{"id": "1"}"#, r#"{"event_type": null}"#, r#"{"event_type": "b"}"#] {
            let extracted = extractors.extract(event.as_bytes()).unwrap();
            assert!(extracted.into_extraction().unwrap().is_empty());
        }
    });
}

/// To go on with the next event is what a caller makes of it.
fn error_of_the_extractor(case: &Case) {
    assert_eq!(case.expect["raises"], "extractor error");
    let fails = |_: &[u8]| Err(ExtractError::raised("extractor error"));
    let wiring = Wiring::default().with_fallback("a", fails).with_fallback("b", fails);
    with_one(wiring, |extractors| {
        for event in [event("a", json!("x".repeat(10_000))), event("b", json!(1))] {
            let error = extractors.extract(event.as_bytes()).unwrap_err();
            assert_eq!(
                (error.code(), error.to_string().as_str()),
                ("extractor_raised", "extractor error")
            );
        }
        assert!(extractors.extract(event("a", json!(1)).as_bytes()).is_ok());
    });
}

fn extraction(value: Value) -> Extraction {
    serde_json::from_value(value).unwrap()
}

fn edges_are_concatenated(case: &Case) {
    let edge =
        json!({"edge_id": "e", "relationship_name": "R", "from_node_id": "a", "to_node_id": "b"});
    let one = extraction(json!({"nodes": [], "edges": [edge]}));
    let mut all = one.clone();
    all.unite(one);
    assert_eq!(json!(all.edges.len()), case.expect["edges"]);
}

fn span_sets_are_united(case: &Case) {
    assert!(case.expect["note"].is_string());
    let spans = |full: &[&str], partial: &[&str]| {
        extraction(json!({"nodes": [], "edges": [], "fully_handled_span_ids": full,
            "partially_handled_span_ids": partial}))
    };
    let mut all = spans(&["a"], &["b"]);
    all.unite(spans(&["a", "b"], &["b", "c"]));
    assert_eq!(all, spans(&["a", "b"], &["b", "c"]));
}
