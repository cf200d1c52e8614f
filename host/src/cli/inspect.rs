//! `retort inspect`: what a module is, without running it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use retort::bundle::pipeline::{Pipeline, PipelineError};
use retort::bundle::{self, Expect};
use retort::diagnostics::problem::{Coded, Problem};
use retort::gate::inspect::verify::{VerifiedCounts, verify};
use retort::gate::inspect::{
    FuelBound, Inspected, Proof, ResetSafety, StructuralLimits, Unproven, Verified,
};
use retort::json::document::DocumentKind;
use retort::render::compile::compile_text;
use retort::sandbox::{Limits, WASMTIME_VERSION};
use serde::Serialize;

use super::artifact::{Artifact, bundle_problem};
use super::error::CliError;
use super::files::PolicyArg;
use super::{CommandResult, Verdict, files, output};

/// Show what a module is: sections, inputs, limits, proof, fuel bound, sizes
///
/// PATH is a bundle's directory, or a file that ends in .wasm, .wat or .json (a plan). Exits with 1 if the static gate
/// refuses the module.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// What to inspect
    #[arg(value_name = "PATH")]
    path: PathBuf,
    #[command(flatten)]
    policy: PolicyArg,
    /// Print what is proven of it, how, and where the verifier got stuck if it did
    #[arg(long)]
    proof: bool,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  retort inspect bundles/0f3a..
  retort inspect extractor.wasm --json
  retort inspect extractor.wasm --proof";

#[derive(Serialize)]
struct Passed<'a> {
    ok: bool,
    #[serde(flatten)]
    inspected: &'a Inspected,
    limits: AllLimits<'a>,
    /// What counts the fuel that the bound and the limits are about.
    wasmtime: &'static str,
}

#[derive(Serialize)]
struct AllLimits<'a> {
    run: &'a Limits,
    structure: &'a StructuralLimits,
}

/// What `--proof` prints.
#[derive(Serialize)]
struct Proven<'a> {
    ok: bool,
    reset_safety: ResetSafety,
    verifier: Verifier,
    fuel_bound: Option<&'a FuelBound>,
    wasmtime: &'static str,
}

/// What the verifier says, whether or not something else has proven the module.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Verifier {
    Verified(Verified),
    Unproven(Unproven),
}

#[derive(Serialize)]
struct Refused<'a> {
    ok: bool,
    problems: &'a [Problem],
}

pub(super) fn main(args: &Args) -> CommandResult {
    let pipeline = args.policy.pipeline()?;
    match inspected(&args.path, &pipeline)? {
        Ok(inspected) if args.proof => {
            let proven = Proven::of(&inspected);
            if args.json {
                output::print_json(&proven)?;
            } else {
                output::print(&proven.described())?;
            }
            Ok(Verdict::Pass)
        }
        Ok(inspected) if args.json => {
            let limits =
                AllLimits { run: pipeline.sandbox().limits(), structure: pipeline.structure() };
            let wasmtime = WASMTIME_VERSION;
            output::print_json(&Passed { ok: true, inspected: &inspected, limits, wasmtime })?;
            Ok(Verdict::Pass)
        }
        Ok(inspected) => {
            output::print(&describe(&inspected, pipeline.sandbox().limits()))?;
            Ok(Verdict::Pass)
        }
        Err(problems) => {
            if args.json {
                output::print_json(&Refused { ok: false, problems: &problems })?;
            } else {
                let origin = files::name(&args.path);
                problems.iter().for_each(|problem| output::problem(&origin, problem));
            }
            Ok(Verdict::Fail)
        }
    }
}

fn inspected(
    path: &Path,
    pipeline: &Pipeline,
) -> Result<Result<Inspected, Vec<Problem>>, CliError> {
    let problems = |error: PipelineError| error.problems();
    Ok(match Artifact::of(path)? {
        Artifact::Bundle => bundle::load(path, &Expect::default(), pipeline)
            .map(|loaded| loaded.module().inspected().clone())
            .map_err(|error| vec![bundle_problem(&error)]),
        Artifact::Module => {
            pipeline.inspect_bytes(&files::read(path, DocumentKind::Module)?).map_err(problems)
        }
        Artifact::Text => compile_text(&files::read_text(path, DocumentKind::Wat)?)
            .map_err(PipelineError::from)
            .and_then(|module| pipeline.inspect_bytes(&module))
            .map_err(problems),
        Artifact::Plan => pipeline
            .plan(&files::read_text(path, DocumentKind::Plan)?)
            .and_then(|plan| pipeline.build(&plan))
            .and_then(|compiled| pipeline.inspect(&compiled))
            .map_err(problems),
    })
}

/// All of it for a person.
fn describe(inspected: &Inspected, limits: &Limits) -> String {
    let mut text = String::new();
    // Writing to a string can't fail.
    let _ = write_all(&mut text, inspected, limits);
    text
}

