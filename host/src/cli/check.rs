//! `retort check`: all gates again, for CI.

use std::path::{Path, PathBuf};

use retort::bundle::{
    Buildable, BundleLoadError, Coverage, Digest, ExpectedRun, Part, RustVersions, SampleFailure,
    SampleRun, SmokeOptions, Smoked, StageTime,
};
use retort::diagnostics::{Problem, Stage};
use retort::evidence::Evidence;
use retort::gate::{FieldPolicy, SourceLimits, VettedSource, vet_source};
use retort::graph::GraphSpecError;
use retort::plan::Plan;
use retort::render::{compile, render};
use retort::sandbox::{Confinement, Extractor};
use retort::{Bundle, Coded, EventSchema, GraphSpec, Pipeline, PipelineError, Rule, Samples, Task};
use serde::Serialize;

use super::args::{CacheArg, EndpointsArg, GraphSource, JsonArg, PolicyArg};
use super::artifact::{Artifact, CodeFile, bundle_problem};
use super::coverage::StrictArg;
use super::error::CliError;
use super::junit::{Junit, JunitCase, JunitFailure};
use super::overwrite::Inputs;
use super::stages::StageReport;
use super::{CommandResult, CommandVerdict, files, output};

/// Run all gates again on a bundle, a module, a WAT file or a plan
///
/// PATH is a bundle's directory, or a file that ends in .wasm, .wat or .json (a plan). A bundle is checked against its own graph
/// spec unless another one is named. Exits with 1 if a gate turns it down.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CheckArgs {
    /// What to check
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Sample events, one JSON object a line
    #[arg(long, value_name = "EVENTS")]
    samples: PathBuf,
    #[command(flatten)]
    graph: GraphSource,
    #[command(flatten)]
    policy: PolicyArg,
    #[command(flatten)]
    cache: CacheArg,
    /// What the events look like (JSON), beside what the samples show
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// What samples are expected to give, one JSON object a line
    #[arg(long, value_name = "FILE")]
    expected: Option<PathBuf>,
    #[command(flatten)]
    endpoints: EndpointsArg,
    #[command(flatten)]
    strict: StrictArg,
    /// Write a report in JUnit's format, with a test case for each stage, each sample and each expected result
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    output: JsonArg,
}

const EXAMPLES: &str = "\
Examples:
  retort check bundles/0f3a.. --samples events.ndjson
  retort check extractor.wasm --samples events.ndjson --graph graph.yaml --json
  retort check bundles/0f3a.. --samples events.ndjson --junit report.xml
  retort check plan.json --samples events.ndjson --graph graph.yaml";

#[derive(Serialize)]
struct CheckReport {
    ok: bool,
    stages: Vec<StageReport>,
    problems: Vec<Problem>,
    /// What compiled source in Rust.
    #[serde(skip_serializing_if = "Option::is_none")]
    rust: Option<RustReport>,
    /// What came out of the samples, where the sample run went well.
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<Coverage>,
}

/// What compiled source in Rust, now or when the bundle was made.
#[derive(Serialize)]
struct RustReport {
    compiler: String,
    sdk: Digest,
    /// How the compiler was confined, where it was now.
    #[serde(skip_serializing_if = "Option::is_none")]
    confinement: Option<Confinement>,
}

