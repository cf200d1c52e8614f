//! Retort lets a host run extraction code that a language model wrote, without trusting it.

pub mod abi;
pub mod bundle;
pub mod diagnose;
pub mod explain;
pub mod gate;
pub mod graph;
pub mod plan;
pub mod problem;
mod untrusted;
