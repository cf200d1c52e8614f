//! `retort compile-module`: the helper process of the sandbox.

use std::process::ExitCode;

use retort::sandbox::helper;

/// Compiles one module that it reads from stdin. The sandbox starts this by itself; it is of no use to a person.
#[derive(clap::Args)]
#[command(name = helper::COMMAND)]
pub(super) struct CompileModuleArgs {}

pub(super) fn main(_: &CompileModuleArgs) -> ExitCode {
    helper::serve()
}
