//! How far a run has come, in a file: what `--resume` goes on from.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use retort::bundle::Digest;
use retort::columns::FileMark;
use retort::diagnostics::lookup_code;
use retort::runtime::{LinePosition, StreamPosition, Summary};
use retort::{Registry, TenantPolicy};
use serde::{Deserialize, Serialize};

use super::columns::OutputFormat;
use crate::cli::error::CliError;
use crate::cli::files;

/// The form of the file. Another one is another number.
const FORMAT: u32 = 1;

/// The most bytes that are read of it: those of 100,000 inputs with long names.
const MAX_BYTES: u64 = 64 << 20;

/// What a state file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    format: u32,
    /// What is done, and in what way.
    pub(super) job: Job,
    /// Up to where everything is done and written.
    pub(super) at: At,
    /// Bytes of the file of results up to there.
    pub(super) out_bytes: u64,
    /// Bytes of the file of rejects up to there.
    pub(super) rejects_bytes: u64,
    /// Whole files of each table up to there, where results are columns.
    #[serde(default, skip_serializing_if = "FileMark::is_empty")]
    pub(super) files: FileMark,
    summary: WrittenSummary,
    /// Whether all inputs have been read to their ends.
    pub(super) done: bool,
}

/// What has to be the same for a run to go on where another one has come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Job {
    version: String,
    /// The digest of the event types that are served, each with the fingerprint of its bundle.
    bundles: String,
    /// The digest of the policy.
    policy: String,
    check_graph: bool,
    allow_external_endpoints: bool,
    out: PathBuf,
    rejects: PathBuf,
    /// What results are written as.
    #[serde(default, skip_serializing_if = "OutputFormat::is_lines")]
    format: OutputFormat,
    /// The column of events in files of Parquet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    column: Option<String>,
    inputs: Vec<InputIdentity>,
}

/// Which file an input is, and which of its versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct InputIdentity {
    path: PathBuf,
    bytes: u64,
    /// Nanoseconds since 1970, as decimal digits.
    modified: String,
}

/// A place between two lines of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct At {
    /// Which of the inputs, from 0.
    pub(super) input: usize,
    /// How many lines of it are before.
    pub(super) line: u64,
    /// How many bytes of it are before, unpacked.
    pub(super) offset: u64,
}

/// The summary as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSummary {
    events: u64,
    results: u64,
    in_part: u64,
    dropped: BTreeMap<String, u64>,
    empty: u64,
    unrouted: u64,
    rejects: BTreeMap<String, u64>,
    bytes: u64,
    fuel: u64,
    failed_conversions: u64,
}

/// What `Job` is made from.
pub(super) struct JobParts<'a> {
    pub(super) registry: &'a Registry,
    pub(super) policy: &'a TenantPolicy,
    pub(super) check_graph: bool,
    pub(super) allow_external_endpoints: bool,
    pub(super) out: &'a Path,
    pub(super) rejects: &'a Path,
    pub(super) format: OutputFormat,
    pub(super) column: Option<&'a str>,
    pub(super) inputs: &'a [PathBuf],
}

