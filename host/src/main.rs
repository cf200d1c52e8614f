//! The `retort` command.

fn main() {}
