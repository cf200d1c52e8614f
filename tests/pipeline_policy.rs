//! A tenant's field policy in the pipeline: before a plan runs, and when a bundle is loaded.

use retort::bundle::StageTime;
use retort::bundle::{self, Expect, Request};
use retort::diagnostics::Stage;
use retort::gate::FieldPolicy;
use retort::{Coded, GraphSpec, Pipeline, Samples, Store, Task};

const PLAN: &str = r#"{
  "event_type": "placed", "target_entity_name": "Order", "function_name": "read_order",
  "key_field": {"property_name": "id", "source_path": ["content", "id"]},
  "property_fields": [{"property_name": "mail", "source_path": ["content", "user", "email"]}]
}"#;

fn task() -> Task {
    let graph = "entities: [{name: Order, keys: {primary: [id]}, properties: [{name: id, type: string}, {name: mail, type: string}]}]";
    let samples = r#"{"event_type":"placed","session_id":"s","content":{"id":"a","user":{"email":"x@example.org"}}}"#;
    let samples = Samples::parse(samples, "samples").unwrap();
    Task::new(GraphSpec::parse(graph, "graph.yaml").unwrap(), samples)
}

fn denying() -> Pipeline {
    let policy = FieldPolicy::parse(
        r#"{"deny": [{"path": "content.*.email", "reason": "personal data"}]}"#,
        "policy.json",
    );
    Pipeline::builder().tenant(&policy.unwrap().into()).build().unwrap()
}

#[test]
fn a_plan_that_reads_what_is_denied_never_runs() {
    let task = task();
    let mut stages = Vec::new();
    let mut watch = |time: StageTime| stages.push((time.stage, time.ok));
    let error = denying().accept(PLAN, Request::new(&task).watch(&mut watch)).unwrap_err();
    assert_eq!(error.code(), "path_denied");
    assert_eq!(stages.last(), Some(&(Stage::Policy, false)), "{stages:?}");
    assert!(error.diagnostic().contains("denied by policy: personal data"));
}

#[test]
fn a_bundle_that_another_policy_let_pass_is_not_served() {
    let root = tempfile::tempdir().unwrap();
    let task = task();
    let pipeline = Pipeline::builder().build().unwrap();
    let accepted = pipeline.accept(PLAN, &task).unwrap();
    let store = Store::open(root.path()).unwrap();
    let now = jiff::Timestamp::UNIX_EPOCH;
    let stored = accepted.store(&store, now).unwrap();
    assert!(bundle::load(&stored.path, &Expect::default(), &pipeline).is_ok());
    let refused = bundle::load(&stored.path, &Expect::default(), &denying()).unwrap_err();
    assert_eq!(refused.code(), "module_rejected");
    assert!(refused.to_string().contains("content.user.email is denied"), "{refused}");
}
