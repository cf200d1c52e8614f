//! What a host knows of a module's proof, in one byte.

use crate::gate::inspect::{Proof, ResetSafety};

/// How a module was proven to be reset-safe, without what the proof went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Not at all.
    Unproven,
    /// By the verifier.
    Verified,
    /// This host renders the very same bytes of a plan.
    Rendered,
}

impl Standing {
    const ALL: [Self; 3] = [Self::Unproven, Self::Verified, Self::Rendered];

    pub(crate) fn of(safety: ResetSafety) -> Self {
        match safety {
            ResetSafety::Unproven => Self::Unproven,
            ResetSafety::Proven { how: Proof::Verified(_) } => Self::Verified,
            ResetSafety::Proven { how: Proof::Rendered } => Self::Rendered,
        }
    }

    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Unproven => b'u',
            Self::Verified => b'v',
            Self::Rendered => b'r',
        }
    }

    pub(super) fn of_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|standing| standing.byte() == byte)
    }
}
