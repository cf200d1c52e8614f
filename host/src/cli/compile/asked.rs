//! A rule, to a plan or an extractor in Rust that a model writes, through every gate.

use retort::author::{
    Account, Attempt, AttemptKind, Backend, History, Language, LoopConfig, LoopError, LoopOutcome,
    PipelineGates,
    llm::{Draft, LlmClient, ModelSpec, Recorder, connect},
};
use retort::bundle::Coverage;
use retort::diagnostics::{Problem, Stage};
use retort::internal::codes;
use retort::sandbox::Confinement;
use retort::{Accepted, Coded, Task, compile_with_llm};
use serde::Serialize;

use super::super::args::JsonArg;
use super::super::coverage::StrictArg;
use super::super::error::CliError;
use super::super::model::{BackendArg, ModelArgs};
use super::super::project::Project;
use super::super::{CommandResult, CommandVerdict, output, runtime};
use super::stored::{BundleReport, is_as_asked, print_path, store};
use super::{ActivationArg, CompileArgs};

/// The whole record of a compilation.
#[derive(Serialize)]
struct AskedReport<'a> {
    ok: bool,
    /// Why it ended: a reason of the loop, or the code of the error that broke it off.
    reason: &'a str,
    bundle: Option<BundleReport>,
    /// How the Rust compiler was confined, where it was given source.
    #[serde(skip_serializing_if = "Option::is_none")]
    confinement: Option<Confinement>,
    /// What came out of the samples, where something was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<Coverage>,
    #[serde(flatten)]
    history: &'a History,
    last_diagnostic: Option<&'a str>,
    /// What a person reads at the end of a failure.
    account: Option<&'a Account>,
}

pub(super) fn main(project: &Project, spec: &ModelSpec, args: &CompileArgs) -> CommandResult {
    let CompileArgs {
        model: args,
        backend: flags,
        activation,
        strict,
        output: JsonArg { json },
        ..
    } = args;
    let (activation, strict, json) = (*activation, *strict, *json);
    let policy = args.retry_policy()?;
    let backend = backend(project, spec, flags)?;
    let task = project.task()?;
    let client = client(spec, args, project, &task)?;
    let pipeline = project.pipeline()?;
    let gates = PipelineGates::new(&pipeline, &task).smoke(project.smoke_options());
    let config = LoopConfig::builder()
        .max_attempts(args.max_attempts)
        .backend(backend)
        .strategy(args.strategy())
        .repetition(policy)
        .token_budget(args.token_budget)
        .wall_budget(args.wall_budget())
        .repair(!args.no_repair)
        .on_accept(|_, accepted: &Accepted| match strict.strict {
            true => strict.reason(&accepted.coverage(&task)),
            false => Ok(()),
        })
        .watch(|attempt| say(attempt, json))
        .build()
        .map_err(CliError::refused)?;
    let outcome = runtime::block_on(compile_with_llm(client.as_ref(), &task, &gates, &config))?;
    let confinement = pipeline.confinement();
    output::confinement(confinement);
    let verdict = match outcome {
        Ok(outcome) => {
            let judged = Judged { project, task: &task, confinement };
            ended(judged, (activation, strict), outcome, json)
        }
        Err(error) => broken_off(&task, error, confinement, json),
    };
    if let Some(remark) = client.remark() {
        output::say(remark);
    }
    verdict
}

/// What the model is asked for. A draft is a plan, whatever may come after plans.
fn backend(project: &Project, spec: &ModelSpec, flag: &BackendArg) -> Result<Backend, CliError> {
    match (project.backend(flag.given()), spec) {
        (Backend::Rust, ModelSpec::Draft) => Err(CliError::DraftInRust),
        (Backend::Auto, ModelSpec::Draft) => Ok(Backend::Plan),
        (backend, _) => Ok(backend),
    }
}

