//! Where paths start.

use serde::Deserialize;

use crate::plan::expr::{ForEach, Level};
use crate::plan::model::innermost;

/// Where the paths of some part of a plan start.
#[derive(Clone, Copy)]
pub(crate) struct PathScope {
    pub(crate) innermost: Level,
    /// Whether a `for_each` could be written around it.
    pub(super) can_iterate: bool,
    pub(crate) is_unread: bool,
}

impl PathScope {
    /// Where paths start at the event, and no `for_each` can change it.
    pub(crate) const EVENT: Self =
        Self { innermost: Level::EVENT, can_iterate: false, is_unread: false };

    /// Inside of something that could not be read: no level is held against a path.
    pub(crate) const UNREAD: Self =
        Self { innermost: Level::DEEPEST, can_iterate: true, is_unread: true };

    /// Inside of something that goes over this, or over nothing.
    pub(crate) fn inside(for_each: Option<&ForEach>) -> Self {
        Self { innermost: innermost(for_each), can_iterate: true, is_unread: false }
    }

    /// Inside of a value or a condition here. The schema of those doesn't know what is around them, so that it can't say of
    /// their paths that they may not be empty.
    pub(crate) fn nested(self) -> Self {
        Self { can_iterate: true, ..self }
    }
}

/// Where a path of a plan starts, as it is written.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PathStart {
    Event,
    Parent,
}
