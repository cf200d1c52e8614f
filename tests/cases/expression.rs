//! Expressions: the compliance suite of JMESPath's community edition, and cases of our own.

use libtest_mimic::Trial;
use retort::Coded;
use retort::plan::Query;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::support::shared;
use crate::trial::{files, json_of, on_shared, stem, trial};

/// The suite, beside the checkout.
const SUITE: &str = "conformance/jmespath";

/// Cases of the suite that Retort differs from: the expression, and the reason.
const DIFFERENCES: &[(&str, &str)] = &[];

/// Values with what expressions give for them.
#[derive(Deserialize)]
struct Group {
    given: Box<RawValue>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    expression: String,
    result: Option<Box<RawValue>>,
    /// The kind of an error: its code, with dashes.
    error: Option<String>,
    column: Option<usize>,
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    match shared(SUITE) {
        None => trials.push(on_shared("conformance::jmespath", SUITE, |_| {})),
        Some(folder) => {
            for path in files(&folder.to_string_lossy(), "json") {
                let groups: Vec<Group> = json_of(&path);
                for (index, group) in groups.into_iter().enumerate() {
                    let name = format!("conformance::jmespath/{}/{index}", stem(&path));
                    trials.push(trial(name, move || check(&group, false)));
                }
            }
        }
    }
    for path in files("tests/expression", "json") {
        let groups: Vec<Group> = json_of(&path);
        for (index, group) in groups.into_iter().enumerate() {
            let name = format!("expression::{}/{index}", stem(&path));
            trials.push(trial(name, move || check(&group, true)));
        }
    }
    trials
}

/// Cases of our own say digits as well, and columns.
fn check(group: &Group, exactly: bool) {
    let wrong: Vec<String> = group
        .cases
        .iter()
        .filter_map(|case| case.check(group.given.get(), exactly).err())
        .collect();
    assert!(wrong.is_empty(), "given {}\n{}", group.given, wrong.join("\n"));
}

impl Case {
    fn check(&self, given: &str, exactly: bool) -> Result<(), String> {
        let expression = &self.expression;
        if DIFFERENCES.iter().any(|(different, _)| different == expression) {
            return Ok(());
        }
        let found = Query::parse_alone(expression)
            .map_err(|error| (error.code().to_owned(), Some(error.column)))
            .and_then(|query| {
                query.evaluate(given).map_err(|error| (error.code().to_owned(), error.column()))
            });
        match (&self.error, found) {
            (Some(wanted), Err((code, column))) => {
                if code.replace('_', "-") != *wanted {
                    return Err(format!("{expression}: expected {wanted}, found {code}"));
                }
                if self.column.is_some() && self.column != column {
                    return Err(format!(
                        "{expression}: expected column {:?}, found {column:?}",
                        self.column
                    ));
                }
                Ok(())
            }
            (Some(wanted), Ok(found)) => {
                Err(format!("{expression}: expected {wanted}, found {found}"))
            }
            (None, Err((code, column))) => Err(format!("{expression}: found {code} at {column:?}")),
            (None, Ok(found)) => {
                let wanted = self.result.as_ref().map_or("null", |result| result.get());
                let is_equal = if exactly {
                    compact(wanted) == found
                } else {
                    is_same(
                        &serde_json::from_str(wanted).unwrap(),
                        &serde_json::from_str(&found).unwrap(),
                    )
                };
                if is_equal {
                    Ok(())
                } else {
                    Err(format!("{expression}: expected {wanted}, found {found}"))
                }
            }
        }
    }
}

/// Without the white space between tokens: strings of the cases hold none that matters.
fn compact(json: &str) -> String {
    let mut inside = false;
    let mut escaped = false;
    json.chars()
        .filter(|character| {
            if escaped {
                escaped = false;
            } else if inside && *character == '\\' {
                escaped = true;
            } else if *character == '"' {
                inside = !inside;
            }
            inside || !character.is_whitespace()
        })
        .collect()
}

/// Whether two values are equal, numbers as doubles.
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len()
                && ones.iter().zip(others).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(ones), Value::Object(others)) => {
            ones.len() == others.len()
                && ones
                    .iter()
                    .all(|(key, one)| others.get(key).is_some_and(|other| is_same(one, other)))
        }
        _ => one == other,
    }
}
