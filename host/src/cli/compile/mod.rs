//! `retort compile`: a plan, code, or a rule that a model writes a plan or Rust for, through every gate, to a bundle on disk.

mod asked;
mod given;
mod stored;

use retort::author::Backend;

use self::given::Given;
use super::CommandResult;
use super::args::JsonArg;
use super::coverage::StrictArg;
use super::error::CliError;
use super::model::{BackendArg, ModelArgs};
use super::project::{Origin, ProjectArgs};

/// Turn a rule, a plan, or code, into a bundle, through every gate
///
/// Reads retort.toml in the project's folder (keys: name, rule, schema, graph or ontology and binding, samples, output, model, backend, plan,
/// source, policy, expected, allow_external_endpoints; paths relative to the folder). A plan, or code, goes through the gates once. With
/// a rule, a model is asked for a plan, or for Rust, and each rejection is fed back to it until an answer passes or the attempts run
/// out; what can be fixed without the model is. Progress goes to stderr, the bundle's path to stdout. If nothing passes, nothing is written. The
/// bundle is a version of the extractor that `name` in retort.toml, else its function, names, and is served from then on in the place of the
/// version before, which stays: see `retort bundles`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompileArgs {
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    backend: BackendArg,
    #[command(flatten)]
    activation: ActivationArg,
    #[command(flatten)]
    strict: StrictArg,
    #[command(flatten)]
    output: JsonArg,
}

/// Whether the bundle is served.
#[derive(clap::Args, Clone, Copy)]
struct ActivationArg {
    /// Store the bundle, and go on serving the version before; `retort bundles activate` serves it
    #[arg(long)]
    no_activate: bool,
}

const EXAMPLES: &str = "\
Examples:
  retort compile my-project
  retort compile my-project --no-activate
  retort compile --plan plan.json --graph graph.yaml --samples events.ndjson --out bundles
  retort compile --source extractor.wat --graph graph.yaml --samples events.ndjson --out bundles
  retort compile my-project --model openai:gpt-5-mini --record transcript.ndjson
  retort compile --rule rule.md --graph graph.yaml --samples events.ndjson --model draft
  retort compile my-project --model 'command:./ask.sh' --max-attempts 3 --json
  retort compile my-project --model openai:gpt-5-mini --backend auto --max-attempts 8
  retort compile my-project --same-failure-limit 4 --escalate path_denied,out_of_fuel

Models (--model, or `model` in retort.toml; draft where nothing is said):
  draft            no model: a first sketch from names and types, with what a person should look at
  openai:NAME      any OpenAI-compatible service; OPENAI_API_KEY, OPENAI_BASE_URL
  anthropic:NAME   ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL
  gemini:NAME      GEMINI_API_KEY, GEMINI_BASE_URL
  command:CMD      a program: the prompt on stdin, JSON on stdout; with --strategy continue, each turn
                   below a line `--- user ---` or `--- assistant ---`, answers as a JSON string on a line
  replay:FILE      the answers that --record wrote down";

pub(super) fn main(args: &CompileArgs) -> CommandResult {
    let project = args.project.resolve()?;
    let source = project.source(args.model.spec())?;
    project.check_out()?;
    match source {
        Origin::Plan(_) if project.backend(args.backend.given()) == Backend::Rust => {
            Err(CliError::PlanInRust)
        }
        Origin::Plan(path) => given::main(&project, &Given::Plan(path), args),
        Origin::Code(path) => given::main(&project, &Given::Code(path), args),
        Origin::Model(spec) => asked::main(&project, &spec, args),
    }
}
