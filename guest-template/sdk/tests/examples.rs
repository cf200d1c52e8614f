//! The examples in Rust, with their own tests. They are those of the repository, beside which this crate lies.

#![allow(clippy::unwrap_used, reason = "a test that can't go on should say where")]

#[path = "../../../examples/conversation-turns/src/lib.rs"]
mod conversation_turns;
#[path = "../../../examples/payment-references/src/lib.rs"]
mod payment_references;
#[path = "../../../examples/tool-timing/src/lib.rs"]
mod tool_timing;
