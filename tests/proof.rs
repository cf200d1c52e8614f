//! The verifier over the binary, over modules that are changed at random. What it takes and what it doesn't by hand is in
//! `cases/proof.rs`.

mod lab;
mod mutants;