impl CheckReport {
    /// A suite of the stages, one of the samples that were run, and one of those that something was expected of.
    fn junit(&self, origin: &str, samples: &[SampleRun], expected: &[ExpectedRun]) -> Junit {
        let mut junit = Junit::new("retort check");
        // The stage that rejected it is the last one, and all the problems are its own.
        let failure = self.problems.first().map(|first| JunitFailure {
            code: first.code.to_string(),
            message: output::told(origin, first),
            details: self.problems.iter().map(|problem| output::told(origin, problem)).collect(),
        });
        let stages = self.stages.iter().map(|report| JunitCase {
            name: report.stage.as_str().to_owned(),
            ms: Some(report.ms),
            verdict: failure.clone().filter(|_| !report.ok).into(),
        });
        // Where all of them went well, what looks wrong is what failed.
        let is_suspect = self.stages.iter().all(|report| report.ok);
        let suspect = failure.clone().filter(|_| is_suspect).map(|failure| JunitCase {
            name: "coverage".to_owned(),
            ms: None,
            verdict: Some(failure).into(),
        });
        junit.suite(origin, stages.chain(suspect));
        let failure = |failure: &SampleFailure| JunitFailure {
            code: failure.code.to_owned(),
            message: failure.message.clone().unwrap_or_default()
                + &output::figures(failure.used, failure.allowed),
            details: Vec::new(),
        };
        let samples = samples.iter().map(|sample| JunitCase {
            name: format!("line {}: {}", sample.line, sample.event_type),
            ms: None,
            verdict: sample.failure.as_ref().map(failure).into(),
        });
        junit.suite(&format!("{origin}: samples"), samples);
        let failure = |problems: &[Problem]| {
            let first = problems.first()?;
            Some(JunitFailure {
                code: first.code.to_string(),
                message: first.message.clone(),
                details: problems.iter().map(|problem| output::told(origin, problem)).collect(),
            })
        };
        let expected = expected.iter().map(|run| JunitCase {
            name: format!("line {}: {}", run.line, run.event_type),
            ms: None,
            verdict: failure(&run.problems).into(),
        });
        junit.suite(&format!("{origin}: expected"), expected);
        junit
    }
}

pub(super) fn main(args: &CheckArgs) -> CommandResult {
    let artifact = Artifact::read(&args.path)?;
    if let Some(junit) = &args.junit {
        let files = [&args.policy.policy, &args.schema, &args.expected].into_iter().flatten();
        Inputs::default()
            .files(files.chain([&args.samples]).map(PathBuf::as_path))
            .files(args.graph.paths())
            .artifact(&args.path)
            .guard(junit, "--junit")?;
    }
    let mut check = Check {
        samples: files::read_samples(&args.samples, args.policy.read()?)?,
        graph: args.graph.read()?,
        rule: None,
        expected: args.expected.clone(),
        pipeline: args.cache.pipeline(&args.policy)?,
        schema: args.schema.as_deref().map(files::read_event_schema).transpose()?,
        options: args.endpoints.smoke_options(),
        stages: Vec::new(),
        sample_runs: Vec::new(),
        expected_runs: Vec::new(),
        coverage: None,
        rust: None,
        is_verbose: !args.output.json,
    };
    let checked = match artifact {
        Artifact::Bundle => check.bundle(&args.path),
        Artifact::Code(file) => check.code(&file),
        Artifact::Plan(text) => check.plan(&text),
    };
    args.cache.report(&check.pipeline);
    output::confinement(check.pipeline.confinement());
    let strict = |coverage: &Coverage| args.strict.errors(coverage);
    let problems = match checked {
        Ok(()) => check.coverage.as_ref().map(strict).unwrap_or_default(),
        Err(Rejection::CannotCheck(error)) => return Err(error),
        Err(Rejection::Problems(problems)) => problems,
    };
    let Check { stages, rust, coverage, sample_runs, expected_runs, .. } = check;
    let report = CheckReport { ok: problems.is_empty(), stages, problems, rust, coverage };
    let origin = files::name(&args.path);
    if let Some(coverage) = report.coverage.as_ref().filter(|_| !args.output.json) {
        args.strict.say(&origin, coverage, args.expected.is_some());
    }
    if let Some(path) = &args.junit {
        report.junit(&origin, &sample_runs, &expected_runs).write(path)?;
    }
    if args.output.json {
        output::print_json(&report)?;
    } else {
        output::problems(&origin, &report.problems);
        let verdict = match report.problems.len() {
            0 => "ok".to_owned(),
            1 => "failed with 1 problem".to_owned(),
            count => format!("failed with {count} problems"),
        };
        output::print_line(format_args!("{origin}: {verdict}"))?;
    }
    Ok(CommandVerdict::from_ok(report.ok))
}

struct Check {
    pipeline: Pipeline,
    samples: Samples,
    graph: Option<GraphSpec>,
    /// What a bundle was made for.
    rule: Option<Rule>,
    schema: Option<EventSchema>,
    options: SmokeOptions,
    stages: Vec<StageReport>,
    sample_runs: Vec<SampleRun>,
    /// The file of expected results, read once the graph spec is known.
    expected: Option<PathBuf>,
    expected_runs: Vec<ExpectedRun>,
    coverage: Option<Coverage>,
    rust: Option<RustReport>,
    is_verbose: bool,
}

