//! The command line, as a shell sees it.

mod asked;
mod bad_input;
mod bench;
mod code;
mod commands;
mod expected;
mod host;
mod hostile_text;
mod junit;
mod kills;
mod label;
mod outputs;
mod packed;
pub(crate) mod project;
mod remote;
mod resume;
mod revalidate;
mod rust;
mod selftest;
mod signals;
mod sizes;
mod slips;
mod streams;
mod tenant;
mod threads;
mod unseen;
mod versions;
