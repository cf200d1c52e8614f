//! The source that a new extractor begins as, with its own tests.

#![allow(clippy::unwrap_used, reason = "a test that can't go on should say where")]

#[path = "../../extractor.rs"]
mod extractor;
