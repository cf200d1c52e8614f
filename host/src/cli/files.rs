//! Files that commands are given.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use retort::gate::smoke::Samples;
use retort::graph::GraphSpec;
use retort::pipeline::Pipeline;
use retort::plan::Plan;
use retort::problem::json_fault;
use retort::sandbox::{Cache, CacheReport, ForeignModules, Options};
use retort::task::{EventSchema, Rule};
use retort::tenant::TenantPolicy;

use super::error::CliError;
use super::talk;

/// How much of a file that has to be held whole is read: 256 MiB.
const MAX_BYTES: u64 = 256 << 20;

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

/// Whether a path can be opened, without reading from it.
pub(super) fn probe(path: &Path, expected: &'static str) -> Result<(), CliError> {
    if is_stdin(path) { Ok(()) } else { open_file(path, expected).map(drop) }
}

/// Whether two paths are there and mean one file.
pub(super) fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b && a.is_file())
}

/// Refuses to write a file that is read as well. `role` names the flag that says where to write.
pub(super) fn guard_inputs(
    written: &Path,
    read: &[&Path],
    role: &'static str,
) -> Result<(), CliError> {
    match read.iter().find(|path| !is_stdin(path) && is_same_file(written, path)) {
        Some(path) => Err(CliError::OutputIsInput { path: path.to_path_buf(), role }),
        None => Ok(()),
    }
}

fn refused(path: &Path, expected: &'static str, source: io::Error) -> CliError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => CliError::FileNotFound { path, expected },
        _ => CliError::FileNotReadable { path, expected, source },
    }
}

/// All bytes of a file or of stdin.
pub(super) fn read(path: &Path, expected: &'static str) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    open(path, expected)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| refused(path, expected, source))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(CliError::FileTooLarge { origin: name(path), allowed: MAX_BYTES });
    }
    Ok(bytes)
}

/// The text of a file or of stdin.
pub(super) fn read_text(path: &Path, expected: &'static str) -> Result<String, CliError> {
    String::from_utf8(read(path, expected)?).map_err(|error| CliError::NotUtf8 {
        origin: name(path),
        at: error.utf8_error().valid_up_to(),
    })
}

/// A JSON file.
pub(super) fn read_json(
    path: &Path,
    expected: &'static str,
) -> Result<serde_json::Value, CliError> {
    let text = read_text(path, expected)?;
    serde_json::from_str(&text).map_err(|error| CliError::NotJson {
        origin: name(path),
        expected,
        message: json_fault(&text, &error),
    })
}

/// Sample events.
pub(super) fn read_samples(path: &Path) -> Result<Samples, CliError> {
    let text = read_text(path, "a file of sample events")?;
    Ok(Samples::parse(&text, &name(path))?)
}

/// A rule, in words or as JSON.
pub(super) fn read_rule(path: &Path) -> Result<Rule, CliError> {
    Ok(Rule::parse(&read_text(path, "a rule")?, &name(path))?)
}

/// An event schema.
pub(super) fn read_event_schema(path: &Path) -> Result<EventSchema, CliError> {
    Ok(EventSchema::parse(&read_text(path, "an event schema")?, &name(path))?)
}

/// A plan for a command that can do nothing without: what is wrong with it is said.
pub(super) fn read_plan(path: &Path) -> Result<Option<Plan>, CliError> {
    let text = read_text(path, "a plan")?;
    match retort::plan::parse(&text) {
        Ok(plan) => Ok(Some(plan)),
        Err(first) => {
            let mut problems = retort::plan::problems(&text);
            if problems.is_empty() {
                problems.push(first);
            }
            for problem in problems {
                talk::problem(&name(path), &problem.into());
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
    /// The graph spec, if one was named.
    pub(super) fn read(&self) -> Result<Option<GraphSpec>, CliError> {
        let refused = |error| CliError::GraphSpec { error };
        if let Some(path) = &self.graph {
            let text = read_text(path, "a graph spec")?;
            return GraphSpec::parse(&text, &name(path)).map(Some).map_err(refused);
        }
        let (Some(ontology), Some(binding)) = (&self.ontology, &self.binding) else {
            return Ok(None);
        };
        let ontology = (read_text(ontology, "an ontology")?, name(ontology));
        let binding = (read_text(binding, "a binding")?, name(binding));
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
}

impl PolicyArg {
    /// The policy; the default one where none is named.
    pub(super) fn read(&self) -> Result<TenantPolicy, CliError> {
        let Some(path) = &self.policy else { return Ok(TenantPolicy::default()) };
        let policy = TenantPolicy::parse(&read_text(path, "a policy")?, &name(path))?;
        Ok(policy.in_folder(path.parent().unwrap_or(Path::new(""))))
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
        Ok(Pipeline::of_tenant(&policy.read()?, Options { cache, ..options()? })?)
    }

    /// Says on stderr what about the cache isn't as it should be.
    pub(super) fn tell(&self, pipeline: &Pipeline) {
        let CacheReport { warnings, more_warnings, .. } = pipeline.sandbox().cache_report();
        warnings.iter().for_each(talk::warning);
        if more_warnings > 0 {
            talk::note(format_args!("{more_warnings} more warnings of the cache"));
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
