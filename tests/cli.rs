//! The command line, as a shell sees it.

mod asked;
mod bad_input;
mod commands;
mod junit;
mod project;
mod selftest;
mod streams;
mod sizes;
mod tenant;
