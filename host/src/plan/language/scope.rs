//! Where paths start.

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
        Self::at(innermost(for_each))
    }

    /// Where paths start at this level.
    pub(crate) fn at(innermost: Level) -> Self {
        Self { innermost, can_iterate: true, is_unread: false }
    }

    /// Inside of a value or a condition here. The schema of those doesn't know what is around them, so that it can't say of
    /// their paths that they may not be empty.
    pub(crate) fn nested(self) -> Self {
        Self { can_iterate: true, ..self }
    }
}

/// What `from` may say: the event, and the elements outside of the innermost, the nearest one first.
pub(crate) const STARTS: &[&str] = &["event", "parent", "parent2", "parent3"];

/// What `from` says of a path that starts at one level, where the innermost is another; `None` where they are the same.
pub(crate) fn start_word(start: Level, innermost: Level) -> Option<&'static str> {
    if start == innermost {
        return None;
    }
    let outwards = if start.is_event() { 0 } else { innermost.0.saturating_sub(start.0) };
    STARTS.get(usize::from(outwards)).copied()
}

/// The level at which a path starts where `from` says this; `None` where there is no such element.
pub(crate) fn start_level(word: &str, innermost: Level) -> Option<Level> {
    match STARTS.iter().position(|it| *it == word)? {
        0 => Some(Level::EVENT),
        outwards => {
            let level = innermost.0.checked_sub(u8::try_from(outwards).ok()?)?;
            (level > 0).then_some(Level(level))
        }
    }
}
