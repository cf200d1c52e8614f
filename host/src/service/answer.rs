//! The answer to a request's events, as they are served.

use std::collections::VecDeque;
use std::future::ready;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesOrdered;
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use super::body::Pieces;
use super::config::Limits;
use super::cut::{CutLine, Cutter};
use super::line::{Broken, Counts, LastLine};
use super::state::{Phase, State, reached};
use crate::runtime::{Answer, ServeError, TenantHandle};

/// Bytes of lines that are sent at once, where more are ready.
const SENT_BYTES: usize = 16 << 10;

/// Bytes of events of a request that are served at one time or wait for that, unless one has more.
const IN_FLIGHT_BYTES: usize = 1 << 20;

/// Parts of an answer that wait for the connection.
const PARTS: usize = 4;

/// Where parts of an answer go.
pub(super) type Parts = mpsc::Sender<io::Result<Bytes>>;

/// A channel for the parts of an answer.
pub(super) fn parts() -> (Parts, mpsc::Receiver<io::Result<Bytes>>) {
    mpsc::channel(PARTS)
}

/// An event that is served, or waits for that.
struct Served {
    number: u64,
    bytes: usize,
    answer: Result<Answer, ServeError>,
}

type Serving = Pin<Box<dyn Future<Output = Served> + Send>>;

/// Whether there is more to be read of a request.
enum Reading {
    Open,
    Ended,
    Broken(Broken),
}

/// Serves the events of a request.
pub(super) struct Answering {
    state: Arc<State>,
    tenant: TenantHandle,
    limits: Limits,
    pieces: Pieces,
    cutter: Cutter,
    reading: Reading,
    /// Bytes that were read, and those of them that aren't an event's.
    read: u64,
    spare: u64,
    /// What was cut and isn't submitted.
    lines: VecDeque<CutLine>,
    in_flight: FuturesOrdered<Serving>,
    in_flight_bytes: usize,
    counts: Counts,
    /// The last line that is answered.
    answered: u64,
    out: Vec<u8>,
    parts: Parts,
}

/// That the client takes no more.
struct Gone;

impl Answering {
    pub(super) fn new(
        state: Arc<State>,
        tenant: TenantHandle,
        limits: Limits,
        pieces: Pieces,
        parts: Parts,
    ) -> Self {
        let cutter = Cutter::new(tenant.max_event_bytes());
        Self {
            state,
            tenant,
            limits,
            pieces,
            cutter,
            reading: Reading::Open,
            read: 0,
            spare: 0,
            lines: VecDeque::new(),
            in_flight: FuturesOrdered::new(),
            in_flight_bytes: 0,
            counts: Counts::default(),
            answered: 0,
            out: Vec::new(),
            parts,
        }
    }

    /// Answers all of it. Where the client is gone, what hasn't begun isn't served.
    pub(super) async fn run(mut self) {
        let served = self.serve().await;
        let code = match (&served, &self.reading) {
            (Err(Gone), _) => "client_gone",
            (Ok(()), Reading::Broken(broken)) => broken.code.name,
            (Ok(()), _) => "complete",
        };
        self.state.meters.answered(code);
        tracing::debug!(tenant = self.tenant.name(), events = self.counts.events, code, "answered");
    }

    async fn serve(&mut self) -> Result<(), Gone> {
        let mut phases = self.state.phases();
        loop {
            self.submit();
            let is_reading = matches!(self.reading, Reading::Open) && self.has_room();
            if !is_reading && self.in_flight.is_empty() {
                break;
            }
            // What was read is paid for before more is.
            let owes = is_reading.then(|| self.tenant.owes()).flatten();
            let is_reading = is_reading && owes.is_none();
            let is_waiting = is_reading && self.in_flight.is_empty();
            tokio::select! {
                biased;
                () = self.parts.closed() => return Err(Gone),
                Some(served) = self.in_flight.next() => {
                    self.note(served);
                    if self.out.len() >= SENT_BYTES {
                        self.send().await?;
                    }
                }
                piece = self.pieces.next(), if is_reading => {
                    self.take(piece);
                    // Pieces may come as fast as they are read: between two of them it is the others' turn.
                    yield_now().await;
                }
                // Nothing is ready: what there is is sent.
                () = ready(()), if !self.out.is_empty() => self.send().await?,
                () = sleep(owes.unwrap_or_default()), if owes.is_some() => {}
                () = reached(&mut phases, Phase::Stopping), if is_reading || owes.is_some() => {
                    self.reading = Reading::Broken(Broken::ending(self.cutter.ended()));
                }
                () = sleep(self.limits.idle()), if is_waiting => {
                    let broken = Broken::too_slow(self.limits.idle_seconds.get(), self.cutter.ended());
                    self.reading = Reading::Broken(broken);
                }
            }
        }
        let last = match &self.reading {
            Reading::Broken(broken) => LastLine::Error(broken),
            _ => LastLine::Summary(&self.counts),
        };
        last.push(&mut self.out);
        self.send().await
    }