fn write_all(text: &mut String, inspected: &Inspected, limits: &Limits) -> std::fmt::Result {
    let (section, facts) = (inspected.section(), inspected.facts());
    let quoted = |name: &str| serde_json::Value::from(name).to_string();
    writeln!(text, "function     {}", section.function())?;
    let types: Vec<String> = section.event_types().iter().map(|name| quoted(name)).collect();
    writeln!(text, "event types  {}", types.join(", "))?;
    writeln!(text, "abi          {}", section.abi())?;
    let proof = summary(inspected.reset_safety());
    writeln!(text, "proof        {proof}")?;
    writeln!(text, "fuel bound   {}", fuel_bound(facts.fuel_bound.as_ref()))?;
    let (base, each) = (limits.fuel_base, limits.fuel_per_byte);
    writeln!(text, "fuel allowed {base} + {each} for each byte of input block")?;
    writeln!(text, "\ninputs")?;
    for (place, input) in section.inputs().iter().enumerate() {
        writeln!(text, "  {place:>4} {}", declared(input))?;
    }
    if !section.rows().is_empty() {
        writeln!(text, "\nrows")?;
    }
    for (place, rows) in section.rows().iter().enumerate() {
        writeln!(text, "  {place:>4} {}", declared(rows))?;
    }
    writeln!(text, "\nsections")?;
    for found in &facts.sections {
        let custom = if found.custom { " (custom)" } else { "" };
        writeln!(text, "  {:>8} {}{custom}", found.bytes, quoted_if_odd(&found.name))?;
    }
    writeln!(text, "\nexports")?;
    for export in &facts.exports {
        let signature = export.signature.as_ref().map(|found| format!(" {found}"));
        let (name, signature) = (quoted_if_odd(&export.name), signature.unwrap_or_default());
        writeln!(text, "  {} {name}{signature}", export.kind)?;
    }
    writeln!(text, "\nsizes")?;
    for (count, what) in [
        (facts.module_bytes, "bytes of module"),
        (facts.memory_min_pages, "pages of memory"),
        (facts.memory_max_pages, "pages of memory at most"),
        (facts.functions, "functions"),
        (facts.largest_body_bytes, "bytes of the largest body"),
        (facts.max_locals, "locals at most"),
        (facts.max_nesting, "blocks inside each other at most"),
        (facts.loops, "loops"),
        (facts.data_segments, "data segments"),
        (facts.data_bytes, "bytes of data"),
    ] {
        writeln!(text, "  {count:>8} {what}")?;
    }
    Ok(())
}

/// A proof in a line.
fn summary(safety: ResetSafety) -> &'static str {
    match safety {
        ResetSafety::Proven { how: Proof::Rendered } => {
            "reset-safe: this host renders the plan to the same bytes; instances are kept warm"
        }
        ResetSafety::Proven { how: Proof::Verified(_) } => {
            "reset-safe: verified in the binary; instances are kept warm"
        }
        ResetSafety::Unproven => "none: every event gets a fresh instance",
    }
}

impl<'a> Proven<'a> {
    fn of(inspected: &'a Inspected) -> Self {
        Self {
            ok: true,
            reset_safety: inspected.reset_safety(),
            verifier: match verify(inspected) {
                Ok(verified) => Verifier::Verified(verified),
                Err(unproven) => Verifier::Unproven(unproven),
            },
            fuel_bound: inspected.facts().fuel_bound.as_ref(),
            wasmtime: WASMTIME_VERSION,
        }
    }

    fn described(&self) -> String {
        let verifier = match &self.verifier {
            Verifier::Verified(Verified { template, found }) => {
                format!("a proof: the functions of template {template}\n{}", went_through(found))
            }
            Verifier::Unproven(unproven) => format!("{}: {unproven}\n", unproven.code()),
        };
        format!(
            "proof        {}\nverifier     {verifier}fuel bound   {}\n",
            summary(self.reset_safety),
            fuel_bound(self.fuel_bound)
        )
    }
}

/// What the verifier went through.
fn went_through(found: &VerifiedCounts) -> String {
    let mut text = String::new();
    for (count, what) in [
        (found.functions, "generated functions"),
        (found.row_loops, "of them loops over rows"),
        (found.calls, "calls of functions in front"),
        (found.loads, "loads of constant text, records and texts of the block"),
        (found.stores, "stores behind what is written"),
        (found.copies, "copies of constant text"),
        (found.returns, "returns of what is written"),
    ] {
        // Writing to a string can't fail.
        let _ = writeln!(text, "  {count:>8} {what}");
    }
    text
}

/// A declaration as the section has it, which docs/abi.md explains.
fn declared(declaration: &impl Serialize) -> String {
    // A declaration has string keys alone, so it is always JSON.
    serde_json::to_string(declaration).unwrap_or_default()
}

/// A name as it is, or quoted where it isn't plain.
fn quoted_if_odd(name: &str) -> String {
    if name.bytes().all(|byte| byte.is_ascii_graphic()) {
        name.to_owned()
    } else {
        name.escape_debug().to_string()
    }
}

fn fuel_bound(bound: Option<&FuelBound>) -> String {
    let Some(bound) = bound else {
        return "none: the module has loops that aren't proven to go over rows, recursion or indirect calls"
            .to_owned();
    };
    let mut text = bound.base().to_string();
    // Writing to a string can't fail.
    if bound.per_block_byte() > 0 {
        let _ = write!(text, " + {} for each byte of input block", bound.per_block_byte());
    }
    if bound.per_bulk_byte() > 0 {
        let _ = write!(text, " + {} for each byte copied in bulk", bound.per_bulk_byte());
    }
    format!("{text}, as wasmtime {WASMTIME_VERSION} counts")
}
