//! Expressions: the compliance suite of JMESPath's community edition, and cases of our own.

use std::collections::BTreeMap;
use std::fs;

use libtest_mimic::Trial;
use retort::Coded;
use retort::plan::Query;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::support::{shared, workspace_root};
use crate::trial::{files, json_of, on_shared, say, stem, trial};

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
    trials.push(trial("expression::reference", reference));
    trials
}

/// A random expression with what the reference implementation gives: tests/expression/reference.py writes them.
#[derive(Deserialize)]
struct Random {
    expression: String,
    given: Box<RawValue>,
    result: Option<Value>,
    error: Option<String>,
    /// Where the reference goes a way of Python's: such a case is counted, and not held to.
    #[serde(default)]
    python: Vec<String>,
}

/// The recorded cases, or those of the file that `RETORT_EXPRESSIONS` names.
fn reference() {
    let recorded = || workspace_root().join("tests/expression/reference.ndjson");
    let file = std::env::var_os("RETORT_EXPRESSIONS").map_or_else(recorded, Into::into);
    let (mut values, mut failures, mut of_python, mut all) = (0, 0, BTreeMap::new(), 0);
    let mut wrong = Vec::new();
    for line in fs::read_to_string(&file).unwrap().lines() {
        let case: Random = serde_json::from_str(line).unwrap();
        all += 1;
        match (case.compare(), case.python.is_empty()) {
            (Ok(()), _) if case.error.is_some() => failures += 1,
            (Ok(()), _) => values += 1,
            (Err(_), false) => *of_python.entry(case.python.join("; ")).or_insert(0) += 1,
            (Err(difference), true) => {
                wrong.push(format!("{}\n  of {}\n  {difference}", case.expression, case.given));
            }
        }
    }
    say(&format!(
        "{all} expressions: {values} give the same, {failures} fail in both; of Python's ways: {of_python:#?}"
    ));
    let shown = wrong.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} differ, of {all}\n{shown}", wrong.len());
    assert!(values * 2 > all, "{values} of {all}");
}

impl Random {
    fn compare(&self) -> Result<(), String> {
        let found = Query::parse_alone(&self.expression)
            .map_err(|error| error.code().replace('_', "-"))
            .and_then(|query| {
                let found = query.evaluate(self.given.get());
                found.map_err(|error| error.code().replace('_', "-"))
            });
        match (&self.error, found) {
            // The others are errors of Python.
            (Some(error), Err(found)) if error.contains('-') && *error != found => {
                Err(format!("expected {error}, found {found}"))
            }
            (Some(_), Err(_)) => Ok(()),
            (Some(error), Ok(found)) => Err(format!("expected {error}, found {found}")),
            (None, Err(error)) => Err(format!("expected {:?}, found {error}", self.result)),
            (None, Ok(found)) => {
                let wanted = self.result.as_ref().unwrap_or(&Value::Null);
                // The reference counts with doubles, Retort with decimals.
                if alike(wanted, &serde_json::from_str(&found).unwrap(), 1e-12) {
                    Ok(())
                } else {
                    Err(format!("expected {wanted}, found {found}"))
                }
            }
        }
    }
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
    alike(one, other, 0.0)
}

/// The same, where the digits of numbers may differ by this share of them.
fn alike(one: &Value, other: &Value, share: f64) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_f64(), other.as_f64()) {
            (Some(one), Some(other)) => {
                (one - other).abs() <= share * one.abs().max(other.abs()) || one == other
            }
            _ => false,
        },
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len()
                && ones.iter().zip(others).all(|(one, other)| alike(one, other, share))
        }
        (Value::Object(ones), Value::Object(others)) => {
            let is_there = |(key, one): (&String, &Value)| {
                others.get(key).is_some_and(|other| alike(one, other, share))
            };
            ones.len() == others.len() && ones.iter().all(is_there)
        }
        _ => one == other,
    }
}
