//! `retort repair`: what is wrong with a plan, and the plan that it could be, without a model.

use std::path::PathBuf;

use retort::author::{
    AnswerFormat, LoopConfig, LoopOutcome, PipelineGates, llm::FinishReason, repair_plan,
};
use retort::diagnostics::{Finding, Problem};
use retort::internal::{answer, document::DocumentKind, repair::Change};
use retort::{Accepted, Coded, plan};
use serde::Serialize;
use serde_json::Value;

use super::args::{EndpointsArg, GraphSource, JsonArg, PolicyArg, read_task};
use super::error::CliError;
use super::{CommandResult, CommandVerdict, files, output, runtime};

/// Find what is wrong with a plan and fix it, as far as that is possible without a model
///
/// Takes the plan through every gate. What has one plain remedy is fixed, and the fixed plan goes through every gate
/// again; the plan that passes is printed. Problems go to stderr. Exits with 1 if anything was wrong, fixed or not.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RepairArgs {
    /// Plan (JSON), or - for stdin
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    #[command(flatten)]
    graph: GraphSource,
    /// Sample events, one JSON object a line
    #[arg(long, value_name = "FILE")]
    samples: PathBuf,
    /// What the events look like (JSON)
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// What the plan was written for
    #[arg(long, value_name = "FILE")]
    rule: Option<PathBuf>,
    /// What samples are expected to give, one JSON object a line
    #[arg(long, value_name = "FILE")]
    expected: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyArg,
    #[command(flatten)]
    endpoints: EndpointsArg,
    #[command(flatten)]
    output: JsonArg,
}

const EXAMPLES: &str = "\
Examples:
  retort repair plan.json --graph graph.yaml --samples events.ndjson > repaired.json
  retort repair plan.json --graph graph.yaml --samples events.ndjson --schema schema.json --json
  cat plan.json | retort repair - --graph graph.yaml --samples events.ndjson";

#[derive(Serialize)]
struct RepairReport<'a> {
    /// Whether nothing was wrong.
    ok: bool,
    /// What is wrong with the plan, gate by gate: what a later gate finds is about the plan as fixed so far.
    problems: &'a [Finding],
    /// All that was changed, in the order in which it was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<&'a Change>,
    /// A plan that passes every gate.
    patched: Option<Value>,
}

pub(super) fn main(args: &RepairArgs) -> CommandResult {
    let text = files::read_text(&args.plan, DocumentKind::Plan)?;
    let gates = args.gates()?;
    let config = LoopConfig::default();
    let outcome = runtime::block_on(repair_plan(&text, &gates, &config))?;
    let outcome = outcome.map_err(CliError::refused)?;
    let problems = problems(&text, &outcome);
    let last = outcome.attempts().last().filter(|_| outcome.ok());
    let patched = last.and_then(|last| value(&last.record.response));
    let ok = outcome.ok() && problems.is_empty();
    let changes = outcome.attempts().iter().flat_map(|attempt| &attempt.record.changes);
    let changes: Vec<&Change> = changes.collect();
    if args.output.json {
        let report = RepairReport { ok, problems: &problems, changes, patched };
        output::print_json(&report)?;
        return Ok(CommandVerdict::from_ok(ok));
    }
    let origin = files::name(&args.plan);
    problems.iter().for_each(|problem| output::problem(&origin, &Problem::from(problem)));
    changes.iter().for_each(|change| output::note(format_args!("changed {change}")));
    if let Some(patched) = patched {
        output::print_pretty(&patched)?;
        if !ok {
            output::note("repaired: the plan on stdout passes every gate");
        }
    } else {
        output::note("not repaired: what is left has no one remedy");
    }
    Ok(CommandVerdict::from_ok(ok))
}

impl RepairArgs {
    fn gates(&self) -> Result<PipelineGates, CliError> {
        let (rule, schema) = (self.rule.as_deref(), self.schema.as_deref());
        let expected = self.expected.as_deref();
        let task = read_task(&self.graph, &self.samples, rule, schema, expected, &self.policy)?;
        Ok(PipelineGates::new(&self.policy.pipeline()?, &task)
            .smoke(self.endpoints.smoke_options()))
    }
}

/// What is wrong with the plan. One with something around it is read as a model's answer would be, and what is around it is
/// wrong all the same.
fn problems(text: &str, outcome: &LoopOutcome<Accepted>) -> Vec<Finding> {
    let mut problems: Vec<Finding> = Vec::new();
    if serde_json::from_str::<Value>(text).is_err()
        && value(text).is_some()
        && let Err(error) = plan::parse(text)
    {
        let Problem { stage, code, message, .. } = error.problem();
        problems.push(Finding::new(stage, code, "", "one JSON object and nothing else", message));
    }
    for finding in outcome.attempts().iter().flat_map(|attempt| &attempt.record.findings) {
        let is_known = |it: &Finding| (it.code, &it.pointer) == (finding.code, &finding.pointer);
        if !problems.iter().any(is_known) {
            problems.push(finding.clone());
        }
    }
    problems
}

/// The JSON of a text that was accepted.
fn value(text: &str) -> Option<Value> {
    answer::read(text, &FinishReason::Stop, AnswerFormat::Lenient).ok().map(|answer| answer.value)
}
