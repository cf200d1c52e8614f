//! Why there is no block for an event.

use thiserror::Error;

use super::Costliest;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;

/// Why there is no block for an event.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BlockError {
    /// The block is larger than what the host allows a guest to be given.
    #[error("the declared inputs of this event take {used} bytes, {allowed} are allowed")]
    TooLarge {
        /// Bytes that the block needs, as far as it was written.
        used: usize,
        /// Bytes that it may have.
        allowed: usize,
    },
    /// The iterations have more rows than the host allows.
    #[error("the iterations over this event have more than the {allowed} rows that are allowed")]
    TooManyRows {
        /// Rows that all iterations together may have.
        allowed: usize,
    },
    /// Values and conversions cost more fuel than the event has.
    #[error(
        "the values and conversions of this event take {used} of fuel or more, {allowed} are allowed{costliest}"
    )]
    OutOfFuel {
        /// The fuel that it would have taken so far, with the step that there wasn't enough for.
        used: u64,
        /// The fuel that the event has.
        allowed: u64,
        /// What most of it went to.
        costliest: Costliest,
    },
    /// Working the inputs out takes longer than the event may.
    #[error(
        "the event took {used_ms} ms when its inputs were not worked out yet, {allowed_ms} are allowed"
    )]
    Deadline {
        /// Milliseconds that the event had taken.
        used_ms: u64,
        /// Milliseconds that it may take.
        allowed_ms: u64,
    },
    /// A conversion failed, and the event is to be rejected for it.
    #[error(
        "the value of {path} can't be converted by {conversions}, and the declaration says to turn the event down"
    )]
    Conversion {
        /// The paths of the input, fit to be shown.
        path: String,
        /// The names of its conversions.
        conversions: String,
    },
}

impl Coded for BlockError {
    fn entry(&self) -> Code {
        match self {
            Self::TooLarge { .. } => codes::INPUT_TOO_LARGE,
            Self::TooManyRows { .. } => codes::TOO_MANY_ROWS,
            Self::OutOfFuel { .. } => codes::OUT_OF_FUEL,
            Self::Deadline { .. } => codes::DEADLINE_EXCEEDED,
            Self::Conversion { .. } => codes::CONVERSION_FAILED,
        }
    }

    fn usage(&self) -> Option<(u64, u64)> {
        match self {
            Self::TooLarge { used, allowed } => Some((*used as u64, *allowed as u64)),
            Self::TooManyRows { allowed } => Some((*allowed as u64 + 1, *allowed as u64)),
            Self::OutOfFuel { used, allowed, .. } => Some((*used, *allowed)),
            Self::Deadline { used_ms, allowed_ms } => Some((*used_ms, *allowed_ms)),
            Self::Conversion { .. } => None,
        }
    }
}
