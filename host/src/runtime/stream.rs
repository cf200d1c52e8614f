//! Lines of JSON in, lines of JSON out.

use std::io::{self, BufRead, Write};
use std::num::NonZeroU64;
use std::sync::Arc;

use serde::Serialize;
use thiserror::Error;
use tracing::{Span, debug};

use super::dispatcher::{Dispatched, Dispatcher, Served};
use super::registry::{Registry, Route};
use super::summary::Summary;
use crate::abi::event::EventError;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::{Coded, Problem, Stage};
use crate::graph::spec::GraphSpec;
use crate::graph::validate::{ValidateOptions, validate};
use crate::json::{Line, Lines};
use crate::sandbox::RunError;
use crate::sandbox::runner::trace_rejection;

/// Takes events from readers, one a line, and writes what their extractors give.
///
/// For an event that gives something, one line
/// `{"line": 1, "event_type": "..", "bundle": "<fingerprint>", "result": {..}}` goes to `out`; for an event that fails, one
/// line `{"line": 1, "code": "..", "message": ".."}` to `rejects`. Lines count from 1 in each input; where an input is
/// named, both kinds carry its name as `file`. What an extractor declines and what no bundle serves is counted only.
#[derive(Debug)]
pub struct Stream<'r, O, J> {
    dispatcher: Dispatcher<'r>,
    /// By route: the text of a result's line between its number and the result.
    heads: Vec<LineHead>,
    graphs: Option<Graphs>,
    out: O,
    rejects: J,
    line: Vec<u8>,
    summary: Summary,
    limit: usize,
    /// Events of a batch, where a batch isn't a whole input.
    batch: Option<NonZeroU64>,
    /// Events that the batch has had.
    in_batch: u64,
}

/// Why a stream stopped.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StreamError {
    /// An input can't be read further.
    #[error("the events can't be read after line {line}: {source}")]
    Read {
        /// The last line that was read; 0 before the first.
        line: u64,
        /// The system's answer.
        source: io::Error,
    },
    /// A result can't be written.
    #[error("the results can't be written: {0}")]
    Results(#[source] io::Error),
    /// A reject can't be written.
    #[error("the rejected events can't be written: {0}")]
    Rejects(#[source] io::Error),
}

impl StreamError {
    /// Whether whoever read the output went away.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Read { .. } => false,
            Self::Results(source) | Self::Rejects(source) => {
                source.kind() == io::ErrorKind::BrokenPipe
            }
        }
    }
}

impl Coded for StreamError {
    fn entry(&self) -> Code {
        match self {
            Self::Read { .. } => codes::STREAM_UNREADABLE,
            Self::Results { .. } | Self::Rejects { .. } => codes::STREAM_UNWRITABLE,
        }
    }
}

/// The text of a result's line that is the same for all events of a route.
#[derive(Debug)]
struct LineHead {
    /// Up to the bundle; without the event type where the route is a prefix.
    event_type: Vec<u8>,
    is_prefix: bool,
    /// From there to the result.
    bundle: Vec<u8>,
}

impl LineHead {
    fn new(route: &Route) -> Self {
        let mut event_type = b",\"event_type\":".to_vec();
        if !route.is_prefix {
            push_text(&mut event_type, &route.event_type);
        }
        let bundle = format!(",\"bundle\":\"{}\",\"result\":", route.fingerprint()).into_bytes();
        Self { event_type, is_prefix: route.is_prefix, bundle }
    }

    fn push(&self, line: &mut Vec<u8>, event_type: &str) {
        line.extend_from_slice(&self.event_type);
        if self.is_prefix {
            push_text(line, event_type);
        }
        line.extend_from_slice(&self.bundle);
    }
}

/// A string as the text of JSON.
fn push_text(line: &mut Vec<u8>, text: &str) {
    line.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
}

/// Graph specs to check results against.
#[derive(Debug)]
struct Graphs {
    /// By route.
    specs: Vec<Arc<GraphSpec>>,
    options: ValidateOptions,
}

#[derive(Serialize)]
struct Reject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    line: u64,
    code: Code,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    message: &'a str,
}

impl<'r, O: Write, J: Write> Stream<'r, O, J> {
    /// A stream through the bundles of `registry`. Both writers get many small writes.
    pub fn new(registry: &'r Registry, out: O, rejects: J) -> Self {
        let heads = registry.routes().iter().map(LineHead::new);
        Self {
            heads: heads.collect(),
            dispatcher: Dispatcher::new(registry),
            graphs: None,
            out,
            rejects,
            line: Vec::new(),
            summary: Summary::default(),
            limit: registry.max_event_bytes(),
            batch: None,
            in_batch: 0,
        }
    }

    /// The same stream, with a new batch after every `events` events, bad ones included, and not only with each input. It
    /// matters where a sandbox's instances may serve one batch each
    /// ([`Isolation::PerBatch`](crate::sandbox::Isolation::PerBatch)); the results are the same in any case.
    #[must_use]
    pub fn with_batches(mut self, events: NonZeroU64) -> Self {
        self.batch = Some(events);
        self
    }

    /// The same stream, with every result checked against `specs`, one for each event type that the registry serves, in that
    /// order. A result that doesn't fit is a reject with the first failure's code.
    #[must_use]
    pub fn with_graphs(mut self, specs: Vec<Arc<GraphSpec>>, options: ValidateOptions) -> Self {
        self.graphs = Some(Graphs { specs, options });
        self
    }

