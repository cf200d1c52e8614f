//! What a helper is told: one JSON document on its input.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The version of this protocol, which both sides have to be of.
pub(super) const VERSION: u32 = 2;

/// The first line of a helper's output begins so, before the compiler takes its place; then how it is confined.
pub(super) const READY: &str = "retort-rustc ";

/// What a helper has to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub(super) version: u32,
    /// The program that takes its place.
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    /// Its directory, the only one that it may write to.
    pub(super) directory: PathBuf,
    /// Files and directories that it may read and execute. Those that aren't there are left out.
    pub(super) read: Vec<PathBuf>,
    pub(super) memory_bytes: u64,
    pub(super) cpu_seconds: u64,
    pub(super) file_bytes: u64,
    /// Processes and threads that this user may have beside those that there are.
    pub(super) tasks: u64,
    /// Whether it doesn't become the compiler where it can't confine itself in full.
    pub(super) require_confinement: bool,
}
