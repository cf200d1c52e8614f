//! What a user sees: conformance cases, examples and the command line.

mod support;
