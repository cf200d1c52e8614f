//! The hostile corpus, by the command.

use std::collections::BTreeSet;
use std::fs;

use quick_junit::{Report, TestCaseStatus};
use retort::selftest;
use serde_json::Value;

use super::project::{Ended, Project, retort};

fn json(ended: &Ended) -> Vec<Value> {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

#[test]
fn a_table_says_what_stopped_each_attack() {
    let ended = retort(["selftest", "--filter", "buffer/"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let lines: Vec<&str> = ended.stdout.lines().collect();
    let [head, rows @ .., summary] = lines.as_slice() else { panic!("{ended:?}") };
    assert!(head.contains("warm, on-demand") && head.contains("used / allowed"), "{head}");
    let cases = selftest::corpus().unwrap();
    let cases: Vec<&str> =
        cases.iter().map(selftest::Case::name).filter(|name| name.contains("buffer/")).collect();
    assert_eq!(rows.len(), cases.len(), "{ended:?}");
    for (row, case) in rows.iter().zip(&cases) {
        assert!(row.starts_with("ok ") && row.contains(case), "{row}");
    }
    assert!(
        summary.starts_with(&format!("{} attacks stopped, 0 not stopped, ", cases.len())),
        "{summary}"
    );
}

#[test]
fn json_has_an_object_for_each_attack() {
    let ended = retort(["selftest", "--filter", "stall/loop", "--json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    let cases = json(&ended);
    let keys = [
        "case",
        "attack",
        "isolation",
        "allocator",
        "expected",
        "observed",
        "limit",
        "used",
        "allowed",
        "ms",
        "ok",
        "reason",
    ];
    for case in &cases {
        let found: BTreeSet<&str> = case.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(found, BTreeSet::from(keys));
    }
    let found = cases.iter().find(|case| case["case"] == "stall/loop").unwrap();
    assert_eq!(found["observed"], "out_of_fuel");
    assert_eq!(found["limit"], "fuel_base");
    assert!(found["used"].as_u64() >= found["allowed"].as_u64(), "{found}");
    assert!(found["ms"].as_f64() > Some(0.0) && found["ok"] == true, "{found}");
}

#[test]
fn all_is_every_mode_with_both_allocators() {
    let project = Project::new();
    let args = ["selftest", "--filter", "stall/loop", "--all", "--json", "--junit", "report.xml"];
    let ended = project.retort(args);
    assert_eq!(ended.code, 0, "{ended:?}");
    let cases = json(&ended);
    let configurations: BTreeSet<(&str, &str)> = cases
        .iter()
        .map(|case| (case["isolation"].as_str().unwrap(), case["allocator"].as_str().unwrap()))
        .collect();
    assert_eq!(configurations.len(), 6, "{configurations:?}");
    let text = fs::read_to_string(project.path("report.xml")).unwrap();
    let report = Report::deserialize_from_str(&text).unwrap();
    assert_eq!((report.name.as_str(), report.test_suites.len()), ("retort selftest", 6));
    assert_eq!((report.tests, report.failures), (cases.len(), 0));
    for suite in &report.test_suites {
        assert!(suite.test_cases.iter().any(|case| case.name.as_str() == "stall/loop"));
    }
    for (flag, value) in [("--isolation", "per-event"), ("--allocator", "pooling")] {
        let ended = retort(["selftest", "--filter", "stall/loop", flag, value, "--json"]);
        let is_so = |case: &Value| case[&flag[2..]] == value;
        assert!(ended.code == 0 && json(&ended).iter().all(is_so), "{ended:?}");
    }
}

#[test]
fn an_attack_that_is_not_stopped_fails_it() {
    let project = Project::new();
    project.write("policy.yaml", "structure: {br_table_targets: 1000000}\n");
    let filter = ["selftest", "--filter", "compile/br_table"];
    assert_eq!(project.retort(filter).code, 0);
    let granted = ["--policy", "policy.yaml", "--junit", "report.xml"];
    let ended = project.retort([&filter[..], &granted].concat());
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stdout.contains("\nFAIL  compile/br_table "), "{ended:?}");
    assert!(ended.stdout.contains(" 1 not stopped, "), "{ended:?}");
    assert!(ended.stderr.contains("error[not_stopped]: compile/br_table"), "{ended:?}");
    let text = fs::read_to_string(project.path("report.xml")).unwrap();
    let report = Report::deserialize_from_str(&text).unwrap();
    assert_eq!(report.failures, 1);
    let TestCaseStatus::NonSuccess { ty, .. } = &report.test_suites[0].test_cases[0].status else {
        panic!("{report:?}")
    };
    assert_eq!(ty.as_ref().unwrap().as_str(), "not_stopped");
}

#[test]
fn the_limits_of_a_policy_are_what_is_tested() {
    let project = Project::new();
    project.write("policy.yaml", "limits: {fuel_base: 123456}\nisolation: per-event\n");
    let args = ["selftest", "--filter", "stall/loop", "--policy", "policy.yaml", "--json"];
    let ended = project.retort(args);
    let cases = json(&ended);
    let found = cases.iter().find(|case| case["case"] == "stall/loop").unwrap();
    assert_eq!((ended.code, &found["isolation"]), (0, &"per-event".into()), "{ended:?}");
    let allowed = found["allowed"].as_u64().unwrap();
    assert!((123_456..1_000_000).contains(&allowed), "{found}");
    // Nothing can be said where the honest tenant itself can't be served.
    project.write("policy.yaml", "limits: {fuel_base: 1, fuel_per_byte: 0}\n");
    let ended = project.retort(args);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
    assert!(ended.stderr.contains("error[honest_"), "{ended:?}");
}

#[test]
fn the_list_is_the_corpus() {
    let ended = retort(["selftest", "--list"]);
    let corpus = selftest::corpus().unwrap();
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, corpus.len()));
    let listed = json(&retort(["selftest", "--list", "--json", "--filter", "stall/loop"]));
    let expected = corpus
        .iter()
        .filter(|case| case.name().contains("stall/loop") || case.attack().contains("stall/loop"));
    for (found, case) in listed.iter().zip(expected) {
        assert_eq!(found["case"], case.name());
        assert_eq!(found["attack"], case.attack());
        assert_eq!(found["expected"], case.expect());
        assert_eq!(found["kind"], case.kind().as_str());
    }
    let ended = retort(["selftest", "--filter", "no such attack"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert!(ended.stderr.contains("error[no_cases]: "), "{ended:?}");
}
