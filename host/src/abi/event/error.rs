//! Why an event was refused before it reached a guest.

use thiserror::Error;

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
pub use crate::json::Fault;
use crate::json::scan::Stop;

/// Why an event was refused before it reached a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
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

impl From<Stop> for EventError {
    fn from(stop: Stop) -> Self {
        Self::Syntax { fault: stop.fault, at: stop.at() }
    }
}

impl Coded for EventError {
    fn entry(&self) -> Code {
        match self {
            Self::NotUtf8 { .. } => codes::EVENT_NOT_UTF8,
            Self::Syntax { .. } => codes::EVENT_NOT_JSON,
            Self::NotObject { .. } => codes::EVENT_NOT_OBJECT,
            Self::TooLarge { .. } => codes::EVENT_TOO_LARGE,
        }
    }

    fn usage(&self) -> Option<(u64, u64)> {
        match self {
            Self::TooLarge { used, allowed } => Some((*used as u64, *allowed as u64)),
            Self::NotUtf8 { .. } | Self::Syntax { .. } | Self::NotObject { .. } => None,
        }
    }
}
