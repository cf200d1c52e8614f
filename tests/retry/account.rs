//! What a person reads at the end of a failure.

use retort::internal::codes;
use std::collections::BTreeSet;
use std::time::Duration;

use retort::author::{
    Account, LoopConfig,
    llm::{Completion, FinishReason, LlmError},
};
use retort::diagnostics::{Finding, Problem, Stage};
use retort::gate::StructuralLimits;
use retort::{Limits, compile_with_llm};
use serde_json::Value;

use super::script::{Model, Script, Step, config, paid, plan, rejection, run, said, task, task_of};

#[tokio::test]
async fn a_success_has_no_account() {
    let outcome = run(&Model::says([plan("one")]), &Script::default(), config()).await.unwrap();
    assert_eq!(Account::of_outcome(&outcome, &task()), None);
}

#[tokio::test]
async fn a_field_that_does_not_exist() {
    let finding = Finding::new(
        Stage::Graph,
        codes::TYPE_MISMATCH,
        "/key_field/source_path/1",
        "a string",
        "a number at content.total",
    );
    let step = Step::Reject(rejection("type_mismatch", "no", vec![finding]));
    let model = Model::says([plan("one"), plan("two"), plan("three")]);
    let outcome = run(&model, &Script::new(vec![step; 3]), config()).await.unwrap();
    insta::assert_snapshot!(Account::of_outcome(&outcome, &task()).unwrap());
}

#[tokio::test]
async fn an_event_type_without_samples() {
    let step = |text| Step::Reject(rejection("event_type_without_sample", text, Vec::new()));
    let model = Model::says([plan("one")]);
    let gates = Script::new([step("CompileError [code=invalid_event_types]: no sample has it")]);
    let outcome = run(&model, &gates, config().max_attempts(1)).await.unwrap();
    insta::assert_snapshot!(Account::of_outcome(&outcome, &task()).unwrap());
}

#[tokio::test]
async fn a_plan_that_costs_too_much() {
    let step = Step::Reject(rejection("out_of_fuel", "the extractor used up its fuel", Vec::new()));
    let model = Model::says([plan("one"), plan("two")]);
    let gates = Script::new(vec![step; 2]);
    let outcome = run(&model, &gates, config().max_attempts(2)).await.unwrap();
    let advice = Account::of_outcome(&outcome, &task()).unwrap().to_string();
    assert!(advice.contains("`fuel_base`") && !advice.contains("Add a sample"), "{advice}");
    let prompt = model.prompts().pop().unwrap();
    assert!(prompt.contains("Next step: Make the plan do less for an event."), "{prompt}");
}

/// Whatever limit is exceeded, the user is told which one, by how much, and what can be done about it.
#[tokio::test]
async fn every_limit_has_an_advice_about_it() {
    let mut named = BTreeSet::new();
    for (code, limit) in codes::all().filter_map(|code| Some((*code, code.limit?))) {
        let problem = Problem::new(code.stage, code, "too much").limit(2_345, 1_234);
        for (finding, figures) in [(Some(Finding::from(&problem)), true), (None, false)] {
            let findings = Vec::from_iter(finding);
            let step = Step::Reject(rejection(code.name, "too much", findings));
            let model = Model::says([plan("one"), plan("two")]);
            let gates = Script::new(vec![step; 2]);
            let outcome = run(&model, &gates, config().max_attempts(2)).await.unwrap();
            let change = Account::of_outcome(&outcome, &task()).unwrap().change;
            let advice = &change[0];
            assert!(!advice.contains("sample that") && advice.len() < 500, "{code}: {advice}");
            let Some(part) = limit.part.key() else {
                assert!(
                    limit.names.is_empty() && advice.ends_with(code.action),
                    "{code}: {advice}"
                );
                continue;
            };
            for name in limit.names {
                assert!(advice.contains(&format!("`{name}`")), "{code}: {advice}");
                named.insert((part, *name));
            }
            let told = format!("2345 {}, 1234 allowed", limit.unit);
            assert_eq!(advice.contains(&told), figures, "{code}: {advice}");
            assert!(advice.contains(limit.unit), "{code}: {advice}");
            assert!(
                advice.contains("plan") && advice.contains("smaller") || advice.contains("do less")
            );
            assert!(advice.contains("or raise "), "{code}: {advice}");
            assert!(advice.ends_with(&format!("(`{part}` in the policy, --policy).")), "{advice}");
            // What the model is told is about the limit as well.
            let prompt = model.prompts().pop().unwrap();
            let next = ["Next step: Make the plan do less", "Next step: Make the plan smaller"];
            assert!(next.iter().any(|next| prompt.contains(next)), "{code}: {prompt}");
        }
    }
    // Every limit that can be set has a code, under the very name by which it is set.
    let fields = |limits: Value| limits.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let limits = fields(serde_json::to_value(Limits::default()).unwrap());
    let structure = fields(serde_json::to_value(StructuralLimits::default()).unwrap());
    let known = limits.iter().map(|name| ("limits", name.as_str()));
    let known = known.chain(structure.iter().map(|name| ("structure", name.as_str())));
    assert_eq!(named, known.collect());
}

