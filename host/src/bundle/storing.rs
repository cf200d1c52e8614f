//! How a bundle is put on disk.

use super::name::ExtractorName;

/// How a bundle is put on disk: when, and as what. A time alone is one, with the defaults for all else.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Storing {
    pub(super) at: jiff::Timestamp,
    pub(super) name: Option<ExtractorName>,
}

impl Storing {
    /// At this time, as a version of the extractor that is named by its function.
    pub fn at(at: jiff::Timestamp) -> Self {
        Self { at, name: None }
    }

    /// As a version of the extractor of this name; `None` names it by its function.
    pub fn name(mut self, name: Option<ExtractorName>) -> Self {
        self.name = name;
        self
    }
}

impl From<jiff::Timestamp> for Storing {
    fn from(at: jiff::Timestamp) -> Self {
        Self::at(at)
    }
}
