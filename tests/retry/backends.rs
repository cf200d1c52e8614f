//! Rust in the place of plans, and after them.

use retort::author::{
    AnswerFormat, Backend, Candidate, Category, Language, Reason, Rejection, RetryStrategy,
    llm::{Completion, FinishReason},
};
use retort::diagnostics::{Finding, Stage};
use retort::internal::{answer, codes};
use retort::{Coded, compile_with_llm};
use serde_json::json;

use super::script::{Model, Script, Step, config, plan, rejection, run, said, task};

fn rust(number: usize) -> String {
    format!("use retort_guest::prelude::*;\n\nfn read_{number}() {{}}\n")
}

fn fenced(number: usize) -> String {
    format!("```rust\n{}```", rust(number))
}

/// A rejection of a source, at this place in it.
fn refused(code: &'static str, category: Category, place: &str, what: &str) -> Step {
    let entry = *retort::internal::codes::lookup(code).unwrap();
    let finding = Finding::new(entry.stage, entry, place, "an extractor", what);
    Step::Reject(Rejection { category, ..rejection(code, what, vec![finding]) })
}

/// Which language each attempt was in, with the code of the failure.
fn gist(attempts: &[retort::author::Attempt]) -> Vec<String> {
    let one = |attempt: &retort::author::Attempt| {
        let language = match attempt.record.backend {
            Language::Plan => "plan",
            Language::Rust => "rust",
        };
        let code = attempt.record.failure.as_ref().map_or("accepted", |it| it.code.as_str());
        format!("{language} {code}")
    };
    attempts.iter().map(one).collect()
}

#[tokio::test]
async fn rust_is_asked_for_and_every_failure_of_it_fed_back() {
    let model = Model::says([
        fenced(0),
        json!({"source": rust(1)}).to_string(),
        rust(2),
        fenced(3),
        fenced(4),
        fenced(5),
        fenced(6),
    ]);
    let ast = Category::AstFailure;
    let smoke = Category::SmokeFailure;
    let gates = Script::new([
        refused("source_too_large", ast, "src/lib.rs:3:1", "the source gate"),
        refused("syntax_error", ast, "src/lib.rs:1:5", "the compiler"),
        refused("unreachable", smoke, "src/lib.rs:3:4", "panicked at src/lib.rs:3:4: no"),
        refused("out_of_fuel", smoke, "src/lib.rs:3:1", "no fuel"),
        refused("result_wrong_shape", smoke, "", "not a result"),
        refused("other_value", smoke, "", "another value"),
    ]);
    let config = config()
        .backend(Backend::Rust)
        .answer_format(AnswerFormat::Lenient)
        .max_attempts(7)
        .on_accept(|candidate, accepted| {
            assert_eq!(candidate, Candidate::Rust(&rust(6)));
            assert_eq!(accepted.function_name(), "in_rust");
            Ok(())
        });
    let outcome = run(&model, &gates, config).await.unwrap();
    assert_eq!(
        gist(outcome.attempts()),
        [
            "rust source_too_large",
            "rust syntax_error",
            "rust unreachable",
            "rust out_of_fuel",
            "rust result_wrong_shape",
            "rust other_value",
            "rust accepted"
        ]
    );
    assert_eq!(gates.sources(), (0..7).map(rust).collect::<Vec<_>>());
    assert!(gates.judged().is_empty());
    let failure = |index: usize| outcome.attempts()[index].record.failure.clone().unwrap();
    assert_eq!(failure(0).failure_code, "compile:ast_failure");
    assert_eq!(failure(2).message, "src/lib.rs:3:4: panicked at src/lib.rs:3:4: no");
    assert_eq!(failure(4).message, "the source: not a result");

    let prompts = model.prompts();
    assert!(model.requests().iter().all(|request| request.schema == answer::rust_schema()));
    for (index, next) in [
        (1, "Make `src/lib.rs:3:1` smaller."),
        (2, "Correct `src/lib.rs:1:5`."),
        (3, "Change `src/lib.rs:3:4` so that no event makes the extractor fail."),
        (4, "Make `src/lib.rs:3:1` do less for an event."),
        (5, "Change the source so that what it returns is a result."),
        (6, "Change the source so that the samples give what is expected of them."),
    ] {
        let prompt = &prompts[index];
        assert!(prompt.starts_with(&prompts[0]));
        assert!(
            prompt.contains(&format!("\nWhat you answer now is attempt {} of 7.\n", index + 1))
        );
        assert!(prompt.contains(&format!("```rust\n{}```\n", rust(index - 1))), "{prompt}");
        assert!(prompt.contains(next), "{prompt}");
    }
    let record = serde_json::to_value(&outcome).unwrap();
    assert_eq!(
        (&record["backend"], &record["attempts"][0]["backend"]),
        (&json!("rust"), &json!("rust"))
    );
}

