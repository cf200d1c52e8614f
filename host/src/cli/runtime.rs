//! The one place where the command line is asynchronous.

use std::future::Future;
use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::error::CliError;

/// The exit code of a command that was ended by a signal is this and the signal's number.
pub(super) const SIGNALLED: u8 = 128;

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

/// Runs a service to its end, on threads of its own.
pub(super) fn serve<T>(service: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    let served = runtime.block_on(service);
    // What still works for clients that are gone isn't waited for.
    runtime.shutdown_background();
    served
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

/// Calls `told` with the number of each signal by which the user or the system tells the command to end, on a thread of its own and
/// from now on.
pub(super) fn on_end_signals(told: impl Fn(u8) + Send + 'static) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .map_err(CliError::Runtime)?;
    let entered = runtime.enter();
    let interrupt = SignalKind::interrupt();
    let terminate = SignalKind::terminate();
    let mut interrupted = signal(interrupt).map_err(CliError::Runtime)?;
    let mut terminated = signal(terminate).map_err(CliError::Runtime)?;
    drop(entered);
    let listen = move || {
        runtime.block_on(async {
            loop {
                let kind = tokio::select! {
                    Some(()) = interrupted.recv() => interrupt,
                    Some(()) = terminated.recv() => terminate,
                    else => return,
                };
                told(u8::try_from(kind.as_raw_value()).unwrap_or_default());
            }
        });
    };
    let thread = std::thread::Builder::new().name("retort-signals".to_owned());
    thread.spawn(listen).map(drop).map_err(CliError::Runtime)
}

/// Calls `told` with each SIGHUP from now on, one after the other, on threads for what blocks.
pub(super) fn on_hangup(told: impl Fn() + Clone + Send + 'static) -> Result<(), CliError> {
    let mut hangup = signal(SignalKind::hangup()).map_err(CliError::Runtime)?;
    tokio::spawn(async move {
        while let Some(()) = hangup.recv().await {
            // Where it panics, which is a defect of ours, the next one is heard all the same.
            let _ = tokio::task::spawn_blocking(told.clone()).await;
        }
    });
    Ok(())
}

/// The signals that end a service, listened for from one place to the next.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        let (interrupt, terminate) = (SignalKind::interrupt(), SignalKind::terminate());
        Ok(Self { interrupt: signal(interrupt)?, terminate: signal(terminate)? })
    }

    async fn next(&mut self) -> u8 {
        let kind = tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
        };
        u8::try_from(kind.as_raw_value()).unwrap_or_default()
    }

    /// Waits for the first one. The second one ends the program.
    pub(super) async fn first(mut self) {
        self.next().await;
        tokio::spawn(async move {
            let number = self.next().await;
            std::process::exit(i32::from(SIGNALLED | number));
        });
    }
}
