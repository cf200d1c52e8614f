//! Bundles held to a reference over a corpus: the cases of the contract, part by part.
//!
//! They are written for a reference that is a module of Python. Here it is a value of a type, so that some of them aren't about
//! anything that could be written, and one about the text that Python prints: they are [named](IMPOSSIBLE).

use std::collections::BTreeSet;

use libtest_mimic::Trial;
use retort::graph::{Dropped, Extraction, Failure, FailureScope};
use retort::internal::codes;
use retort::jiff::Timestamp;
use retort::runtime::{
    DEFAULT_SAMPLES, Decided, Decision, Divergence, ExtractError, Noted, ReferenceResult,
    Revalidation, RevalidationReport, Thresholds, parity,
};
use retort::{Coded as _, Registry};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::registry::{event, gates, store};
use crate::trial::{json_of, of_contract, on_shared};

/// The cases that types make impossible, or that are about another language.
const IMPOSSIBLE: [&str; 4] = [
    "unorderable_values_crash_comparator",
    "reference_span_set_malformed",
    "reference_requests_exit",
    "list_equals_its_own_printed_text",
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (part, name, check) in PARTS {
        let cases = |text: &str| {
            let file: Value = serde_json::from_str(text).unwrap();
            let cases = file[part].as_array().unwrap().iter().cloned().enumerate();
            let name = |(number, case): (usize, Value)| {
                let name = case["name"].as_str().map_or(number.to_string(), str::to_owned);
                (name, case)
            };
            cases.map(name).filter(|(name, _)| !IMPOSSIBLE.contains(&name.as_str())).collect()
        };
        trials
            .extend(of_contract(&format!("revalidation/{name}"), cases, move |case| check(&case)));
    }
    trials.push(on_shared(
        "revalidation::there_are_as_many_cases_as_are_run",
        "conformance/revalidation.json",
        |path| {
            let file: Value = json_of(&path);
            let counts = PARTS.map(|(part, ..)| file[part].as_array().unwrap().len());
            assert_eq!(counts, [13, 12, 2, 7, 27, 4, 3]);
            for name in IMPOSSIBLE {
                let cases = file["parity_cases"].as_array().unwrap();
                let case = cases.iter().find(|it| it["name"] == name).unwrap();
                let of_python = case["python_specific"] == true || case["reference"].is_string();
                assert!(of_python, "{case}");
            }
            facts(&file);
        },
    ));
    trials
}

type Check = fn(&Value);

const PARTS: [(&str, &str, Check); 7] = [
    ("threshold_value_cases", "threshold_values", threshold_value),
    ("threshold_cases", "thresholds", threshold),
    ("count_cases", "counts", count),
    ("skip_cases", "skips", skip),
    ("parity_cases", "parity", compare),
    ("sample_text_cases", "sample_texts", sample_text),
    ("sample_cap_cases", "sample_caps", sample_cap),
];

fn threshold_value(case: &Value) {
    let value = match case["value"].as_str() {
        Some("NaN literal") => "NaN".to_owned(),
        Some("Infinity literal") => "Infinity".to_owned(),
        _ => case["value"].to_string(),
    };
    for field in [
        "min_compiled_unchanged_rate",
        "max_compiled_filtered_rate",
        "max_fallback_for_event_rate",
        "max_compiled_path_fault_rate",
        "min_parity_match_rate",
    ] {
        let parsed = Thresholds::parse(format!("{{\"{field}\": {value}}}").as_bytes());
        assert_eq!(parsed.is_ok(), case["ok"] == true, "{field}: {parsed:?}");
        if let Err(error) = parsed {
            assert_eq!(error.code(), "thresholds_invalid");
        }
    }
}

fn threshold(case: &Value) {
    let total = |name: &str| case["totals"][name].as_u64().unwrap();
    let mut report = RevalidationReport::default();
    report.total_events = total("total");
    report.total_compiled_unchanged = total("unchanged");
    report.total_compiled_filtered = total("filtered");
    report.total_fallback_for_event = total("fallback");
    report.total_compiled_path_faults = total("faults");
    report.total_parity_matches = total("match");
    report.total_parity_divergences = total("diverge");
    let rates = json!({
        "compiled_unchanged_rate": report.compiled_unchanged_rate(),
        "compiled_filtered_rate": report.compiled_filtered_rate(),
        "fallback_for_event_rate": report.fallback_for_event_rate(),
        "compiled_path_fault_rate": report.compiled_path_fault_rate(),
        "parity_match_rate": report.parity_match_rate(),
    });
    assert_eq!(rates, case["rates"]);
    let thresholds = Thresholds::parse(case["thresholds"].to_string().as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(thresholds.check(&report)).unwrap(), case["expect"]);
}

