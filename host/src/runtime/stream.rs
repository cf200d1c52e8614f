//! Lines of JSON in, lines of JSON out.

use std::fmt;
use std::io::{Read, Write};
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::crew::{self, Bounds};
use super::error::StreamError;
use super::graph_check::GraphCheck;
use super::outputs::{Observer, Outputs, Progress, Writers};
use super::registry::Registry;
use super::serve::{LineServer, ServeConfig};
use super::sink::{LineWriters, Sink};
use super::source::{Source, StreamInput};
use super::summary::Summary;
use crate::json::CHUNK_BYTES;

/// Takes events from readers, one a line, and writes what their extractors give.
///
/// For an event that gives something, one line
/// `{"line": 1, "event_type": "..", "bundle": "<fingerprint>", "result": {..}}` goes to `out`; for an event that fails, one
/// line `{"line": 1, "code": "..", "message": ".."}` to `rejects`. Lines count from 1 in each input; where an input is
/// named, both kinds carry its name as `file`. What an extractor declines and what no bundle serves is counted only.
///
/// # The graph
/// Each result is held to the graph spec of its bundle. What is wrong with it is dropped: a property that is no key by itself; else its
/// node, with the edges of that, or its edge. What is left is written, its line has `dropped` after the result, which says what was
/// wrong, and spans that were claimed as handled are claimed in part. Where nothing is left, the event is a reject with the code of the
/// first thing that is wrong. Most results are known to fit by their form and the values in them; others are read for it.
///
/// # Threads
/// An input is cut at line ends into chunks, each of which one thread reads, serves and, when its turn has come, writes. With
/// [`with_threads`](Self::with_threads) several do so at one time, and what is written is the same to the byte, whatever their
/// number. What a chunk came to is held until it is its turn, within bounds; beyond them threads wait, so that neither a slow
/// writer nor a slow event makes memory grow. A chunk is never more than one read has brought, so that results of an input that
/// goes on, such as a pipe, are written as soon as its lines are there.
///
/// ```
/// use std::num::NonZeroUsize;
/// use retort::runtime::{Stream, StreamInput};
/// use retort::{Pipeline, Registry};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let bundles = tempfile::tempdir()?;
/// # let bundles = bundles.path();
/// let pipeline = Pipeline::builder().build()?;
/// let registry = Registry::open(bundles, &pipeline);
/// let (mut results, mut rejects) = (Vec::new(), Vec::new());
/// let mut stream = Stream::new(&registry, &mut results, &mut rejects)
///     .with_threads(NonZeroUsize::new(4).unwrap_or(NonZeroUsize::MIN));
/// let inputs = [("monday", "{\"event_type\":\"a\"}\n[]\n"), ("tuesday", "{}\n")];
/// stream.run_all(inputs.map(|(name, text)| StreamInput::new(text.as_bytes()).named(name)))?;
/// assert_eq!((stream.summary().events, stream.summary().rejected()), (3, 1));
/// drop(stream);
/// assert!(rejects.starts_with(br#"{"file":"monday","line":2,"code":"event_not_object","#));
/// # Ok(())
/// # }
/// ```
pub struct Stream<'r, S> {
    config: ServeConfig<'r>,
    /// One for each thread; made when they are first needed.
    servers: Vec<LineServer<'r>>,
    threads: NonZeroUsize,
    is_ordered: bool,
    chunk_bytes: NonZeroUsize,
    stop: Option<Arc<AtomicBool>>,
    observer: Option<Observer<'r>>,
    sink: S,
    summary: Summary,
}

/// How a stream came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// All inputs were read to their ends.
    Complete,
    /// It was asked to stop.
    Stopped,
}

/// How long what was read may still be served once the stream is to stop: events that each take up to their deadline would keep it
/// for minutes.
const GRACE: Duration = Duration::from_secs(5);

/// More are a slip, and cost memory before they do anything.
const MAX_THREADS: NonZeroUsize = NonZeroUsize::new(1_024).expect("not zero");

/// Bytes that are read at once where nothing is said.
const DEFAULT_CHUNK_BYTES: NonZeroUsize = NonZeroUsize::new(CHUNK_BYTES).expect("not zero");

impl<'r, O: Write + Send, J: Write + Send> Stream<'r, LineWriters<O, J>> {
    /// A stream through the bundles of `registry`, on the thread that calls it. Each writer gets what a chunk came to at once,
    /// and is flushed then.
    pub fn new(registry: &'r Registry, out: O, rejects: J) -> Self {
        Self::into_sink(registry, LineWriters { out, rejects })
    }
}

impl<'r, S: Sink> Stream<'r, S> {
    /// A stream whose lines go to a sink.
    pub fn into_sink(registry: &'r Registry, sink: S) -> Self {
        Self {
            config: ServeConfig::new(registry),
            servers: Vec::new(),
            threads: NonZeroUsize::MIN,
            is_ordered: true,
            chunk_bytes: DEFAULT_CHUNK_BYTES,
            stop: None,
            observer: None,
            sink,
            summary: Summary::default(),
        }
    }