#[tokio::test]
async fn records_of_plans_say_nothing_of_it() {
    let model = Model::says([plan("one")]);
    let outcome = run(&model, &Script::default(), config()).await.unwrap();
    let record = serde_json::to_value(&outcome).unwrap();
    assert!(record.get("backend").is_none() && record["attempts"][0].get("backend").is_none());
}

#[tokio::test]
async fn auto_goes_over_where_the_model_says_that_no_plan_can_say_it() {
    let model = Model::says([
        json!({"cannot_express": ["It takes a ``` checksum."]}).to_string(),
        fenced(1),
    ]);
    let config = config().backend(Backend::Auto).answer_format(AnswerFormat::Lenient);
    let outcome = run(&model, &Script::default(), config).await.unwrap();
    assert_eq!(gist(outcome.attempts()), ["plan cannot_express", "rust accepted"]);
    assert_eq!(outcome.accepted_attempt().unwrap().record.number, 2);
    let prompts = model.prompts();
    assert!(prompts[0].starts_with("# Write an extraction plan\n"));
    assert!(prompts[1].starts_with("# Write an extractor in Rust\n"));
    assert!(
        prompts[1].contains("\n````text\n- It takes a ``` checksum.\n````\n"),
        "{}",
        prompts[1]
    );
    let [first, second] = &model.requests()[..] else { panic!("two requests") };
    assert_eq!((&first.schema, &second.schema), (&answer::schema(), &answer::rust_schema()));
}

#[tokio::test]
async fn auto_goes_over_when_plans_had_half_of_the_attempts() {
    let reject = |code| Step::Reject(rejection(code, "no", Vec::new()));
    let mut answers: Vec<String> = (0..2).map(|i| plan(&format!("read_{i}")).to_string()).collect();
    answers.extend((2..5).map(fenced));
    let model = Model::says(answers);
    let codes = ["type_mismatch", "missing_key", "type_mismatch", "type_mismatch"];
    let gates = Script::new(codes.map(reject));
    let config = config().backend(Backend::Auto).answer_format(AnswerFormat::Lenient);
    let outcome = run(&model, &gates, config.max_attempts(5)).await.unwrap();
    assert_eq!(
        gist(outcome.attempts()),
        [
            "plan type_mismatch",
            "plan missing_key",
            // What plans failed with doesn't count against Rust.
            "rust type_mismatch",
            "rust type_mismatch",
            "rust accepted"
        ]
    );
    // What ended the plans was fed to no further attempt.
    assert_eq!(outcome.attempts()[1].record.diagnostic, None);
    assert!(model.prompts()[3].contains("attempt 4 of 5."));
}

#[tokio::test]
async fn auto_goes_over_when_plans_fail_again_and_again() {
    let reject = Step::Reject(rejection("type_mismatch", "no", Vec::new()));
    let model = Model::says([plan("one").to_string(), plan("one").to_string(), fenced(2)]);
    let gates = Script::new([reject.clone(), reject]);
    let config = config().backend(Backend::Auto).answer_format(AnswerFormat::Lenient);
    let outcome = run(&model, &gates, config.max_attempts(9)).await.unwrap();
    let expected = ["plan type_mismatch", "plan type_mismatch", "rust accepted"];
    assert_eq!(gist(outcome.attempts()), expected);
}

