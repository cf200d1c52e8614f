//! The one place where the command line is asynchronous.

use std::future::Future;
use std::io;

use tokio::signal::unix::{SignalKind, signal};

use super::error::CliError;

/// Runs a future to its end, or until the command is asked to end: then it is dropped, and a program that stands for a model
/// with it, which would never see the signal itself. Clients wait on this thread; what blocks has threads of its own, and
/// none of them is waited for once the future is over.
pub(super) fn block_on<F: Future>(future: F) -> Result<F::Output, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    let output = runtime.block_on(async {
        tokio::select! {
            // First of all the signals are listened for, so that nothing is begun that couldn't be ended.
            biased;
            told = end() => Err(told.map_or_else(CliError::Runtime, |()| CliError::Interrupted)),
            output = future => Ok(output),
        }
    });
    runtime.shutdown_background();
    output
}

/// Waits until the user, the terminal or the system tells the command to end.
async fn end() -> io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
    Ok(())
}
