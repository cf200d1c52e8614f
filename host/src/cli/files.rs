//! Files that commands are given.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use retort::evidence::Expected;
use retort::internal::packing::Packing;
use retort::internal::{document::DocumentKind, wording::json_in_text};
use retort::plan::{self, Plan};
use retort::render::{Source, render, render_rust};
use retort::sandbox::DEFAULT_MAX_EVENT_BYTES;
use retort::{Coded, EventSchema, GraphSpec, Limits, Rule, Samples, TenantPolicy};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::error::CliError;
use super::output;

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
pub(super) fn open(path: &Path, expected: &'static str) -> Result<Box<dyn Read + Send>, CliError> {
    if is_stdin(path) {
        return Ok(Box::new(take_stdin(expected)?));
    }
    Ok(Box::new(open_file(path, expected)?))
}

/// Opens stdin, once. Nothing of it is read ahead.
pub(super) fn take_stdin(expected: &'static str) -> Result<File, CliError> {
    if STDIN_IS_TAKEN.swap(true, Ordering::Relaxed) {
        return Err(CliError::StdinTwice { expected });
    }
    let stdin = io::stdin().as_fd().try_clone_to_owned();
    stdin.map(File::from).map_err(|source| refused(Path::new("-"), expected, source))
}

fn open_file(path: &Path, expected: &'static str) -> Result<File, CliError> {
    let refused = |source| refused(path, expected, source);
    let file = File::open(path).map_err(refused)?;
    if file.metadata().map_err(refused)?.is_dir() {
        return Err(refused(io::ErrorKind::IsADirectory.into()));
    }
    Ok(file)
}

/// Refuses what isn't a directory.
pub(super) fn require_directory(path: &Path, expected: &'static str) -> Result<(), CliError> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(refused(path, expected, io::ErrorKind::NotADirectory.into())),
        Err(_) => probe(path, expected),
    }
}

/// Asks the system for as many open files as this user may have: each bundle that is served keeps its directory open, which holds it, and
/// one that has served an event the image of its memory. Most systems start a program with a thousand.
pub(super) fn allow_open_files() {
    let allowed = getrlimit(Resource::Nofile);
    // Where that is refused, fewer bundles can serve.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: allowed.maximum, ..allowed });
}

/// Puts a file in the place of an earlier one, or of none, in one step.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = new_path(path);
    let mut file = File::create(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    std::fs::rename(&new, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Where a file is written before it [takes its place](replace).
pub(super) fn new_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// Opens a stream of events, or of results, unpacked where it is packed.
pub(super) fn open_events(
    path: &Path,
    expected: &'static str,
) -> Result<Box<dyn Read + Send>, CliError> {
    let (mut source, mut head) = (open(path, expected)?, Vec::new());
    let packing = Packing::of(&mut source, &mut head);
    let packing = packing.map_err(|error| refused(path, expected, error))?;
    Ok(packing.unpack(head, source))
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
        message: json_in_text(&text, &error),
    })
}

/// Sample events, for gates under a policy.
pub(super) fn read_samples(path: &Path, policy: &TenantPolicy) -> Result<Samples, CliError> {
    // What a policy allows less than the default is for the sample run to refuse, as serving would.
    let served = policy.limits(&Limits::default()).event_bytes;
    let event_bytes = served.max(DEFAULT_MAX_EVENT_BYTES);
    let text = read_text(path, DocumentKind::Samples)?;
    Samples::parse_within(&text, &name(path), event_bytes).map_err(CliError::refused)
}

/// What samples are expected to give.
pub(super) fn read_expected(
    path: &Path,
    samples: &Samples,
    graph: Option<&GraphSpec>,
) -> Result<Expected, CliError> {
    let text = read_text(path, DocumentKind::Expected)?;
    Expected::parse(&text, &name(path), samples, graph).map_err(CliError::refused)
}

/// A rule, in words or as JSON.
pub(super) fn read_rule(path: &Path) -> Result<Rule, CliError> {
    Rule::parse(&read_text(path, DocumentKind::Rule)?, &name(path)).map_err(CliError::refused)
}

/// An event schema.
pub(super) fn read_event_schema(path: &Path) -> Result<EventSchema, CliError> {
    let text = read_text(path, DocumentKind::EventSchema)?;
    EventSchema::parse(&text, &name(path)).map_err(CliError::refused)
}

/// A plan for a command that can do nothing without: what is wrong with it is said.
pub(super) fn read_plan(path: &Path) -> Result<Option<Plan>, CliError> {
    let text = read_text(path, DocumentKind::Plan)?;
    match plan::parse(&text) {
        Ok(plan) => Ok(Some(plan)),
        Err(_) => {
            let problems = plan::problems(&text).iter().map(Coded::problem).collect::<Vec<_>>();
            output::problems(&name(path), &problems);
            Ok(None)
        }
    }
}

/// The same for a plan that an extractor is to be rendered from.
pub(super) fn read_renderable(path: &Path) -> Result<Option<Source>, CliError> {
    let Some(plan) = read_plan(path)? else { return Ok(None) };
    let rendered = render(&plan);
    Ok(rendered.inspect_err(|error| output::problem(&name(path), &error.problem())).ok())
}

/// A plan as source in Rust; `None` where a problem was reported.
pub(super) fn read_rendered_as_rust(path: &Path) -> Result<Option<String>, CliError> {
    let Some(plan) = read_plan(path)? else { return Ok(None) };
    let rendered = render_rust(&plan);
    Ok(rendered.inspect_err(|error| output::problem(&name(path), &error.problem())).ok())
}
