//! The source that a new extractor begins as, with its own tests.

#[path = "../../extractor.rs"]
mod extractor;
