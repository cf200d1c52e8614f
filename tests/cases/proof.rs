//! The verifier over the binary: what it takes, what it doesn't, and that what it takes depends on the block alone.
//!
//! `tests/proof/cases/*.wat` are modules by hand, near to ones that there is a proof for. The head of a case:
//! `;; expect: verified`, or the code of the obligation that it fails; `;; leaks` where stale memory really shows up in what it
//! does; `;; event: ..` for events other than the usual ones. Where `;; include: prelude` or `;; include: lists` stands, the
//! hand-written functions of the template come in. `tests/proof/older/*.wat` are modules as older renderers made them.

#[allow(dead_code, reason = "mutants use it as well")]
#[path = "../proof/lab.rs"]
mod lab;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use libtest_mimic::Trial;
use retort::Coded;
use retort::gate::{Inspected, Obligation, Proof, ResetSafety, verify};
use retort::internal::prove;
use retort::plan::{self, Plan};
use serde_json::Value;

use self::lab::{EVENTS, Lab, Subject, blocks, foreign};
use crate::support::{rendered, workspace_root};
use crate::trial::{files, json_of, of_files, stem, trial};

static LAB: LazyLock<Lab> = LazyLock::new(Lab::new);

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = of_files("proof::", "tests/proof/cases", "wat", |path| {
        let case = Case::read(path);
        a_near_miss_fails_the_obligation_that_it_breaks(&case);
        stale_memory_shows_up_only_where_the_case_says_so(&case);
    });
    trials.push(trial("proof::every_obligation_has_a_near_miss", every_obligation_has_a_near_miss));
    trials.push(trial("proof::a_reason_names_its_place", a_reason_names_its_place));
    let older = "tests/proof/older";
    trials.extend(of_files(
        "proof::older/",
        older,
        "wat",
        a_module_of_an_older_renderer_is_verified,
    ));
    for (name, plan, events) in plans() {
        trials.push(trial(format!("proof::rendered/{name}"), move || {
            is_verified_with_the_same_bound(&plan);
            depends_on_the_block_alone(&plan, events);
        }));
    }
    trials
}

struct Case {
    expect: String,
    leaks: bool,
    events: Vec<String>,
    inspected: Inspected,
}

/// What the head of a case says under a key, for each of its lines.
fn heads(text: &str, key: &str) -> Vec<String> {
    let prefix = format!(";; {key}: ");
    text.lines().filter_map(|line| Some(line.strip_prefix(&prefix)?.to_owned())).collect()
}

fn leaks(text: &str) -> bool {
    text.lines().any(|line| line == ";; leaks")
}

impl Case {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let whole = text
            .replace("  ;; include: prelude", retort_guest_template::PRELUDE)
            .replace("  ;; include: lists", retort_guest_template::LISTS);
        let wasm = wat::parse_str(&whole).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let mut events = heads(&text, "event");
        if events.is_empty() {
            events = EVENTS.map(str::to_owned).to_vec();
        }
        let expect = heads(&text, "expect").remove(0);
        Self { expect, leaks: leaks(&text), events, inspected: foreign(&wasm) }
    }
}

fn a_near_miss_fails_the_obligation_that_it_breaks(case: &Case) {
    let (code, why) = match verify(&case.inspected) {
        Ok(_) => ("verified", String::new()),
        Err(unproven) => (unproven.code(), unproven.to_string()),
    };
    assert_eq!(code, case.expect, "{why}");
}

/// What is verified depends on the block alone, and takes no more fuel than its bound; and what a case says to leak does.
fn stale_memory_shows_up_only_where_the_case_says_so(case: &Case) {
    let subject = Subject::of(&LAB, &prove::by_verification(case.inspected.clone())).unwrap();
    let difference = subject.difference(&LAB, &blocks(&case.inspected, &case.events), 9);
    if case.leaks {
        assert!(difference.is_some(), "leaks nothing");
    } else if case.expect == "verified" {
        assert_eq!(difference, None);
    }
}