impl Job {
    /// # Errors
    /// For an input that isn't a file: nothing can go on in the middle of a pipe.
    pub(super) fn new(parts: &JobParts<'_>) -> Result<Self, CliError> {
        // States of directories that don't share are those of before there was sharing.
        let sharing = parts.registry.sharing().conflicts().map(|it| format!("{it:?}"));
        let served = parts.registry.served().map(|(name, bundle)| format!("{name}\0{bundle}\n"));
        let served: String = served.chain(sharing).collect();
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            bundles: Digest::of(served.as_bytes()).to_string(),
            policy: Digest::of(format!("{:?}", parts.policy).as_bytes()).to_string(),
            check_graph: parts.check_graph,
            allow_external_endpoints: parts.allow_external_endpoints,
            out: parts.out.to_owned(),
            rejects: parts.rejects.to_owned(),
            format: parts.format,
            column: parts.column.map(str::to_owned),
            inputs: parts
                .inputs
                .iter()
                .map(|path| InputIdentity::of(path))
                .collect::<Result<_, _>>()?,
        })
    }

    /// The first thing in which `now` is another job: what it is, what it was, and what it is now.
    fn difference(&self, now: &Self) -> Option<String> {
        let told = |what: &str, was: &dyn std::fmt::Display, is: &dyn std::fmt::Display| {
            Some(format!("expected {what} {was}, found {is}"))
        };
        let Self { version, bundles, policy, check_graph, .. } = self;
        if *version != now.version {
            return told("retort", version, &now.version);
        }
        if self.inputs.len() != now.inputs.len() {
            return told("inputs in number", &self.inputs.len(), &now.inputs.len());
        }
        for (was, is) in self.inputs.iter().zip(&now.inputs) {
            let path = is.path.display();
            if was.path != is.path {
                return told("the input", &was.path.display(), &path);
            }
            if was.bytes != is.bytes {
                return told("the input", &format!("{path} with {} bytes", was.bytes), &is.bytes);
            }
            if was.modified != is.modified {
                return Some(format!(
                    "expected the input {path} unaltered, found that it was written since"
                ));
            }
        }
        if *bundles != now.bundles {
            return told("bundles whose fingerprints have the digest", bundles, &now.bundles);
        }
        if *policy != now.policy {
            return told("a policy with the digest", policy, &now.policy);
        }
        if *check_graph != now.check_graph {
            return told("the graph check to be", check_graph, &now.check_graph);
        }
        if self.allow_external_endpoints != now.allow_external_endpoints {
            let (was, is) = (self.allow_external_endpoints, now.allow_external_endpoints);
            return told("--allow-external-endpoints to be", &was, &is);
        }
        if self.format != now.format {
            return told("--format", &self.format.name(), &now.format.name());
        }
        if self.column != now.column {
            let shown = |column: &Option<String>| column.clone().unwrap_or_default();
            return told("--column", &shown(&self.column), &shown(&now.column));
        }
        if self.out != now.out {
            return told("--out", &self.out.display(), &now.out.display());
        }
        if self.rejects != now.rejects {
            return told("--rejects", &self.rejects.display(), &now.rejects.display());
        }
        None
    }
}

impl InputIdentity {
    fn of(path: &Path) -> Result<Self, CliError> {
        let expected = "a file of events";
        let refused =
            |source| CliError::FileNotReadable { path: path.to_owned(), expected, source };
        let needed = || CliError::ResumeNeedsFile { path: path.to_owned() };
        if crate::cli::files::is_stdin(path) {
            return Err(needed());
        }
        let found = fs::metadata(path).map_err(refused)?;
        if !found.is_file() {
            return Err(needed());
        }
        // Before 1970 is as good as 1970: it is compared, and no more.
        let modified = found.modified().map_err(refused)?.duration_since(UNIX_EPOCH);
        let modified = modified.unwrap_or_default().as_nanos().to_string();
        Ok(Self { path: path.to_owned(), bytes: found.len(), modified })
    }
}

impl State {
    /// Nothing is done of it.
    pub(super) fn of(job: Job) -> Self {
        let (at, summary) = (At::default(), WrittenSummary::default());
        let files = FileMark::new();
        Self {
            format: FORMAT,
            job,
            at,
            out_bytes: 0,
            rejects_bytes: 0,
            files,
            summary,
            done: false,
        }
    }

