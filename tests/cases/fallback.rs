//! Results that are filtered, and events that go to a fallback: the cases of the contract, with what NOTES.md says is different.

use libtest_mimic::Trial;
use retort::graph::{Extraction, Failure, FailureScope, Salvage, ValidateOptions, salvage};
use retort::runtime::{Decided, ExtractError, run_with_fallback};
use retort::{Coded, GraphSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::trial::{json_of, of_contract, on_shared};

/// The case in which a property that is no key took its node along.
const PROPERTY_ALONE: &str = "field_failure_drops_whole_node";

#[derive(Deserialize)]
struct Case {
    name: String,
    event: Value,
    compiled: Compiled,
    /// Left out where failures are injected.
    spec: Option<Value>,
    injected_validation_failures: Option<Vec<Injected>>,
    expect: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Compiled {
    Result(Value),
    Raise(String),
    ReturnType(String),
    Malformed(String),
}

#[derive(Deserialize)]
struct Injected {
    scope: String,
    path: String,
    node_id: Option<String>,
    edge_id: Option<String>,
}

#[derive(Deserialize)]
struct File {
    cases: Vec<Case>,
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = of_contract("runtime_fallback", named, |case| check(&case));
    trials.push(on_shared(
        "fallback::there_are_as_many_cases_as_are_run",
        "conformance/runtime_fallback.json",
        |path| {
            let file: File = json_of(&path);
            assert_eq!(file.cases.len(), 27);
            assert!(file.cases.iter().any(|case| case.name == PROPERTY_ALONE));
        },
    ));
    trials
}

fn named(text: &str) -> Vec<(String, Case)> {
    let file: File = serde_json::from_str(text).unwrap();
    file.cases.into_iter().map(|case| (case.name.clone(), case)).collect()
}

/// An extractor of the embedding program that does what a case says.
fn compiled(case: &Case) -> impl FnMut(&[u8]) -> Result<Extraction, ExtractError> {
    let given = match &case.compiled {
        // As text, since that is what every extractor gives: what isn't of the right shape is none.
        Compiled::Result(result) => serde_json::from_value(result.clone())
            .map_err(|error| ExtractError::raised(format!("MalformedResultInternals: {error}"))),
        Compiled::Malformed(how) => {
            Err(ExtractError::raised(format!("MalformedResultInternals: {how}")))
        }
        Compiled::Raise(message) => Err(ExtractError::raised(message)),
        Compiled::ReturnType(found) => {
            Err(ExtractError::raised(format!("WrongReturnType: {found}")))
        }
    };
    move |_| given.clone()
}

fn check(case: &Case) {
    let any = || {
        let key = json!({"column": "id", "logical_name": "id", "sdk_type": "string"});
        json!({"entities": [{"name": "E", "key_columns": ["id"], "properties": [key]}]})
    };
    let spec = case.spec.clone().unwrap_or_else(any).to_string();
    let spec = GraphSpec::parse(&spec, &case.name).unwrap();
    if let (Some(injected), Compiled::Result(result)) =
        (&case.injected_validation_failures, &case.compiled)
    {
        return check_injected(case, &spec, injected, result);
    }
    let stand_in: Extraction = serde_json::from_value(json!({
        "nodes": [], "edges": [], "fully_handled_span_ids": ["of the fallback"],
        "partially_handled_span_ids": [],
    }))
    .unwrap();
    let mut asked = 0;
    let mut fallback = |_: &[u8]| {
        asked += 1;
        Ok(stand_in.clone())
    };
    let event = case.event.to_string();
    let options = ValidateOptions::default();
    let mut extractor = compiled(case);
    let decided =
        run_with_fallback(&mut extractor, &mut fallback, &spec, options, event.as_bytes());
    compare(case, &decided.unwrap(), &stand_in);
    assert_eq!(asked, u32::from(case.expect["fallback_called"].as_bool().unwrap()));
}

fn compare(case: &Case, decided: &Decided, stand_in: &Extraction) {
    let found = serde_json::to_value(decided).unwrap();
    let expect = amended(case);
    let failures = found["failures"].as_array().unwrap().iter().map(|failure| {
        let mut failure = failure.clone();
        failure.as_object_mut().unwrap().remove("detail");
        failure
    });
    assert_eq!(Value::Array(failures.collect()), expect["validation_failures"]);
    assert_eq!(found["decision"], expect["decision"]);
    assert_eq!(found["dropped_node_ids"], expect["dropped_node_ids"]);
    assert_eq!(found["dropped_edge_ids"], expect["dropped_edge_ids"]);
    match expect["result"].as_str() {
        Some("fallback") => assert_eq!(&decided.result, stand_in),
        _ => assert_eq!(found["result"], expect["result"]),
    }
    let said = decided.error.as_ref().map(ToString::to_string);
    match expect["compiled_exception_prefix"].as_str() {
        Some(prefix) => assert!(said.unwrap().starts_with(prefix)),
        None => assert_eq!(said.as_deref(), expect["compiled_exception"].as_str()),
    }
    if let Some(error) = &decided.error {
        assert_eq!(error.code(), "extractor_raised");
    }
}

/// What is expected here: a property that is no key goes alone.
fn amended(case: &Case) -> Value {
    let mut expect = case.expect.clone();
    if case.name == PROPERTY_ALONE
        && let Compiled::Result(result) = &case.compiled
    {
        assert_eq!(expect["dropped_node_ids"], json!(["s1:Order:order_id=o1"]));
        expect["dropped_node_ids"] = json!([]);
        expect["dropped_edge_ids"] = json!([]);
        let spans = expect["result"]["partially_handled_span_ids"].clone();
        expect["result"] = result.clone();
        expect["result"]["nodes"][0]["properties"].as_array_mut().unwrap().remove(1);
        expect["result"]["fully_handled_span_ids"] = json!([]);
        expect["result"]["partially_handled_span_ids"] = spans;
    }
    expect
}

/// Failures that no result of these cases has.
fn check_injected(case: &Case, spec: &GraphSpec, injected: &[Injected], result: &Value) {
    let some_failure = {
        let wrong = json!({"nodes": [{"node_id": "x", "entity_name": "?"}], "edges": []});
        let wrong: Extraction = serde_json::from_value(wrong).unwrap();
        let report = retort::graph::validate(spec, &wrong, ValidateOptions::default());
        report.failures()[0].clone()
    };
    let failure = |injected: &Injected| {
        let scopes =
            [FailureScope::Event, FailureScope::Node, FailureScope::Edge, FailureScope::Field];
        Failure {
            scope: scopes.into_iter().find(|scope| scope.as_str() == injected.scope).unwrap(),
            path: injected.path.clone(),
            node_id: injected.node_id.as_deref().map(Into::into),
            edge_id: injected.edge_id.as_deref().map(Into::into),
            ..some_failure.clone()
        }
    };
    let failures: Vec<Failure> = injected.iter().map(failure).collect();
    let result: Extraction = serde_json::from_value(result.clone()).unwrap();
    match salvage(spec, result, &failures) {
        Salvage::Nothing => assert_eq!(case.expect["decision"], "fallback_for_event"),
        Salvage::Whole(_) => panic!("there are failures"),
        Salvage::Part(kept, dropped) => {
            assert_eq!(case.expect["decision"], "compiled_filtered");
            let (kept, dropped) = (json!(kept), json!(dropped));
            for part in ["nodes", "edges"] {
                assert_eq!(kept[part], case.expect["result"][part]);
            }
            assert_eq!(dropped["dropped_node_ids"], case.expect["dropped_node_ids"]);
            assert_eq!(dropped["dropped_edge_ids"], case.expect["dropped_edge_ids"]);
        }
    }
}