    fn has_room(&self) -> bool {
        self.in_flight.len() < self.limits.events_in_flight.get() as usize
            && self.in_flight_bytes < IN_FLIGHT_BYTES
    }

    /// Submits what was cut, as far as there is room.
    fn submit(&mut self) {
        while self.has_room()
            && let Some(line) = self.lines.pop_front()
        {
            let tenant = self.tenant.clone();
            let serving: Serving = match line {
                CutLine::Whole { number, text } => {
                    let bytes = text.len();
                    self.in_flight_bytes += bytes;
                    Box::pin(
                        async move { Served { number, bytes, answer: tenant.submit(text).await } },
                    )
                }
                CutLine::TooLong { number, bytes } => {
                    let answer = Err(tenant.too_large(bytes));
                    Box::pin(ready(Served { number, bytes: 0, answer }))
                }
            };
            self.in_flight.push_back(serving);
        }
    }

    fn take(&mut self, piece: Option<Result<Bytes, super::body::BodyError>>) {
        match piece {
            Some(Ok(piece)) => {
                let begun = Instant::now();
                self.cutter.push(&piece, &mut self.lines);
                self.read += piece.len() as u64;
                let spare = self.read - self.cutter.kept();
                self.tenant.pay_spare(spare - self.spare, begun.elapsed());
                self.spare = spare;
            }
            Some(Err(error)) => {
                self.reading = Reading::Broken(Broken::new(&error, self.cutter.ended()));
            }
            None => {
                self.lines.extend(self.cutter.finish());
                self.reading = Reading::Ended;
            }
        }
    }

    fn note(&mut self, served: Served) {
        let Served { number, bytes, answer } = served;
        self.in_flight_bytes -= bytes;
        match answer {
            // It wasn't begun, and what follows isn't to be answered before it.
            Err(error) if error.is_refusal() => {
                self.reading = Reading::Broken(Broken::new(&error, self.answered));
                self.lines.clear();
                self.in_flight = FuturesOrdered::new();
                self.in_flight_bytes = 0;
            }
            answer => {
                self.counts.push(&mut self.out, number, &answer);
                self.answered = number;
            }
        }
    }

    /// Sends what is there. A client that doesn't read for long is given up.
    async fn send(&mut self) -> Result<(), Gone> {
        let part = Bytes::from(std::mem::take(&mut self.out));
        match timeout(self.limits.idle(), self.parts.send(Ok(part))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use std::cell::Cell;
    use std::rc::Rc;

    use axum::body::Body;
    use futures_util::stream::iter;
    use tokio::runtime::Builder;
    use tokio::sync::Semaphore;
    use tokio::task::{LocalSet, spawn_local};

    use super::*;
    use crate::bundle::pipeline::Pipeline;
    use crate::service::packing::Packing;
    use crate::service::{DEFAULT_LISTEN, Source};

    #[test]
    fn others_have_their_turn_between_the_pieces_of_a_body() {
        const COUNT: usize = 100;
        let root = tempfile::tempdir().unwrap();
        let source = Source::Directory { bundles: root.path().to_owned(), listen: DEFAULT_LISTEN };
        let gates = Pipeline::builder().build().unwrap();
        let state = Arc::new(State::new(source, gates).unwrap());
        let tenant = state.host.tenant("default").unwrap();
        let blank = Bytes::from_static(&[b'\n'; 1_000]);
        let body = Body::from_stream(iter((0..COUNT).map(move |_| io::Result::Ok(blank.clone()))));
        let places = Arc::new(Semaphore::new(1));
        let pieces = Pieces::new(body, Packing::None, u64::MAX, &tenant, &places);
        let (give, mut taken) = parts();
        let limits = state.config().limits.clone();
        let answering = Answering::new(state, tenant, limits, pieces, give);
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        LocalSet::new().block_on(&runtime, async {
            let turns = Rc::new(Cell::new(0));
            let counted = Rc::clone(&turns);
            spawn_local(async move {
                loop {
                    counted.set(counted.get() + 1);
                    yield_now().await;
                }
            });
            answering.run().await;
            assert!(turns.get() >= COUNT, "{}", turns.get());
            let answer = taken.recv().await.unwrap().unwrap();
            let summary =
                r#"{"summary":{"events":0,"results":0,"empty":0,"unrouted":0,"rejected":0}}"#;
            assert_eq!(answer.trim_ascii_end(), summary.as_bytes());
        });
    }
}