fn client(
    spec: &ModelSpec,
    args: &ModelArgs,
    project: &Project,
    task: &Task,
) -> Result<Box<dyn LlmClient>, CliError> {
    let config = args.client_config();
    let client = match connect(spec, &config).map_err(CliError::refused)? {
        Some(client) => client,
        None => Box::new(Draft::new(task)),
    };
    if let Some(written) = &args.record {
        let replayed = match spec {
            ModelSpec::Replay(file) => Some(file.as_path()),
            _ => None,
        };
        project.inputs().files(replayed).bundles(&project.out).guard(written, "--record")?;
    }
    Ok(match &args.record {
        None => client,
        Some(path) => {
            let recorder = Recorder::create(client, path, config.secrets());
            Box::new(recorder.map_err(CliError::refused)?)
        }
    })
}

/// One line for each attempt, as it ends.
fn say(attempt: &Attempt, json: bool) {
    if json {
        return;
    }
    let record = &attempt.record;
    for change in &record.changes {
        output::say(format_args!("repaired without asking: {change}"));
    }
    let kind = match record.kind {
        AttemptKind::Model if record.backend == Language::Rust => "model rust",
        AttemptKind::Model => "model",
        AttemptKind::Given => "given",
        AttemptKind::Mechanical => "mechanical",
    };
    let (number, ms) = (record.number, attempt.ms);
    let tokens = match record.usage.total() {
        0 => String::new(),
        total => format!(", {}{total} tokens", if record.usage.estimated { "about " } else { "" }),
    };
    match &record.failure {
        None => {
            output::say(format_args!("attempt {number}  {kind:<10}  accepted  ({ms} ms{tokens})"))
        }
        Some(failure) => output::say(format_args!(
            "attempt {number}  {kind:<10}  rejected  ({ms} ms{tokens})  {}: {}",
            failure.code, failure.message
        )),
    }
}

/// What was compiled, and how what compiled it was confined.
struct Judged<'a> {
    project: &'a Project,
    task: &'a Task,
    confinement: Option<Confinement>,
}

/// The loop came to its end.
fn ended(
    Judged { project, task, confinement }: Judged<'_>,
    (activation, strict): (ActivationArg, StrictArg),
    outcome: LoopOutcome<Accepted>,
    json: bool,
) -> CommandResult {
    let mut coverage = outcome.accepted().map(|accepted| accepted.coverage(task));
    if let (Some(coverage), Some(accepted)) = (&mut coverage, outcome.accepted_attempt())
        && !accepted.record.cannot_express.is_empty()
    {
        let said = accepted.record.cannot_express.join("; ");
        coverage.warnings.push(Problem::new(Stage::Model, codes::PARTLY_EXPRESSED, said));
    }
    let errors = coverage.as_ref().map(|it| strict.errors(it)).unwrap_or_default();
    let stored = match outcome.accepted().filter(|_| errors.is_empty()) {
        Some(accepted) => Some(store(project, activation, accepted)?),
        None => None,
    };
    let account = Account::of_outcome(&outcome, task);
    let ok = stored.as_ref().is_some_and(is_as_asked);
    let reason = match (errors.first(), &stored) {
        (Some(error), _) => error.code.name,
        (None, Some(_)) if !ok => codes::EVENT_TYPE_TAKEN.name,
        _ => outcome.reason().as_str(),
    };
    if json {
        output::print_json(&AskedReport {
            ok,
            reason,
            bundle: stored.as_ref().map(BundleReport::from),
            confinement,
            coverage,
            history: outcome.history(),
            last_diagnostic: outcome.last_diagnostic(),
            account: account.as_ref(),
        })?;
        return Ok(CommandVerdict::from_ok(ok));
    }
    if let Some(coverage) = &coverage {
        strict.say("the plan", coverage, task.expected().is_some());
    }
    output::problems("the plan", &errors);
    if let Some(stored) = &stored {
        print_path(stored)?;
    } else if let Some(account) = &account {
        output::say(account);
    }
    Ok(CommandVerdict::from_ok(ok))
}

/// The loop broke off: what was learned so far is reported all the same.
fn broken_off(
    task: &Task,
    error: LoopError,
    confinement: Option<Confinement>,
    json: bool,
) -> CommandResult {
    let account = Account::of_error(&error, task);
    if json {
        output::print_json(&AskedReport {
            ok: false,
            reason: error.code(),
            bundle: None,
            confinement,
            coverage: None,
            history: error.history(),
            last_diagnostic: None,
            account: Some(&account),
        })?;
    } else {
        output::say(&account);
    }
    Err(CliError::refused(error))
}
