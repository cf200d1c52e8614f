//! A plan, or code, through every gate.

use std::path::{Path, PathBuf};

use retort::bundle::{Coverage, Request, StageTime, Stored};
use retort::diagnostics::{Problem, Stage};
use retort::internal::document::DocumentKind;
use retort::sandbox::Confinement;
use retort::{Accepted, Pipeline, PipelineError, Task};
use serde::Serialize;

use super::super::artifact::CodeFile;
use super::super::error::CliError;
use super::super::project::Project;
use super::super::{CommandResult, CommandVerdict, files, output};
use super::CompileArgs;
use super::stored::{BundleReport, is_as_asked, print_path, store};
use crate::cli::stages::StageReport;

#[derive(Serialize)]
struct GivenReport<'a> {
    ok: bool,
    stages: &'a [StageReport],
    problems: &'a [Problem],
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<Coverage>,
    /// How the Rust compiler was confined, where it was given source.
    #[serde(skip_serializing_if = "Option::is_none")]
    confinement: Option<Confinement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle: Option<BundleReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostic: Option<String>,
}

/// What is taken through the gates.
#[derive(Debug)]
pub(super) enum Given {
    /// A file with a plan.
    Plan(PathBuf),
    /// A file with code.
    Code(PathBuf),
}

/// The same, read.
enum Read {
    Plan(String),
    Code(CodeFile),
}

impl Given {
    fn path(&self) -> &Path {
        match self {
            Self::Plan(path) | Self::Code(path) => path,
        }
    }
}

pub(super) fn main(project: &Project, given: &Given, args: &CompileArgs) -> CommandResult {
    let (origin, json) = (files::name(given.path()), args.output.json);
    let mut stages = Vec::new();
    let mut watch = |time: StageTime| {
        let stage = StageReport::from(time);
        if !json {
            stage.say();
        }
        stages.push(stage);
    };
    let mut report = Report::default();
    let (task, pipeline, verdict) = accept(project, given, &mut watch)?;
    report.confinement = pipeline.confinement();
    output::confinement(report.confinement);
    match verdict {
        Ok(accepted) => {
            let coverage = accepted.coverage(&task);
            report.problems = args.strict.errors(&coverage);
            if report.problems.is_empty() {
                let store = || store(project, args.activation, &accepted);
                let (stored, time) = StageTime::of(Stage::Bundle, store);
                watch(time);
                report.stored = Some(stored?);
            }
            if !json {
                args.strict.say(&origin, &coverage, task.expected().is_some());
            }
            report.coverage = Some(coverage);
        }
        Err(error) if error.is_of_host() => return Err(CliError::refused(error)),
        Err(error) => {
            report.problems = error.problems();
            report.diagnostic = Some(error.diagnostic());
        }
    }
    let Report { stored, problems, coverage, confinement, diagnostic } = report;
    let ok = stored.as_ref().is_some_and(is_as_asked);
    if json {
        let bundle = stored.as_ref().map(BundleReport::from);
        let (stages, problems) = (&*stages, &*problems);
        output::print_json(&GivenReport {
            ok,
            stages,
            problems,
            coverage,
            confinement,
            bundle,
            diagnostic,
        })?;
    } else if let Some(stored) = &stored {
        print_path(stored)?;
    } else {
        diagnostic.iter().for_each(output::say);
        output::problems(&origin, &problems);
    }
    Ok(CommandVerdict::from_ok(ok))
}

/// What came of it.
#[derive(Default)]
struct Report {
    stored: Option<Stored>,
    problems: Vec<Problem>,
    coverage: Option<Coverage>,
    confinement: Option<Confinement>,
    diagnostic: Option<String>,
}

/// What a plan, or code, was judged for, by which gates, and how.
type Judged = (Task, Pipeline, Result<Accepted, PipelineError>);

/// Reads what the project names, and takes the plan through the gates.
fn accept(
    project: &Project,
    given: &Given,
    watch: &mut dyn FnMut(StageTime),
) -> Result<Judged, CliError> {
    let (input, time) = StageTime::of(Stage::Input, || {
        let artifact = match given {
            Given::Plan(path) => Read::Plan(files::read_text(path, DocumentKind::Plan)?),
            Given::Code(path) => Read::Code(CodeFile::read(path)?),
        };
        Ok::<_, CliError>((artifact, project.task()?, project.pipeline()?))
    });
    let (read, task, pipeline) = input?;
    watch(time);
    let request = Request::new(&task).smoke(project.smoke_options()).watch(watch);
    let verdict = match &read {
        Read::Plan(text) => pipeline.accept(text, request),
        Read::Code(file) => pipeline.accept_code(file.as_code(), request),
    };
    Ok((task, pipeline, verdict))
}
