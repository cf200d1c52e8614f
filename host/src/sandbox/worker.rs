//! An extractor on a thread of its own, for callers that must not be held up.

use tokio::sync::{mpsc, oneshot};

use super::{Extractor, ModuleLoadError, RunError, RunOutcome};
use crate::abi::result::ResultCounts;

/// How many events wait for a worker before its callers do.
const QUEUE: usize = 16;

/// Runs one extractor over events on a thread of its own. A guest may compute until its deadline; called on the thread of an
/// asynchronous runtime, it would hold up whatever else is to run there.
///
/// Events are served one after the other, in the order in which they come; for more at a time, make more workers of the same
/// extractor. Dropping a worker ends its thread as soon as the event that it works on is done, which nothing waits for.
///
/// # Example: an event in an asynchronous function
/// ```
/// # use retort::sandbox::{Extractor, OwnedRunOutcome, RunError, Worker};
/// async fn serve(worker: &Worker, event: &str) -> Result<OwnedRunOutcome, RunError> {
///     worker.run(event.as_bytes().to_vec()).await
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Worker {
    jobs: mpsc::Sender<Job>,
}

/// The result of one event, by itself. See [`RunOutcome`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedRunOutcome {
    /// The result: UTF-8 JSON of the shape of ABI version 1.
    pub json: Vec<u8>,
    /// How much is in it.
    pub shape: ResultCounts,
    /// The fuel that it took, that for conversions and rows included.
    pub fuel: u64,
    /// The part of it that values, conversions and rows took before the guest was called.
    pub conversion_fuel: u64,
    /// How many conversions failed and left their value out.
    pub failed_conversions: u32,
    /// How many nodes and edges were cut out of the result, since others of it have the same ids.
    pub dropped_duplicates: u32,
    /// What the guest wrote to its standard output and standard error.
    pub log: Vec<u8>,
}

#[derive(Debug)]
struct Job {
    event: Vec<u8>,
    reply: oneshot::Sender<Result<OwnedRunOutcome, RunError>>,
}

impl Worker {
    /// Starts a thread for an extractor, before which up to 16 events may wait.
    ///
    /// # Errors
    /// [`ModuleLoadError::Engine`], when the system has no thread to give.
    pub fn new(extractor: Extractor) -> Result<Self, ModuleLoadError> {
        Self::with_queue(extractor, QUEUE)
    }

    /// The same, with room for `events` events that wait; for one at least.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_queue(extractor: Extractor, events: usize) -> Result<Self, ModuleLoadError> {
        let (jobs, waiting) = mpsc::channel(events.clamp(1, mpsc_capacity()));
        std::thread::Builder::new()
            .name("retort-worker".to_owned())
            .spawn(move || serve(&extractor, waiting))
            .map_err(|error| ModuleLoadError::Engine(error.to_string()))?;
        Ok(Self { jobs })
    }

    /// Runs one event. Waits, without holding up its thread, while the queue is full and until the event is done. An event whose
    /// future is dropped before its turn isn't run.
    ///
    /// # Errors
    /// As [`Runner::run`](super::Runner::run), and [`RunError::Worker`] if the thread is gone.
    pub async fn run(&self, event: Vec<u8>) -> Result<OwnedRunOutcome, RunError> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(Job { event, reply }).await.map_err(|_| RunError::Worker)?;
        answer.await.map_err(|_| RunError::Worker)?
    }
}

/// The most events that a channel can hold.
const fn mpsc_capacity() -> usize {
    tokio::sync::Semaphore::MAX_PERMITS
}

fn serve(extractor: &Extractor, mut waiting: mpsc::Receiver<Job>) {
    let mut runner = extractor.runner();
    while let Some(Job { event, reply }) = waiting.blocking_recv() {
        if reply.is_closed() {
            continue;
        }
        let outcome = runner.run(&event).map(OwnedRunOutcome::of);
        let outcome = outcome.map(|outcome| OwnedRunOutcome { log: runner.log(), ..outcome });
        // Whoever asked may have gone in the meantime.
        let _ = reply.send(outcome);
    }
}

impl OwnedRunOutcome {
    fn of(outcome: RunOutcome<'_>) -> Self {
        let RunOutcome { json, shape, fuel, conversion_fuel, failed_conversions, .. } = outcome;
        let (json, dropped_duplicates) = (json.to_vec(), outcome.dropped_duplicates);
        let log = Vec::new();
        Self { json, shape, fuel, conversion_fuel, failed_conversions, dropped_duplicates, log }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;
    use crate::diagnostics::problem::Coded;

    #[tokio::test]
    async fn a_worker_whose_thread_is_gone_says_so() {
        let (jobs, waiting) = mpsc::channel(1);
        drop(waiting);
        let error = Worker { jobs }.run(Vec::new()).await.unwrap_err();
        assert_eq!((&error, error.code()), (&RunError::Worker, "worker_failed"));
    }
}
