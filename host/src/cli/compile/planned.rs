//! A plan through every gate.

use std::path::Path;
use std::time::Instant;

use retort::bundle::pipeline::{Accepted, Pipeline, PipelineError, Request, StageTime};
use retort::diagnostics::problem::{Problem, Stage};
use retort::json::document::DocumentKind;
use serde::Serialize;

use super::super::error::CliError;
use super::super::project::Project;
use super::super::{CommandResult, CommandVerdict, files, output};
use super::KeepArg;
use super::stored::{BundleReport, print_path, store};
use crate::cli::stages::StageReport;

#[derive(Serialize)]
struct PlannedReport<'a> {
    ok: bool,
    stages: &'a [StageReport],
    problems: &'a [Problem],
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle: Option<BundleReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostic: Option<String>,
}

pub(super) fn main(project: &Project, plan: &Path, keep: KeepArg, json: bool) -> CommandResult {
    let mut stages = Vec::new();
    let mut watch = |time: StageTime| {
        let stage = StageReport::from(time);
        if !json {
            stage.say();
        }
        stages.push(stage);
    };
    let (stored, rejection) = match accept(project, plan, &mut watch)? {
        Ok((pipeline, accepted)) => {
            (Some(store(project, keep, &pipeline, &accepted, &mut watch)?), None)
        }
        Err(error) if error.is_of_host() => return Err(CliError::refused(error)),
        Err(error) => (None, Some(error)),
    };
    let ok = stored.is_some();
    let problems = rejection.as_ref().map(PipelineError::problems).unwrap_or_default();
    let diagnostic = rejection.map(|error| error.diagnostic());
    if json {
        let bundle = stored.as_ref().map(BundleReport::from);
        let problems = &problems;
        output::print_json(&PlannedReport { ok, stages: &stages, problems, bundle, diagnostic })?;
    } else if let Some(stored) = &stored {
        print_path(stored)?;
    } else {
        diagnostic.iter().for_each(output::say);
        output::problems(&files::name(plan), &problems);
    }
    Ok(CommandVerdict::from_ok(ok))
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
