//! A plan through every gate.

use std::path::Path;

use retort::bundle::{Coverage, Request, StageTime, Stored};
use retort::diagnostics::{Problem, Stage};
use retort::internal::document::DocumentKind;
use retort::{Accepted, PipelineError, Task};
use serde::Serialize;

use super::super::error::CliError;
use super::super::project::Project;
use super::super::{CommandResult, CommandVerdict, files, output};
use super::CompileArgs;
use super::stored::{BundleReport, print_path, store};
use crate::cli::stages::StageReport;

#[derive(Serialize)]
struct PlannedReport<'a> {
    ok: bool,
    stages: &'a [StageReport],
    problems: &'a [Problem],
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<Coverage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle: Option<BundleReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostic: Option<String>,
}

pub(super) fn main(project: &Project, plan: &Path, args: &CompileArgs) -> CommandResult {
    let (origin, json) = (files::name(plan), args.output.json);
    let mut stages = Vec::new();
    let mut watch = |time: StageTime| {
        let stage = StageReport::from(time);
        if !json {
            stage.say();
        }
        stages.push(stage);
    };
    let mut report = Report::default();
    match accept(project, plan, &mut watch)? {
        (task, Ok(accepted)) => {
            let coverage = accepted.coverage(&task);
            report.problems = args.strict.errors(&coverage);
            if report.problems.is_empty() {
                let store = || store(project, args.keep, &accepted);
                let (stored, time) = StageTime::of(Stage::Bundle, store);
                watch(time);
                report.stored = Some(stored?);
            }
            if !json {
                args.strict.say(&origin, &coverage, task.expected().is_some());
            }
            report.coverage = Some(coverage);
        }
        (_, Err(error)) if error.is_of_host() => return Err(CliError::refused(error)),
        (_, Err(error)) => {
            report.problems = error.problems();
            report.diagnostic = Some(error.diagnostic());
        }
    }
    let Report { stored, problems, coverage, diagnostic } = report;
    let ok = stored.is_some();
    if json {
        let bundle = stored.as_ref().map(BundleReport::from);
        let (stages, problems) = (&*stages, &*problems);
        output::print_json(&PlannedReport { ok, stages, problems, coverage, bundle, diagnostic })?;
    } else if let Some(stored) = &stored {
        print_path(stored)?;
    } else {
        diagnostic.iter().for_each(output::say);
        output::problems(&origin, &problems);
    }
    Ok(CommandVerdict::from_ok(ok))
}

/// What came of the plan.
#[derive(Default)]
struct Report {
    stored: Option<Stored>,
    problems: Vec<Problem>,
    coverage: Option<Coverage>,
    diagnostic: Option<String>,
}

/// Reads what the project names, and takes the plan through the gates.
fn accept(
    project: &Project,
    plan: &Path,
    watch: &mut dyn FnMut(StageTime),
) -> Result<(Task, Result<Accepted, PipelineError>), CliError> {
    let (input, time) = StageTime::of(Stage::Input, || {
        let plan = files::read_text(plan, DocumentKind::Plan)?;
        Ok::<_, CliError>((plan, project.task()?, project.pipeline()?))
    });
    let (plan, task, pipeline) = input?;
    watch(time);
    let request = Request::new(&task).smoke(project.smoke_options()).watch(watch);
    let verdict = pipeline.accept(&plan, request);
    Ok((task, verdict))
}
