//! What a host has found of a module, in one byte.

use crate::gate::inspect::{Inspected, Proof, ResetSafety};

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

    fn byte(self) -> u8 {
        match self {
            Self::Unproven => b'u',
            Self::Verified => b'v',
            Self::Rendered => b'r',
        }
    }

    fn of_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|standing| standing.byte() == byte)
    }
}

/// What the gates have found of a module, as far as it decides for how long its instances serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// How it was proven to be reset-safe.
    pub(crate) standing: Standing,
    /// Whether an instance that has served can be put back as it was when it was new.
    pub(crate) is_restorable: bool,
}

impl Verdict {
    pub(crate) fn of(inspected: &Inspected) -> Self {
        Self {
            standing: Standing::of(inspected.reset_safety()),
            is_restorable: inspected.unrestorable().is_none(),
        }
    }

    /// The letter of the standing, a capital one where instances can be put back.
    pub(super) fn byte(self) -> u8 {
        let letter = self.standing.byte();
        if self.is_restorable { letter.to_ascii_uppercase() } else { letter }
    }

    pub(super) fn of_byte(byte: u8) -> Option<Self> {
        let standing = Standing::of_byte(byte.to_ascii_lowercase())?;
        Some(Self { standing, is_restorable: byte.is_ascii_uppercase() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_its_byte_and_nothing_else_is_one() {
        let verdicts: Vec<u8> = (0..=u8::MAX)
            .filter(|byte| {
                let verdict = Verdict::of_byte(*byte);
                assert!(verdict.is_none_or(|verdict| verdict.byte() == *byte));
                verdict.is_some()
            })
            .collect();
        assert_eq!(verdicts, b"RUVruv");
    }
}
