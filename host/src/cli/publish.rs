//! `retort publish`: bundles to an object store.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use retort::bundle::{Digest, ExtractorName};
use retort::internal::remote::{Published, Publishing, Remote, RemoteError, SigningKey};
use serde::Serialize;

use super::args::{CacheArg, JsonArg, PolicyArg};
use super::bundles::{short, short_all};
use super::error::CliError;
use super::{CommandResult, CommandVerdict, files, output, runtime};

/// Publish the active bundles of a directory to an object store
///
/// Each goes through every gate, is uploaded unless it is there already, and then is what hosts serve that `retort sync` with the store.
/// What is retired in the directory is retired there; extractors that the directory doesn't know stay as they are. A command that is
/// killed leaves what was published before it, or what it published; nothing in between.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PublishArgs {
    /// Directory of bundles
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Where to: a directory, file://, s3://bucket/prefix, gs://bucket/prefix, az://container/prefix; credentials from the environment
    #[arg(value_name = "URL")]
    url: String,
    /// This extractor alone; may be given several times
    #[arg(long, value_name = "NAME")]
    name: Vec<ExtractorName>,
    /// Sign what is to be served with this private key of Ed25519 (PEM, PKCS #8)
    #[arg(long, value_name = "FILE")]
    sign_with: Option<PathBuf>,
    /// Then remove bundles from the store that no host is to serve any more and that are older than so many days
    #[arg(long, value_name = "DAYS")]
    remove_after: Option<NonZeroU32>,
    #[command(flatten)]
    policy: PolicyArg,
    #[command(flatten)]
    cache: CacheArg,
    #[command(flatten)]
    output: JsonArg,
}

const EXAMPLES: &str = "\
Examples:
  retort publish bundles s3://releases/retort
  retort publish bundles store --sign-with key.pem
  retort publish bundles store --name read_order --remove-after 30";

/// Seconds of a day.
const DAY: u64 = 24 * 60 * 60;

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    published: Vec<Shown<'a>>,
    removed: &'a [Digest],
}

#[derive(Serialize)]
struct Shown<'a> {
    name: &'a ExtractorName,
    versions: &'a [Digest],
    uploaded: &'a [Digest],
    changed: bool,
}

pub(super) fn main(args: &PublishArgs) -> CommandResult {
    files::require_directory(&args.dir, "a directory of bundles")?;
    let key = args.sign_with.as_deref().map(SigningKey::read).transpose();
    let key = key.map_err(CliError::refused)?;
    let gates = args.cache.pipeline(&args.policy)?;
    args.cache.report(&gates);
    let names: BTreeSet<ExtractorName> = args.name.iter().cloned().collect();
    let at = jiff::Timestamp::now();
    let publishing =
        Publishing { gates: &gates, key: key.as_ref(), names: &names, at, by: "retort publish" };
    let remote = Remote::open(&args.url, true).map_err(CliError::refused)?;
    let (published, removed) = runtime::block_on(async {
        let published = remote.publish(&args.dir, &publishing).await?;
        let removed = match args.remove_after {
            Some(days) => {
                remote.collect(Duration::from_secs(u64::from(days.get()) * DAY), at).await?
            }
            None => Vec::new(),
        };
        Ok::<_, RemoteError>((published, removed))
    })?
    .map_err(CliError::refused)?;
    let report = Report::of(&published, &removed);
    output::print_as(args.output.json, &report, || text(&published, &removed))?;
    Ok(CommandVerdict::Pass)
}

impl<'a> Report<'a> {
    fn of(published: &'a [Published], removed: &'a [Digest]) -> Self {
        let shown = |it: &'a Published| Shown {
            name: &it.name,
            versions: &it.versions,
            uploaded: &it.uploaded,
            changed: it.is_changed,
        };
        Self { ok: true, published: published.iter().map(shown).collect(), removed }
    }
}

/// A line for each extractor, and for each version that was removed.
fn text(published: &[Published], removed: &[Digest]) -> String {
    let line = |it: &Published| {
        let versions = short_all(&it.versions);
        let how = match (it.is_changed, it.uploaded.is_empty()) {
            (false, _) => " as before",
            (true, true) => "",
            (true, false) => ", uploaded",
        };
        format!("{}: {versions}{how}\n", it.name)
    };
    let removed = removed.iter().map(|version| format!("removed {}\n", short(version)));
    let lines: String = published.iter().map(line).chain(removed).collect();
    if lines.is_empty() { "nothing to publish\n".to_owned() } else { lines }
}
