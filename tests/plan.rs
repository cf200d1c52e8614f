//! The plan stage: what holds for every plan. Its cases are in `cases/plan.rs`.

mod limits;
mod places;
mod schema;

use retort::plan;
use serde_json::Value;

use crate::support::workspace_root;

/// A plan in the short form.
fn short_plan() -> Value {
    in_file("short.json")
}

/// A plan in the long form that uses every construct.
fn long_plan() -> Value {
    in_file("long.json")
}

fn in_file(name: &str) -> Value {
    let file = workspace_root().join("tests/plan").join(name);
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn schema() -> jsonschema::Validator {
    jsonschema::draft202012::new(&plan::schema()).unwrap()
}

#[test]
fn the_plans_of_the_manual_are_plans() {
    let manual = std::fs::read_to_string(workspace_root().join("docs/plan.md")).unwrap();
    let mut blocks = 0;
    for block in manual.split("```json\n").skip(1) {
        let (text, _) = block.split_once("```").unwrap();
        assert_eq!(plan::problems(text), [], "{text}");
        assert!(schema().is_valid(&serde_json::from_str(text).unwrap()), "{text}");
        blocks += 1;
    }
    assert!(blocks >= 2, "{blocks}");
}
