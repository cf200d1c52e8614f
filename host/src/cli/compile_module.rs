//! `retort compile-module`: the helper process of the sandbox.

use std::process::ExitCode;

use clap::Args as ClapArgs;
use retort::sandbox::helper;

/// Compiles one module that it reads from stdin. The sandbox starts this by itself; it is of no use to a person.
#[derive(ClapArgs)]
#[command(name = helper::COMMAND)]
pub(super) struct Args {}

pub(super) fn main(_: &Args) -> ExitCode {
    helper::serve()
}
