//! `retort compile`: a plan, through every gate, to a bundle on disk.

use std::time::Instant;

use retort::bundle::Store;
use retort::gate::smoke::SmokeOptions;
use retort::pipeline::{Accepted, Pipeline, Request, StageTime, Stored, Turned};
use retort::problem::{Coded, Problem, Stage};
use retort::sandbox::Limits;
use retort::task::{EventSchema, Rule, Task};
use serde::Serialize;

use super::error::CliError;
use super::project::{Project, ProjectArgs};
use super::{Outcome, Verdict, files, talk};

/// Take a plan through every gate and store it as a bundle
///
/// Reads retort.toml in the project's folder (keys: plan, graph or ontology and binding, samples, output, rule, schema,
/// allow_external_endpoints; paths relative to the folder). Prints each stage with its time on stderr and the bundle's
/// path on stdout. If a gate turns the plan down, nothing is written.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    project: ProjectArgs,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  retort compile my-project
  retort compile --plan plan.json --graph graph.yaml --samples events.ndjson --out bundles
  retort run --bundles \"$(dirname \"$(retort compile my-project)\")\" events.ndjson";

/// One stage in a report.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct StageReport {
    stage: Stage,
    ok: bool,
    ms: f64,
}

impl From<StageTime> for StageReport {
    fn from(time: StageTime) -> Self {
        Self { stage: time.stage, ok: time.ok, ms: talk::milliseconds(time.elapsed) }
    }
}

impl StageReport {
    /// This stage on stderr.
    pub(super) fn say(self) {
        let Self { stage, ok, ms } = self;
        let word = if ok { "ok" } else { "failed" };
        talk::say(format_args!("{stage:<8} {word:<6} {ms:>9.3} ms", stage = stage.as_str()));
    }
}

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

#[derive(Serialize)]
struct BundleReport {
    path: String,
    fingerprint: String,
    cached: bool,
}

pub(super) fn main(args: &Args) -> Outcome {
    let mut stages = Vec::new();
    let mut watch = |time: StageTime| {
        let stage = StageReport::from(time);
        if !args.json {
            stage.say();
        }
        stages.push(stage);
    };
    let project = args.project.resolve()?;
    let outcome = accept(&project, &mut watch)?;
    let outcome = match outcome {
        Ok((pipeline, accepted)) => store(&project, &pipeline, &accepted, &mut watch).map(Ok)?,
        Err(turned) => Err(turned),
    };
    match outcome {
        Ok(stored) if args.json => {
            let bundle = BundleReport {
                path: stored.path.display().to_string(),
                fingerprint: stored.fingerprint.to_string(),
                cached: stored.cache_hit,
            };
            let bundle = Some(bundle);
            let report =
                Report { ok: true, stages: &stages, problems: &[], bundle, diagnostic: None };
            talk::print_json(&report)?;
            Ok(Verdict::Pass)
        }
        Ok(stored) => {
            if stored.cache_hit {
                talk::note("the bundle was there already (cached)");
            }
            talk::print(&format!("{}\n", stored.path.display()))?;
            Ok(Verdict::Pass)
        }
        Err(turned) => {
            let (problems, diagnostic) = (turned.problems(), turned.diagnostic());
            if args.json {
                let diagnostic = Some(diagnostic.as_str());
                let report = Report {
                    ok: false,
                    stages: &stages,
                    problems: &problems,
                    bundle: None,
                    diagnostic,
                };
                talk::print_json(&report)?;
            } else {
                talk::say(diagnostic);
                let origin = files::name(&project.plan);
                problems.iter().for_each(|problem| talk::problem(&origin, problem));
            }
            Ok(Verdict::Fail)
        }
    }
}

/// Reads what the project names, and takes the plan through the gates.
fn accept(
    project: &Project,
    watch: &mut dyn FnMut(StageTime),
) -> Result<Result<(Pipeline, Accepted), Turned>, CliError> {
    let start = Instant::now();
    let plan = files::read_text(&project.plan, "a plan")?;
    let graph = project.graph.read()?.ok_or_else(|| CliError::ProjectIncomplete {
        what: "a graph spec",
        hint: "use --graph".to_owned(),
    })?;
    let samples = files::read_samples(&project.samples)?;
    let read = |path: &Option<_>, expected| {
        path.as_deref().map(|path| files::read_text(path, expected)).transpose()
    };
    let rule = read(&project.rule, "a rule")?;
    let rule = rule.map(|text| Rule::parse(&text, "rule")).transpose()?;
    let event_schema = read(&project.schema, "an event schema")?;
    let event_schema =
        event_schema.map(|text| EventSchema::parse(&text, "event schema")).transpose()?;
    let task = Task::new(graph, samples, rule, event_schema);
    let pipeline = Pipeline::new(Limits::default())?;
    watch(StageTime { stage: Stage::Input, ok: true, elapsed: start.elapsed() });
    let request = Request {
        plan: &plan,
        task: &task,
        smoke: SmokeOptions {
            allow_external_endpoints: project.allow_external_endpoints,
            ..SmokeOptions::default()
        },
    };
    Ok(pipeline.accept(&request, watch).map(|accepted| (pipeline, accepted)))
}

/// Puts the bundle on disk. A directory that can't be written says nothing about the plan: it is wrong input.
fn store(
    project: &Project,
    pipeline: &Pipeline,
    accepted: &Accepted,
    watch: &mut dyn FnMut(StageTime),
) -> Result<Stored, CliError> {
    let store = Store::open(&project.out)?;
    pipeline.store(accepted, &store, jiff::Timestamp::now(), watch).map_err(|turned| match turned {
        Turned::Bundle(error) => CliError::Store(error),
        other => CliError::Refused { code: other.code(), message: other.to_string() },
    })
}
