//! `retort bundles`: the versions of extractors in a directory, and which of them are served.

mod shown;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use retort::Store;
use retort::bundle::{BundleError, Catalog, ExtractorName, MAX_ACTIVATIONS, Sharing, Switched};

use self::shown::{CollectedReport, Listed, SharingReport, ShownExtractor, SwitchedReport};
pub(super) use self::shown::{short, short_all};
use super::args::JsonArg;
use super::error::CliError;
use super::{CommandResult, CommandVerdict, files, output};

/// List the versions of extractors in a directory, and change which are served
///
/// A bundle is a version of its extractor, by `name` in retort.toml or by its function. One version of each is active: `retort run` serves it.
/// What is active changes in one step, also where something is killed, and earlier versions stay until `gc`. Who has the
/// directory open already goes on with what was active then.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct BundlesArgs {
    #[command(subcommand)]
    command: BundlesCommand,
}

const EXAMPLES: &str = "\
Examples:
  retort bundles list bundles
  retort bundles show bundles read_order
  retort bundles activate bundles read_order@3f0c12
  retort bundles rollback bundles read_order
  retort bundles retire bundles read_order
  retort bundles share bundles reject
  retort bundles gc bundles --keep 2 --dry-run";

#[derive(Subcommand)]
enum BundlesCommand {
    List(ListArgs),
    Show(ShowArgs),
    Activate(ActivateArgs),
    Rollback(NameArgs),
    Retire(RetireArgs),
    Share(ShareArgs),
    Gc(GcArgs),
}

/// List extractors and their versions
///
/// Exits with 1 if a version that is active can't be read.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  retort bundles list bundles\n  retort bundles list bundles --json"
)]
struct ListArgs {
    /// Directory of bundles
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    #[command(flatten)]
    output: JsonArg,
}

/// Show an extractor: its versions, and what was active since when
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  retort bundles show bundles read_order\n  retort bundles show bundles read_order --json"
)]
struct ShowArgs {
    /// Directory of bundles
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The extractor
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    output: JsonArg,
}

/// Serve this version from now on
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  retort bundles activate bundles read_order@3f0c12\n  retort bundles activate bundles orders@77ab03 --replace"
)]
struct ActivateArgs {
    /// Directory of bundles
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The extractor, and the digits that its version begins with, four at least
    #[arg(value_name = "NAME@VERSION")]
    wanted: String,
    /// Retire other extractors that serve an event type of it, in the same step
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    output: JsonArg,
}

/// Serve what was active before; once more, what was active before that
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  retort bundles rollback bundles read_order")]
struct NameArgs {
    /// Directory of bundles
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The extractor
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    output: JsonArg,
}

/// Serve the extractor no more; `rollback` brings it back
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  retort bundles retire bundles read_order")]
struct RetireArgs {
    #[command(flatten)]
    args: NameArgs,
}

/// Let several extractors serve one event type, and say what becomes of results that differ
///
/// The results for an event are merged: nodes and edges of one id are one, with the properties of all. `reject`: an event for which two
/// extractors give different values has no result. `last`: the last of them by the order of their names counts. `off`, the default: an
/// event type has one extractor.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  retort bundles share bundles\n  retort bundles share bundles reject"
)]
struct ShareArgs {
    /// Directory of bundles
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// What is to be; where nothing is said, what is so is told
    #[arg(value_name = "HOW", value_parser = PossibleValuesParser::new(Sharing::ALL.map(Sharing::as_str)).try_map(|it| it.parse::<Sharing>()))]
    sharing: Option<Sharing>,
    #[command(flatten)]
    output: JsonArg,
}

/// Remove versions that are neither active nor in reach of `rollback`
///
/// Refused while anybody has the directory open: what is to be loaded with its first event would be gone.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  retort bundles gc bundles --dry-run\n  retort bundles gc bundles --keep 2"
)]
struct GcArgs {
    /// Directory of bundles
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Leave so many steps back to each extractor [default: all that the record knows, 15 at most]
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Say what would be removed
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    output: JsonArg,
}

