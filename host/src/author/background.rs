//! Work that computes for as long as its input makes it, away from the thread that waits for it.

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::evidence::effort::Cancel;

/// Does the work on a thread that may block, so that the caller can be given up meanwhile: budgets and interrupts hold
/// whatever the work is. Given up, the work is cancelled, and ends as soon as it asks; nobody sees what comes of it.
///
/// # Errors
/// The thread ended before the work did.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce(&Cancel) -> T + Send + 'static,
) -> Result<T, Interrupted> {
    let waiting = Waiting(Cancel::default());
    let cancel = waiting.0.clone();
    tokio::task::spawn_blocking(move || work(&cancel)).await.map_err(|_| Interrupted)
}

/// Somebody who waits: when that ends, the work may too.
struct Waiting(Cancel);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The thread that worked has died.
#[derive(Debug, thiserror::Error)]
#[error("the judging of a plan was interrupted: the runtime is shutting down")]
pub(crate) struct Interrupted;

impl Coded for Interrupted {
    fn entry(&self) -> Code {
        codes::GATES_INTERRUPTED
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::task::{Context, Poll, Waker};

    use super::run_blocking;

    #[test]
    fn what_nobody_waits_for_is_told_so() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let _entered = runtime.enter();
        let (told, ends) = channel();
        let mut work = Box::pin(run_blocking(move |cancel| {
            while !cancel.is_cancelled() {
                std::thread::yield_now();
            }
            told.send(()).expect("somebody who asks");
        }));
        let polled = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(polled, Poll::Pending));
        assert!(ends.try_recv().is_err());
        drop(work);
        // The work goes on for as long as it isn't cancelled: that it ends is the proof.
        ends.recv().expect("an end");
    }
}
