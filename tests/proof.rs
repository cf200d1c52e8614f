//! The verifier over the binary: what it takes, what it doesn't, and that what it takes depends on the block alone.
//!
//! `proof/cases/*.wat` are modules by hand, near to ones that there is a proof for. The head of a case: `;; expect: verified`,
//! or the code of the obligation that it fails; `;; leaks` where stale memory really shows up in what it does;
//! `;; event: ..` for events other than the usual ones. Where `;; include: prelude` or `;; include: lists` stands, the
//! hand-written functions of the template come in. `proof/older/*.wat` are modules as older renderers made them.

mod lab;
mod mutants;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use retort::diagnostics::problem::Coded;
use retort::gate::inspect::verify::{Obligation, verify};
use retort::gate::inspect::{Inspected, Proof, ResetSafety, StructuralLimits, inspect, prove};
use retort::plan::{self, Plan};
use serde_json::Value;

use self::lab::{Lab, Subject, blocks};
use crate::support::{rendered, workspace_root};

const EVENTS: [&str; 8] = [
    r#"{"event_type":"e","a":"abcdefgh","b":"0123456789012","rows":[{"x":1,"y":"two"},{"x":"three"},{"y":[4]}]}"#,
    r#"{"event_type":"e","a":1,"b":2,"rows":[]}"#,
    r#"{"event_type":"e","a":"0123456789abcde","b":"01234567","rows":[{"x":"a","y":"b"}]}"#,
    r#"{"event_type":"e","a":"0123456789abcdef","b":[1,2,3]}"#,
    r#"{"event_type":"e","a":"0123456789abcdef0123456789abcdef0123456789","b":"-","rows":[{"x":"0123456789abcdef0123456789"}]}"#,
    r#"{"event_type":"e","b":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789"}"#,
    r#"{"event_type":"e","a":[["0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789"]],"b":null,"rows":"none"}"#,
    r#"{"event_type":"e"}"#,
];

