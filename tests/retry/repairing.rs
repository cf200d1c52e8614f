//! Repair without the model.

use async_trait::async_trait;
use retort::author::{
    AnswerError, Attempt, AttemptKind, Category, Channel, GateError, Gates, LoopConfig, Reason,
    Rejection, RetryStrategy, Tokens, Verdict,
};
use retort::diagnostics::{Finding, Stage};
use retort::gate::fit;
use retort::internal::{codes, repair::plan_findings};
use retort::plan::Plan;
use retort::{Coded, Task, compile_with_llm};
use serde_json::{Value, json};

use super::script::{Model, Script, Step, config, plan, rejection, run, task};

/// What a gate finds where one thing would fix the plan.
fn finding(patch: Value) -> Finding {
    Finding::new(Stage::Graph, codes::MISSING_KEY, "/key_field/source_path", "a path", "none")
        .with_fix(serde_json::from_value(patch).unwrap())
}

/// The path of the key of a plan's first node.
fn key_path(plan: &Plan) -> &[String] {
    &plan.nodes()[0].key_fields()[0].reference().unwrap().path
}

fn set_key(path: &[&str]) -> Value {
    json!([{"op": "replace", "path": "/key_field/source_path", "value": path}])
}

fn reject(path: &[&str]) -> Step {
    let finding = finding(set_key(path));
    Step::Reject(rejection("missing_key", "no key", vec![finding]))
}

#[tokio::test]
async fn a_certain_patch_is_applied_and_goes_through_all_gates() {
    let model = Model::says([plan("one")]);
    let gates = Script::new([reject(&["a"]), reject(&["b"])]);
    let config = config().repair(true).max_attempts(1);
    let outcome = run(&model, &gates, config).await.unwrap();
    assert!(outcome.ok());
    let kinds: Vec<_> = outcome.attempts().iter().map(|it| it.record.kind).collect();
    use AttemptKind::{Mechanical, Model as Asked};
    assert_eq!(kinds, [Asked, Mechanical, Mechanical]);
    assert_eq!(key_path(outcome.accepted().unwrap()), ["b"]);
    assert_eq!((gates.judged().len(), model.requests().len()), (3, 1));
    let numbers: Vec<_> = outcome.attempts().iter().map(|it| it.record.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
    let repaired = &outcome.attempts()[1].record;
    assert_eq!((repaired.prompt.as_ref(), repaired.usage), (None, Tokens::default()));
    assert_eq!(serde_json::to_value(&repaired.patch).unwrap(), set_key(&["a"]));
    let response: Value = serde_json::from_str(&repaired.response).unwrap();
    assert_eq!(response["key_field"]["source_path"], json!(["a"]));
    // What the gates said was fed to the repair, as it stands.
    assert_eq!(outcome.attempts()[0].record.diagnostic.as_deref(), Some("no key"));
}

#[tokio::test]
async fn an_answer_that_is_no_plan_is_repaired_as_well() {
    let mut unknown = plan("one");
    unknown["note"] = json!("hi");
    let model = Model::says([unknown]);
    let patch = json!([{"op": "remove", "path": "/note"}]);
    let gates = Script::default().finding(vec![finding(patch)]);
    let outcome = run(&model, &gates, config().repair(true)).await.unwrap();
    assert!(outcome.ok());
    assert_eq!((outcome.attempts().len(), model.requests().len()), (2, 1));
}

#[tokio::test]
async fn at_most_four_rounds_are_made_for_an_answer() {
    let paths = [["a"], ["b"], ["c"], ["d"], ["e"]];
    let steps: Vec<_> = paths.iter().map(|path| reject(path)).collect();
    let model = Model::says([plan("one"), plan("two")]);
    let gates = Script::new(steps);
    let outcome = run(&model, &gates, config().repair(true)).await.unwrap();
    assert!(outcome.ok());
    let kinds = outcome.attempts().iter().map(|it| it.record.kind);
    assert_eq!(kinds.filter(|kind| *kind == AttemptKind::Mechanical).count(), 4);
    // The model is shown the plan that the diagnostic is about, what was done to it, and what may be meant.
    let prompt = &model.prompts()[1];
    assert_eq!(key_path(&gates.judged()[4]), ["d"]);
    let shown = outcome.attempts()[4].record.diagnostic.as_deref().unwrap();
    assert!(prompt.contains(shown));
    assert!(shown.starts_with("no key\n\nWhat may fix it (1 issue):"), "{shown}");
    assert!(shown.contains("Your answer was repaired before it was judged"), "{shown}");
    let echoed = prompt.split("no key").next().unwrap();
    assert!(echoed.contains("\"d\"") && echoed.contains("\"one\""), "{echoed}");
}

#[tokio::test]
async fn patches_that_lead_back_end_the_rounds() {
    let model = Model::says([plan("one")]);
    let steps = [reject(&["a"]), reject(&["content", "id"]), reject(&["b"])];
    let gates = Script::new(steps);
    let config = config().repair(true).max_attempts(1);
    let outcome = run(&model, &gates, config).await.unwrap();
    assert_eq!(outcome.reason(), Reason::MaxAttemptsReached);
    assert_eq!((outcome.attempts().len(), gates.judged().len()), (2, 2));
}

#[tokio::test]
async fn nothing_is_repaired_where_it_is_not_wanted_or_not_certain() {
    let mut uncertain = finding(set_key(&["a"]));
    uncertain.doubt();
    for (gates, on) in [
        (Script::new([reject(&["a"])]), false),
        (Script::new([Step::Reject(rejection("missing_key", "no", vec![uncertain]))]), true),
    ] {
        let model = Model::says([plan("one"), plan("two")]);
        let outcome = run(&model, &gates, config().repair(on)).await.unwrap();
        assert!(outcome.ok());
        assert!(outcome.attempts().iter().all(|it| it.record.kind == AttemptKind::Model));
        // The suggestion goes to the model.
        assert!(model.prompts()[1].contains(&set_key(&["a"]).to_string()));
    }
}

#[tokio::test]
async fn a_repaired_conversation_shows_the_repaired_plan() {
    let steps: Vec<_> = [["a"], ["b"], ["c"], ["d"], ["e"]].iter().map(|it| reject(it)).collect();
    let model = Model::says([plan("one"), plan("two")]);
    let config = config().repair(true).strategy(RetryStrategy::Continue);
    let outcome = run(&model, &Script::new(steps), config).await.unwrap();
    assert!(outcome.ok());
    let turns = &model.requests()[1].messages;
    assert_eq!(turns[1].text, plan("one").to_string());
    assert!(turns[2].text.contains(&outcome.attempts()[4].record.response));
}

/// The gate that holds plans to samples and graph, and the repair of what it and the parser find.
struct Fitting<'a>(&'a Task);

