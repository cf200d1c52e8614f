//! A stream that a signal ends.

use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};

use crate::cli::error::CliError;
use crate::cli::runtime::{self, SIGNALLED};

/// Whether a signal has asked the command to end. The first one ends the stream, the second the program.
#[derive(Clone)]
pub(super) struct Stop {
    flag: Arc<AtomicBool>,
    signal: Arc<AtomicU8>,
    /// Closed at the other end with the first signal.
    closed: Arc<PipeReader>,
}

impl Stop {
    /// Listens from now on.
    pub(super) fn listen() -> Result<Self, CliError> {
        let (closed, open) = io::pipe().map_err(CliError::Runtime)?;
        let stop = Self { flag: Arc::default(), signal: Arc::default(), closed: Arc::new(closed) };
        let (told, open) = (stop.clone(), Mutex::new(Some(open)));
        runtime::on_end_signals(move |number| {
            if told.flag.swap(true, Ordering::SeqCst) {
                std::process::exit(i32::from(SIGNALLED | number));
            }
            told.signal.store(number, Ordering::SeqCst);
            open.lock().unwrap_or_else(PoisonError::into_inner).take();
        })?;
        Ok(stop)
    }

    /// Is set by the first signal.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// # Errors
    /// Once the first signal has come.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.flag.load(Ordering::SeqCst) { Err(asked_to_end()) } else { Ok(()) }
    }

    /// The exit code of a command that a signal has ended.
    pub(super) fn exit_code(&self) -> Option<u8> {
        match self.signal.load(Ordering::SeqCst) {
            0 => None,
            number => Some(SIGNALLED | number),
        }
    }
}

fn asked_to_end() -> io::Error {
    io::Error::other("a signal has asked to end")
}

/// Reads a pipe, a terminal or a device until a signal comes. Reading a file needs no such care: it never waits for long.
pub(super) struct Awaited {
    pub(super) file: File,
    pub(super) stop: Stop,
}

impl Read for Awaited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut waiting = [
                PollFd::new(&*self.stop.closed, PollFlags::IN),
                PollFd::new(&self.file, PollFlags::IN),
            ];
            match poll(&mut waiting, None) {
                Err(rustix::io::Errno::INTR) => continue,
                // What can't be waited for is read all the same.
                Err(_) => {}
                Ok(_) if !waiting[0].revents().is_empty() => {
                    return Err(asked_to_end());
                }
                Ok(_) => {}
            }
            match self.file.read(buffer) {
                // It was opened so as not to wait: that is done here.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}