fn every_obligation_has_a_near_miss() {
    let texts =
        files("tests/proof/cases", "wat").into_iter().map(|path| fs::read_to_string(path).unwrap());
    let texts: Vec<String> = texts.collect();
    let seen: BTreeSet<String> = texts.iter().map(|text| heads(text, "expect").remove(0)).collect();
    let codes: BTreeSet<&str> = Obligation::ALL.iter().map(|it| it.code()).collect();
    assert_eq!(codes.len(), Obligation::ALL.len());
    let missing: Vec<_> = codes.iter().filter(|code| !seen.contains(**code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let leaks = texts.iter().filter(|text| leaks(text)).count();
    assert!(leaks > 30, "{leaks}");
}

fn a_module_of_an_older_renderer_is_verified(path: &Path) {
    let inspected = foreign(&wat::parse_file(path).unwrap());
    let verified = verify(&inspected).unwrap_or_else(|why| panic!("{why}"));
    assert!(stem(path).starts_with(verified.template));
    let subject = Subject::of(&LAB, &prove::by_verification(inspected.clone())).unwrap();
    let difference = subject.difference(&LAB, &blocks(&inspected, &EVENTS.map(str::to_owned)), 3);
    assert_eq!(difference, None);
}

/// Plans of all tests and examples, each with events where there are any.
fn plans() -> Vec<(String, Plan, Vec<String>)> {
    let mut found = Vec::new();
    for path in files("tests/render", "json").into_iter().chain(files("tests/property", "json")) {
        let case: Value = json_of(&path);
        let listed = case["events"].as_array().cloned().unwrap_or_default();
        let mut events: Vec<String> =
            listed.iter().filter_map(|event| Some(event.as_str()?.to_owned())).collect();
        if !case["event"].is_null() {
            events.push(case["event"].to_string());
        }
        found.push((stem(&path), plan::from_value(&case["plan"]).unwrap(), events));
    }
    for folder in ["agent_telemetry", "github_webhooks", "security_logs"] {
        let paths = files(&format!("tests/plans/{folder}"), "json");
        for path in paths.into_iter().filter(|path| !path.ends_with("rules.json")) {
            let plan = plan::from_value(&json_of(&path));
            found.push((
                stem(&path),
                plan.unwrap_or_else(|error| panic!("{path:?}: {error}")),
                vec![],
            ));
        }
    }
    for example in fs::read_dir(workspace_root().join("examples")).unwrap() {
        let folder = example.unwrap().path();
        let Ok(text) = fs::read_to_string(folder.join("plan.json")) else { continue };
        let events = fs::read_to_string(folder.join("events.ndjson")).unwrap_or_default();
        let events = events.lines().take(20).map(str::to_owned).collect();
        found.push((stem(&folder), plan::parse(&text).unwrap(), events));
    }
    found
}

/// Whatever this host renders is verified, with the same bound.
pub(crate) fn is_verified_with_the_same_bound(plan: &Plan) {
    let rendered = rendered(plan);
    let inspected = prove::by_verification(foreign(rendered.wasm()));
    assert!(inspected.unproven().is_none(), "{:?}", inspected.unproven());
    assert!(matches!(
        inspected.reset_safety(),
        ResetSafety::Proven { how: Proof::Verified(verified) }
            if verified.found.functions > 0 && verified.found.returns > 0
    ),);
    assert!(inspected.facts().fuel_bound.is_some());
    assert_eq!(inspected.facts().fuel_bound, rendered.facts().fuel_bound);
    let rows = inspected.facts().loops > 0;
    assert_eq!(rows, !inspected.section().rows().is_empty());
}

/// What this host renders depends on the block alone.
pub(crate) fn depends_on_the_block_alone(plan: &Plan, mut events: Vec<String>) {
    if events.is_empty() {
        return;
    }
    events.extend(EVENTS.map(str::to_owned));
    let inspected = rendered(plan);
    let subject = Subject::of(&LAB, &inspected).unwrap();
    assert_eq!(subject.difference(&LAB, &blocks(&inspected, &events), 2), None);
}

fn a_reason_names_its_place() {
    let case = Case::read(&workspace_root().join("tests/proof/cases/part_calls_itself.wat"));
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