#[tokio::test]
async fn many_answers_that_are_no_plans() {
    let model = Model::says((0..12).map(|i| if i % 2 == 0 { "[]" } else { "no" }));
    let config = config().max_attempts(12).repetition(None);
    let outcome = run(&model, &Script::default(), config).await.unwrap();
    insta::assert_snapshot!(Account::of_outcome(&outcome, &task()).unwrap());
}

#[tokio::test]
async fn no_tokens_left() {
    let model = Model::new([Ok(paid("[]", 90_000, 10_000))]);
    let outcome = run(&model, &Script::default(), config().token_budget(80_000)).await.unwrap();
    insta::assert_snapshot!(Account::of_outcome(&outcome, &task()).unwrap());
}

#[tokio::test]
async fn too_few_tokens_for_the_prompt() {
    let outcome = run(&Model::says(["[]"]), &Script::default(), config().token_budget(800)).await;
    let account = Account::of_outcome(&outcome.unwrap(), &task()).unwrap();
    assert!(account.in_the_way.contains("less than the prompt alone would cost"), "{account}");
    assert!(account.change[0].starts_with("Allow more tokens, or give fewer samples"), "{account}");
}

#[tokio::test]
async fn no_time_left() {
    let config = config().wall_budget(Duration::ZERO);
    let outcome = run(&Model::says(["[]"]), &Script::default(), config).await.unwrap();
    insta::assert_snapshot!(Account::of_outcome(&outcome, &task()).unwrap());
}

#[tokio::test]
async fn a_model_that_declines() {
    let refused = Completion { finish_reason: FinishReason::Refused, ..said("No.") };
    let outcome = run(&Model::new([Ok(refused)]), &Script::default(), config()).await.unwrap();
    insta::assert_snapshot!(Account::of_outcome(&outcome, &task()).unwrap());
}

#[tokio::test]
async fn a_model_that_is_not_there() {
    let message = "connection refused".to_owned();
    let gone = LlmError::Transport { model: "script".to_owned(), message };
    let model = Model::new([Ok(said("[]")), Err(gone)]);
    let error = run(&model, &Script::default(), config()).await.unwrap_err();
    insta::assert_snapshot!(Account::of_error(&error, &task()));
}

#[tokio::test]
async fn a_disk_that_is_full() {
    let gates = Script::new([Step::Fail("the disk is full")]);
    let error = run(&Model::says([plan("one")]), &gates, config()).await.unwrap_err();
    insta::assert_snapshot!(Account::of_error(&error, &task()));
}

#[tokio::test]
async fn nothing_to_ask() {
    let task = task_of(None);
    let model = Model::says(["[]"]);
    let config = LoopConfig::default();
    let error = compile_with_llm(&model, &task, &Script::default(), &config).await.unwrap_err();
    insta::assert_snapshot!(Account::of_error(&error, &task));
}

#[tokio::test]
async fn hostile_text_stays_on_its_line_and_within_bounds() {
    let hostile = "\n\u{1b}[2JWhat to change: nothing".repeat(200);
    let finding =
        Finding::new(Stage::Graph, codes::TYPE_MISMATCH, "/", hostile.clone(), hostile.clone());
    let step = Step::Reject(rejection("type_mismatch", &hostile, vec![finding]));
    let (model, gates) = (Model::says([plan("one")]), Script::new([step]));
    let outcome = run(&model, &gates, config().max_attempts(1)).await.unwrap();
    let account = Account::of_outcome(&outcome, &task()).unwrap();
    let text = account.to_string();
    assert_eq!(
        text.lines().filter(|line| line.starts_with("What to change:")).count(),
        1,
        "{text}"
    );
    assert!(!text.contains('\u{1b}') && text.chars().count() < 2_500, "{text}");
    assert!(serde_json::to_value(&account).unwrap()["change"].is_array());
}
