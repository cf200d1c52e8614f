//! Why an event was refused before it reached a guest.

use thiserror::Error;

use crate::diagnostics::problem::Coded;
pub use crate::json::Fault;
use crate::json::scan::Stop;

/// Why an event was refused before it reached a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EventError {
    /// The bytes aren't UTF-8.
    #[error("the event is not UTF-8: the first wrong byte is at offset {at}")]
    NotUtf8 {
        /// Offset of the first byte that belongs to no character.
        at: usize,
    },
    /// The text isn't JSON.
    #[error("the event is not JSON at offset {at}: {fault}")]
    Syntax {
        /// What is wrong.
        fault: Fault,
        /// Offset of the byte at which it is wrong.
        at: usize,
    },
    /// The text is JSON and not an object.
    #[error("the event is not a JSON object but {found}")]
    NotObject {
        /// What it is.
        found: &'static str,
    },
    /// The event is larger than the limit.
    #[error("the event has {used} bytes, {allowed} are allowed")]
    TooLarge {
        /// Its size in bytes.
        used: usize,
        /// The limit in bytes.
        allowed: usize,
    },
}

impl EventError {
    /// Every code of this stage.
    pub const CODES: &'static [&'static str] =
        &["event_not_utf8", "event_not_json", "event_not_object", "event_too_large"];
}

impl From<Stop> for EventError {
    fn from(stop: Stop) -> Self {
        Self::Syntax { fault: stop.fault, at: stop.at() }
    }
}

impl Coded for EventError {
    fn code(&self) -> &'static str {
        match self {
            Self::NotUtf8 { .. } => "event_not_utf8",
            Self::Syntax { .. } => "event_not_json",
            Self::NotObject { .. } => "event_not_object",
            Self::TooLarge { .. } => "event_too_large",
        }
    }
}