    /// The same stream on this many threads, the calling one among them: fewer where the instances of the bundles come from a pool
    /// that has fewer places, or where the system has no more to give; 1,024 at most.
    #[must_use]
    pub fn with_threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = threads.min(MAX_THREADS);
        self
    }

    /// The same stream, where what a chunk came to is written as soon as it is there. The lines are those that they are in order.
    #[must_use]
    pub fn unordered(mut self) -> Self {
        self.is_ordered = false;
        self
    }

    /// The same stream, reading at most this many bytes at once, which is what a chunk has unless a line of it is longer.
    #[must_use]
    pub fn with_chunk_bytes(mut self, bytes: NonZeroUsize) -> Self {
        self.chunk_bytes = bytes;
        self
    }

    /// The same stream, with a new batch after every `events` events, bad ones included, and not only with each input. It
    /// matters where a sandbox's instances may serve one batch each
    /// ([`Isolation::PerBatch`](crate::sandbox::Isolation::PerBatch)); the results are the same in any case. Each thread has
    /// instances and batches of its own.
    #[must_use]
    pub fn with_batches(mut self, events: NonZeroU64) -> Self {
        self.config.batch = Some(events);
        self
    }

    /// The same stream, whose results aren't held to the graph specs of their bundles.
    #[must_use]
    pub fn without_graph_check(mut self) -> Self {
        self.config.graph_check = None;
        self
    }

    /// The same stream, whose results are held to the graph specs of their bundles, and whose edges may lead to nodes of other events,
    /// also where the samples of their bundle were held to more.
    #[must_use]
    pub fn allowing_external_endpoints(mut self) -> Self {
        self.config.graph_check = Some(GraphCheck { allows_external_endpoints: true });
        self
    }

    /// The same stream, which reads nothing any more once `stop` is set: what was read is served and written, as far as five
    /// seconds allow, up to the end of a line. A reader that waits has to be woken; whatever error it returns then is taken for
    /// that.
    #[must_use]
    pub fn with_stop(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = Some(stop);
        self
    }

    /// The same stream, where `observer` is told of every chunk once what it came to is written and flushed, with nothing written in
    /// the meantime.
    #[must_use]
    pub fn with_observer(mut self, observer: impl FnMut(&Progress<'_>) + Send + 'r) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// The same stream, going on from where an earlier one has come to.
    #[must_use]
    pub fn with_summary(mut self, summary: Summary) -> Self {
        self.summary = summary;
        self
    }

    /// Takes all events of one input, which begins a batch. `file` names it in what is written.
    ///
    /// # Errors
    /// [`StreamError`], when the input or a writer fails; never for what an event is or does.
    pub fn run<R: Read + Send>(
        &mut self,
        input: R,
        file: Option<&str>,
    ) -> Result<StreamEnd, StreamError> {
        let input = StreamInput::new(input);
        let input = match file {
            Some(file) => input.named(file),
            None => input,
        };
        self.run_all([input])
    }

    /// Takes all events of several inputs, one after the other; threads go on with the next one while others are still at work on
    /// what came before. An input is asked for when the one before has come to its end, and begins a batch.
    ///
    /// # Errors
    /// As [`run`](Self::run). The inputs after the one that fails are not read.
    pub fn run_all<R, I>(&mut self, inputs: I) -> Result<StreamEnd, StreamError>
    where
        R: Read + Send,
        I: IntoIterator<Item = StreamInput<R>, IntoIter: Send>,
    {
        let registry = self.config.registry;
        let places = registry.pool_instances().and_then(NonZeroUsize::new);
        let threads = self.threads.min(places.unwrap_or(NonZeroUsize::MAX));
        if self.servers.len() != threads.get() {
            let server = || LineServer::new(self.config.clone(), threads);
            self.servers = std::iter::repeat_with(server).take(threads.get()).collect();
        }
        let limit = registry.max_event_bytes();
        let source =
            Source::new(inputs.into_iter(), limit, self.chunk_bytes.get(), self.stop.clone());
        let observer = self.observer.as_mut();
        let writers = Writers::new(&mut self.sink, &mut self.summary, observer);
        let outputs = Outputs::new(writers, threads.get(), self.is_ordered);
        let bounds = Bounds { line: limit, grace: GRACE };
        let source = crew::run(&mut self.servers, source, bounds, &outputs);
        let is_whole = outputs.into_whole()?;
        let is_complete = source.into_ended()? && is_whole;
        Ok(if is_complete { StreamEnd::Complete } else { StreamEnd::Stopped })
    }

    /// Where its lines go.
    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// What the stream came to so far.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }
}

impl<S> fmt::Debug for Stream<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { threads, is_ordered, chunk_bytes, summary, .. } = self;
        f.debug_struct("Stream")
            .field("threads", threads)
            .field("is_ordered", is_ordered)
            .field("chunk_bytes", chunk_bytes)
            .field("summary", summary)
            .finish_non_exhaustive()
    }
}
