//! The contract between the host and a guest, version 1.

pub mod section;
