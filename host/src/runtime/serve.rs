//! How a line of a stream is served, on one thread.

use std::io::Write as _;
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;

use tracing::{Span, debug};

use super::checked::{Spent, held, merged};
use super::crew::Serve;
use super::dispatcher::{Dispatched, Dispatcher};
use super::fallback::Decided;
use super::graph_check::{self, GraphCheck};
use super::line::{Reject, push_bundles, push_on_one_line};
use super::outputs::Output;
use super::registry::{Registry, Route};
use super::source::Origin;
use super::summary::Summary;
use crate::abi::event::EventError;
use crate::diagnostics::codes;
use crate::diagnostics::problem::{Coded, Problem, Stage};
use crate::graph::Failure;
use crate::json::Line;
use crate::json::string::push_string;
use crate::sandbox::RunError;
use crate::sandbox::runner::trace_rejection;

/// What all threads of a stream serve by.
#[derive(Clone, Debug)]
pub(super) struct ServeConfig<'r> {
    pub(super) registry: &'r Registry,
    /// By route: the text of a result's line between its number and the result.
    heads: Arc<[LineHead]>,
    pub(super) graph_check: Option<GraphCheck>,
    /// Events of a batch, where a batch isn't a whole input.
    pub(super) batch: Option<NonZeroU64>,
}

impl<'r> ServeConfig<'r> {
    pub(super) fn new(registry: &'r Registry) -> Self {
        let heads = registry.routes().iter().map(|route| LineHead::new(registry, route)).collect();
        Self { registry, heads, graph_check: Some(GraphCheck::default()), batch: None }
    }

    /// The text of a line up to its result.
    fn push_head(
        &self,
        line: &mut Vec<u8>,
        origin: &Origin,
        number: u64,
        index: usize,
        event_type: &str,
    ) {
        line.extend_from_slice(origin.head.as_bytes());
        push_number(line, number);
        if let Some(head) = self.heads.get(index) {
            head.push(line, event_type);
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
    fn new(registry: &Registry, route: &Route) -> Self {
        let mut event_type = b",\"event_type\":".to_vec();
        if !route.is_prefix {
            push_string(&mut event_type, &route.event_type);
        }
        let mut bundle = Vec::new();
        push_bundles(&mut bundle, route.bundles().map(|it| registry.fingerprint(it)));
        bundle.extend_from_slice(b",\"result\":");
        Self { event_type, is_prefix: route.is_prefix, bundle }
    }

    fn push(&self, line: &mut Vec<u8>, event_type: &str) {
        line.extend_from_slice(&self.event_type);
        if self.is_prefix {
            push_string(line, event_type);
        }
        line.extend_from_slice(&self.bundle);
    }
}

/// One of `sharers`.
fn dispatcher<'r>(config: &ServeConfig<'r>, sharers: NonZeroUsize) -> Dispatcher<'r> {
    let dispatcher = Dispatcher::new(config.registry).sharing(sharers);
    match config.graph_check {
        Some(check) => dispatcher.holding_to_graphs(check),
        None => dispatcher,
    }
}

/// One thread's runners, and what becomes of a line with them.
#[derive(Debug)]
pub(super) struct LineServer<'r> {
    config: ServeConfig<'r>,
    dispatcher: Dispatcher<'r>,
    sharers: NonZeroUsize,
    /// Events that the batch has had.
    in_batch: u64,
}

impl<'r> LineServer<'r> {
    /// One of `sharers`.
    pub(super) fn new(config: ServeConfig<'r>, sharers: NonZeroUsize) -> Self {
        let dispatcher = dispatcher(&config, sharers);
        Self { config, dispatcher, sharers, in_batch: 0 }
    }

    fn begin_batch(&mut self) {
        self.dispatcher.begin_batch();
        self.in_batch = 0;
    }

