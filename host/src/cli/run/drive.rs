//! A stream of a run, from its first event to its last.

use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use retort::runtime::{Progress, Sink, Stream, StreamEnd, StreamError, StreamInput, Summary};

use super::RunArgs;
use super::checkpoint::Checkpoint;
use super::inputs::EventReader;
use super::progress::Bar;
use super::stop::Stop;
use crate::cli::error::CliError;

/// What a stream is driven with.
pub(super) struct Drive<'a> {
    pub(super) args: &'a RunArgs,
    pub(super) bar: Option<Bar>,
    pub(super) stop: &'a Stop,
    /// What earlier runs of it came to.
    pub(super) before: &'a Summary,
    pub(super) checkpoint: Option<Checkpoint>,
}

/// What a stream came to.
pub(super) struct Driven {
    pub(super) ended: Result<StreamEnd, StreamError>,
    /// Whether what was written could be ended.
    pub(super) is_ended: Result<(), CliError>,
    /// Whether how far it is could be written down.
    pub(super) kept: Result<(), CliError>,
    pub(super) summary: Summary,
    pub(super) elapsed: Duration,
}

impl Drive<'_> {
    /// Takes all events through a stream, and has `end` end what it wrote.
    pub(super) fn through<S: Sink>(
        self,
        stream: Stream<'_, S>,
        readers: Vec<StreamInput<EventReader>>,
        end: impl FnOnce(&mut S) -> Result<(), CliError>,
    ) -> Driven {
        let Self { args, bar, stop, before, checkpoint } = self;
        let threads = args.threads.or_else(|| available_parallelism().ok());
        let kept = Arc::new(Mutex::new(Kept { checkpoint, failure: None }));
        let observer = {
            let (kept, bar, flag) = (Arc::clone(&kept), bar.clone(), stop.flag());
            move |progress: &Progress<'_>| {
                bar.iter().for_each(|bar| bar.show(progress));
                if kept.lock().unwrap_or_else(PoisonError::into_inner).note(progress).is_err() {
                    flag.store(true, Ordering::SeqCst);
                }
            }
        };
        let mut stream = stream
            .with_threads(threads.unwrap_or(NonZeroUsize::MIN))
            .with_stop(stop.flag())
            .with_summary(before.clone())
            .with_observer(observer);
        if args.unordered {
            stream = stream.unordered();
        }
        if args.no_graph_check {
            stream = stream.without_graph_check();
        } else if args.allow_external_endpoints {
            stream = stream.allowing_external_endpoints();
        }
        let start = Instant::now();
        let ended = stream.run_all(readers);
        let summary = stream.summary().clone();
        // What was written before something failed is whole as well.
        let is_ended = end(stream.sink());
        let elapsed = start.elapsed();
        drop(stream);
        bar.iter().for_each(Bar::clear);
        let is_done = matches!(ended, Ok(StreamEnd::Complete));
        let kept = kept.lock().unwrap_or_else(PoisonError::into_inner).end(is_done);
        Driven { ended, is_ended, kept, summary, elapsed }
    }
}

/// What is kept of a run on disk, and why it can't be.
struct Kept {
    checkpoint: Option<Checkpoint>,
    failure: Option<CliError>,
}

impl Kept {
    fn note(&mut self, progress: &Progress<'_>) -> Result<(), ()> {
        let Some(checkpoint) = &mut self.checkpoint else { return Ok(()) };
        checkpoint.note(progress).map_err(|failure| self.failure = Some(failure))
    }

    fn end(&mut self, is_done: bool) -> Result<(), CliError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.checkpoint.as_mut().map_or(Ok(()), |checkpoint| checkpoint.end(is_done))
    }
}
