//! Cases that are answers of a model: read as it would be, then through all gates.

use super::Case;
use super::attempt::CaseAttempt;
use super::setting::Setting;
use crate::author::answer::{AnswerFormat, read};
use crate::author::llm::FinishReason;
use crate::diagnostics::problem::{Problem, Stage};

pub(super) fn attempt(setting: &Setting, case: &Case) -> Result<CaseAttempt, CaseAttempt> {
    let answer =
        read(&case.body()?, &FinishReason::Stop, AnswerFormat::default()).map_err(|error| {
            let mut problems = error.to_problems();
            if problems.iter().all(|problem| problem.code != error.code) {
                problems.insert(0, Problem::new(Stage::Model, error.code, error.to_string()));
            }
            CaseAttempt::stopped_by_one(problems, case)
        })?;
    let pipeline = setting.pipeline(case)?;
    let accepted = pipeline.accept_plan(&answer.plan, setting.task());
    CaseAttempt::ended(accepted.map_err(|error| CaseAttempt::rejected(&error, case)))
}
