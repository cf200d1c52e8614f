//! `retort plan`: what a plan is, and what it means.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use retort::Coded;
use retort::diagnostics::{Problem, sanitize};
use retort::internal::document::DocumentKind;
use retort::plan::{self, Plan, PlanParseError, Query, QueryFailure};
use retort::render::render;
use retort::sandbox::DEFAULT_MAX_EVENT_BYTES;
use serde::Serialize;
use serde_json::value::RawValue;

use super::error::CliError;
use super::overwrite::Inputs;
use super::{CommandResult, CommandVerdict, events, files, output};

/// Check plans, and see what they mean
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PlanArgs {
    #[command(subcommand)]
    command: PlanCommand,
}

#[derive(Subcommand)]
enum PlanCommand {
    Check(PlanCheckArgs),
    Schema(PlanSchemaArgs),
    Eval(PlanEvalArgs),
    Expression(PlanExpressionArgs),
}

const EXAMPLES: &str = "\
Examples:
  retort plan check plan.json
  retort plan schema > plan.schema.json
  retort plan eval plan.json events.ndjson
  retort plan expression 'items[?price > `10`].name' order.json";

/// Say all that is wrong with a plan
///
/// Prints the plan in its normalised form, every default filled in. Exits with 1 if it isn't a plan, or one that no extractor
/// can be rendered from.
#[derive(clap::Args)]
#[command(after_help = CHECK_EXAMPLES)]
struct PlanCheckArgs {
    /// Plan (JSON); - is stdin
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// Print one JSON object instead: {"ok", "plan"} or {"ok", "code", "path", "message", "problems"}
    #[arg(long)]
    json: bool,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  retort plan check plan.json
  retort plan check - --json < plan.json";

/// Print the JSON Schema of plans
#[derive(clap::Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
struct PlanSchemaArgs {}

const SCHEMA_EXAMPLES: &str = "\
Examples:
  retort plan schema > plan.schema.json";

/// Print what a plan means for each event, by the native evaluator
///
/// Prints one result a line, the empty ones too. An event that can't be read is reported on stderr; exits with 1 if there was
/// one. Numbers are printed as doubles and integers of 64 bits, where `run` keeps the digits of the event; and nothing limits
/// what a plan may give, so this is for looking at plans, not for events of strangers.
#[derive(clap::Args)]
#[command(after_help = EVAL_EXAMPLES)]
struct PlanEvalArgs {
    /// Plan (JSON)
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// Events, one JSON object a line; - is stdin
    #[arg(value_name = "EVENTS", default_value = "-")]
    events: PathBuf,
}

const EVAL_EXAMPLES: &str = "\
Examples:
  retort plan eval plan.json events.ndjson
  head -1 events.ndjson | retort plan eval plan.json";

/// Print what an expression gives for a JSON value
///
/// The expression is JMESPath with the functions of plans. Exits with 1 if it isn't one, or has no value here.
#[derive(clap::Args)]
#[command(after_help = EXPRESSION_EXAMPLES)]
struct PlanExpressionArgs {
    /// Expression
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expression: String,
    /// JSON of any kind; - is stdin
    #[arg(value_name = "FILE", default_value = "-")]
    value: PathBuf,
    /// Print one JSON object instead: {"ok", "result"} or {"ok", "code", "column", "message"}
    #[arg(long)]
    json: bool,
}

const EXPRESSION_EXAMPLES: &str = "\
Examples:
  retort plan expression 'items[?price > `10`].name' order.json
  retort plan expression 'timestamp(created)' - --json < order.json";

pub(super) fn main(args: &PlanArgs) -> CommandResult {
    match &args.command {
        PlanCommand::Check(args) => check(args),
        PlanCommand::Schema(PlanSchemaArgs {}) => {
            output::print(plan::schema_text())?;
            Ok(CommandVerdict::Pass)
        }
        PlanCommand::Eval(args) => eval(&args.plan, &args.events),
        PlanCommand::Expression(args) => expression(args),
    }
}

#[derive(Serialize)]
struct ValidPlan<'a> {
    ok: bool,
    plan: &'a Plan,
}

#[derive(Serialize)]
struct ExpressionValue<'a> {
    ok: bool,
    result: &'a RawValue,
}

#[derive(Serialize)]
struct NoExpressionValue<'a> {
    ok: bool,
    code: &'static str,
    /// From 1; none of what isn't about a place.
    column: Option<usize>,
    message: &'a str,
}

