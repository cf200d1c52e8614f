//! What is kept of every run, whatever happens in it.

use retort::internal::codes;
use std::sync::Mutex;

use proptest::prelude::*;
use retort::author::{AttemptKind, LoopOutcome, Tokens};
use retort::diagnostics::{Finding, Stage};
use serde_json::{Value, json};

use super::script::{Model, Script, Step, config, paid, plan, rejection, run};

#[tokio::test]
async fn every_attempt_is_reported_when_it_ends() {
    let reported = Mutex::new(Vec::new());
    let model = Model::says([json!([]), plan("one")]);
    let config = config().watch(|attempt| reported.lock().unwrap().push(attempt.clone()));
    let outcome = run(&model, &Script::default(), config).await.unwrap();
    assert_eq!(*reported.lock().unwrap(), outcome.attempts());
}

#[tokio::test]
async fn an_outcome_is_saved_in_whole() {
    let model = Model::new([Ok(paid("[]", 60, 20)), Ok(paid("[1]", 70, 30))]);
    let outcome = run(&model, &Script::default(), config().max_attempts(2)).await.unwrap();
    let mut saved = serde_json::to_value(&outcome).unwrap();
    assert!(saved["wall_ms"].take().is_u64());
    for attempt in saved["attempts"].as_array_mut().unwrap() {
        assert!(attempt["ms"].take().is_u64() && attempt["prompt"].take().is_string());
        let diagnostic =
            attempt["diagnostic"].as_str().map(|text| text.lines().next().unwrap().to_owned());
        attempt["diagnostic"] = json!(diagnostic);
        assert!(attempt["findings"].take().is_array());
    }
    let last = saved["last_diagnostic"].as_str().unwrap().lines().next().unwrap().to_owned();
    saved["last_diagnostic"] = json!(last);
    insta::assert_json_snapshot!(saved);
}

#[tokio::test]
async fn of_many_findings_the_first_are_kept_and_the_others_counted() {
    let finding = |i: usize| {
        Finding::new(Stage::Graph, codes::MISSING_KEY, format!("/property_fields/{i}"), "a", "b")
    };
    for (found, left_out) in [(100, None), (101, Some(1)), (5_000, Some(4_900))] {
        let findings: Vec<_> = (0..found).map(finding).collect();
        let gates = Script::new([Step::Reject(rejection("missing_key", "no", findings.clone()))]);
        let model = Model::says([plan("one")]);
        let outcome = run(&model, &gates, config().max_attempts(1)).await.unwrap();
        let attempt = &outcome.attempts()[0];
        assert_eq!(attempt.record.findings, findings[..100]);
        let saved = serde_json::to_value(attempt).unwrap();
        assert_eq!(saved.get("findings_left_out").and_then(Value::as_u64), left_out);
    }
}

#[derive(Clone, Debug)]
enum Answer {
    NotJson,
    NotAPlan(u8),
    Plan { name: u8, step: u8 },
}

fn answers() -> impl Strategy<Value = Vec<Answer>> {
    let answer = prop_oneof![
        Just(Answer::NotJson),
        any::<u8>().prop_map(Answer::NotAPlan),
        (0_u8..4, 0_u8..6).prop_map(|(name, step)| Answer::Plan { name, step }),
    ];
    proptest::collection::vec(answer, 6)
}

/// Runs a script; every answer costs 7 tokens.
fn play(
    answers: &[Answer],
    repair: bool,
    max_attempts: i64,
) -> (LoopOutcome<retort::plan::Plan>, usize) {
    let text = |answer: &Answer| match answer {
        Answer::NotJson => "not json".to_owned(),
        Answer::NotAPlan(number) => number.to_string(),
        Answer::Plan { name, .. } => plan(&format!("read_{name}")).to_string(),
    };
    let steps = answers.iter().filter_map(|answer| match answer {
        Answer::Plan { step: 0, .. } => Some(Step::Accept),
        Answer::Plan { step, .. } => {
            let patch =
                json!([{"op": "replace", "path": "/event_type", "value": step.to_string()}]);
            let finding = retort::diagnostics::Finding::new(
                retort::diagnostics::Stage::Graph,
                codes::MISSING_KEY,
                "/event_type",
                "a",
                "b",
            );
            let finding = finding.with_fix(serde_json::from_value(patch).unwrap());
            Some(Step::Reject(rejection("missing_key", "no", vec![finding])))
        }
        _ => None,
    });
    let model = Model::new(answers.iter().map(|answer| Ok(paid(text(answer), 5, 2))));
    let gates = Script::new(steps);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let config = config().repair(repair).max_attempts(max_attempts);
    let outcome = runtime.block_on(run(&model, &gates, config)).unwrap();
    (outcome, model.requests().len())
}

proptest! {
    #[test]
    fn records_are_whole_whatever_happens(answers in answers(), repair: bool, max in 1_i64..7) {
        let (outcome, calls) = play(&answers, repair, max);
        let attempts = outcome.attempts();
        let asked = attempts.iter().filter(|it| it.record.kind == AttemptKind::Model).count();
        prop_assert!(calls == asked && asked >= 1 && asked as i64 <= max);
        let expected = Tokens { input_tokens: 5 * asked as u64, output_tokens: 2 * asked as u64, estimated: false };
        prop_assert_eq!(outcome.history().usage, expected);
        for (i, attempt) in attempts.iter().enumerate() {
            let is_last = i + 1 == attempts.len();
            let record = &attempt.record;
            prop_assert_eq!(record.number, i + 1);
            prop_assert_eq!(record.failure.is_none(), is_last && outcome.ok());
            prop_assert_eq!(record.diagnostic.is_none(), is_last);
            prop_assert_eq!(record.patch.is_some(), record.kind == AttemptKind::Mechanical);
            prop_assert_eq!(record.prompt.is_some(), record.kind == AttemptKind::Model);
        }
        prop_assert_eq!(outcome.last_diagnostic().is_some(), !outcome.ok());
        prop_assert_eq!(outcome.accepted().is_some(), outcome.ok());

        // The same again, byte for byte, but for the time it took.
        let (again, _) = play(&answers, repair, max);
        let records = |outcome: &LoopOutcome<_>| -> Vec<Value> {
            outcome.attempts().iter().map(|it| serde_json::to_value(&it.record).unwrap()).collect()
        };
        prop_assert_eq!(records(&outcome), records(&again));
    }
}
