//! The contract between the host and a guest, version 1.

pub mod block;
pub mod event;
mod input;
pub mod result;
pub mod section;
mod slot;
