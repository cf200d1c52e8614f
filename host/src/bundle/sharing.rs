//! Event types that several extractors of a directory serve.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::name::ExtractorName;
use crate::graph::Conflicts;

/// What a directory of bundles does with an event type that active versions of several extractors declare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// One extractor serves an event type. A second one isn't activated and, where it is there all the same, neither serves it. The
    /// default.
    #[default]
    Off,
    /// All of them serve it, and their results are [merged](crate::graph::merge). An event for which they give different values is
    /// rejected.
    Reject,
    /// The same, but the last of them by the order of their names counts.
    Last,
}

impl Sharing {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 3] = [Self::Off, Self::Reject, Self::Last];

    pub(super) fn is_off(&self) -> bool {
        *self == Self::Off
    }

    /// The name used by records and commands.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Reject => "reject",
            Self::Last => "last",
        }
    }

    /// What becomes of different values, where event types are shared.
    #[must_use]
    pub fn conflicts(self) -> Option<Conflicts> {
        match self {
            Self::Off => None,
            Self::Reject => Some(Conflicts::Reject),
            Self::Last => Some(Conflicts::Last),
        }
    }

    /// Puts what declares one event type in the order of its names, if together they may serve it: extractors may, two bundles of
    /// one extractor may not.
    pub(crate) fn in_order<T>(
        self,
        claimants: &mut [T],
        name: impl Fn(&T) -> ExtractorName,
    ) -> bool {
        if claimants.len() > 1 && self.is_off() {
            return false;
        }
        claimants.sort_by_cached_key(&name);
        claimants.windows(2).all(|pair| name(&pair[0]) != name(&pair[1]))
    }
}

impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// That something is no [`Sharing`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of off, reject, last")]
pub struct InvalidSharing;

impl FromStr for Sharing {
    type Err = InvalidSharing;

    fn from_str(text: &str) -> Result<Self, InvalidSharing> {
        Self::ALL.into_iter().find(|it| it.as_str() == text).ok_or(InvalidSharing)
    }
}