#[async_trait]
impl Gates for Fitting<'_> {
    type Accepted = Plan;

    async fn judge(&self, plan: &Plan) -> Result<Verdict<Plan>, GateError> {
        Ok(match fit(plan, self.0) {
            Ok(_) => Verdict::Accepted(plan.clone()),
            Err(unfit) => Verdict::Rejected(Rejection {
                channel: Channel::CompileResult,
                code: unfit.code().to_owned(),
                category: Category::Unknown,
                diagnostic: unfit.diagnostic(),
                findings: unfit.findings().to_vec(),
            }),
        })
    }

    async fn findings_of_answer(&self, error: &AnswerError) -> Result<Vec<Finding>, GateError> {
        let value = error.text.as_deref().and_then(|text| serde_json::from_str(text).ok());
        Ok(value.map_or_else(Vec::new, |value| plan_findings(&value, &error.problems, self.0)))
    }
}

#[tokio::test]
async fn real_faults_are_repaired_one_gate_after_the_other() {
    let answer = json!({"event_type": "order", "target_entity_name": "order", "function_name": "one",
        "key_feild": {"property_name": "order_id", "source_path": "content.id"}});
    let model = Model::says([format!("Sure:\n```json\n{answer}\n```")]);
    let task = task();
    let config = LoopConfig::default();
    let outcome = compile_with_llm(&model, &task, &Fitting(&task), &config).await.unwrap();
    let plan = outcome.accepted().unwrap();
    assert!(plan.event_types().matches("order"));
    assert_eq!(plan.nodes()[0].entity_name(), "Order");
    assert_eq!(key_path(plan), ["content", "id"]);
    assert_eq!(model.requests().len(), 1);
    let gists: Vec<_> = outcome.attempts().iter().map(gist).collect();
    insta::assert_snapshot!(gists.join("\n"));
}

/// What stands in the way cannot be repaired for certain: the model is shown all that is known.
#[tokio::test]
async fn what_no_gate_can_know_goes_to_the_model_with_what_may_be_meant() {
    let mut wrong = plan("one");
    wrong["event_type"] = json!("shipment");
    let model = Model::says([wrong, plan("two")]);
    let task = task();
    let config = LoopConfig::default();
    let outcome = compile_with_llm(&model, &task, &Fitting(&task), &config).await.unwrap();
    assert!(outcome.ok());
    assert!(outcome.attempts().iter().all(|it| it.record.kind == AttemptKind::Model));
    let shown = outcome.attempts()[0].record.diagnostic.clone().unwrap();
    insta::assert_snapshot!(shown);
}

fn gist(attempt: &Attempt) -> String {
    let record = &attempt.record;
    let failure = record.failure.as_ref();
    let gist = failure.map_or("accepted", |failure| failure.message.as_str());
    format!("{} {:?}: {gist}", record.number, record.kind)
}
