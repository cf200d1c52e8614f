//! What threads have made of chunks, written in the order of the chunks.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::error::StreamError;
use super::sink::{Make, Sink, Taken, WholeLines};
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

    fn lines(&self) -> WholeLines<'_> {
        WholeLines { results: &self.out, rejects: &self.rejects }
    }

    fn clear(&mut self) {
        self.out.clear();
        self.rejects.clear();
        self.summary = Summary::default();
    }
}

/// What a sink's threads make.
type Made<S> = <<S as Sink>::Maker as Make>::Made;

/// An output with what was made of it.
struct Finished<S: Sink> {
    output: Output,
    made: Made<S>,
    end: StreamPosition,
    /// How much of what may be held it takes.
    bytes: usize,
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

/// The sink, with all that is told of it. One thread has it at a time.
pub(super) struct Writers<'w, 'o, S> {
    pub(super) sink: &'w mut S,
    pub(super) summary: &'w mut Summary,
    pub(super) observer: Option<&'w mut Observer<'o>>,
    taken: Taken,
}

impl<'w, 'o, S: Sink> Writers<'w, 'o, S> {
    pub(super) fn new(
        sink: &'w mut S,
        summary: &'w mut Summary,
        observer: Option<&'w mut Observer<'o>>,
    ) -> Self {
        Self { sink, summary, observer, taken: Taken::default() }
    }