fn sorted(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(workspace_root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

fn foreign(wasm: &[u8]) -> Inspected {
    inspect(wasm, &StructuralLimits::default()).unwrap_or_else(|rejected| panic!("{rejected}"))
}

struct Case {
    name: String,
    expect: String,
    leaks: bool,
    events: Vec<String>,
    inspected: Inspected,
}

fn cases() -> Vec<Case> {
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let heads = |key: &str| -> Vec<String> {
            let prefix = format!(";; {key}: ");
            text.lines().filter_map(|line| Some(line.strip_prefix(&prefix)?.to_owned())).collect()
        };
        let whole = text
            .replace("  ;; include: prelude", retort_guest_template::PRELUDE)
            .replace("  ;; include: lists", retort_guest_template::LISTS);
        let wasm = wat::parse_str(&whole).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let inspected = inspect(&wasm, &StructuralLimits::default());
        let mut events = heads("event");
        if events.is_empty() {
            events = EVENTS.map(str::to_owned).to_vec();
        }
        Case {
            name: name(&path),
            expect: heads("expect").remove(0),
            leaks: text.lines().any(|line| line == ";; leaks"),
            events,
            inspected: inspected.unwrap_or_else(|rejected| panic!("{path:?}: {rejected}")),
        }
    };
    sorted("tests/proof/cases", "wat").into_iter().map(read).collect()
}

#[test]
fn near_misses_fail_the_obligation_that_they_break() {
    let mut wrong = Vec::new();
    for Case { name, expect, inspected, .. } in cases() {
        let (code, why) = match verify(&inspected) {
            Ok(_) => ("verified", String::new()),
            Err(unproven) => (unproven.code(), unproven.to_string()),
        };
        if code != expect {
            wrong.push(format!("{name}: expected {expect}, got {code}: {why}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_obligation_has_a_near_miss() {
    let seen: BTreeSet<String> = cases().into_iter().map(|case| case.expect).collect();
    let codes: BTreeSet<&str> = Obligation::ALL.iter().map(|it| it.code()).collect();
    assert_eq!(codes.len(), Obligation::ALL.len());
    let missing: Vec<_> = codes.iter().filter(|code| !seen.contains(**code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// What is verified depends on the block alone, and takes no more fuel than its bound; and what a case says to leak does.
#[test]
fn stale_memory_shows_up_only_where_a_case_says_so() {
    let lab = Lab::new();
    let mut wrong = Vec::new();
    let mut leaks = 0;
    for case in cases() {
        let subject = Subject::of(&lab, &prove::by_verification(case.inspected.clone())).unwrap();
        let difference = subject.difference(&lab, &blocks(&case.inspected, &case.events), 9);
        leaks += usize::from(case.leaks);
        let is_verified = case.expect == "verified";
        if (case.leaks && difference.is_none()) || (is_verified && difference.is_some()) {
            wrong.push(format!("{}: {difference:?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(leaks > 30, "{leaks}");
}

/// Plans of all tests and examples, each with events where there are any.
fn plans() -> Vec<(String, Plan, Vec<String>)> {
    let parsed = |path: &Path| -> Value {
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    };
    let mut found = Vec::new();
    for path in sorted("tests/render", "json").into_iter().chain(sorted("tests/property", "json")) {
        let case = parsed(&path);
        let listed = case["events"].as_array().cloned().unwrap_or_default();
        let mut events: Vec<String> =
            listed.iter().filter_map(|event| Some(event.as_str()?.to_owned())).collect();
        if !case["event"].is_null() {
            events.push(case["event"].to_string());
        }
        found.push((name(&path), plan::from_value(&case["plan"]).unwrap(), events));
    }
    let folders = ["agent_telemetry", "github_webhooks", "security_logs"];
    let paths = folders.map(|folder| sorted(&format!("tests/plans/{folder}"), "json"));
    for path in paths.into_iter().flatten().filter(|path| !path.ends_with("rules.json")) {
        let plan = plan::from_value(&parsed(&path));
        found.push((name(&path), plan.unwrap_or_else(|error| panic!("{path:?}: {error}")), vec![]));
    }
    for example in fs::read_dir(workspace_root().join("examples")).unwrap() {
        let folder = example.unwrap().path();
        let Ok(text) = fs::read_to_string(folder.join("plan.json")) else { continue };
        let events = fs::read_to_string(folder.join("events.ndjson")).unwrap_or_default();
        let events = events.lines().take(20).map(str::to_owned).collect();
        found.push((name(&folder), plan::parse(&text).unwrap(), events));
    }
    for case in crate::extraction::cases() {
        found.push((case.name, case.plan, vec![case.event]));
    }
    found
}

#[test]
fn whatever_this_host_renders_is_verified_with_the_same_bound() {
    let plans = plans();
    assert!(plans.len() > 60, "{}", plans.len());
    for (name, plan, _) in plans {
        let rendered = rendered(&plan);
        let inspected = prove::by_verification(foreign(rendered.wasm()));
        assert!(inspected.unproven().is_none(), "{name}: {:?}", inspected.unproven());
        assert!(
            matches!(
                inspected.reset_safety(),
                ResetSafety::Proven { how: Proof::Verified(verified) }
                    if verified.found.functions > 0 && verified.found.returns > 0
            ),
            "{name}"
        );
        assert!(inspected.facts().fuel_bound.is_some(), "{name}");
        assert_eq!(inspected.facts().fuel_bound, rendered.facts().fuel_bound, "{name}");
        let rows = inspected.facts().loops > 0;
        assert_eq!(rows, !inspected.section().rows().is_empty(), "{name}");
    }
}

#[test]
fn modules_of_older_renderers_are_verified() {
    let lab = Lab::new();
    let paths = sorted("tests/proof/older", "wat");
    assert!(paths.len() > 3);
    for path in paths {
        let wasm = wat::parse_file(&path).unwrap();
        let inspected = foreign(&wasm);
        let verified = verify(&inspected).unwrap_or_else(|why| panic!("{path:?}: {why}"));
        assert!(name(&path).starts_with(verified.template), "{path:?}");
        let subject = Subject::of(&lab, &prove::by_verification(inspected.clone())).unwrap();
        let difference =
            subject.difference(&lab, &blocks(&inspected, &EVENTS.map(str::to_owned)), 3);
        assert_eq!(difference, None, "{path:?}");
    }
}

#[test]
fn what_is_rendered_depends_on_the_block_alone() {
    let lab = Lab::new();
    let mut ran = 0;
    for (name, plan, mut events) in plans() {
        if events.is_empty() || ran >= 40 {
            continue;
        }
        events.extend(EVENTS.map(str::to_owned));
        let inspected = rendered(&plan);
        let subject = Subject::of(&lab, &inspected).unwrap();
        assert_eq!(subject.difference(&lab, &blocks(&inspected, &events), 2), None, "{name}");
        ran += 1;
    }
}

#[test]
fn a_reason_names_its_place() {
    let case = cases().into_iter().find(|case| case.name == "part_calls_itself").unwrap();
    let inspected = prove::by_verification(case.inspected);
    assert_eq!(inspected.reset_safety(), ResetSafety::Unproven);
    let why = inspected.unproven().unwrap();
    assert_eq!((why.code(), why.obligation()), ("unproven_call", Obligation::Call));
    assert_eq!(why.place(), "func[4] $part");
    assert_eq!(why.message(), "expected a function before this one, got func[4]");
    let at = why.offset().unwrap();
    assert_eq!(inspected.wasm()[at..at + 2], [0x10, 4], "call 4");
    let json = serde_json::to_value(&inspected).unwrap();
    assert_eq!(json["unproven"]["code"], "unproven_call");
    assert_eq!(json["unproven"]["offset"], at);
}
