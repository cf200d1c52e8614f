//! How a bundle is put on disk.

use super::name::ExtractorName;

/// How a bundle is put on disk: when, and as what. A time alone is one, with the defaults for all else.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Storing {
    pub(super) at: jiff::Timestamp,
    pub(super) name: Option<ExtractorName>,
    pub(super) is_activating: bool,
    pub(super) by: String,
}

impl Storing {
    /// At this time, as the active version of the extractor that is named by its function.
    pub fn at(at: jiff::Timestamp) -> Self {
        Self { at, name: None, is_activating: true, by: "store".to_owned() }
    }

    /// As a version of the extractor of this name; `None` names it by its function.
    pub fn name(mut self, name: Option<ExtractorName>) -> Self {
        self.name = name;
        self
    }

    /// Whether it is served from now on, in the place of earlier versions.
    pub fn activate(mut self, is_activating: bool) -> Self {
        self.is_activating = is_activating;
        self
    }

    /// The command that is noted in the directory's record.
    pub fn by(mut self, command: impl Into<String>) -> Self {
        self.by = command.into();
        self
    }
}

impl From<jiff::Timestamp> for Storing {
    fn from(at: jiff::Timestamp) -> Self {
        Self::at(at)
    }
}