    /// `end` is where the chunk ends, if it is done with this.
    fn write(
        &mut self,
        output: &Output,
        made: &mut Made<S>,
        end: Option<StreamPosition>,
        is_ordered: bool,
    ) -> Result<(), StreamError> {
        let taken = self.sink.take(output.lines(), made)?;
        self.taken.out_bytes += taken.out_bytes;
        self.taken.rejects_bytes += taken.rejects_bytes;
        self.summary.add(&output.summary);
        if let (Some(end), Some(observer)) = (end, &mut self.observer) {
            observer(&Progress {
                position: is_ordered.then_some(end),
                summary: self.summary,
                out_bytes: self.taken.out_bytes,
                rejects_bytes: self.taken.rejects_bytes,
            });
        }
        Ok(())
    }
}

/// Takes outputs from threads, and has the thread write whose turn it is. What comes before its turn is held, as far as memory is
/// allowed for it; beyond that, threads wait.
pub(super) struct Outputs<'w, 'o, S: Sink> {
    state: Mutex<State<'w, 'o, S>>,
    changed: Condvar,
    is_ordered: bool,
    /// The most chunks, and the most bytes, that are held.
    max_held: usize,
    max_held_bytes: usize,
}

struct State<'w, 'o, S: Sink> {
    /// There, unless a thread is writing.
    writers: Option<Writers<'w, 'o, S>>,
    /// The chunk whose turn it is.
    turn: u64,
    /// What waits for its turn, each of it a chunk's whole rest.
    held: BTreeMap<u64, Finished<S>>,
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

impl<'w, 'o, S: Sink> Outputs<'w, 'o, S> {
    /// For the outputs of this many threads.
    pub(super) fn new(writers: Writers<'w, 'o, S>, threads: usize, is_ordered: bool) -> Self {
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

    /// What a thread makes of its outputs with.
    pub(super) fn maker(&self) -> Option<S::Maker> {
        let mut state = self.lock();
        loop {
            match &state.writers {
                Some(writers) => return Some(writers.sink.maker()),
                None if !state.is_open() => return None,
                None => state = self.wait(state),
            }
        }
    }

    /// Ends it for what couldn't be made of an output.
    fn made(&self, maker: &mut S::Maker, output: &mut Output) -> Result<Made<S>, Closed> {
        let Output { out, rejects, summary } = output;
        let lines = WholeLines { results: out, rejects };
        maker.make(lines, summary).map_err(|error| {
            let mut state = self.lock();
            if state.is_open() {
                state.ending = Ending::Failed(error);
            }
            drop(state);
            self.changed.notify_all();
            Closed
        })
    }

    /// Writes a part of what a chunk came to, as soon as its turn has come. Leaves `output` empty.
    pub(super) fn part(
        &self,
        chunk: u64,
        maker: &mut S::Maker,
        output: &mut Output,
    ) -> Result<(), Closed> {
        let mut made = self.made(maker, output)?;
        self.write(self.wait_for_turn(chunk), output, &mut made, Step::Part)
    }

    /// Writes what a chunk came to up to `end`, where it was left, as soon as its turn has come. It is the last one: what comes of
    /// later chunks is not written, unless they are written in any order.
    pub(super) fn cut(
        &self,
        chunk: u64,
        maker: &mut S::Maker,
        output: &mut Output,
        end: StreamPosition,
    ) {
        // Where nothing can be written any more, that is why the stream ends.
        let Ok(mut made) = self.made(maker, output) else { return };
        let _ = self.write(self.wait_for_turn(chunk), output, &mut made, Step::Cut(end));
    }

    fn wait_for_turn(&self, chunk: u64) -> MutexGuard<'_, State<'w, 'o, S>> {
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
        maker: &mut S::Maker,
        output: &mut Output,
        end: StreamPosition,
    ) -> Result<(), Closed> {
        let mut made = self.made(maker, output)?;
        let mut state = self.lock();
        loop {
            if !state.is_open() || self.is_turn(&state, chunk) {
                return self.write(state, output, &mut made, Step::Whole(end));
            }
            let bytes = output.bytes().saturating_add(S::Maker::bytes(&made));
            let held_bytes = state.held_bytes.saturating_add(bytes);
            if state.held.len() < self.max_held && held_bytes <= self.max_held_bytes {
                let spare = state.spare.pop().unwrap_or_default();
                let output = std::mem::replace(output, spare);
                state.held.insert(chunk, Finished { output, made, end, bytes });
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

    fn lock(&self) -> MutexGuard<'_, State<'w, 'o, S>> {
        // Nothing panics while the state is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'g>(
        &self,
        state: MutexGuard<'g, State<'w, 'o, S>>,
    ) -> MutexGuard<'g, State<'w, 'o, S>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a chunk's output may be written by who has it.
    fn is_turn(&self, state: &State<'w, 'o, S>, chunk: u64) -> bool {
        state.writers.is_some() && (state.turn == chunk || !self.is_ordered)
    }

    /// Writes an output whose turn it is, and what was held for the turns after it.
    fn write<'g>(
        &'g self,
        mut state: MutexGuard<'g, State<'w, 'o, S>>,
        output: &mut Output,
        made: &mut Made<S>,
        step: Step,
    ) -> Result<(), Closed> {
        let (true, Some(mut writers)) = (state.is_open(), state.writers.take()) else {
            return Err(Closed);
        };
        drop(state);
        let mut written = writers.write(output, made, step.end(), self.is_ordered);
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
            && let Some(Finished { output: mut next, mut made, end, .. }) =
                self.next_held(&mut state)
        {
            drop(state);
            // Who waits for room has it now.
            self.changed.notify_all();
            written = writers.write(&next, &mut made, Some(end), self.is_ordered);
            drop(made);
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
    fn next_held(&self, state: &mut State<'w, 'o, S>) -> Option<Finished<S>> {
        let next = match (state.is_open(), self.is_ordered) {
            (false, _) => None,
            (true, true) => {
                let turn = state.turn;
                state.held.remove(&turn)
            }
            (true, false) => state.held.pop_first().map(|(_, held)| held),
        }?;
        state.held_bytes -= next.bytes;
        Some(next)
    }
}

impl<S: Sink> State<'_, '_, S> {
    fn is_open(&self) -> bool {
        matches!(self.ending, Ending::Open)
    }
}

/// Keeps other threads from waiting for one that has panicked.
pub(super) struct AbandonOnPanic<'a, 'w, 'o, S: Sink>(pub(super) &'a Outputs<'w, 'o, S>);

impl<S: Sink> Drop for AbandonOnPanic<'_, '_, '_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon();
        }
    }
}
