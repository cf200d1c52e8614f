//! `retort inspect`: what a module is, without running it.

use std::fmt::{Display, Write as _};
use std::path::{Path, PathBuf};

use retort::bundle::{self, Expect, Manifest, RustVersions};
use retort::diagnostics::Problem;
use retort::gate::{
    FuelBound, Inspected, Proof, ResetSafety, StructuralLimits, Unproven, Verified, VerifiedCounts,
    verify,
};
use retort::sandbox::WASMTIME_VERSION;
use retort::{Coded, Limits, Pipeline};
use serde::Serialize;

use super::args::{JsonArg, PolicyArg};
use super::artifact::{Artifact, bundle_problem};
use super::error::CliError;
use super::{CommandResult, CommandVerdict, files, output};

/// Show what a module is: sections, inputs, limits, proof, fuel bound, sizes
///
/// PATH is a bundle's directory, or a file that ends in .wasm, .wat or .json (a plan). Exits with 1 if the static gate
/// refuses the module.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct InspectArgs {
    /// What to inspect
    #[arg(value_name = "PATH")]
    path: PathBuf,
    #[command(flatten)]
    policy: PolicyArg,
    /// Print what is proven of it, how, and where the verifier got stuck if it did
    #[arg(long)]
    proof: bool,
    #[command(flatten)]
    output: JsonArg,
}

const EXAMPLES: &str = "\
Examples:
  retort inspect bundles/0f3a..
  retort inspect extractor.wasm --json
  retort inspect extractor.wasm --proof";

#[derive(Serialize)]
struct InspectedModule<'a> {
    ok: bool,
    #[serde(flatten)]
    inspected: &'a Inspected,
    /// What compiled the source in Rust, of a bundle that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    rust: Option<RustVersions<'a>>,
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
struct ProvenModule<'a> {
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
struct RefusedModule<'a> {
    ok: bool,
    problems: &'a [Problem],
}

pub(super) fn main(args: &InspectArgs) -> CommandResult {
    let pipeline = args.policy.pipeline()?;
    let json = args.output.json;
    let found = inspected(&args.path, &pipeline)?;
    output::confinement(pipeline.confinement());
    let (inspected, manifest) = match found {
        Ok(found) => found,
        Err(problems) => {
            if json {
                output::print_json(&RefusedModule { ok: false, problems: &problems })?;
            } else {
                output::problems(&files::name(&args.path), &problems);
            }
            return Ok(CommandVerdict::Fail);
        }
    };
    if args.proof {
        let proven = ProvenModule::of(&inspected);
        output::print_as(json, &proven, || proven.described())?;
    } else {
        let (run, structure) = (pipeline.sandbox().limits(), pipeline.structure());
        let limits = AllLimits { run, structure };
        let wasmtime = WASMTIME_VERSION;
        let rust = manifest.as_ref().and_then(|manifest| manifest.versions().rust);
        let module = InspectedModule { ok: true, inspected: &inspected, rust, limits, wasmtime };
        output::print_as(json, &module, || describe(&inspected, rust, run))?;
    }
    Ok(CommandVerdict::Pass)
}

/// A module, with its manifest if it is a bundle's.
type Found = (Inspected, Option<Manifest>);

fn inspected(path: &Path, pipeline: &Pipeline) -> Result<Result<Found, Vec<Problem>>, CliError> {
    let inspected = match Artifact::read(path)? {
        Artifact::Bundle => {
            return Ok(bundle::load(path, &Expect::default(), pipeline)
                .map(|it| (it.module().inspected().clone(), Some(it.manifest().clone())))
                .map_err(|error| vec![bundle_problem(&error)]));
        }
        Artifact::Code(file) => pipeline.inspect_code(file.as_code()),
        Artifact::Plan(text) => pipeline
            .plan(&text)
            .and_then(|plan| pipeline.build(&plan))
            .and_then(|compiled| pipeline.inspect(&compiled)),
    };
    Ok(inspected.map(|inspected| (inspected, None)).map_err(|error| error.problems()))
}

/// All of it for a person.
fn describe(inspected: &Inspected, rust: Option<RustVersions<'_>>, limits: &Limits) -> String {
    let mut text = String::new();
    // Writing to a string can't fail.
    let _ = write_all(&mut text, inspected, rust, limits);
    text
}

fn write_all(
    text: &mut String,
    inspected: &Inspected,
    rust: Option<RustVersions<'_>>,
    limits: &Limits,
) -> std::fmt::Result {
    let (section, facts) = (inspected.section(), inspected.facts());
    let quoted = |name: &str| serde_json::Value::from(name).to_string();
    writeln!(text, "function     {}", section.function())?;
    let types: Vec<String> = section.event_types().iter().map(|name| quoted(name)).collect();
    writeln!(text, "event types  {}", types.join(", "))?;
    writeln!(text, "abi          {}", section.abi())?;
    if let Some(RustVersions { compiler, sdk }) = rust {
        writeln!(text, "compiler     {}", compiler.escape_debug())?;
        writeln!(text, "sdk          {sdk}")?;
    }
    let proof = summary(inspected.reset_safety());
    writeln!(text, "proof        {proof}")?;
    match inspected.unrestorable() {
        None => writeln!(text, "instances    can be put back as they were after an event")?,
        Some(reason) => {
            writeln!(text, "instances    can't be put back as they were after an event: {reason}")?
        }
    }
    writeln!(text, "fuel bound   {}", fuel_bound(facts.fuel_bound.as_ref()))?;
    let (base, each) = (limits.fuel_base, limits.fuel_per_byte);
    writeln!(text, "fuel allowed {base} + {each} for each byte of input block")?;
    writeln!(text, "\ninputs")?;
    write_declared(text, section.inputs())?;
    if !section.rows().is_empty() {
        writeln!(text, "\nrows")?;
    }
    write_declared(text, section.rows())?;
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
    text.push_str(&counted(&[
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
    ]));
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
        ResetSafety::Unproven => "none: every event gets an instance as new",
    }
}

impl<'a> ProvenModule<'a> {
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
    counted(&[
        (found.functions, "generated functions"),
        (found.row_loops, "of them loops over rows"),
        (found.calls, "calls of functions in front"),
        (found.loads, "loads of constant text, records and texts of the block"),
        (found.stores, "stores behind what is written"),
        (found.copies, "copies of constant text"),
        (found.returns, "returns of what is written"),
    ])
}

/// Counts of things, one a line.
fn counted(counts: &[(impl Display, &str)]) -> String {
    counts.iter().map(|(count, what)| format!("  {count:>8} {what}\n")).collect()
}

/// Declarations as the section has them, which docs/abi.md explains.
fn write_declared(text: &mut String, declarations: &[impl Serialize]) -> std::fmt::Result {
    for (place, declaration) in declarations.iter().enumerate() {
        // A declaration has string keys alone, so it is always JSON.
        let json = serde_json::to_string(declaration).unwrap_or_default();
        writeln!(text, "  {place:>4} {json}")?;
    }
    Ok(())
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
