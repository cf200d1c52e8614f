//! Files that commands are given.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use retort::abi::event::DEFAULT_MAX_EVENT_BYTES;
use retort::bundle::pipeline::Pipeline;
use retort::bundle::smoke::Samples;
use retort::diagnostics::problem::{Coded, json_fault};
use retort::evidence::{EventSchema, Rule};
use retort::graph::GraphSpec;
use retort::json::document::DocumentKind;
use retort::plan::Plan;
use retort::sandbox::tenant::TenantPolicy;
use retort::sandbox::{Cache, CacheReport, ForeignModules, Limits, Options};

use super::error::CliError;
use super::output;

/// Bytes that are read at once from a stream of events.
const STREAM_BUFFER: usize = 256 << 10;

/// Whether a path stands for stdin.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What a message calls a path.
pub(super) fn name(path: &Path) -> String {
    if is_stdin(path) { "stdin".to_owned() } else { path.display().to_string() }
}

/// Whether stdin was given away: whoever came second would find it empty.
static STDIN_IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Opens a file, or stdin, once.
pub(super) fn open(path: &Path, expected: &'static str) -> Result<Box<dyn Read>, CliError> {
    if is_stdin(path) {
        if STDIN_IS_TAKEN.swap(true, Ordering::Relaxed) {
            return Err(CliError::StdinTwice { expected });
        }
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(open_file(path, expected)?))
}

fn open_file(path: &Path, expected: &'static str) -> Result<File, CliError> {
    let refused = |source| refused(path, expected, source);
    let file = File::open(path).map_err(refused)?;
    if file.metadata().map_err(refused)?.is_dir() {
        return Err(refused(io::ErrorKind::IsADirectory.into()));
    }
    Ok(file)
}

/// Opens a stream of events.
pub(super) fn open_events(path: &Path) -> Result<impl BufRead, CliError> {
    Ok(BufReader::with_capacity(STREAM_BUFFER, open(path, "a file of events")?))
}

/// Whether a path can be opened, without reading from it. A pipe isn't tried: it can be opened once.
pub(super) fn probe(path: &Path, expected: &'static str) -> Result<(), CliError> {
    let is_file = |path: &Path| path.metadata().is_ok_and(|found| found.is_file());
    if is_stdin(path) || (path.exists() && !path.is_dir() && !is_file(path)) {
        return Ok(());
    }
    open_file(path, expected).map(drop)
}

fn refused(path: &Path, expected: &'static str, source: io::Error) -> CliError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => CliError::FileNotFound { path, expected },
        _ => CliError::FileNotReadable { path, expected, source },
    }
}

/// All bytes of a file or of stdin, as far as its kind may have.
pub(super) fn read(path: &Path, kind: DocumentKind) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let allowed = kind.max_bytes();
    open(path, kind.name())?
        .take(allowed as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| refused(path, kind.name(), source))?;
    if bytes.len() > allowed {
        return Err(CliError::FileTooLarge { origin: name(path), kind, what: "bytes", allowed });
    }
    Ok(bytes)
}

/// The text of a file or of stdin.
pub(super) fn read_text(path: &Path, kind: DocumentKind) -> Result<String, CliError> {
    String::from_utf8(read(path, kind)?).map_err(|error| CliError::NotUtf8 {
        origin: name(path),
        at: error.utf8_error().valid_up_to(),
    })
}

/// A JSON file.
pub(super) fn read_json(path: &Path, kind: DocumentKind) -> Result<serde_json::Value, CliError> {
    let text = read_text(path, kind)?;
    if let Some(allowed) = kind.exceeded_values(&text) {
        let origin = name(path);
        return Err(CliError::FileTooLarge { origin, kind, what: "JSON values", allowed });
    }
    serde_json::from_str(&text).map_err(|error| CliError::NotJson {
        origin: name(path),
        expected: kind.name(),
        message: json_fault(&text, &error),
    })
}

/// Sample events, for gates under a policy.
pub(super) fn read_samples(path: &Path, policy: &PolicyArg) -> Result<Samples, CliError> {
    // What a policy allows less than the default is for the sample run to refuse, as serving would.
    let served = policy.read()?.limits(&Limits::default()).event_bytes;
    let event_bytes = served.max(DEFAULT_MAX_EVENT_BYTES);
    let text = read_text(path, DocumentKind::Samples)?;
    Ok(Samples::parse_within(&text, &name(path), event_bytes)?)
}

/// A rule, in words or as JSON.
pub(super) fn read_rule(path: &Path) -> Result<Rule, CliError> {
    Ok(Rule::parse(&read_text(path, DocumentKind::Rule)?, &name(path))?)
}

/// An event schema.
pub(super) fn read_event_schema(path: &Path) -> Result<EventSchema, CliError> {
    Ok(EventSchema::parse(&read_text(path, DocumentKind::EventSchema)?, &name(path))?)
}

