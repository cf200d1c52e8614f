//! What threads have made of chunks, written in the order of the chunks.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::error::StreamError;
use super::source::StreamPosition;
use super::summary::Summary;

/// Bytes of results and rejects beyond which a chunk's are written in parts.
pub(super) const PART_BYTES: usize = 4 << 20;

/// What lines came to that isn't written yet: whole lines.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) out: Vec<u8>,
    pub(super) rejects: Vec<u8>,
    pub(super) summary: Summary,
}

impl Output {
    pub(super) fn bytes(&self) -> usize {
        self.out.len() + self.rejects.len()
    }

    fn clear(&mut self) {
        self.out.clear();
        self.rejects.clear();
        self.summary = Summary::default();
    }
}

/// How far a stream is, as far as it is written and flushed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// Up to which line everything is done. `None` where results are written in any order.
    pub position: Option<StreamPosition>,
    /// What that came to, in all runs of the stream.
    pub summary: &'a Summary,
    /// Bytes of results that this run of the stream has written.
    pub out_bytes: u64,
    /// Bytes of rejected events that it has written.
    pub rejects_bytes: u64,
}

/// Who is told of progress.
pub(super) type Observer<'o> = Box<dyn FnMut(&Progress<'_>) + Send + 'o>;

/// The writers. One thread has them at a time.
pub(super) struct Writers<'w, 'o, O, J> {
    pub(super) out: &'w mut O,
    pub(super) rejects: &'w mut J,
    pub(super) summary: &'w mut Summary,
    pub(super) observer: Option<&'w mut Observer<'o>>,
    out_bytes: u64,
    rejects_bytes: u64,
}

impl<'w, 'o, O: Write, J: Write> Writers<'w, 'o, O, J> {
    pub(super) fn new(
        out: &'w mut O,
        rejects: &'w mut J,
        summary: &'w mut Summary,
        observer: Option<&'w mut Observer<'o>>,
    ) -> Self {
        Self { out, rejects, summary, observer, out_bytes: 0, rejects_bytes: 0 }
    }

    /// `end` is where the chunk ends, if it is done with this.
    fn write(
        &mut self,
        output: &Output,
        end: Option<StreamPosition>,
        is_ordered: bool,
    ) -> Result<(), StreamError> {
        write(self.out, &output.out).map_err(StreamError::Results)?;
        write(self.rejects, &output.rejects).map_err(StreamError::Rejects)?;
        self.out_bytes += output.out.len() as u64;
        self.rejects_bytes += output.rejects.len() as u64;
        self.summary.add(&output.summary);
        if let (Some(end), Some(observer)) = (end, &mut self.observer) {
            observer(&Progress {
                position: is_ordered.then_some(end),
                summary: self.summary,
                out_bytes: self.out_bytes,
                rejects_bytes: self.rejects_bytes,
            });
        }
        Ok(())
    }
}

fn write(writer: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    writer.write_all(bytes)?;
    writer.flush()
}

/// Takes outputs from threads, and has the thread write whose turn it is. What comes before its turn is held, as far as memory is
/// allowed for it; beyond that, threads wait.
pub(super) struct Outputs<'w, 'o, O, J> {
    state: Mutex<State<'w, 'o, O, J>>,
    changed: Condvar,
    is_ordered: bool,
    /// The most chunks, and the most bytes, that are held.
    max_held: usize,
    max_held_bytes: usize,
}

struct State<'w, 'o, O, J> {
    /// There, unless a thread is writing.
    writers: Option<Writers<'w, 'o, O, J>>,
    /// The chunk whose turn it is.
    turn: u64,
    /// What waits for its turn, each of it a chunk's whole rest.
    held: BTreeMap<u64, (Output, StreamPosition)>,
    held_bytes: usize,
    /// Outputs to be filled again.
    spare: Vec<Output>,
    ending: Ending,
    /// Whether a chunk was left in the middle.
    is_cut: bool,
}

enum Ending {
    /// There is none in sight.
    Open,
    Failed(StreamError),
    /// A chunk was left in the middle, so that nothing may follow on it.
    Cut,
    /// A thread has panicked.
    Abandoned,
}

/// What an output is of its chunk.
#[derive(Clone, Copy)]
enum Step {
    Part,
    /// All of it, or the rest.
    Whole(StreamPosition),
    /// The rest, up to where the chunk was left.
    Cut(StreamPosition),
}

impl Step {
    /// Up to where all is done with it.
    fn end(self) -> Option<StreamPosition> {
        match self {
            Self::Part => None,
            Self::Whole(end) | Self::Cut(end) => Some(end),
        }
    }
}

/// That nothing can be written any more.
#[derive(Debug)]
pub(super) struct Closed;

impl<'w, 'o, O: Write, J: Write> Outputs<'w, 'o, O, J> {
    /// For the outputs of this many threads.
    pub(super) fn new(writers: Writers<'w, 'o, O, J>, threads: usize, is_ordered: bool) -> Self {
        let state = State {
            writers: Some(writers),
            turn: 0,
            held: BTreeMap::new(),
            held_bytes: 0,
            spare: Vec::new(),
            ending: Ending::Open,
            is_cut: false,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            is_ordered,
            max_held: threads.saturating_mul(2),
            max_held_bytes: threads.saturating_mul(PART_BYTES),
        }
    }