    /// Takes all events of one input, which begins a batch. `file` names it in what is written.
    ///
    /// # Errors
    /// [`StreamError`], when the input or a writer fails; never for what an event is or does.
    pub fn run<R: BufRead>(&mut self, input: R, file: Option<&str>) -> Result<(), StreamError> {
        let head = match file {
            Some(file) => format!("{{\"file\":{},\"line\":", serde_json::Value::from(file)),
            None => "{\"line\":".to_owned(),
        };
        let mut lines = Lines::new(input, self.limit);
        let mut last = 0;
        self.begin_batch();
        loop {
            if lines.is_drained() {
                // The next read may wait for long.
                self.flush()?;
            }
            let line =
                lines.next_line().map_err(|source| StreamError::Read { line: last, source })?;
            let Some(line) = line else { return self.flush() };
            self.summary.events += 1;
            if self.batch.is_some_and(|batch| self.in_batch >= batch.get()) {
                self.begin_batch();
            }
            self.in_batch += 1;
            match line {
                Line::Whole { number, text } => {
                    last = number;
                    self.summary.bytes += text.len() as u64;
                    self.event(&head, file, number, text)?;
                }
                Line::TooLong { number, bytes } => {
                    last = number;
                    self.summary.bytes += bytes;
                    let used = usize::try_from(bytes).unwrap_or(usize::MAX);
                    let error = RunError::from(EventError::TooLarge { used, allowed: self.limit });
                    trace_rejection(&Span::none(), &error);
                    self.reject(file, number, &error.problem())?;
                }
            }
        }
    }

    /// What the stream came to so far.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Writes out what the writers hold back.
    ///
    /// # Errors
    /// [`StreamError::Results`] or [`StreamError::Rejects`].
    pub fn flush(&mut self) -> Result<(), StreamError> {
        self.out.flush().map_err(StreamError::Results)?;
        self.rejects.flush().map_err(StreamError::Rejects)
    }

    fn begin_batch(&mut self) {
        self.dispatcher.begin_batch();
        self.in_batch = 0;
    }

    fn event(
        &mut self,
        head: &str,
        file: Option<&str>,
        number: u64,
        text: &[u8],
    ) -> Result<(), StreamError> {
        let served = match self.dispatcher.dispatch(text) {
            Ok(Dispatched::Served(served)) => served,
            Ok(Dispatched::Unrouted) => {
                self.summary.unrouted += 1;
                return Ok(());
            }
            Err(error) => return self.reject(file, number, &error.problem()),
        };
        self.summary.fuel += served.outcome().fuel;
        self.summary.failed_conversions += u64::from(served.outcome().failed_conversions);
        if let Some(failure) = self.graphs.as_ref().and_then(|graphs| graphs.failure(&served)) {
            debug!(code = failure.code.name, "event rejected");
            return self.reject(file, number, &failure);
        }
        if served.outcome().shape.is_empty() {
            self.summary.empty += 1;
            return Ok(());
        }
        self.summary.results += 1;
        self.line.clear();
        self.line.extend_from_slice(head.as_bytes());
        write!(self.line, "{number}").map_err(StreamError::Results)?;
        if let Some(head) = self.heads.get(served.index) {
            head.push(&mut self.line, served.event_type());
        }
        push_on_one_line(&mut self.line, served.outcome().json);
        self.line.extend_from_slice(b"}\n");
        self.out.write_all(&self.line).map_err(StreamError::Results)
    }

    fn reject(
        &mut self,
        file: Option<&str>,
        line: u64,
        problem: &Problem,
    ) -> Result<(), StreamError> {
        *self.summary.rejects.entry(problem.code.name).or_default() += 1;
        // The place in a result that fails its own check is in the message already.
        let path = problem.path.as_deref().filter(|_| problem.stage == Stage::Graph);
        let reject = Reject { file, line, code: problem.code, path, message: &problem.message };
        self.line.clear();
        serde_json::to_writer(&mut self.line, &reject)
            .map_err(|error| StreamError::Rejects(error.into()))?;
        self.line.push(b'\n');
        self.rejects.write_all(&self.line).map_err(StreamError::Rejects)
    }
}

impl Graphs {
    /// The first thing that is wrong with a result, if anything is.
    fn failure(&self, served: &Served<'_>) -> Option<Problem> {
        let spec = self.specs.get(served.index)?;
        let extraction = match served.outcome().extraction(Stage::Run) {
            Ok(extraction) => extraction,
            Err(problem) => return Some(problem),
        };
        let failure =
            validate(spec, &extraction, self.options).into_failures().into_iter().next()?;
        let problem = Problem::new(Stage::Graph, failure.code, failure.detail);
        Some(problem.at(failure.path))
    }
}

/// A valid result, with line ends replaced by spaces: a string can't hold them, so all they can be is white space.
fn push_on_one_line(line: &mut Vec<u8>, json: &[u8]) {
    let start = line.len();
    line.extend_from_slice(json);
    if memchr::memchr2(b'\n', b'\r', json).is_some() {
        for byte in line.iter_mut().skip(start).filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
    }
}
