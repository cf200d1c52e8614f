//! Whose fault it is that an event gave no result.

use super::error::RunError;
use crate::abi::block::BlockError;

/// Whose fault it is that an event gave no result: whether another event, another extractor or another time would do better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Blame {
    /// The event's: it isn't what events have to be, it is too large, or a conversion that mustn't fail can't read a value of it. The
    /// extractor does what it declares.
    Event,
    /// The extractor's: it trapped, spent more than it may, or gave something that isn't a result. What a host counts against a
    /// version.
    Extractor,
    /// The host's: it had no room or no memory, or a defect. The same event may well be served later.
    Host,
}

impl RunError {
    /// Whose fault it is. Of time that runs out, the extractor's while it or its inputs are at work, and the event's while that is read.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self.cause() {
            Self::Guest(error) if error.is_of_host() => Blame::Host,
            Self::Worker | Self::Refuted { .. } => Blame::Host,
            Self::Event(_) | Self::Deadline { .. } => Blame::Event,
            Self::Input(error) => match error {
                BlockError::OutOfFuel { .. } | BlockError::Deadline { .. } => Blame::Extractor,
                BlockError::TooLarge { .. }
                | BlockError::TooManyRows { .. }
                | BlockError::Conversion { .. } => Blame::Event,
            },
            Self::Guest(_) | Self::Result(_) => Blame::Extractor,
            Self::Logged { error, .. } | Self::Told { error, .. } | Self::Traced { error, .. } => {
                error.blame()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Blame;
    use crate::abi::block::BlockError;
    use crate::abi::event::EventError;
    use crate::abi::result::ResultError;
    use crate::sandbox::{GuestError, RunError};

    #[test]
    fn each_failure_is_somebodys() {
        let conversion = BlockError::Conversion { path: String::new(), conversions: String::new() };
        let late = RunError::Deadline { used_ms: 2, allowed_ms: 1 };
        for (error, blame) in [
            (EventError::NotUtf8 { at: 0 }.into(), Blame::Event),
            (BlockError::TooLarge { used: 2, allowed: 1 }.into(), Blame::Event),
            (BlockError::TooManyRows { allowed: 1 }.into(), Blame::Event),
            (conversion.into(), Blame::Event),
            (late, Blame::Event),
            (BlockError::Deadline { used_ms: 2, allowed_ms: 1 }.into(), Blame::Extractor),
            (GuestError::Unreachable.into(), Blame::Extractor),
            (GuestError::OutOfFuel { used: 2, allowed: 1 }.into(), Blame::Extractor),
            (ResultError::NotUtf8 { at: 0 }.into(), Blame::Extractor),
            (GuestError::PoolExhausted { allowed: 1 }.into(), Blame::Host),
            (GuestError::Host(String::new()).into(), Blame::Host),
            (RunError::Refuted { found: String::new() }, Blame::Host),
            (RunError::Worker, Blame::Host),
        ] {
            let error: RunError = error;
            assert_eq!(error.blame(), blame, "{error}");
            let told = error.with_message(Some("so".to_owned())).with_log(Some("and".to_owned()));
            assert_eq!(told.blame(), blame, "{told}");
        }
    }
}
