//! What the static gate says of a module, checked against what happens to it afterwards.

use std::sync::LazyLock;

use retort::diagnostics::Stage;
use retort::gate::{Inspected, StructuralLimits, inspect};
use retort::internal::inspect::features;
use retort::internal::result;
use retort::sandbox::Sandbox;
use retort::{Coded, Limits, Runner};
use wasmparser::Validator;

use super::text::assert_one_line;
use crate::support::sandbox;

/// Little fuel, so that no module takes long; and time for a machine that does much else, so that it is fuel that ends one.
static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| {
    sandbox(options!(Limits {
        fuel_base: 200_000,
        fuel_per_byte: 100,
        deadline_ms: 30_000,
        ..Limits::default()
    }))
});

/// Two events, and the first one again: what comes between must not show.
const EVENTS: [&str; 3] = [
    r#"{"event_type":"e","bad":true,"id":"x","value":{"a":[1,2.5,null]}}"#,
    r#"{"event_type":"e","bad":false,"id":7}"#,
    r#"{"event_type":"e","bad":true,"id":"x","value":{"a":[1,2.5,null]}}"#,
];

/// Takes a module through the gate; what passes has to be valid, to compile, and to run within its limits, each event as if it
/// were the first. Whether it passes.
pub(super) fn judge(wasm: &[u8]) -> bool {
    let limits = StructuralLimits::default();
    match inspect(wasm, &limits) {
        Ok(inspected) => {
            run(wasm, &inspected);
            true
        }
        Err(rejected) => {
            assert!(!rejected.problems().is_empty());
            for problem in rejected.problems() {
                assert_eq!(problem.entry().stage, Stage::Inspect, "{problem}");
                assert_one_line(&problem.to_string());
                assert_one_line(problem.path());
            }
            false
        }
    }
}

fn run(wasm: &[u8], inspected: &Inspected) {
    let valid = Validator::new_with_features(features()).validate_all(wasm);
    assert!(valid.is_ok(), "{:?}", valid.err());
    let extractor = SANDBOX.load(inspected).unwrap_or_else(|error| panic!("{error}"));
    let mut runner = extractor.runner();
    let outcomes = EVENTS.map(|event| outcome(&mut runner, event, inspected));
    assert_eq!(outcomes[0], outcomes[2], "an event that depends on the one before it");
}

/// What an event gives: a result and its fuel, or the code of a failure.
fn outcome(
    runner: &mut Runner,
    event: &str,
    inspected: &Inspected,
) -> Result<(Vec<u8>, u64), &'static str> {
    match runner.run(event.as_bytes()) {
        Ok(outcome) => {
            assert_eq!(result::check(outcome.json).as_ref(), Ok(&outcome.shape));
            if let Some(bound) = inspected.facts().fuel_bound.filter(|it| it.per_bulk_byte() == 0) {
                let used = outcome.fuel - outcome.conversion_fuel;
                assert!(used <= bound.base(), "{used} of {}", bound.base());
            }
            Ok((outcome.json.to_vec(), outcome.fuel))
        }
        Err(error) => {
            let problem = error.problem();
            assert_one_line(&problem.message);
            assert_one_line(problem.path.as_deref().unwrap_or_default());
            Err(error.code())
        }
    }
}
