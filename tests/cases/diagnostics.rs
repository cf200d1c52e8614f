//! Diagnostics, byte for byte.

use std::path::Path;

use libtest_mimic::Trial;
use retort::diagnostics::ReportKind;
use retort::internal::diagnose;
use serde::Deserialize;
use serde_json::Value;

use crate::trial::{json_of, of_contract, on_shared};

#[derive(Deserialize)]
struct Case {
    name: String,
    kind: String,
    report: Value,
    expect_text: String,
}

pub(crate) fn trials() -> Vec<Trial> {
    let cases = |text: &str| {
        let cases: Vec<Case> = serde_json::from_str(text).unwrap();
        cases.into_iter().map(|case| (case.name.clone(), case)).collect()
    };
    let mut trials = of_contract("diagnostics", cases, check);
    trials.push(on_shared(
        "diagnostics::a_smoke_report_is_saved_in_the_contracts_field_order",
        "conformance/smoke.json",
        |path| a_smoke_report_is_saved_in_the_contracts_field_order(&path),
    ));
    trials
}

/// A report renders as the contract says, its verdict is what its fields say, and it renders the same after it was saved again.
fn check(case: Case) {
    let kind: ReportKind = case.kind.parse().unwrap();
    let text = diagnose::render(kind, &case.report);
    assert_eq!(text.as_ref(), Ok(&case.expect_text));
    if case.kind == "compile" {
        let report: diagnose::CompileReport = serde_json::from_value(case.report.clone()).unwrap();
        assert_eq!(Some(report.ok()), case.report["ok"].as_bool());
    }
    let saved = match case.kind.as_str() {
        "parse" => resave::<diagnose::ParseReport>(case.report),
        "render" => resave::<diagnose::RenderReport>(case.report),
        "ast" => resave::<diagnose::AstReport>(case.report),
        "smoke" => resave::<diagnose::SmokeReport>(case.report),
        _ => resave::<diagnose::CompileReport>(case.report),
    };
    assert_eq!(diagnose::render(kind, &saved).as_ref(), Ok(&case.expect_text), "saved again");
}

fn resave<T: serde::Serialize + serde::de::DeserializeOwned>(report: Value) -> Value {
    serde_json::to_value(serde_json::from_value::<T>(report).unwrap()).unwrap()
}

fn a_smoke_report_is_saved_in_the_contracts_field_order(facts: &Path) {
    let facts: Value = json_of(facts);
    let text = serde_json::to_string(&diagnose::SmokeReport::default()).unwrap();
    let mut last = 0;
    for field in facts["report_fields"].as_array().unwrap() {
        let at = text.find(&format!("{field}:")).unwrap_or_else(|| panic!("no {field} in {text}"));
        assert!(at >= last, "{field} is out of order in {text}");
        last = at;
    }
}
