//! The graph: what an extractor's result is, and what it has to fit.

pub mod extraction;
