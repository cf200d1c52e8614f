//! `retort label`: what a plan makes of each sample, accepted by a person as what is expected.

mod answer;
mod shown;

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use retort::bundle::{Expect, discover};
use retort::diagnostics::Problem;
use retort::evidence::{Expected, ExpectedSample, Sample};
use retort::internal::document::DocumentKind;
use retort::sandbox::Extractor;
use retort::{Bundle, Coded, Pipeline, PipelineError, Task};
use serde::Serialize;

use self::answer::Answer;
use super::artifact::{CodeFile, bundle_problem};
use super::error::CliError;
use super::project::{Project, ProjectArgs};
use super::{CommandResult, CommandVerdict, files, output};

/// Show what a plan makes of each sample, and keep what a person accepts as expected
///
/// Runs the project's plan, or the one bundle in its output folder, on each sample that nothing is expected of yet, and asks: accept,
/// skip or quit, by one key and Enter. What is accepted is added to the file of expected results (`expected` in retort.toml;
/// expected.ndjson in its folder where nothing is said), by which compile and check judge plans from then on. Lines that are there
/// stay as they are: to label a sample anew, delete its line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct LabelArgs {
    #[command(flatten)]
    project: ProjectArgs,
    /// Bundle, in the place of a plan
    #[arg(long, value_name = "DIR", conflicts_with = "plan")]
    bundle: Option<PathBuf>,
    /// Accept all results, and ask nothing
    #[arg(long, group = "chosen")]
    all: bool,
    /// Accept the result of the sample on this line, and ask nothing; may be given again
    #[arg(long, value_name = "LINE", group = "chosen")]
    sample: Vec<usize>,
    /// Print one JSON object instead
    #[arg(long, requires = "chosen")]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  retort label my-project
  retort label my-project --plan plan.json --sample 4 --sample 9
  retort label --bundle bundles/0f3a.. --graph graph.yaml --samples events.ndjson --all";

/// What became of the samples, by their lines.
#[derive(Default, Serialize)]
struct LabelReport {
    ok: bool,
    expected: String,
    written: Vec<usize>,
    /// Those of which something was expected already.
    kept: Vec<usize>,
    skipped: Vec<usize>,
    failed: Vec<FailedSample>,
}

#[derive(Serialize)]
struct FailedSample {
    line: usize,
    code: &'static str,
    message: String,
}

pub(super) fn main(args: &LabelArgs) -> CommandResult {
    let project = args.project.resolve()?;
    let (path, is_named) = project.expected();
    project
        .inputs_but_expected()
        .files(args.bundle.as_deref())
        .bundles(&project.out)
        .guard(&path, "--expected")?;
    if files::is_stdin(&path) {
        return Err(CliError::OutputIsInput { path: files::name(&path), role: "--expected" });
    }
    let asks = !args.all && args.sample.is_empty();
    if asks && files::is_stdin(project.samples()) {
        return Err(CliError::StdinTwice { expected: "answers" });
    }
    let known = Some(path.as_path()).filter(|path| path.exists());
    let task = project.task_expecting(known.filter(|path| !is_blank(path)))?;
    let chosen = chosen(&task, &project, &args.sample)?;
    let pipeline = project.pipeline()?;
    let Some(extractor) = extractor(args, &project, &task, &pipeline)? else {
        return Ok(CommandVerdict::Fail);
    };
    let mut labelling = Labelling {
        task: &task,
        path: &path,
        is_quiet: args.json,
        report: LabelReport { expected: files::name(&path), ..LabelReport::default() },
    };
    let mut runner = extractor.runner().checking_all();
    for sample in chosen {
        if task.expected().and_then(|expected| expected.of_line(sample.line())).is_some() {
            labelling.report.kept.push(sample.line());
            continue;
        }
        let result = match runner.run(sample.text().as_bytes()) {
            // What the check of results accepts is one.
            Ok(outcome) => serde_json::from_slice(outcome.json).unwrap_or_default(),
            Err(error) if error.is_of_host() => return Err(CliError::refused(error)),
            Err(error) => {
                labelling.failed(sample, &error.problem());
                continue;
            }
        };
        if !args.json {
            output::print(&shown::sample(sample, &result))?;
        }
        let answer = if asks { answer::ask()? } else { Answer::Accept };
        match answer {
            Answer::Accept => {
                let graph = task.graph();
                let line = ExpectedSample::line_of(sample.line(), sample.text(), &result, graph);
                labelling.write(sample, &line)?;
            }
            Answer::Skip => labelling.report.skipped.push(sample.line()),
            Answer::Quit => break,
        }
    }
    labelling.end(&project, is_named)
}

/// The samples that are asked about, in their order.
fn chosen<'t>(
    task: &'t Task,
    project: &Project,
    lines: &[usize],
) -> Result<Vec<&'t Sample>, CliError> {
    let is_there = |line: &&usize| task.samples().iter().any(|sample| sample.line() == **line);
    if let Some(line) = lines.iter().find(|line| !is_there(line)) {
        let origin = files::name(project.samples());
        return Err(CliError::NoSample { origin, line: *line });
    }
    let is_chosen = |sample: &&Sample| lines.is_empty() || lines.contains(&sample.line());
    Ok(task.samples().iter().filter(is_chosen).collect())
}