/// A plan for a command that can do nothing without: what is wrong with it is said.
pub(super) fn read_plan(path: &Path) -> Result<Option<Plan>, CliError> {
    let text = read_text(path, DocumentKind::Plan)?;
    match retort::plan::parse(&text) {
        Ok(plan) => Ok(Some(plan)),
        Err(first) => {
            let mut problems = retort::plan::problems(&text);
            if problems.is_empty() {
                problems.push(first);
            }
            for problem in problems {
                output::problem(&name(path), &problem.problem());
            }
            Ok(None)
        }
    }
}

/// Where a graph spec comes from.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct GraphSource {
    /// Graph spec that results have to fit (YAML or JSON)
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["ontology", "binding"])]
    pub(super) graph: Option<PathBuf>,
    /// Ontology, in place of a graph spec; with --binding
    #[arg(long, value_name = "FILE", requires = "binding")]
    pub(super) ontology: Option<PathBuf>,
    /// Binding of the ontology
    #[arg(long, value_name = "FILE", requires = "ontology")]
    pub(super) binding: Option<PathBuf>,
}

impl GraphSource {
    /// The files that were named.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        [&self.graph, &self.ontology, &self.binding].into_iter().flatten().map(PathBuf::as_path)
    }

    /// The graph spec, if one was named.
    pub(super) fn read(&self) -> Result<Option<GraphSpec>, CliError> {
        let refused = |error| CliError::GraphSpec { error };
        if let Some(path) = &self.graph {
            let text = read_text(path, DocumentKind::GraphSpec)?;
            return GraphSpec::parse(&text, &name(path)).map(Some).map_err(refused);
        }
        let (Some(ontology), Some(binding)) = (&self.ontology, &self.binding) else {
            return Ok(None);
        };
        let ontology = (read_text(ontology, DocumentKind::Ontology)?, name(ontology));
        let binding = (read_text(binding, DocumentKind::Binding)?, name(binding));
        let parsed =
            GraphSpec::from_ontology_files((&ontology.0, &ontology.1), (&binding.0, &binding.1));
        parsed.map(Some).map_err(refused)
    }
}

/// What the tenant may do.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct PolicyArg {
    /// The tenant's policy: what may be read of events, limits, isolation (JSON or YAML)
    #[arg(long, value_name = "FILE")]
    pub(super) policy: Option<PathBuf>,
    /// The policy, once it was read: the file may be a pipe.
    #[arg(skip)]
    known: OnceCell<TenantPolicy>,
}

impl PolicyArg {
    /// The policy of this file.
    pub(super) fn of(policy: Option<PathBuf>) -> Self {
        Self { policy, known: OnceCell::new() }
    }

    /// The policy; the default one where none is named.
    pub(super) fn read(&self) -> Result<&TenantPolicy, CliError> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let policy = match &self.policy {
            None => TenantPolicy::default(),
            Some(path) => {
                TenantPolicy::parse(&read_text(path, DocumentKind::Policy)?, &name(path))?
                    .in_folder(path.parent().unwrap_or(Path::new("")))
            }
        };
        Ok(self.known.get_or_init(|| policy))
    }

    /// The gates, as the policy says.
    pub(super) fn pipeline(&self) -> Result<Pipeline, CliError> {
        CacheArg::default().pipeline(self)
    }
}

/// Where native code is kept between runs.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct CacheArg {
    /// Keep native code between runs in this directory, which must be this user's alone
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

impl CacheArg {
    /// The gates, as a policy says, with the cache.
    pub(super) fn pipeline(&self, policy: &PolicyArg) -> Result<Pipeline, CliError> {
        let cache = self.cache.as_ref().map(Cache::new);
        Ok(Pipeline::of_tenant(policy.read()?, Options { cache, ..options()? })?)
    }

    /// Says on stderr what about the cache isn't as it should be.
    pub(super) fn tell(&self, pipeline: &Pipeline) {
        let CacheReport { warnings, more_warnings, .. } = pipeline.sandbox().cache_report();
        warnings.iter().for_each(output::warning);
        if more_warnings > 0 {
            output::note(format_args!("{more_warnings} more warnings of the cache"));
        }
    }
}

/// How the sandbox of every command is built, where no policy says otherwise. Modules that weren't rendered here are compiled
/// by this very program, in a process of its own.
pub(super) fn options() -> Result<Options, CliError> {
    let program = this_program().map_err(CliError::Runtime)?;
    let foreign = ForeignModules::Helper(program);
    Ok(Options { foreign, ..Options::default() })
}

/// This very build, also where another one has taken the place of its file.
#[cfg(target_os = "linux")]
fn this_program() -> io::Result<PathBuf> {
    let program = PathBuf::from("/proc/self/exe");
    program.symlink_metadata().map(|_| program)
}

/// The file that this program was started from.
#[cfg(not(target_os = "linux"))]
fn this_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}
