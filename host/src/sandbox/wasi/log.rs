//! What a guest writes to its standard output and standard error.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};

use crate::diagnostics::untrusted::bounded;
use crate::sandbox::GuestError;

/// Most characters of a log that a message repeats.
const MESSAGE_CHARS: usize = 500;

/// The bytes that a guest wrote for one event, standard output and standard error in the order in which they came. Clones are
/// the same log.
#[derive(Clone, Debug)]
pub struct Log {
    written: Arc<Mutex<Vec<u8>>>,
    allowed: usize,
}

impl Log {
    /// An empty log that takes so many bytes.
    pub(in crate::sandbox) fn new(allowed: usize) -> Self {
        Self { written: Arc::default(), allowed }
    }

    /// What was written. It is the guest's: any bytes at all.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.lock().clone()
    }

    /// How many bytes were written.
    pub(in crate::sandbox) fn len(&self) -> usize {
        self.lock().len()
    }

    pub(in crate::sandbox) fn clear(&self) {
        let mut written = self.lock();
        written.clear();
        written.shrink_to(self.allowed.min(4 << 10));
    }

    /// The end of the log, on one line and escaped: what the last thing was that the guest said. `None` if it said nothing.
    pub(in crate::sandbox) fn message(&self) -> Option<String> {
        let written = self.lock();
        let text = String::from_utf8_lossy(&written);
        let text = text.trim_end();
        if text.is_empty() {
            return None;
        }
        let skipped = text.chars().count().saturating_sub(MESSAGE_CHARS);
        let end: String = text.chars().skip(skipped).collect();
        let before = if skipped > 0 { "..." } else { "" };
        Some(format!("{before}{}", bounded(&end, MESSAGE_CHARS)))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        // Bytes are whole whatever happened to whoever held them.
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Pollable for Log {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for Log {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let allowed = self.allowed;
        let mut written = self.lock();
        let used = written.len().saturating_add(bytes.len());
        let room = allowed.saturating_sub(written.len());
        written.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if used > allowed {
            return Err(StreamError::Trap(GuestError::LogExceeded { used, allowed }.into()));
        }
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        // More than is left is taken as well, and ends the call.
        Ok(usize::MAX)
    }
}

impl IsTerminal for Log {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Log {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        // Preview 1 writes through the other kind of stream. A stream that takes nothing is a safe answer for any other.
        Box::new(MemoryOutputPipe::new(0))
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn a_message_is_the_end_of_the_log_on_one_line() {
        let mut log = Log::new(1 << 10);
        assert_eq!(log.message(), None);
        log.write(Bytes::from_static(b"one\n\x1b[31mtwo\xff\n\n")).unwrap();
        assert_eq!(log.message().unwrap(), "one\\n\\u{1b}[31mtwo\u{fffd}");
        log.write(Bytes::from(vec![b'x'; 600])).unwrap();
        assert_eq!(log.message().unwrap(), format!("...{}", "x".repeat(MESSAGE_CHARS)));
    }

    #[test]
    fn a_full_log_ends_the_call_and_keeps_what_fitted() {
        let mut log = Log::new(4);
        log.write(Bytes::from_static(b"abc")).unwrap();
        let Err(StreamError::Trap(error)) = log.write(Bytes::from_static(b"defg")) else {
            panic!("taken")
        };
        let expected = GuestError::LogExceeded { used: 7, allowed: 4 };
        assert_eq!(error.downcast_ref(), Some(&expected));
        assert_eq!(log.bytes(), b"abcd");
    }
}