/// A registry of bundles for these event types, and their directory, of which graph specs are read with the first event.
fn registry(types: &[&str]) -> (Registry, TempDir) {
    let root = tempfile::tempdir().unwrap();
    let gates = gates();
    types.iter().for_each(|it| store(root.path(), it, "read", &gates));
    (Registry::open(root.path(), &gates), root)
}

/// What a bundle gives for an event that is well.
fn right(registry: &Registry, event: &str) -> Extraction {
    let reference = Revalidation::bundles_of(registry).reference(event.as_bytes());
    reference.unwrap().unwrap()
}

fn count(case: &Value) {
    let (registry, _root) = registry(&["a", "b"]);
    let mut revalidation = Revalidation::new(&registry, Timestamp::UNIX_EPOCH);
    for it in case["events"].as_array().unwrap() {
        let mut event = event(it["event_type"].as_str().unwrap(), json!(7.5));
        let mut reference = right(&registry, &event);
        if it["parity"] == "diverge" {
            reference.nodes.clear();
        }
        if it["compiled_exception"] == true {
            // More than its input may hold.
            event = event.replace("\"1\"", &format!("\"{}\"", "1".repeat(5_000)));
        }
        let noted = revalidation.event(event.as_bytes(), |_| Some(Ok(reference)));
        assert_eq!(noted, Noted::Counted);
    }
    let report = serde_json::to_value(revalidation.finish(Timestamp::UNIX_EPOCH)).unwrap();
    for (field, expected) in case["expect"].as_object().unwrap() {
        assert_eq!(report[field], *expected, "{field}");
    }
}

fn skip(case: &Value) {
    let is_said = |name: &str| case[name].as_bool().unwrap_or(true);
    let types: &[&str] = if is_said("compiled") { &["x"] } else { &["y"] };
    let (registry, _root) = registry(types);
    let mut revalidation = Revalidation::new(&registry, Timestamp::UNIX_EPOCH);
    let reference: ReferenceResult = is_said("reference").then(|| Ok(Extraction::default()));
    let noted = revalidation.event(case["event"].to_string().as_bytes(), |_| reference);
    assert_eq!(noted == Noted::Counted, case["skipped"] == false, "{noted:?}");
    let report = revalidation.finish(Timestamp::UNIX_EPOCH);
    let skipped = u64::from(case["skipped"] == true);
    assert_eq!((report.skipped_events, report.total_events), (skipped, 1 - skipped));
}

fn compare(case: &Value) {
    let expected = case["expect"].as_str().unwrap();
    if case["reference"] == "raises" {
        let (registry, _root) = registry(&["x"]);
        let mut revalidation = Revalidation::new(&registry, Timestamp::UNIX_EPOCH);
        let raised = || Some(Err(ExtractError::raised("boom")));
        revalidation.event(event("x", json!(1)).as_bytes(), |_| raised());
        let report = revalidation.finish(Timestamp::UNIX_EPOCH);
        let what = expected.strip_prefix("diverge:").unwrap();
        assert_eq!(report.sample_parity_divergences, [format!("x: {what}")]);
        return;
    }
    let extraction = |name: &str| serde_json::from_value(case[name].clone()).unwrap();
    let compared = parity(&extraction("reference"), &extraction("compiled"));
    let found = match &compared {
        Ok(()) => "match".to_owned(),
        Err(divergence) => format!("diverge:{}", divergence.what()),
    };
    assert_eq!(found, expected);
}

/// An event of which nothing is known but how it was decided.
fn decided(decision: Decision) -> Decided {
    let (result, dropped) = (Extraction::default(), Dropped::default());
    Decided { decision, result, error: None, failures: Vec::new(), dropped }
}

