//! `retort serve`: bundles over HTTP.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use retort::internal::service::{DEFAULT_LISTEN, Service, Source};
use tracing_subscriber::fmt::time::SystemTime;

use super::args::{CacheArg, PolicyArg};
use super::error::CliError;
use super::runtime::{self, Signals};
use super::{CommandResult, CommandVerdict, files, output};

/// The directory of bundles where nothing is said.
const DEFAULT_BUNDLES: &str = "bundles";

/// Serve bundles over HTTP
///
/// POST events, one JSON object a line, to /v1/tenants/default/events; what comes back is what `retort run` writes, line by line and in the
/// same order, and a summary at its end. The first line on stdout is the address, everything else goes to stderr. What is
/// activated in the directory is served from the next event on. SIGTERM ends it once what was accepted is answered.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ServeArgs {
    /// Tenants with their bundles, policies, quotas and tokens, and limits of requests (TOML); taken up again when it changes
    #[arg(long, value_name = "FILE", conflicts_with = "bundles")]
    config: Option<PathBuf>,
    /// Directory of bundles, for the one tenant `default` [default: bundles]
    #[arg(long, value_name = "DIR")]
    bundles: Option<PathBuf>,
    /// Address; port 0 takes one that is free. Without tokens it has to be one of the loopback [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    policy: PolicyArg,
    #[command(flatten)]
    cache: CacheArg,
    /// How what happens is told on stderr
    #[arg(long, value_name = "FORM", value_enum, default_value = "text")]
    log: LogForm,
    /// From which level on it is told: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: tracing::Level,
}

const EXAMPLES: &str = "\
Examples:
  retort serve --bundles bundles
  retort serve --config service.toml
  retort serve --bundles bundles --listen 127.0.0.1:0 --log json
  curl -T events.ndjson -X POST http://127.0.0.1:8080/v1/tenants/default/events";

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogForm {
    /// A line for a person.
    Text,
    /// A JSON object a line.
    Json,
}

pub(super) fn main(args: &ServeArgs) -> CommandResult {
    args.begin_log();
    files::allow_open_files();
    let gates = args.cache.pipeline(&args.policy)?;
    args.cache.report(&gates);
    let source = args.source()?;
    runtime::serve(async {
        // First of all, so that no signal goes by.
        let signals = Signals::listen().map_err(CliError::Runtime)?;
        let service = Service::new(source, gates).map_err(CliError::refused)?;
        runtime::on_hangup(service.reloader())?;
        let (listener, address) = service.listen().await.map_err(CliError::refused)?;
        let scheme = if service.is_encrypted() { "https" } else { "http" };
        output::write(&format!("{scheme}://{address}\n"))?;
        args.say_how_to_go_on(address);
        service.serve(listener, signals.first()).await;
        Ok(CommandVerdict::Pass)
    })
}

impl ServeArgs {
    fn begin_log(&self) {
        let builder = tracing_subscriber::fmt()
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .with_timer(SystemTime)
            .with_max_level(self.log_level);
        match self.log {
            LogForm::Text => builder.with_target(false).init(),
            LogForm::Json => builder.json().flatten_event(true).init(),
        }
    }

    fn source(&self) -> Result<Source, CliError> {
        if let Some(path) = &self.config {
            files::probe(path, "the configuration of a service")?;
            return Ok(Source::File { path: path.clone(), listen: self.listen });
        }
        let bundles = match &self.bundles {
            Some(bundles) => {
                files::require_directory(bundles, "a directory of bundles")?;
                bundles.clone()
            }
            None => PathBuf::from(DEFAULT_BUNDLES),
        };
        Ok(Source::Directory { bundles, listen: self.listen.unwrap_or(DEFAULT_LISTEN) })
    }

    /// What to do next, for whoever has started it without saying what is to be served.
    fn say_how_to_go_on(&self, address: SocketAddr) {
        if self.bundles.is_some() || self.config.is_some() {
            return;
        }
        let is_there = Path::new(DEFAULT_BUNDLES).is_dir();
        let found =
            if is_there { "" } else { ", which isn't there yet: `retort compile` makes it" };
        output::note(format_args!(
            "serving the directory `{DEFAULT_BUNDLES}`{found}; --bundles names another one"
        ));
        output::note(format_args!(
            "send events: curl -X POST --data-binary @events.ndjson http://{address}/v1/tenants/default/events"
        ));
        output::note(format_args!(
            "tenants with tokens, limits, and bundles by HTTP: --config FILE; http://{address}/openapi.json describes all routes"
        ));
    }
}
