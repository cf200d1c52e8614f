//! Work that computes for as long as an answer makes it, away from the thread that runs the loop.

use super::{GateError, INTERRUPTED};
use crate::problem::Coded;

/// Does the work on a thread that may block, so that the caller can be given up meanwhile: budgets and interrupts hold
/// whatever the work is. Given up, the work goes on to its end, and nobody sees what comes of it.
///
/// # Errors
/// The thread ended before the work did.
pub(super) async fn compute<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, GateError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| GateError::new(&Interrupted))
}

/// The thread that worked has died.
#[derive(Debug, thiserror::Error)]
#[error("the judging of a plan was interrupted: the runtime is shutting down")]
struct Interrupted;

impl Coded for Interrupted {
    fn code(&self) -> &'static str {
        INTERRUPTED
    }
}