#[tokio::test]
async fn a_plan_that_leaves_something_out_is_kept_while_rust_is_tried() {
    let mut partly = plan("partly");
    partly["cannot_express"] = json!(["The sum."]);
    let config = || {
        let config = config().backend(Backend::Auto).answer_format(AnswerFormat::Lenient);
        config.max_attempts(3)
    };
    let no = |code| Step::Reject(rejection(code, "no", Vec::new()));

    let model = Model::says([partly.to_string(), fenced(1)]);
    let outcome = run(&model, &Script::default(), config()).await.unwrap();
    assert_eq!(gist(outcome.attempts()), ["plan accepted", "rust accepted"]);
    assert_eq!(outcome.accepted().unwrap().function_name(), "in_rust");

    let model = Model::says([partly.to_string(), fenced(1), fenced(2)]);
    let gates = Script::new([Step::Accept, no("type_mismatch"), no("missing_key")]);
    let outcome = run(&model, &gates, config()).await.unwrap();
    assert_eq!((outcome.ok(), outcome.reason()), (true, Reason::Succeeded));
    assert_eq!(outcome.accepted().unwrap().function_name(), "partly");
    let accepted = outcome.accepted_attempt().unwrap();
    assert_eq!(
        (accepted.record.number, accepted.record.cannot_express.as_slice()),
        (1, &["The sum.".to_owned()][..])
    );

    // A refusal is no reason to throw it away.
    let refusal = Completion { finish_reason: FinishReason::Refused, ..said("No.") };
    let model = Model::new([Ok(said(&partly)), Ok(refusal)]);
    let outcome = run(&model, &Script::default(), config()).await.unwrap();
    assert_eq!(outcome.accepted().unwrap().function_name(), "partly");

    // With one attempt there is none left for Rust.
    let model = Model::says([partly]);
    let outcome = run(&model, &Script::default(), config().max_attempts(1)).await.unwrap();
    assert_eq!(gist(outcome.attempts()), ["plan accepted"]);
}

#[tokio::test]
async fn an_answer_without_source_is_told_so() {
    let model = Model::says([
        plan("one").to_string(),
        format!("{}{}", fenced(1), "\n```rust\nfn"),
        fenced(2),
    ]);
    let config = config().backend(Backend::Rust).answer_format(AnswerFormat::Lenient);
    let outcome = run(&model, &Script::default(), config).await.unwrap();
    let expected = ["rust source_missing", "rust truncated_response", "rust accepted"];
    assert_eq!(gist(outcome.attempts()), expected);
    let failure = outcome.attempts()[0].record.failure.clone().unwrap();
    assert_eq!(failure.failure_code, "plan_parse_error:source_missing");
    assert!(model.prompts()[1].contains("Answer with the whole source and nothing else."));
}

#[tokio::test]
async fn nothing_in_rust_is_repaired_without_the_model() {
    let patch = serde_json::from_value(json!([{"op": "remove", "path": "/a"}])).unwrap();
    let finding = Finding::new(Stage::Plan, codes::UNKNOWN_FIELD, "/a", "a", "b").with_fix(patch);
    let gates = Script::new([Step::Reject(rejection("unknown_field", "no", vec![finding]))]);
    let model = Model::says([json!({"source": "fn a() {}"}).to_string(), fenced(2)]);
    let config = config().backend(Backend::Rust).repair(true).answer_format(AnswerFormat::Lenient);
    let outcome = run(&model, &gates, config).await.unwrap();
    assert_eq!(gist(outcome.attempts()), ["rust unknown_field", "rust accepted"]);
}

#[tokio::test]
async fn a_conversation_goes_on_in_rust() {
    let model = Model::says([fenced(0), fenced(1)]);
    let gates =
        Script::new([refused("syntax_error", Category::AstFailure, "src/lib.rs:1:5", "no")]);
    let config = config()
        .backend(Backend::Rust)
        .strategy(RetryStrategy::Continue)
        .answer_format(AnswerFormat::Lenient);
    assert!(run(&model, &gates, config).await.unwrap().ok());
    let request = &model.requests()[1];
    assert_eq!(request.messages.len(), 3);
    assert_eq!(request.messages[1].text, fenced(0));
    assert!(
        request.messages[2].text.contains("it tells what to fix in the source, and nothing else.")
    );
    assert!(request.messages[2].text.ends_with(
        "Answer with the whole corrected source, in the form that the task asks for.\n"
    ));
}

/// Gates that say nothing of Rust take none.
#[tokio::test]
async fn gates_of_plans_alone_end_it() {
    use async_trait::async_trait;
    use retort::author::{GateError, Gates, LoopConfig, Verdict};

    struct OfPlans;

    #[async_trait]
    impl Gates for OfPlans {
        type Accepted = ();

        async fn judge(&self, _: &retort::plan::Plan) -> Result<Verdict<()>, GateError> {
            Ok(Verdict::Accepted(()))
        }
    }

    let model = Model::says([fenced(0)]);
    let config = LoopConfig::builder().backend(Backend::Rust).build().unwrap();
    let error = compile_with_llm(&model, &task(), &OfPlans, &config).await.unwrap_err();
    assert_eq!(error.code(), "rust_not_taken");
}
