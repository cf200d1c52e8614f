//! The plan parser: any text is a plan, or has problems, and its three readers agree on which. What is a plan can be written
//! and read again, keeps to the schema, and is rendered to a module that passes the static gate.

use std::sync::LazyLock;

use jsonschema::Validator;
use retort::diagnostics::Stage;
use retort::gate::{StructuralLimits, inspect};
use retort::render::{self, compile};
use retort::{Coded, plan};
use serde_json::Value;

use super::text::assert_one_line;

static SCHEMA: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&plan::schema()).unwrap());

pub(crate) fn target(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let verdict = plan::parse(text);
    let problems = plan::problems(text);
    assert_eq!(verdict.as_ref().err(), problems.first());
    for problem in &problems {
        assert_eq!(problem.entry().stage, Stage::Plan);
        assert_one_line(&problem.to_string());
    }
    let value = serde_json::from_str::<Value>(text);
    if let Ok(value) = &value {
        assert_eq!(plan::from_value(value), verdict);
        assert_eq!(plan::problems_of_value(value), problems);
    }
    let Ok(plan) = verdict else { return false };
    assert!(value.is_ok_and(|value| SCHEMA.is_valid(&value)), "a plan that its schema refuses");

    let normal = serde_json::to_string(&plan).unwrap();
    let again = plan::parse(&normal).unwrap_or_else(|error| panic!("{error}: {normal}"));
    assert_eq!(again, plan);
    assert_eq!(serde_json::to_string(&again).unwrap(), normal);

    match render::render(&plan) {
        Ok(source) => {
            let compiled = compile(source).unwrap_or_else(|error| panic!("{error}"));
            if let Err(rejected) = inspect(compiled.module(), &StructuralLimits::default()) {
                // A plan may be too large for the limits of a module, and that is all that may be wrong with it.
                let problems = rejected.problems();
                assert!(problems.iter().all(|it| it.allowed().is_some()), "{rejected}");
            }
        }
        Err(error) => {
            assert_eq!(error.entry().stage, Stage::Render);
            assert_one_line(&error.to_string());
        }
    }
    true
}