/// Why a check went no further.
enum Rejection {
    Problems(Vec<Problem>),
    /// The host could not do its work, or was given wrong input.
    CannotCheck(CliError),
}

impl From<PipelineError> for Rejection {
    fn from(error: PipelineError) -> Self {
        let mut problems = error.problems().into_iter();
        match problems.next().filter(|_| error.is_of_host()) {
            Some(Problem { code, message, .. }) => {
                Self::CannotCheck(CliError::Refused { code, message })
            }
            None => Self::Problems(error.problems()),
        }
    }
}

impl From<BundleLoadError> for Rejection {
    fn from(error: BundleLoadError) -> Self {
        Self::Problems(vec![bundle_problem(&error)])
    }
}

impl From<GraphSpecError> for Rejection {
    fn from(error: GraphSpecError) -> Self {
        let problem = Problem::new(Stage::Graph, error.entry(), error.to_string());
        Self::Problems(vec![problem.at(error.path().unwrap_or_default())])
    }
}

type Checked<T> = Result<T, Rejection>;

impl Check {
    /// One stage, with its time.
    fn stage<T, E: Into<Rejection>>(
        &mut self,
        stage: Stage,
        work: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Checked<T> {
        let (outcome, time) = StageTime::of(stage, || work(self));
        let report = StageReport::from(time);
        if self.is_verbose {
            report.say();
        }
        self.stages.push(report);
        outcome.map_err(E::into)
    }

    fn bundle(&mut self, path: &Path) -> Checked<()> {
        let loaded = self.stage(Stage::Bundle, |check| Bundle::open(path, &check.pipeline))?;
        self.compiled_by(loaded.manifest().versions().rust);
        let part = |part| -> Checked<String> {
            let bytes = loaded.read(part)?.unwrap_or_default();
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        self.rule = part(Part::Rule).ok().and_then(|text| Rule::parse(&text, "rule.md").ok());
        let plan = match loaded.read(Part::Plan)? {
            Some(_) => {
                let text = part(Part::Plan)?;
                Some(self.stage(Stage::Plan, |check| check.pipeline.plan(&text))?)
            }
            None => None,
        };
        // The loader has asked the policy what it can tell without samples.
        if *self.pipeline.policy() != FieldPolicy::default() {
            let evidence = Evidence::new(&self.samples, self.schema.as_ref());
            self.stage(Stage::Policy, |check| {
                check.pipeline.permit_admitted(loaded.module(), &evidence)
            })?;
        }
        if self.graph.is_none() {
            let spec = self.stage(Stage::Graph, |_| -> Checked<GraphSpec> {
                Ok(GraphSpec::parse(&part(Part::Graph)?, "graph.json")?)
            })?;
            self.graph = Some(spec);
        }
        // What doesn't pass its gate any longer says nothing of what the module declares.
        let source = match loaded.read(Part::Rust)? {
            Some(_) => vet_source(&part(Part::Rust)?, &SourceLimits::default()).ok(),
            None => None,
        };
        self.smoke(loaded.module().extractor(), plan.as_ref(), source.as_ref())
    }

    /// Notes what compiled the source in Rust, where there is one.
    fn compiled_by(&mut self, versions: Option<RustVersions<'_>>) {
        let confinement = self.pipeline.confinement();
        self.rust = versions.map(|RustVersions { compiler, sdk }| RustReport {
            compiler: compiler.to_owned(),
            sdk,
            confinement,
        });
        if let Some(rust) = self.rust.as_ref().filter(|_| self.is_verbose) {
            output::note(format_args!("compiled by {}", rust.compiler.escape_debug()));
        }
    }

    fn plan(&mut self, text: &str) -> Checked<()> {
        let plan = self.stage(Stage::Plan, |check| check.pipeline.plan(text))?;
        let evidence = Evidence::new(&self.samples, self.schema.as_ref());
        self.stage(Stage::Policy, |check| check.pipeline.permit(&plan, &evidence))?;
        // Without a graph spec nothing is known of what the plan is to fit.
        if let Some(graph) = &self.graph {
            let task = Task::builder(graph.clone(), self.samples.clone())
                .event_schema(self.schema.clone())
                .build();
            let fitted = self.stage(Stage::Fit, |check| check.pipeline.fit(&plan, &task))?;
            if !fitted.is_whole() {
                output::note(
                    "not all values of the samples were checked against the graph spec before the sample run",
                );
            }
        }
        let source = self.stage(Stage::Render, |_| render(&plan).map_err(PipelineError::from))?;
        let compiled =
            self.stage(Stage::Compile, |_| compile(source).map_err(PipelineError::from))?;
        let inspected = self.stage(Stage::Inspect, |check| check.pipeline.inspect(&compiled))?;
        let extractor = self.stage(Stage::Load, |check| check.pipeline.load(&inspected))?;
        self.smoke(&extractor, Some(&plan), None)
    }

    fn code(&mut self, file: &CodeFile) -> Checked<()> {
        let buildable = match file {
            CodeFile::Rust(_) => self.stage(Stage::Source, |_| Buildable::of(file.as_code()))?,
            CodeFile::Text(_) | CodeFile::Module(_) => {
                Buildable::of(file.as_code()).map_err(Rejection::from)?
            }
        };
        let built = match file {
            CodeFile::Rust(_) | CodeFile::Text(_) => {
                self.stage(Stage::Compile, |check| check.pipeline.build_code(buildable))?
            }
            CodeFile::Module(_) => self.pipeline.build_code(buildable).map_err(Rejection::from)?,
        };
        self.compiled_by(built.rust());
        let inspected =
            self.stage(Stage::Inspect, |check| check.pipeline.inspect_bytes(built.module()))?;
        self.stage(Stage::Policy, |check| check.pipeline.permit_inputs(&inspected))?;
        if built.source().is_some() {
            let evidence = Evidence::new(&self.samples, self.schema.as_ref());
            let fit = |check: &Self| check.pipeline.fit_code(&built, &inspected, &evidence);
            self.stage(Stage::Fit, fit)?;
        }
        let extractor = self.stage(Stage::Load, |check| check.pipeline.load(&inspected))?;
        let extractor = self.pipeline.with_debug_information(extractor, &built);
        self.smoke(&extractor, None, built.source())
    }

    fn smoke(
        &mut self,
        extractor: &Extractor,
        plan: Option<&Plan>,
        source: Option<&VettedSource>,
    ) -> Checked<()> {
        let mut runs = Vec::new();
        let smoked = self.stage(Stage::Smoke, |check| {
            let (samples, graph) = (&check.samples, check.graph.as_ref());
            let smoked = check.pipeline.smoke(extractor, plan, samples, graph, check.options);
            runs = match &smoked {
                Ok(smoked) => smoked.samples().to_vec(),
                Err(PipelineError::Smoke(failed)) => failed.samples().to_vec(),
                Err(_) => Vec::new(),
            };
            smoked
        });
        self.sample_runs = runs;
        let smoked = smoked?;
        let (samples, graph) = (&self.samples, self.graph.as_ref());
        let coverage = Coverage::new(&smoked, plan, samples, graph, self.rule.as_ref());
        let evidence = Evidence::new(samples, self.schema.as_ref());
        self.coverage = Some(match plan {
            Some(plan) => coverage.knowing(plan, &evidence),
            None => coverage.knowing_code(extractor, source, &evidence),
        });
        self.confirm(smoked, plan)
    }

    /// What samples give, against what is expected of them.
    fn confirm(&mut self, smoked: Smoked, plan: Option<&Plan>) -> Checked<()> {
        let Some(path) = &self.expected else { return Ok(()) };
        let expected = files::read_expected(path, &self.samples, self.graph.as_ref());
        let expected = expected.map_err(Rejection::CannotCheck)?;
        let mut runs = Vec::new();
        let confirmed = self.stage(Stage::Expected, |check| {
            let (samples, graph) = (&check.samples, check.graph.as_ref());
            let confirmed = check.pipeline.confirm(smoked, plan, samples, graph, Some(&expected));
            runs = match &confirmed {
                Ok(confirmed) => confirmed.runs().to_vec(),
                Err(PipelineError::Unconfirmed(error)) => error.runs().to_vec(),
                Err(_) => Vec::new(),
            };
            confirmed
        });
        self.expected_runs = runs;
        confirmed.map(drop)
    }
}
