//! Pointers into a plan, taken apart.

use json_patch::jsonptr::Pointer;

/// A pointer's parent, and its last name; `None` of the root.
pub(super) fn split(pointer: &str) -> Option<(&str, String)> {
    let (parent, name) = Pointer::parse(pointer).ok()?.split_back()?;
    Some((parent.as_str(), name.decoded().into_owned()))
}

/// The pointer to the step of a chain of conversions that a place is in.
pub(super) fn step_around(at: &str) -> Option<&str> {
    entry_around(at, at.rfind("/convert/")? + "/convert/".len())
}

/// The pointer to the edge that a place is in.
pub(super) fn edge_around(at: &str) -> Option<&str> {
    at.strip_prefix("/edges/").and_then(|_| entry_around(at, "/edges/".len()))
}

/// A pointer up to the end of the name that begins at a byte of it.
fn entry_around(at: &str, begin: usize) -> Option<&str> {
    let end = at.get(begin..)?.find('/').map_or(at.len(), |length| begin + length);
    at.get(..end)
}