/// A divergence in the ids of edges.
fn edges_differ() -> Divergence {
    let edge =
        json!({"edge_id": "e", "relationship_name": "r", "from_node_id": "a", "to_node_id": "b"});
    let some = serde_json::from_value(json!({"nodes": [], "edges": [edge]})).unwrap();
    parity(&some, &Extraction::default()).unwrap_err()
}

fn sample_text(case: &Value) {
    let mut report = RevalidationReport::default();
    let event_type = case["event_type"].as_str().unwrap();
    let expected = case["expect_text"].as_str().unwrap();
    if let Some(divergence) = case["divergence"].as_str() {
        let found = edges_differ();
        assert_eq!(found.what(), divergence);
        let unchanged = decided(Decision::CompiledUnchanged);
        report.count(event_type, &unchanged, Some(Err(found.clone())), 10);
        let text = expected.replace(divergence, &found.to_string());
        assert_eq!(report.sample_parity_divergences, [text]);
        return;
    }
    let mut decided = decided(serde_json::from_value(case["decision"].clone()).unwrap());
    let ids = |name: &str| -> BTreeSet<String> {
        serde_json::from_value(case[name].clone()).unwrap_or_default()
    };
    decided.dropped.node_ids = ids("dropped_node_ids");
    decided.dropped.edge_ids = ids("dropped_edge_ids");
    decided.error = case["compiled_exception"].as_str().map(ExtractError::raised);
    // These are codes of another language's validator.
    let codes = [("a", codes::DUPLICATE_NODE_ID), ("b", codes::MISSING_KEY)];
    let mut expected = expected.to_owned();
    for code in case["validator_codes"].as_array().into_iter().flatten() {
        let (name, code) = codes.iter().find(|(name, _)| code == name).unwrap();
        expected = expected.replace(&format!("'{name}'"), &format!("'{}'", code.name));
        decided.failures.push(Failure {
            scope: FailureScope::Event,
            code: *code,
            path: String::new(),
            node_id: None,
            edge_id: None,
            property: None,
            detail: String::new(),
            expected: String::new(),
            observed: String::new(),
        });
    }
    report.count(event_type, &decided, None, 10);
    assert_eq!(report.sample_decision_divergences, [expected]);
}

fn sample_cap(case: &Value) {
    let cap = case["cap"].as_u64().map_or(DEFAULT_SAMPLES, |cap| cap as usize);
    let mut report = RevalidationReport::default();
    for _ in 0..case["decision_divergences"].as_u64().unwrap() {
        report.count("t", &decided(Decision::FallbackForEvent), None, cap);
    }
    for _ in 0..case["parity_divergences"].as_u64().unwrap() {
        let unchanged = decided(Decision::CompiledUnchanged);
        report.count("t", &unchanged, Some(Err(edges_differ())), cap);
    }
    let found = json!({
        "sample_decision_divergences": report.sample_decision_divergences.len(),
        "sample_parity_divergences": report.sample_parity_divergences.len(),
    });
    assert_eq!(found, case["expect"]);
}

/// What isn't a case.
fn facts(file: &Value) {
    let (registry, _root) = registry(&["x"]);
    let at: Timestamp = "2026-01-02T03:04:05.678Z".parse().unwrap();
    let mut revalidation = Revalidation::new(&registry, at);
    revalidation.event(event("x", json!(1)).as_bytes(), |_| Some(Ok(Extraction::default())));
    let report = serde_json::to_value(revalidation.finish(at)).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let listed =
        |name: &str| serde_json::from_value::<BTreeSet<String>>(file[name].clone()).unwrap();
    assert_eq!(keys(&report), listed("report_fields"));
    assert_eq!(keys(&report["counts_by_event_type"]["x"]), listed("per_type_fields"));
    assert_eq!(report["started_at"], "2026-01-02T03:04:05Z");
    let fields = file["threshold_fields"].as_array().unwrap().iter();
    let fields: BTreeSet<String> =
        fields.map(|it| it["field"].as_str().unwrap().to_owned()).collect();
    let thresholds = serde_json::to_value(Thresholds::default()).unwrap();
    assert_eq!(keys(&thresholds), fields);
    assert!(thresholds.as_object().unwrap().values().all(Value::is_null));
}
