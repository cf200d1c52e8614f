//! All gates over the text that a model might write, and what fixes it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use retort::bundle::Request;
use retort::diagnostics::{Finding, Stage};
use retort::internal::repair::{apply_fixes, plan_findings, smoke_findings};
use retort::plan::{self, Plan};
use retort::{Coded, Pipeline, PipelineError};
use serde_json::Value;

use super::case::Case;

/// How often a text is repaired before it is given up.
const ROUNDS: usize = 4;

/// What became of a text.
pub(super) struct Judged {
    /// What the first gate that rejected it found; empty where none did.
    pub(super) findings: Vec<Finding>,
    /// What was found in the end; empty where it passed.
    pub(super) left: Vec<Finding>,
    /// The plan that passed all gates in the end.
    pub(super) passed: Option<Plan>,
    /// How often it was repaired.
    pub(super) rounds: usize,
}

/// The gates.
pub(super) struct Judge {
    pipeline: Pipeline,
    /// Cases with plans that passed already.
    passed: RefCell<BTreeSet<(String, String)>>,
}

impl Judge {
    pub(super) fn new() -> Self {
        Self { pipeline: Pipeline::builder().build().unwrap(), passed: RefCell::default() }
    }

    /// Takes a text through the gates, and through them again when it was repaired.
    pub(super) fn judge(&self, case: &Case, answer: &str) -> Judged {
        let mut text = answer.to_owned();
        let (mut first, mut left) = (None, Vec::new());
        for rounds in 0..=ROUNDS {
            let findings = match self.gates(case, &text) {
                Ok(plan) => {
                    let findings = first.unwrap_or_default();
                    return Judged { findings, left: Vec::new(), passed: Some(plan), rounds };
                }
                Err(findings) => findings,
            };
            assert!(!findings.is_empty(), "{}: rejected for nothing: {text}", case.name);
            let repaired = apply_fixes(&text, &findings);
            first.get_or_insert_with(|| findings.clone());
            left = findings;
            match repaired {
                Some(repaired) => text = repaired.text,
                None => break,
            }
        }
        Judged { findings: first.unwrap_or_default(), left, passed: None, rounds: ROUNDS }
    }

    fn gates(&self, case: &Case, text: &str) -> Result<Plan, Vec<Finding>> {
        let plan = match plan::parse(text) {
            Ok(plan) => plan,
            Err(error) => return Err(unread(case, text, &error)),
        };
        let key = (case.name.clone(), serde_json::to_string(&plan).unwrap());
        if self.passed.borrow().contains(&key) {
            return Ok(plan);
        }
        match self.pipeline.accept(text, Request::new(&case.task).smoke(case.smoke)) {
            Ok(accepted) => {
                assert_eq!(accepted.plan(), Some(&plan), "a plan that passes is not altered");
                self.passed.borrow_mut().insert(key);
                Ok(plan)
            }
            Err(PipelineError::Fit(unfit)) => Err(unfit.findings().to_vec()),
            Err(PipelineError::Smoke(failed)) => Err(smoke_findings(&plan, &failed, &case.task)),
            Err(other) => Err(other.problems().iter().map(Finding::from).collect()),
        }
    }
}

fn unread(case: &Case, text: &str, error: &plan::PlanParseError) -> Vec<Finding> {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return vec![Finding::new(Stage::Plan, error.entry(), "", "JSON", error.message.clone())];
    };
    plan_findings(&value, &plan::problems(text), &case.task)
}
