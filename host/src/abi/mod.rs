//! The contract between the host and a guest, version 1.

pub mod block;
mod input;
pub mod result;
pub mod section;
