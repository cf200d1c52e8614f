//! Diagnostics, byte for byte.

use retort::diagnostics::diagnose::{self, ReportKind};
use serde::Deserialize;
use serde_json::Value;

use crate::support::shared;

#[derive(Deserialize)]
struct Case {
    name: String,
    kind: String,
    report: Value,
    expect_text: String,
}

fn cases() -> Option<Vec<Case>> {
    let text = std::fs::read_to_string(shared("conformance/diagnostics.json")?).unwrap();
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    assert!(!cases.is_empty());
    Some(cases)
}

#[test]
fn every_saved_report_renders_as_the_contract_says() {
    let Some(cases) = cases() else { return };
    for case in cases {
        let kind: ReportKind = case.kind.parse().unwrap();
        let text = diagnose::render(kind, &case.report);
        assert_eq!(text.as_ref(), Ok(&case.expect_text), "{}", case.name);
    }
}

#[test]
fn the_verdict_of_a_compile_report_is_what_its_fields_say() {
    let Some(cases) = cases() else { return };
    for case in cases.iter().filter(|case| case.kind == "compile") {
        let report: diagnose::CompileReport = serde_json::from_value(case.report.clone()).unwrap();
        assert_eq!(Some(report.ok()), case.report["ok"].as_bool(), "{}", case.name);
    }
}

#[test]
fn a_report_renders_the_same_after_it_was_saved_again() {
    let Some(cases) = cases() else { return };
    for case in cases {
        let saved = match case.kind.as_str() {
            "parse" => resave::<diagnose::ParseReport>(case.report),
            "render" => resave::<diagnose::RenderReport>(case.report),
            "ast" => resave::<diagnose::AstReport>(case.report),
            "smoke" => resave::<diagnose::SmokeReport>(case.report),
            _ => resave::<diagnose::CompileReport>(case.report),
        };
        let text = diagnose::render(case.kind.parse().unwrap(), &saved);
        assert_eq!(text.as_ref(), Ok(&case.expect_text), "{}", case.name);
    }
}

fn resave<T: serde::Serialize + serde::de::DeserializeOwned>(report: Value) -> Value {
    serde_json::to_value(serde_json::from_value::<T>(report).unwrap()).unwrap()
}

#[test]
fn a_smoke_report_is_saved_in_the_contracts_field_order() {
    let Some(path) = shared("conformance/smoke.json") else { return };
    let facts: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let text = serde_json::to_string(&diagnose::SmokeReport::default()).unwrap();
    let mut last = 0;
    for field in facts["report_fields"].as_array().unwrap() {
        let at = text.find(&format!("{field}:")).unwrap_or_else(|| panic!("no {field} in {text}"));
        assert!(at >= last, "{field} is out of order in {text}");
        last = at;
    }
}
