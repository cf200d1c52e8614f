//! Reports for CI services.

use std::fs;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::project::Project;

fn report(project: &Project, name: &str) -> Report {
    Report::deserialize_from_str(&fs::read_to_string(project.path(name)).unwrap()).unwrap()
}

/// The names of a suite's cases, which all belong to it, with the code where one failed.
fn cases(suite: &TestSuite) -> Vec<(String, Option<String>)> {
    let ended = |case: &TestCase| {
        assert_eq!(case.classname.as_ref(), Some(&suite.name));
        let code = match &case.status {
            TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, ty, .. } => {
                Some(ty.as_ref().unwrap().to_string())
            }
            TestCaseStatus::Success { .. } => None,
            other => panic!("{other:?}"),
        };
        (case.name.to_string(), code)
    };
    suite.test_cases.iter().map(ended).collect()
}

fn told(name: &str, code: Option<&str>) -> (String, Option<String>) {
    (name.to_owned(), code.map(str::to_owned))
}

#[test]
fn check_reports_stages_and_samples() {
    let project = Project::new();
    let args = ["check", "plan.json", "--samples", "events.ndjson", "--junit", "report.xml"];
    let ended = project.retort(args);
    assert_eq!(ended.code, 0, "{ended:?}");
    let found = report(&project, "report.xml");
    assert_eq!((found.name.as_str(), found.tests, found.failures), ("retort check", 11, 0));
    let [stages, samples] = found.test_suites.as_slice() else { panic!("{found:?}") };
    assert_eq!(stages.name.as_str(), "plan.json");
    let names = ["plan", "policy", "render", "compile", "inspect", "load", "smoke"];
    assert_eq!(cases(stages), names.map(|name| told(name, None)));
    assert!(stages.test_cases.iter().all(|case| case.time.is_some()));
    assert_eq!(samples.name.as_str(), "plan.json: samples");
    assert_eq!(
        cases(samples),
        [
            told("line 1: order_placed", None),
            told("line 2: order_placed", None),
            told("line 4: order_placed", None),
            told("line 5: order_shipped", None),
        ]
    );
}

#[test]
fn check_reports_what_failed_and_where() {
    let project = Project::new();
    let bundle = project.compile();
    // The second sample is refused by the graph spec; what a sample says can't end a tag.
    project.write(
        "events.ndjson",
        r#"{"event_type":"order_placed","content":{"id":"a","total":1.5}}
{"event_type":"order_placed","content":{"id":"]]><b>","total":"\u001b[2J<x>"}}
"#,
    );
    let args = ["check", &bundle, "--samples", "events.ndjson", "--junit", "report.xml"];
    let ended = project.retort(args);
    assert_eq!(ended.code, 1, "{ended:?}");
    let found = report(&project, "report.xml");
    let [stages, samples] = found.test_suites.as_slice() else { panic!("{found:?}") };
    assert_eq!(cases(stages).last(), Some(&told("smoke", Some("type_mismatch"))));
    assert_eq!(cases(stages).len(), 4);
    assert_eq!(
        cases(samples),
        [told("line 1: order_placed", None), told("line 2: order_placed", Some("type_mismatch")),]
    );
    let TestCaseStatus::NonSuccess { message, .. } = &samples.test_cases[1].status else {
        panic!("{samples:?}")
    };
    assert!(message.as_ref().unwrap().as_str().starts_with("expected a number for"), "{message:?}");
    let text = fs::read_to_string(project.path("report.xml")).unwrap();
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_sample_that_exceeds_a_limit_says_by_how_much() {
    let project = Project::new();
    project.write("small.yaml", "limits: {input_bytes: 8}");
    let args = ["check", "plan.json", "--samples", "events.ndjson", "--policy", "small.yaml"];
    let ended = project.retort([&args[..], &["--junit", "report.xml"]].concat());
    assert_eq!(ended.code, 1, "{ended:?}");
    let found = report(&project, "report.xml");
    let [stages, samples] = found.test_suites.as_slice() else { panic!("{found:?}") };
    assert_eq!(cases(stages).last(), Some(&told("smoke", Some("input_too_large"))));
    for case in [stages.test_cases.last().unwrap(), &samples.test_cases[0]] {
        let TestCaseStatus::NonSuccess { message, .. } = &case.status else { panic!("{case:?}") };
        let message = message.as_ref().unwrap().as_str();
        assert!(message.contains(" (used ") && message.ends_with(", allowed 8)"), "{message}");
    }
}

#[test]
fn check_reports_a_gate_before_any_sample() {
    let project = Project::new();
    project.write("empty.wat", "(module)");
    let args = ["check", "empty.wat", "--samples", "events.ndjson", "--junit", "report.xml"];
    let ended = project.retort([&args[..], &["--json"]].concat());
    assert_eq!(ended.code, 1, "{ended:?}");
    let found = report(&project, "report.xml");
    let [stages] = found.test_suites.as_slice() else { panic!("{found:?}") };
    assert_eq!(cases(stages)[0], told("compile", None));
    let TestCaseStatus::NonSuccess { description, .. } = &stages.test_cases[1].status else {
        panic!("{stages:?}")
    };
    let problems = description.as_ref().unwrap().as_str().lines().count();
    assert!(problems > 1, "{description:?}");
}

#[test]
fn a_report_overwrites_nothing_that_is_read() {
    let project = Project::new();
    for input in ["plan.json", "events.ndjson"] {
        let before = fs::read(project.path(input)).unwrap();
        let ended =
            project.retort(["check", "plan.json", "--samples", "events.ndjson", "--junit", input]);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains("error[output_is_input]"), "{ended:?}");
        assert_eq!(fs::read(project.path(input)).unwrap(), before);
    }
    let args = ["check", "plan.json", "--samples", "events.ndjson", "--junit", "plan.json/x"];
    let ended = project.retort(args);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("error[file_not_writable]: plan.json/x"), "{ended:?}");
}