    fn event(&mut self, origin: &Origin, number: u64, text: &[u8], output: &mut Output) {
        let summary = &mut output.summary;
        let served = match self.dispatcher.dispatch(text) {
            Ok(Dispatched::Served(served)) => served,
            Ok(Dispatched::Shared(shared)) => {
                let (index, event_type) = (shared.index, shared.event_type());
                let (check, registry) = (self.config.graph_check, self.config.registry);
                let mut spent = Spent::default();
                let merged = merged(check, registry, &shared, text, &mut spent);
                summary.fuel += spent.fuel;
                summary.failed_conversions += spent.failed_conversions;
                return match merged {
                    Ok(merged) => push_merged(
                        &self.config,
                        origin,
                        number,
                        index,
                        event_type,
                        &merged,
                        output,
                    ),
                    Err(problem) => {
                        debug!(code = problem.code.name, "event rejected");
                        reject(origin, number, &problem, output);
                    }
                };
            }
            Ok(Dispatched::Unrouted { .. }) => {
                summary.unrouted += 1;
                return;
            }
            Ok(Dispatched::Refused { error, .. }) => {
                return reject(origin, number, &error.problem(), output);
            }
            Err(error) => return reject(origin, number, &error.error().problem(), output),
        };
        summary.fuel += served.outcome().fuel;
        summary.failed_conversions += u64::from(served.outcome().failed_conversions);
        let (check, registry) = (self.config.graph_check, self.config.registry);
        let in_part = match held(check, registry, served.place, served.outcome(), text) {
            Ok(in_part) => in_part,
            Err(failure) => {
                debug!(code = failure.code.name, "event rejected");
                return reject(origin, number, &failure, output);
            }
        };
        if served.outcome().shape.is_empty() {
            summary.empty += 1;
            return;
        }
        summary.results += 1;
        let line = &mut output.out;
        self.config.push_head(line, origin, number, served.index, served.event_type());
        match in_part {
            None => push_on_one_line(line, served.outcome().json),
            Some(decided) => {
                count_dropped(summary, &decided.failures);
                graph_check::push(line, &decided);
            }
        }
        line.extend_from_slice(b"}\n");
    }
}

fn push_merged(
    config: &ServeConfig<'_>,
    origin: &Origin,
    number: u64,
    index: usize,
    event_type: &str,
    merged: &Decided,
    output: &mut Output,
) {
    let Output { out: line, summary, .. } = output;
    if merged.result.is_empty() {
        summary.empty += 1;
        return;
    }
    summary.results += 1;
    config.push_head(line, origin, number, index, event_type);
    match merged.failures.as_slice() {
        // Text and numbers always become JSON.
        [] => line.extend(serde_json::to_vec(&merged.result).unwrap_or_default()),
        failures => {
            count_dropped(summary, failures);
            graph_check::push(line, merged);
        }
    }
    line.extend_from_slice(b"}\n");
}

fn count_dropped(summary: &mut Summary, failures: &[Failure]) {
    for failure in failures {
        debug!(code = failure.code.name, "part of a result dropped");
    }
    summary.note_dropped(failures);
}

impl Serve for LineServer<'_> {
    fn begin_input(&mut self) {
        self.begin_batch();
    }

    fn serve(&mut self, origin: &Origin, line: Line<'_>, output: &mut Output) {
        if self.config.batch.is_some_and(|batch| self.in_batch >= batch.get()) {
            self.begin_batch();
        }
        self.in_batch += 1;
        match line {
            Line::Whole { number, text } => {
                self.event(origin, number, text, output);
                output.summary.bytes += text.len() as u64;
            }
            Line::TooLong { number, bytes } => {
                let used = usize::try_from(bytes).unwrap_or(usize::MAX);
                let allowed = self.config.registry.max_event_bytes();
                let error = RunError::from(EventError::TooLarge { used, allowed });
                trace_rejection(&Span::none(), &error);
                reject(origin, number, &error.problem(), output);
                output.summary.bytes += bytes;
            }
        }
        output.summary.events += 1;
    }

    fn recover(&mut self, origin: &Origin, number: u64, output: &mut Output) {
        // Whatever state the runners were left in, nothing of it counts any more.
        self.dispatcher = dispatcher(&self.config, self.sharers);
        let message = "the host has panicked on this event, which is a defect of its own";
        reject(origin, number, &Problem::new(Stage::Run, codes::HOST_PANICKED, message), output);
        output.summary.events += 1;
    }
}

fn reject(origin: &Origin, line: u64, problem: &Problem, output: &mut Output) {
    *output.summary.rejects.entry(problem.code.name).or_default() += 1;
    Reject::new(origin.file.as_deref(), line, problem).push(&mut output.rejects);
}

fn push_number(line: &mut Vec<u8>, number: u64) {
    // A vector takes all that is written.
    let _ = write!(line, "{number}");
}
