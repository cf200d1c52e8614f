//! Threads that serve the chunks of a stream.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tracing::{Dispatch, dispatcher};

use super::outputs::{AbandonOnPanic, Output, Outputs, PART_BYTES};
use super::sink::Sink;
use super::source::{Origin, Source, StreamInput, StreamPosition, is_set};
use crate::json::{Chunk, Line};

/// The stack of a thread: that of a program's first one on most systems.
const STACK_BYTES: usize = 8 << 20;

/// What threads are held to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The most bytes that a line may have.
    pub(super) line: usize,
    /// How long what was read may still be served once the stream is to stop.
    pub(super) grace: Duration,
}

/// What serves lines, on one thread.
pub(super) trait Serve {
    /// Begins with another input.
    fn begin_input(&mut self);

    /// Serves a line.
    fn serve(&mut self, origin: &Origin, line: Line<'_>, output: &mut Output);

    /// Is told that serving a line has panicked. What it gave is taken back.
    fn recover(&mut self, origin: &Origin, number: u64, output: &mut Output);
}

/// Serves all that comes from `source`, on a thread for each of `servers`, of which this thread is one.
pub(super) fn run<S, I, R, K>(
    servers: &mut [S],
    source: Source<I, R>,
    bounds: Bounds,
    outputs: &Outputs<'_, '_, K>,
) -> Source<I, R>
where
    S: Serve + Send,
    I: Iterator<Item = StreamInput<R>> + Send,
    R: Read + Send,
    K: Sink,
{
    let source = Mutex::new(source);
    // Who listens to this thread alone hears of what the others do as well.
    let listener = dispatcher::get_default(Dispatch::clone);
    if let Some((own, others)) = servers.split_first_mut() {
        thread::scope(|scope| {
            let mut threads = Vec::with_capacity(others.len());
            for server in others {
                let builder = thread::Builder::new().stack_size(STACK_BYTES);
                let builder = builder.name("retort-stream".to_owned());
                let work = || {
                    dispatcher::with_default(&listener, || work(server, &source, bounds, outputs));
                };
                match builder.spawn_scoped(scope, work) {
                    Ok(thread) => threads.push(thread),
                    // The system has no more to give: fewer do the same.
                    Err(_) => break,
                }
            }
            work(own, &source, bounds, outputs);
            for thread in threads {
                if let Err(panic) = thread.join() {
                    resume_unwind(panic);
                }
            }
        });
    }
    source.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Takes chunks and serves them, one after the other.
fn work<S, I, R, K>(
    server: &mut S,
    source: &Mutex<Source<I, R>>,
    bounds: Bounds,
    outputs: &Outputs<'_, '_, K>,
) where
    S: Serve,
    I: Iterator<Item = StreamInput<R>>,
    R: Read,
    K: Sink,
{
    let _abandon = AbandonOnPanic(outputs);
    let Some(mut maker) = outputs.maker() else { return };
    let mut chunk = Chunk::default();
    let mut output = Output::default();
    let mut last: Option<Arc<Origin>> = None;
    let mut stopped: Option<Instant> = None;
    loop {
        // A reader that has panicked on another thread gives nothing any more.
        let Ok(mut guard) = source.lock() else { return };
        let Some(task) = guard.take(&mut chunk) else { return };
        let chunk_bytes = guard.chunk_bytes();
        let stop = guard.stop();
        drop(guard);
        if !last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &task.origin)) {
            server.begin_input();
            last = Some(Arc::clone(&task.origin));
        }
        let mut cursor = chunk.cursor();
        let mut left = None;
        loop {
            let at = chunk.position(&cursor);
            let Some(place) = chunk.next_place(&mut cursor, bounds.line) else { break };
            if is_set(stop.as_ref()) {
                let since = *stopped.get_or_insert_with(Instant::now);
                if since.elapsed() > bounds.grace {
                    left = Some(StreamPosition { at, ..task.end });
                    break;
                }
            }
            serve(server, &task.origin, chunk.line(&cursor, place), &mut output);
            if output.bytes() > PART_BYTES
                && outputs.part(task.index, &mut maker, &mut output).is_err()
            {
                return;
            }
        }
        chunk.trim(chunk_bytes);
        if let Some(at) = left {
            return outputs.cut(task.index, &mut maker, &mut output, at);
        }
        if outputs.finish(task.index, &mut maker, &mut output, task.end).is_err() {
            return;
        }
    }
}

/// Serves one line. A panic, which is a defect of ours, costs that line alone.
fn serve<S: Serve>(server: &mut S, origin: &Origin, line: Line<'_>, output: &mut Output) {
    let (out, rejects) = (output.out.len(), output.rejects.len());
    let served = catch_unwind(AssertUnwindSafe(|| server.serve(origin, line, output)));
    if served.is_err() {
        output.out.truncate(out);
        output.rejects.truncate(rejects);
        let (Line::Whole { number, .. } | Line::TooLong { number, .. }) = line;
        server.recover(origin, number, output);
    }
}

#[cfg(test)]
mod tests;
