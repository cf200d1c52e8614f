//! `retort compile-module`: the helper process of the sandbox.

use std::process::ExitCode;

use retort::sandbox::run_compile_helper;

/// Compiles one module that it reads from stdin. The sandbox starts this by itself; it is of no use to a person.
#[derive(clap::Args)]
pub(super) struct CompileModuleArgs {}

pub(super) fn main(_: &CompileModuleArgs) -> ExitCode {
    run_compile_helper()
}
