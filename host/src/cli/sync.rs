//! `retort sync`: bundles from an object store.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use retort::bundle::{Digest, ExtractorName};
use retort::diagnostics::Problem;
use retort::internal::remote::{Remote, RemoteError, Synced, Syncing, TrustedKey};
use retort::{Coded as _, Pipeline, Store};
use serde::Serialize;

use super::args::{CacheArg, JsonArg, PolicyArg};
use super::bundles::short;
use super::error::CliError;
use super::{CommandResult, CommandVerdict, output, runtime};

/// Take what was published into a directory of bundles
///
/// Bundles that the directory doesn't have are downloaded, go through every gate where they are staged, and are activated all in one step;
/// `retort run` and `retort serve` serve them from there. What is wrong with one extractor leaves it as it was and is told, and the
/// exit code is 1. What was activated in the directory later than it was published stays.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SyncArgs {
    /// Where from: a directory, file://, s3://bucket/prefix, gs://bucket/prefix, az://container/prefix; credentials from the environment
    #[arg(value_name = "URL")]
    url: String,
    /// Directory of bundles, which is created if it isn't there
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Take nothing but what is signed with the private part of this public key of Ed25519 (PEM), or of another that is named so
    #[arg(long, value_name = "FILE")]
    trust: Vec<PathBuf>,
    /// Go on until a signal comes, and look every so many seconds
    #[arg(long, value_name = "SECONDS", conflicts_with = "json")]
    watch: Option<NonZeroU32>,
    #[command(flatten)]
    policy: PolicyArg,
    #[command(flatten)]
    cache: CacheArg,
    #[command(flatten)]
    output: JsonArg,
}

const EXAMPLES: &str = "\
Examples:
  retort sync s3://releases/retort bundles
  retort sync store bundles --trust trusted.pem
  retort sync store bundles --watch 5";

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    received: &'a [Digest],
    changed: &'a BTreeSet<ExtractorName>,
    changed_here: &'a BTreeSet<ExtractorName>,
    problems: Vec<Problem>,
}

pub(super) fn main(args: &SyncArgs) -> CommandResult {
    let trusted: Result<Vec<TrustedKey>, RemoteError> =
        args.trust.iter().map(|path| TrustedKey::read(path)).collect();
    let trusted = trusted.map_err(CliError::refused)?;
    let gates = args.cache.pipeline(&args.policy)?;
    args.cache.report(&gates);
    let remote = Remote::open(&args.url, false).map_err(CliError::refused)?;
    let store = Store::open(&args.dir).map_err(CliError::refused)?;
    let Some(seconds) = args.watch else {
        let synced = runtime::block_on(sync(&remote, &store, &gates, &trusted))?;
        let synced = synced.map_err(CliError::refused)?;
        for error in &synced.refused {
            output::error(error);
        }
        let report = Report::of(&synced);
        output::print_as(args.output.json, &report, || text(&synced))?;
        return Ok(CommandVerdict::from_ok(report.ok));
    };
    let watched = runtime::block_on(async {
        // What is told once isn't told again until it is something else.
        let mut told = Vec::new();
        loop {
            let synced = sync(&remote, &store, &gates, &trusted).await;
            let problems = match &synced {
                Ok(synced) => synced.refused.iter().map(|error| error.problem()).collect(),
                Err(error) => vec![error.problem()],
            };
            if problems != told {
                problems.iter().for_each(|it| output::coded(it.code.name, &it.message));
                told = problems;
            }
            if let Ok(synced) = synced
                && !(synced.received.is_empty() && synced.changed.is_empty())
            {
                output::write(&text(&synced))?;
            }
            tokio::time::sleep(Duration::from_secs(seconds.get().into())).await;
        }
    });
    match watched {
        Err(CliError::Interrupted) => Ok(CommandVerdict::Pass),
        Err(error) | Ok(Err(error)) => Err(error),
        Ok(Ok(never)) => never,
    }
}

async fn sync(
    remote: &Remote,
    store: &Store,
    gates: &Pipeline,
    trusted: &[TrustedKey],
) -> Result<Synced, RemoteError> {
    remote.sync(store, &Syncing { gates, trusted, at: jiff::Timestamp::now() }).await
}

impl<'a> Report<'a> {
    fn of(synced: &'a Synced) -> Self {
        let Synced { received, changed, changed_here, refused, .. } = synced;
        let problems: Vec<Problem> = refused.iter().map(|error| error.problem()).collect();
        Self { ok: problems.is_empty(), received, changed, changed_here, problems }
    }
}

/// A line for each bundle that has come, and each extractor of which something else is served now.
fn text(synced: &Synced) -> String {
    let received = synced.received.iter().map(|version| format!("received {}\n", short(version)));
    let changed = synced.changed.iter().map(|name| format!("{name}: as published\n"));
    let kept = synced.changed_here.iter().map(|name| format!("{name}: as changed here later\n"));
    let lines: String = received.chain(changed).chain(kept).collect();
    if lines.is_empty() && synced.refused.is_empty() { "nothing new\n".to_owned() } else { lines }
}