#[derive(Serialize)]
struct InvalidPlan<'a> {
    ok: bool,
    /// The first of the problems.
    #[serde(flatten)]
    first: Option<&'a PlanFault>,
    problems: &'a [PlanFault],
}

/// What is wrong, of the parser or of the renderer.
#[derive(Serialize)]
struct PlanFault {
    code: &'static str,
    path: String,
    message: String,
}

fn check(args: &PlanCheckArgs) -> CommandResult {
    if !args.json {
        let Some(source) = files::read_renderable(&args.plan)? else {
            return Ok(CommandVerdict::Fail);
        };
        output::print_pretty(source.plan())?;
        return Ok(CommandVerdict::Pass);
    }
    match renderable(&files::read_text(&args.plan, DocumentKind::Plan)?) {
        Ok(plan) => output::print_json(&ValidPlan { ok: true, plan: &plan })?,
        Err(problems) => {
            let (first, problems) = (problems.first(), problems.as_slice());
            output::print_json(&InvalidPlan { ok: false, first, problems })?;
            return Ok(CommandVerdict::Fail);
        }
    }
    Ok(CommandVerdict::Pass)
}

/// The plan of a text, if an extractor can be rendered from it, or all that is wrong with it.
fn renderable(text: &str) -> Result<Plan, Vec<PlanFault>> {
    let plan = plan::parse(text).map_err(|_| {
        let of_parser = |PlanParseError { code, path, message, .. }: PlanParseError| {
            let code = code.name;
            PlanFault { code, path, message }
        };
        plan::problems(text).into_iter().map(of_parser).collect::<Vec<_>>()
    })?;
    match render(&plan).map_err(|error| error.problem()) {
        Ok(_) => Ok(plan),
        Err(Problem { code, path, message, .. }) => {
            Err(vec![PlanFault { code: code.name, path: path.unwrap_or_default(), message }])
        }
    }
}

fn expression(args: &PlanExpressionArgs) -> CommandResult {
    let refused = |code: &'static str, column: Option<usize>, message: &str| {
        if args.json {
            output::print_json(&NoExpressionValue { ok: false, code, column, message })?;
        } else {
            output::coded(code, message);
        }
        Ok(CommandVerdict::Fail)
    };
    let query = match Query::parse_alone(&args.expression) {
        Ok(query) => query,
        Err(error) => return refused(error.code(), Some(error.column), &error.to_string()),
    };
    let text = files::read_text(&args.value, DocumentKind::Value)?;
    match query.evaluate(&text) {
        Ok(json) if args.json => {
            let result =
                RawValue::from_string(json).map_err(|error| CliError::Output(error.into()))?;
            output::print_json(&ExpressionValue { ok: true, result: &result })?;
            Ok(CommandVerdict::Pass)
        }
        Ok(json) => {
            output::print(&(json + "\n"))?;
            Ok(CommandVerdict::Pass)
        }
        Err(QueryFailure::NotJson { message }) => Err(CliError::NotJson {
            origin: files::name(&args.value),
            expected: DocumentKind::Value.name(),
            message,
        }),
        Err(error) => refused(error.code(), error.column(), &error.to_string()),
    }
}

fn eval(plan: &Path, path: &Path) -> CommandResult {
    Inputs::default().files([plan, path]).guard_stdout()?;
    let Some(plan) = files::read_plan(plan)? else { return Ok(CommandVerdict::Fail) };
    let mut out = BufWriter::new(io::stdout().lock());
    let mut ok = true;
    events::for_each(path, DEFAULT_MAX_EVENT_BYTES, |line, event| {
        let mut failed = |code: &str, message: String| {
            ok = false;
            output::coded(code, format_args!("{} line {line}: {message}", files::name(path)));
        };
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                failed(error.code(), error.to_string());
                return Ok(true);
            }
        };
        match std::str::from_utf8(event).map(|event| plan::eval(&plan, event)) {
            Ok(Ok(result)) => {
                serde_json::to_writer(&mut out, &result)
                    .map_err(|error| CliError::Output(error.into()))?;
                out.write_all(b"\n").map_err(CliError::Output)?;
            }
            Ok(Err(error)) => failed(error.code(), sanitize(&error.to_string(), 400)),
            Err(error) => failed("event_not_utf8", format!("the event is not UTF-8: {error}")),
        }
        Ok(true)
    })?;
    out.flush().map_err(CliError::Output)?;
    Ok(CommandVerdict::from_ok(ok))
}