    /// What the file says of this job; `None` where there is no file.
    pub(super) fn read(path: &Path, job: &Job) -> Result<Option<Self>, CliError> {
        let invalid = |message: String| CliError::StateInvalid { path: path.to_owned(), message };
        let expected = "a state of `retort run --resume`";
        let refused =
            |source| CliError::FileNotReadable { path: path.to_owned(), expected, source };
        let bytes = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused(error)),
            Ok(found) if !found.is_file() => return Err(invalid("expected a file".to_owned())),
            Ok(found) if found.len() > MAX_BYTES => {
                return Err(invalid(format!("expected at most {MAX_BYTES} bytes")));
            }
            Ok(_) => fs::read(path).map_err(refused)?,
        };
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let told = |error: serde_json::Error| invalid(error.to_string());
        let Format { format } = serde_json::from_slice(&bytes).map_err(told)?;
        if format != FORMAT {
            return Err(invalid(format!("expected format {FORMAT}, found {format}")));
        }
        let state: Self = serde_json::from_slice(&bytes).map_err(told)?;
        if let Some(message) = state.job.difference(job) {
            return Err(CliError::StateMismatch { path: path.to_owned(), message });
        }
        let inputs = state.job.inputs.len();
        if state.at.input >= inputs {
            return Err(invalid(format!(
                "expected one of {inputs} inputs, found {}",
                state.at.input
            )));
        }
        Ok(Some(state))
    }

    /// Refuses outputs that have lost what it counts on. `path` is the file of the state.
    pub(super) fn check_outputs(&self, path: &Path) -> Result<(), CliError> {
        if !self.job.format.is_lines() {
            // The files are looked for where they are gone on from.
            return Ok(());
        }
        for (output, least) in
            [(&self.job.out, self.out_bytes), (&self.job.rejects, self.rejects_bytes)]
        {
            // What can't be looked at has nothing in it that could be gone on from.
            let found = fs::metadata(output).map_or(0, |found| found.len());
            if found < least {
                let output = output.display();
                let message =
                    format!("expected {output} with {least} bytes or more, found {found}");
                return Err(CliError::StateMismatch { path: path.to_owned(), message });
            }
        }
        Ok(())
    }

    /// Puts it in the place of an earlier one, or of none, in one step.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        files::replace(path, &text)
    }

    /// What all up to here came to, as the file at `path` says.
    pub(super) fn known_summary(&self, path: &Path) -> Result<Summary, CliError> {
        let message = || "a code in its summary that there isn't".to_owned();
        let invalid = || CliError::StateInvalid { path: path.to_owned(), message: message() };
        self.summary().ok_or_else(invalid)
    }

    fn summary(&self) -> Option<Summary> {
        let written = &self.summary;
        let known = |counts: &BTreeMap<String, u64>| -> Option<BTreeMap<&'static str, u64>> {
            counts.iter().map(|(code, count)| Some((lookup_code(code)?.name, *count))).collect()
        };
        Some(Summary {
            events: written.events,
            results: written.results,
            in_part: written.in_part,
            dropped: known(&written.dropped)?,
            empty: written.empty,
            unrouted: written.unrouted,
            rejects: known(&written.rejects)?,
            bytes: written.bytes,
            fuel: written.fuel,
            failed_conversions: written.failed_conversions,
        })
    }

    pub(super) fn set_summary(&mut self, summary: &Summary) {
        let Summary {
            events,
            results,
            in_part,
            dropped,
            empty,
            unrouted,
            rejects,
            bytes,
            fuel,
            failed_conversions,
        } = summary;
        let written = |counts: &BTreeMap<&'static str, u64>| {
            counts.iter().map(|(code, count)| ((*code).to_owned(), *count)).collect()
        };
        self.summary = WrittenSummary {
            events: *events,
            results: *results,
            in_part: *in_part,
            dropped: written(dropped),
            empty: *empty,
            unrouted: *unrouted,
            rejects: written(rejects),
            bytes: *bytes,
            fuel: *fuel,
            failed_conversions: *failed_conversions,
        };
    }
}

impl At {
    /// The place in its input.
    pub(super) fn in_input(self) -> LinePosition {
        LinePosition { line: self.line, offset: self.offset }
    }

    /// The place to which a stream has come that began with the input `first`.
    pub(super) fn of(first: usize, position: StreamPosition) -> Self {
        let LinePosition { line, offset } = position.at;
        Self { input: first + position.input, line, offset }
    }
}
