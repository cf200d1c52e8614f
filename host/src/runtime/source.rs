//! Where a stream's chunks come from: one input after the other.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::StreamError;
use crate::json::{Chunk, Chunks, LinePosition};

/// One input of a stream: events, one a line.
#[derive(Clone, Debug)]
pub struct StreamInput<R> {
    reader: R,
    name: Option<String>,
    at: LinePosition,
}

impl<R> StreamInput<R> {
    /// What a reader gives.
    pub fn new(reader: R) -> Self {
        Self { reader, name: None, at: LinePosition::default() }
    }

    /// The same by a name, which what is written of its events carries as `file`.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The same where the reader begins in the middle, between two lines: numbers of lines count on from there.
    #[must_use]
    pub fn starting_at(mut self, at: LinePosition) -> Self {
        self.at = at;
        self
    }
}

/// How far a stream is: all lines before are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamPosition {
    /// Which of the inputs, from 0.
    pub input: usize,
    /// Where in it.
    pub at: LinePosition,
}

/// What is written of all events of an input.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) file: Option<String>,
    /// How the line of a result begins, up to the number.
    pub(super) head: String,
}

impl Origin {
    fn new(file: Option<String>) -> Self {
        let head = match &file {
            Some(file) => {
                format!("{{\"file\":{},\"line\":", serde_json::Value::from(file.as_str()))
            }
            None => "{\"line\":".to_owned(),
        };
        Self { file, head }
    }
}

/// A chunk to be served.
#[derive(Clone, Debug)]
pub(super) struct Task {
    /// Which one of the stream, from 0.
    pub(super) index: u64,
    pub(super) origin: Arc<Origin>,
    /// Where it ends.
    pub(super) end: StreamPosition,
}

/// Hands out chunks.
#[derive(Debug)]
pub(super) struct Source<I, R> {
    inputs: I,
    current: Option<(Arc<Origin>, Chunks<R>)>,
    /// Which input the current one is.
    input: usize,
    chunks: u64,
    /// The most bytes that a line may have.
    limit: usize,
    chunk_bytes: usize,
    stop: Option<Arc<AtomicBool>>,
    state: SourceState,
}

/// Whether the stream is to stop.
pub(super) fn is_set(stop: Option<&Arc<AtomicBool>>) -> bool {
    stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
}

/// Whether there is more to come.
#[derive(Debug)]
enum SourceState {
    Open,
    Ended,
    Stopped,
    Failed(StreamError),
}

impl<R: Read, I: Iterator<Item = StreamInput<R>>> Source<I, R> {
    pub(super) fn new(
        inputs: I,
        limit: usize,
        chunk_bytes: usize,
        stop: Option<Arc<AtomicBool>>,
    ) -> Self {
        let state = SourceState::Open;
        Self { inputs, current: None, input: 0, chunks: 0, limit, chunk_bytes, stop, state }
    }

    /// Reads the next chunk. `None` when there is none, or none is to be read any more.
    pub(super) fn take(&mut self, chunk: &mut Chunk) -> Option<Task> {
        while matches!(self.state, SourceState::Open) {
            if is_set(self.stop.as_ref()) {
                self.state = SourceState::Stopped;
                break;
            }
            let Some((origin, chunks)) = &mut self.current else {
                match self.inputs.next() {
                    None => self.state = SourceState::Ended,
                    Some(StreamInput { reader, name, at }) => {
                        let chunks = Chunks::new(reader, self.limit, self.chunk_bytes, at);
                        self.current = Some((Arc::new(Origin::new(name)), chunks));
                    }
                }
                continue;
            };
            match chunks.next(chunk) {
                Ok(true) => {
                    let index = self.chunks;
                    self.chunks += 1;
                    let end = StreamPosition { input: self.input, at: chunk.end() };
                    return Some(Task { index, origin: Arc::clone(origin), end });
                }
                Ok(false) => {
                    self.current = None;
                    self.input += 1;
                }
                // It is looked at again whether the stream is to stop: that may be why.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) if is_set(self.stop.as_ref()) => {}
                Err(source) => {
                    let (file, line) = (origin.file.clone(), chunks.position().line);
                    self.state = SourceState::Failed(StreamError::Read { file, line, source });
                }
            }
        }
        None
    }

    /// What is set when the stream is to stop.
    pub(super) fn stop(&self) -> Option<Arc<AtomicBool>> {
        self.stop.clone()
    }

    /// The most bytes that are read at once.
    pub(super) fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    /// Whether it came to the end of all inputs.
    pub(super) fn into_ended(self) -> Result<bool, StreamError> {
        match self.state {
            SourceState::Failed(error) => Err(error),
            SourceState::Ended => Ok(true),
            SourceState::Open | SourceState::Stopped => Ok(false),
        }
    }
}
