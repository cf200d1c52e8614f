//! What the model is asked.

use retort::author::{Reason, RetryStrategy, llm::Role};
use retort::diagnostics::{Finding, Stage};
use retort::internal::{answer, codes, prompt};
use serde_json::json;

use super::script::{Model, Script, Step, config, plan, rejection, run, task};

/// Rejections that fail in another place each time.
fn rejections(count: usize) -> Vec<Step> {
    let name = |i: usize| ["type_mismatch", "missing_key", "key_mismatch", "unknown_entity"][i % 4];
    (0..count)
        .map(|i| Step::Reject(rejection(name(i), &format!("diagnostic {}", i % 10), Vec::new())))
        .collect()
}

#[tokio::test]
async fn a_fresh_prompt_holds_the_original_and_the_latest_alone() {
    let names: Vec<_> = (0..9).map(|i| format!("read_{i}")).collect();
    let model = Model::says(names.iter().map(|name| plan(name)));
    let gates = Script::new(rejections(8));
    let outcome = run(&model, &gates, config().max_attempts(9)).await.unwrap();
    assert!(outcome.ok());
    let prompts = model.prompts();
    let original = prompt::resolution_prompt(&task()).unwrap();
    assert_eq!(prompts[0], original);
    for (i, prompt) in prompts.iter().enumerate().skip(1) {
        assert!(prompt.starts_with(&original) && prompt.len() > original.len());
        assert!(prompt.contains(&format!("diagnostic {}", i - 1)), "{prompt}");
        for (j, name) in names.iter().enumerate() {
            assert_eq!(prompt.contains(name), j + 1 == i, "{name} in prompt {i}");
        }
    }
    // All that differs in length is what the steps for the codes say.
    assert_eq!(prompts[1].len(), prompts[5].len());
    assert_eq!(prompts[4].len(), prompts[8].len());
    assert!(model.requests().iter().all(|request| request.messages.len() == 1));
}

/// What is repaired without the model is no attempt of its own.
#[tokio::test]
async fn a_prompt_says_which_attempt_it_asks_for() {
    for strategy in [RetryStrategy::Fresh, RetryStrategy::Continue] {
        let model = Model::says((0..4).map(|i| plan(&format!("read_{i}"))));
        let patch = |path: &str| json!([{"op": "replace", "path": "/key_field/source_path", "value": [path]}]);
        let mut steps = rejections(6);
        for (step, path) in steps.iter_mut().zip(["a", "b"]) {
            let Step::Reject(rejection) = step else { panic!("no rejection") };
            let at = "/key_field/source_path";
            let fix = serde_json::from_value(patch(path)).unwrap();
            let finding = Finding::new(Stage::Graph, codes::MISSING_KEY, at, "a", "b");
            rejection.findings.push(finding.with_fix(fix));
        }
        let config = config().repair(true).strategy(strategy).max_attempts(4);
        let outcome = run(&model, &Script::new(steps), config).await.unwrap();
        assert_eq!((outcome.reason(), outcome.attempts().len()), (Reason::MaxAttemptsReached, 6));
        let prompts = model.prompts();
        assert!(!prompts[0].contains("attempt 1 of 4"));
        for (number, prompt) in (1..).zip(&prompts).skip(1) {
            let told = format!("What you answer now is attempt {number} of 4.");
            assert!(prompt.contains(&told), "{prompt}");
        }
    }
}

#[tokio::test]
async fn a_conversation_keeps_every_turn() {
    let model = Model::says([plan("one").to_string(), "  ".to_owned(), plan("two").to_string()]);
    let gates = Script::new(rejections(1));
    let config = config().strategy(RetryStrategy::Continue);
    assert!(run(&model, &gates, config).await.unwrap().ok());
    let requests = model.requests();
    let last = &requests[2].messages;
    let roles: Vec<_> = last.iter().map(|message| message.role).collect();
    use Role::{Assistant, User};
    assert_eq!(roles, [User, Assistant, User, Assistant, User]);
    assert_eq!(last[0].text, prompt::resolution_prompt(&task()).unwrap());
    assert_eq!(last[1].text, plan("one").to_string());
    assert!(last[2].text.contains("\n```text\ndiagnostic 0\n"), "{}", last[2].text);
    // Providers take no empty turn.
    assert_eq!(last[3].text, "(no text)");
    assert!(last[4].text.contains("invalid_json"), "{}", last[4].text);
    assert_eq!(requests[1].messages, last[..3]);
}

#[tokio::test]
async fn the_same_inputs_give_the_same_bytes() {
    let mut seen = Vec::new();
    for _ in 0..2 {
        let model = Model::says([plan("one"), plan("two")]);
        let outcome = run(&model, &Script::new(rejections(1)), config()).await.unwrap();
        let last = serde_json::to_string(&outcome.attempts()[1].record.prompt).unwrap();
        seen.push((model.prompts(), last));
    }
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test]
async fn every_call_has_an_unaltered_schema() {
    let model = Model::says([json!(1), json!(2), plan("one")]);
    assert!(run(&model, &Script::default(), config()).await.unwrap().ok());
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| request.schema == answer::schema()));
}

#[tokio::test]
async fn the_diagnostic_stands_unaltered_before_what_to_do_next() {
    let model = Model::says([plan("one"), plan("two")]);
    let diagnostic = "Smoke test failed:\n\n  Per-event exceptions (1 of 1 events):\n    - x";
    let gates = Script::new([Step::Reject(rejection("type_mismatch", diagnostic, Vec::new()))]);
    let outcome = run(&model, &gates, config()).await.unwrap();
    let shown = outcome.attempts()[0].record.diagnostic.clone().unwrap();
    let next = shown.strip_prefix(diagnostic).unwrap();
    assert!(next.starts_with("\n\nThe plan leaves out these properties"), "{next}");
    assert!(next.contains("\n\nNext step: "), "{next}");
    assert!(model.prompts()[1].contains(&shown));
}