// What the help of `--keep` says is the bound of records, with the one that is in force.
const _: () = assert!(MAX_ACTIVATIONS == 16);

pub(super) fn main(args: &BundlesArgs) -> CommandResult {
    match &args.command {
        BundlesCommand::List(args) => list(args),
        BundlesCommand::Show(args) => show(args),
        BundlesCommand::Activate(ActivateArgs { dir, wanted, replace, output }) => {
            let (name, version) = wanted.split_once('@').unwrap_or((wanted, ""));
            switch(dir, name, *output, |store, name, now| match replace {
                true => store.replace(name, version, now, "retort bundles activate --replace"),
                false => store.activate(name, version, now, "retort bundles activate"),
            })
        }
        BundlesCommand::Rollback(NameArgs { dir, name, output }) => {
            switch(dir, name, *output, |store, name, now| {
                store.roll_back(name, now, "retort bundles rollback")
            })
        }
        BundlesCommand::Retire(RetireArgs { args: NameArgs { dir, name, output } }) => {
            switch(dir, name, *output, |store, name, now| {
                store.retire(name, now, "retort bundles retire")
            })
        }
        BundlesCommand::Share(args) => share(args),
        BundlesCommand::Gc(args) => gc(args),
    }
}

fn list(args: &ListArgs) -> CommandResult {
    let catalog = catalog(&args.dir)?;
    let listed = Listed::of(&catalog);
    output::print_as(args.output.json, &listed, || listed.text())?;
    Ok(CommandVerdict::from_ok(listed.ok))
}

fn show(args: &ShowArgs) -> CommandResult {
    let name = name(&args.name)?;
    let catalog = catalog(&args.dir)?;
    let found = catalog.entry(&args.dir, &name).map_err(CliError::refused)?;
    let shown = ShownExtractor::of(found);
    output::print_as(args.output.json, &shown, || shown.text())?;
    Ok(CommandVerdict::from_ok(shown.ok))
}

/// Changes what is served of an extractor, and says what it was and is.
fn switch(
    dir: &Path,
    text: &str,
    JsonArg { json }: JsonArg,
    change: impl FnOnce(&Store, &ExtractorName, jiff::Timestamp) -> Result<Switched, BundleError>,
) -> CommandResult {
    let name = name(text)?;
    let store = open(dir)?;
    let switched = change(&store, &name, jiff::Timestamp::now()).map_err(CliError::refused)?;
    let report = SwitchedReport::of(&name, &switched);
    output::print_as(json, &report, || report.text())?;
    Ok(CommandVerdict::Pass)
}

fn share(args: &ShareArgs) -> CommandResult {
    let report = match args.sharing {
        None => SharingReport::of(catalog(&args.dir)?.sharing),
        Some(after) => {
            let before = open(&args.dir)?.share(after, jiff::Timestamp::now());
            SharingReport::changed(before.map_err(CliError::refused)?, after)
        }
    };
    output::print_as(args.output.json, &report, || report.text())?;
    Ok(CommandVerdict::Pass)
}

fn gc(args: &GcArgs) -> CommandResult {
    let store = open(&args.dir)?;
    let collected = store.collect(args.keep, args.dry_run).map_err(CliError::refused)?;
    let report = CollectedReport::of(&collected, args.dry_run);
    output::print_as(args.output.json, &report, || report.text())?;
    Ok(CommandVerdict::Pass)
}

fn name(text: &str) -> Result<ExtractorName, CliError> {
    text.parse().map_err(CliError::refused)
}

fn catalog(dir: &Path) -> Result<Catalog, CliError> {
    files::require_directory(dir, "a directory of bundles")?;
    Catalog::read(dir).map_err(CliError::refused)
}

/// The directory to write to, which is there already.
fn open(dir: &Path) -> Result<Store, CliError> {
    files::require_directory(dir, "a directory of bundles")?;
    Store::open(dir).map_err(CliError::refused)
}
