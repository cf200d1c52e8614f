//! The scanner over real events, and over the JSON test suite.

#[allow(dead_code, reason = "other tests use it as well")]
#[path = "../event/columns.rs"]
mod columns;
#[path = "../event/values.rs"]
mod values;

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use retort::internal::event::validate;
use serde_json::Value;

use crate::support::shared;
use crate::trial::{CorpusCheck, files, on_corpora, on_shared, stem, trial};

const SUITE: &str = "corpora/jsontestsuite/test_parsing";

/// What the suite leaves open and is taken, as the module's documentation states: all others of that kind are refused.
const ACCEPTED: &[&str] = &[
    "i_number_double_huge_neg_exp",
    "i_number_real_underflow",
    "i_number_too_big_neg_int",
    "i_number_too_big_pos_int",
    "i_number_very_big_negative_int",
];

pub(crate) fn trials() -> Vec<Trial> {
    let checks: [CorpusCheck; 3] = [
        ("real_events_have_the_values_that_serde_json_reads", |corpora| {
            values::events_have_the_values_that_serde_json_reads(&events(corpora));
        }),
        ("mutated_events_have_the_same_verdict_and_the_same_values", |corpora| {
            values::mutated_events_have_the_same_verdict_and_the_same_values(&events(corpora));
        }),
        ("rows_are_what_serde_json_reads", |corpora| {
            columns::rows_are_what_serde_json_reads(&events(corpora));
        }),
    ];
    let mut trials = on_corpora("event", &checks);
    trials.push(on_shared("corpora::jsontestsuite", SUITE, |folder| {
        let files = files(folder.to_str().unwrap(), "json");
        let count = |kind| files.iter().filter(|path| stem(path).starts_with(kind)).count();
        assert_eq!(["y_", "n_", "i_"].map(count), [95, 188, 35]);
    }));
    if let Some(folder) = shared(SUITE) {
        for path in files(folder.to_str().unwrap(), "json") {
            let name = format!("corpora::jsontestsuite/{}", stem(&path));
            trials.push(trial(name, move || has_its_verdict(&path)));
        }
    }
    trials
}

/// The first 40 lines of each corpus of up to 20 KB.
fn events(corpora: &Path) -> Vec<String> {
    let mut events = Vec::new();
    for path in [
        "github_webhooks/events.ndjson",
        "security_logs/aws_cloudtrail.ndjson",
        "agent_telemetry/seeded_decision.ndjson",
    ] {
        let text = fs::read_to_string(corpora.join(path)).unwrap();
        let lines = text.lines().filter(|line| line.len() < 20_000);
        events.extend(lines.take(40).map(str::to_owned));
    }
    events
}

fn has_its_verdict(path: &Path) {
    let (name, text) = (stem(path), fs::read(path).unwrap());
    let verdict = validate(&text);
    match &name[..2] {
        "y_" => assert_eq!(verdict, Ok(())),
        "n_" => assert!(verdict.is_err()),
        _ => {
            assert_eq!(verdict.is_ok(), ACCEPTED.contains(&name.as_str()), "{verdict:?}");
            let value = serde_json::from_slice::<Value>(&text);
            assert_eq!(verdict.is_ok(), value.is_ok(), "{value:?}");
        }
    }
}
