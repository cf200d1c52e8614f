//! A plan through every gate.

use std::path::Path;

use retort::bundle::{Request, StageTime};
use retort::diagnostics::{Problem, Stage};
use retort::internal::document::DocumentKind;
use retort::{Accepted, PipelineError};
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
        Ok(accepted) => {
            let (stored, time) = StageTime::of(Stage::Bundle, || store(project, keep, &accepted));
            watch(time);
            (Some(stored?), None)
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
) -> Result<Result<Accepted, PipelineError>, CliError> {
    let (input, time) = StageTime::of(Stage::Input, || {
        let plan = files::read_text(plan, DocumentKind::Plan)?;
        Ok::<_, CliError>((plan, project.task()?, project.pipeline()?))
    });
    let (plan, task, pipeline) = input?;
    watch(time);
    let request = Request::new(&task).smoke(project.smoke_options()).watch(watch);
    Ok(pipeline.accept(&plan, request))
}
