//! A plan through every gate.

use std::path::Path;
use std::time::Instant;

use retort::bundle::pipeline::{Accepted, Pipeline, PipelineError, Request, StageTime};
use retort::diagnostics::problem::{Coded, Problem, Stage};
use retort::json::document::DocumentKind;
use serde::Serialize;

use super::super::error::CliError;
use super::super::project::Project;
use super::super::{CommandResult, Verdict, files, output};
use super::stored::{BundleReport, print_path, store};
use crate::cli::stages::StageReport;

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    stages: &'a [StageReport],
    problems: &'a [Problem],
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle: Option<BundleReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostic: Option<&'a str>,
}

pub(super) fn main(project: &Project, plan: &Path, json: bool) -> CommandResult {
    let mut stages = Vec::new();
    let mut watch = |time: StageTime| {
        let stage = StageReport::from(time);
        if !json {
            stage.say();
        }
        stages.push(stage);
    };
    let outcome = match accept(project, plan, &mut watch)? {
        Ok((pipeline, accepted)) => Ok(store(project, &pipeline, &accepted, &mut watch)?),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(stored) if json => {
            let bundle = Some(BundleReport::from(&stored));
            let report =
                Report { ok: true, stages: &stages, problems: &[], bundle, diagnostic: None };
            output::print_json(&report)?;
            Ok(Verdict::Pass)
        }
        Ok(stored) => {
            print_path(&stored)?;
            Ok(Verdict::Pass)
        }
        Err(error) if error.is_of_host() => {
            Err(CliError::Refused { code: error.entry(), message: error.to_string() })
        }
        Err(error) => {
            let (problems, diagnostic) = (error.problems(), error.diagnostic());
            if json {
                let diagnostic = Some(diagnostic.as_str());
                let report = Report {
                    ok: false,
                    stages: &stages,
                    problems: &problems,
                    bundle: None,
                    diagnostic,
                };
                output::print_json(&report)?;
            } else {
                output::say(diagnostic);
                let origin = files::name(plan);
                problems.iter().for_each(|problem| output::problem(&origin, problem));
            }
            Ok(Verdict::Fail)
        }
    }
}

/// Reads what the project names, and takes the plan through the gates.
fn accept(
    project: &Project,
    plan: &Path,
    watch: &mut dyn FnMut(StageTime),
) -> Result<Result<(Pipeline, Accepted), PipelineError>, CliError> {
    let start = Instant::now();
    let plan = files::read_text(plan, DocumentKind::Plan)?;
    let task = project.task()?;
    let pipeline = project.pipeline()?;
    watch(StageTime { stage: Stage::Input, ok: true, elapsed: start.elapsed() });
    let request = Request { plan: &plan, task: &task, smoke: project.smoke_options() };
    Ok(pipeline.accept(&request, watch).map(|accepted| (pipeline, accepted)))
}
