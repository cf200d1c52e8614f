//! How a command ends.

use super::error::CliError;

/// How a command ended that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandVerdict {
    /// All is well.
    Pass,
    /// What was checked has failed; the command has said why.
    Fail,
    /// A signal has ended it: the exit code that says so.
    Signalled(u8),
}

impl CommandVerdict {
    pub(super) fn from_ok(ok: bool) -> Self {
        if ok { Self::Pass } else { Self::Fail }
    }
}

pub(super) type CommandResult = Result<CommandVerdict, CliError>;
