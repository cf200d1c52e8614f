//! What a guest writes to its standard output and standard error.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::diagnostics::untrusted::bounded;
#[cfg(any(feature = "wasi", test))]
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

    /// Takes what is written, as far as there is room.
    ///
    /// # Errors
    /// [`GuestError::LogExceeded`], where that isn't all of it.
    #[cfg(any(feature = "wasi", test))]
    pub(super) fn add(&self, bytes: &[u8]) -> Result<(), GuestError> {
        let allowed = self.allowed;
        let mut written = self.lock();
        let used = written.len().saturating_add(bytes.len());
        let room = allowed.saturating_sub(written.len());
        written.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if used > allowed { Err(GuestError::LogExceeded { used, allowed }) } else { Ok(()) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_the_end_of_the_log_on_one_line() {
        let log = Log::new(1 << 10);
        assert_eq!(log.message(), None);
        log.add(b"one\n\x1b[31mtwo\xff\n\n").expect("room");
        assert_eq!(log.message().as_deref(), Some("one\\n\\u{1b}[31mtwo\u{fffd}"));
        log.add(&[b'x'; 600]).expect("room");
        assert_eq!(log.message(), Some(format!("...{}", "x".repeat(MESSAGE_CHARS))));
    }

    #[test]
    fn a_full_log_keeps_what_fitted() {
        let log = Log::new(4);
        log.add(b"abc").expect("room");
        assert_eq!(log.add(b"defg"), Err(GuestError::LogExceeded { used: 7, allowed: 4 }));
        assert_eq!(log.bytes(), b"abcd");
    }
}