/// Whether nothing is in a file yet.
fn is_blank(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.len() == 0)
}

/// What is run: the plan, or the bundle. `None` where it was turned down, which was said.
fn extractor(
    args: &LabelArgs,
    project: &Project,
    task: &Task,
    pipeline: &Pipeline,
) -> Result<Option<Extractor>, CliError> {
    let loaded = |path: &Path, loaded: Result<Extractor, PipelineError>| match loaded {
        Ok(extractor) => Ok(Some(extractor)),
        Err(error) if error.is_of_host() => Err(CliError::refused(error)),
        Err(error) => {
            output::problems(&files::name(path), &PipelineError::problems(&error));
            Ok(None)
        }
    };
    let bundle = match (&args.bundle, project.plan(), project.code()) {
        (Some(bundle), _, _) => bundle.clone(),
        (None, Some(plan), _) => {
            let text = files::read_text(plan, DocumentKind::Plan)?;
            let extractor = pipeline.plan(&text).and_then(|plan| {
                pipeline.permit(&plan, task.evidence())?;
                let inspected = pipeline.inspect(&pipeline.build(&plan)?)?;
                pipeline.load(&inspected)
            });
            return loaded(plan, extractor);
        }
        (None, None, Some(path)) => {
            let code = CodeFile::read(path)?;
            let extractor = pipeline.inspect_code(code.as_code()).and_then(|inspected| {
                pipeline.permit_inputs(&inspected)?;
                pipeline.load(&inspected)
            });
            return loaded(path, extractor);
        }
        (None, None, None) => only_bundle(project, pipeline)?,
    };
    match Bundle::open(&bundle, pipeline) {
        Ok(bundle) => Ok(Some(bundle.module().extractor().clone())),
        Err(error) => {
            output::problem(&files::name(&bundle), &bundle_problem(&error));
            Ok(None)
        }
    }
}

/// The one bundle that the project was compiled to.
fn only_bundle(project: &Project, pipeline: &Pipeline) -> Result<PathBuf, CliError> {
    let hint = |found: &str| CliError::ProjectIncomplete {
        what: "one bundle, a plan or code",
        hint: format!(
            "{} has {found}: compile the project, or use --bundle, --plan or --source",
            project.out.display()
        ),
    };
    if !project.out.is_dir() {
        return Err(hint("none"));
    }
    let found = discover(&project.out, &Expect::default(), None, pipeline);
    match found.loaded.as_slice() {
        [only] => Ok(only.path().to_owned()),
        [] => Err(hint("none")),
        _ => Err(hint("several")),
    }
}

/// What was done so far.
struct Labelling<'a> {
    task: &'a Task,
    path: &'a Path,
    is_quiet: bool,
    report: LabelReport,
}

impl Labelling<'_> {
    fn failed(&mut self, sample: &Sample, problem: &Problem) {
        let Problem { code, message, .. } = problem;
        if !self.is_quiet {
            let line = sample.line();
            output::coded(code.name, format_args!("sample on line {line}: {message}"));
        }
        let (line, code, message) = (sample.line(), code.name, message.clone());
        self.report.failed.push(FailedSample { line, code, message });
    }

    /// Adds a line to the file; what is in it stays as it is.
    fn write(&mut self, sample: &Sample, line: &str) -> Result<(), CliError> {
        let (samples, graph) = (self.task.samples(), Some(self.task.graph()));
        // What is written is what can be read again.
        Expected::parse(line, "the result", samples, graph).map_err(CliError::refused)?;
        append(self.path, line)
            .map_err(|source| CliError::FileNotWritable { path: self.path.to_owned(), source })?;
        self.report.written.push(sample.line());
        Ok(())
    }

    fn end(mut self, project: &Project, is_named: bool) -> CommandResult {
        self.report.ok = self.report.failed.is_empty();
        let LabelReport { ok, expected, written, kept, skipped, failed } = &self.report;
        if self.is_quiet {
            output::print_json(&self.report)?;
            return Ok(CommandVerdict::from_ok(*ok));
        }
        output::say(format_args!(
            "{expected}: {} written, {} there already, {} skipped, {} failed",
            written.len(),
            kept.len(),
            skipped.len(),
            failed.len()
        ));
        if !is_named && !written.is_empty() {
            let name = self.path.file_name().unwrap_or_default().to_string_lossy();
            output::note(format_args!(
                "write `expected = \"{name}\"` into {}, so that compile goes by it",
                project.origin()
            ));
        }
        Ok(CommandVerdict::from_ok(*ok))
    }
}

/// Adds a line at the end of a file, which needn't be there, or end in a line feed.
fn append(path: &Path, line: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let mut text = String::new();
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            text.push('\n');
        }
    }
    text.push_str(line);
    text.push('\n');
    file.write_all(text.as_bytes())
}
