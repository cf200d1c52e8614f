//! Retort lets a host run extraction code that a language model wrote, without trusting it.

pub mod abi;
pub mod bundle;
pub mod compile;
pub mod diagnose;
pub mod event;
pub mod explain;
pub mod gate;
pub mod graph;
pub mod pipeline;
pub mod plan;
pub mod problem;
pub mod render;
pub mod runtime;
pub mod sandbox;
mod untrusted;
