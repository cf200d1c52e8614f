//! The static gate: `tests/inspect/*.wat` are modules with the codes expected of them.
//!
//! The head of a case: `;; expect: ok`, or the codes in the order of the report; optionally
//! `;; limits: {..}` (fields of `StructuralLimits` other than the defaults) and `;; says: ..` lines, each
//! a part of what the report says.

use std::collections::BTreeSet;
use std::fs;

use libtest_mimic::Trial;
use retort::Coded;
use retort::diagnostics::Stage;
use retort::gate::{StructuralLimits, inspect};
use retort::internal::codes;

use crate::trial::{files, of_files, trial};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = of_files("inspect::", "tests/inspect", "wat", |path| {
        check(&fs::read_to_string(path).unwrap());
    });
    trials.push(trial(
        "inspect::every_code_has_a_case_and_every_case_a_listed_code",
        every_code_has_a_case_and_every_case_a_listed_code,
    ));
    trials
}

/// What the head of a case says under a key, for each of its lines.
fn heads(text: &str, key: &str) -> Vec<String> {
    let prefix = format!(";; {key}: ");
    text.lines().filter_map(|line| Some(line.strip_prefix(&prefix)?.to_owned())).collect()
}

fn expected(text: &str) -> Vec<String> {
    heads(text, "expect")[0].split(", ").map(str::to_owned).collect()
}

fn check(text: &str) {
    let limits = heads(text, "limits")
        .first()
        .map_or_else(StructuralLimits::default, |json| serde_json::from_str(json).unwrap());
    let wasm = wat::parse_str(text).unwrap_or_else(|error| panic!("{error}"));
    let (codes, report) = match inspect(&wasm, &limits) {
        Ok(_) => (vec!["ok"], String::new()),
        Err(rejected) => {
            (rejected.problems().iter().map(Coded::code).collect(), rejected.to_string())
        }
    };
    assert_eq!(codes, expected(text), "{report}");
    for part in heads(text, "says") {
        assert!(report.contains(&part), "{part:?} is missing in: {report}");
    }
}

fn every_code_has_a_case_and_every_case_a_listed_code() {
    // What a verifier can't prove is no problem of a module.
    let listed: BTreeSet<String> = codes::all()
        .filter(|code| code.stage == Stage::Inspect && !code.name.starts_with("unproven_"))
        .map(|code| code.name.to_owned())
        .collect();
    let texts =
        files("tests/inspect", "wat").into_iter().map(|path| fs::read_to_string(path).unwrap());
    let mut seen: BTreeSet<String> = texts.flat_map(|text| expected(&text)).collect();
    seen.remove("ok");
    assert_eq!(listed, seen);
}