    /// Writes a part of what a chunk came to, as soon as its turn has come. Leaves `output` empty.
    pub(super) fn part(&self, chunk: u64, output: &mut Output) -> Result<(), Closed> {
        self.write(self.wait_for_turn(chunk), output, Step::Part)
    }

    /// Writes what a chunk came to up to `end`, where it was left, as soon as its turn has come. It is the last one: what comes of
    /// later chunks is not written, unless they are written in any order.
    pub(super) fn cut(&self, chunk: u64, output: &mut Output, end: StreamPosition) {
        // Where nothing can be written any more, that is why the stream ends.
        let _ = self.write(self.wait_for_turn(chunk), output, Step::Cut(end));
    }

    fn wait_for_turn(&self, chunk: u64) -> MutexGuard<'_, State<'w, 'o, O, J>> {
        let mut state = self.lock();
        while state.is_open() && !self.is_turn(&state, chunk) {
            state = self.wait(state);
        }
        state
    }

    /// Takes the rest of what a chunk came to, which ends at `end`; it is written at once or by another thread. Leaves `output`
    /// empty.
    pub(super) fn finish(
        &self,
        chunk: u64,
        output: &mut Output,
        end: StreamPosition,
    ) -> Result<(), Closed> {
        let mut state = self.lock();
        loop {
            if !state.is_open() || self.is_turn(&state, chunk) {
                return self.write(state, output, Step::Whole(end));
            }
            let held_bytes = state.held_bytes.saturating_add(output.bytes());
            if state.held.len() < self.max_held && held_bytes <= self.max_held_bytes {
                let spare = state.spare.pop().unwrap_or_default();
                state.held.insert(chunk, (std::mem::replace(output, spare), end));
                state.held_bytes = held_bytes;
                return Ok(());
            }
            state = self.wait(state);
        }
    }

    /// Ends it for all threads.
    fn abandon(&self) {
        let mut state = self.lock();
        if state.is_open() {
            state.ending = Ending::Abandoned;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Whether everything that was served is written.
    pub(super) fn into_whole(self) -> Result<bool, StreamError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.ending {
            Ending::Failed(error) => Err(error),
            Ending::Open | Ending::Cut | Ending::Abandoned => Ok(!state.is_cut),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<'w, 'o, O, J>> {
        // Nothing panics while the state is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'g>(
        &self,
        state: MutexGuard<'g, State<'w, 'o, O, J>>,
    ) -> MutexGuard<'g, State<'w, 'o, O, J>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a chunk's output may be written by who has it.
    fn is_turn(&self, state: &State<'w, 'o, O, J>, chunk: u64) -> bool {
        state.writers.is_some() && (state.turn == chunk || !self.is_ordered)
    }

    /// Writes an output whose turn it is, and what was held for the turns after it.
    fn write<'g>(
        &'g self,
        mut state: MutexGuard<'g, State<'w, 'o, O, J>>,
        output: &mut Output,
        step: Step,
    ) -> Result<(), Closed> {
        let (true, Some(mut writers)) = (state.is_open(), state.writers.take()) else {
            return Err(Closed);
        };
        drop(state);
        let mut written = writers.write(output, step.end(), self.is_ordered);
        output.clear();
        state = self.lock();
        match step {
            Step::Part => {}
            Step::Whole(_) => state.turn += 1,
            Step::Cut(_) => {
                state.is_cut = true;
                if self.is_ordered {
                    state.ending = Ending::Cut;
                }
            }
        }
        while written.is_ok()
            && let Some((mut next, end)) = self.next_held(&mut state)
        {
            drop(state);
            // Who waits for room has it now.
            self.changed.notify_all();
            written = writers.write(&next, Some(end), self.is_ordered);
            next.clear();
            state = self.lock();
            state.turn += 1;
            state.spare.push(next);
        }
        state.writers = Some(writers);
        let closed = written.map_err(|error| {
            state.ending = Ending::Failed(error);
            Closed
        });
        drop(state);
        self.changed.notify_all();
        closed
    }

    /// What is to be written next of what is held.
    fn next_held(&self, state: &mut State<'w, 'o, O, J>) -> Option<(Output, StreamPosition)> {
        let next = match (state.is_open(), self.is_ordered) {
            (false, _) => None,
            (true, true) => {
                let turn = state.turn;
                state.held.remove(&turn)
            }
            (true, false) => state.held.pop_first().map(|(_, held)| held),
        }?;
        state.held_bytes -= next.0.bytes();
        Some(next)
    }
}

impl<O, J> State<'_, '_, O, J> {
    fn is_open(&self) -> bool {
        matches!(self.ending, Ending::Open)
    }
}

/// Keeps other threads from waiting for one that has panicked.
pub(super) struct AbandonOnPanic<'a, 'w, 'o, O: Write, J: Write>(
    pub(super) &'a Outputs<'w, 'o, O, J>,
);

impl<O: Write, J: Write> Drop for AbandonOnPanic<'_, '_, '_, O, J> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon();
        }
    }
}
