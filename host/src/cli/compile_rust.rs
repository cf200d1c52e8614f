//! `retort compile-rust`: the helper process that becomes a Rust compiler.

use std::process::ExitCode;

use retort::sandbox::run_rustc_helper;

/// Limits itself and becomes the Rust compiler, as it is told on stdin. The toolchain starts this by itself; it is of no use to a person.
#[derive(clap::Args)]
pub(super) struct CompileRustArgs {}

pub(super) fn main(_: &CompileRustArgs) -> ExitCode {
    run_rustc_helper()
}
