//! JSON Patches (RFC 6902) of plans, written by pointer.

use json_patch::jsonptr::{PointerBuf, Token};
use json_patch::{
    AddOperation, MoveOperation, Patch, PatchOperation, RemoveOperation, ReplaceOperation,
};
use serde::Serialize;
use serde_json::Value;

/// A pointer to `name` below `at`; the name may hold anything.
pub(crate) fn below(at: &str, name: &str) -> String {
    format!("{at}/{}", Token::new(name).encoded())
}

/// Puts a value in the place of another.
pub(crate) fn replace(at: &str, value: impl Serialize) -> Patch {
    let (path, value) = (pointer(at), json(value));
    Patch(vec![PatchOperation::Replace(ReplaceOperation { path, value })])
}

/// Puts a value where none is, or at the end of an array (`/-`).
pub(crate) fn add(at: &str, value: impl Serialize) -> Patch {
    let (path, value) = (pointer(at), json(value));
    Patch(vec![PatchOperation::Add(AddOperation { path, value })])
}

/// Takes a value away.
pub(crate) fn remove(at: &str) -> Patch {
    Patch(vec![PatchOperation::Remove(RemoveOperation { path: pointer(at) })])
}

/// Takes a value from one place to another.
pub(crate) fn rename(from: &str, to: &str) -> Patch {
    let (from, path) = (pointer(from), pointer(to));
    Patch(vec![PatchOperation::Move(MoveOperation { from, path })])
}

/// One patch after the other.
pub(crate) fn both(first: Patch, then: Patch) -> Patch {
    Patch(first.0.into_iter().chain(then.0).collect())
}

fn pointer(at: &str) -> PointerBuf {
    PointerBuf::parse(at).expect("pointers are made of escaped names here")
}

fn json(value: impl Serialize) -> Value {
    serde_json::to_value(value).expect("what plans hold is JSON")
}
