//! The one place where the command line is asynchronous.

use std::future::Future;

use super::error::CliError;

/// Runs a future to its end, or until the user interrupts it: then it is dropped, and a program that stands for a model
/// with it, which would never see the interrupt itself. Clients wait on this thread; what blocks has threads of its own.
pub(super) fn block_on<F: Future>(future: F) -> Result<F::Output, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    runtime.block_on(async {
        tokio::select! {
            output = future => Ok(output),
            interrupt = tokio::signal::ctrl_c() => match interrupt {
                Ok(()) => Err(CliError::Interrupted),
                Err(error) => Err(CliError::Runtime(error)),
            },
        }
    })
}
