//! The targets of `tests/fuzz`, for the binaries of cargo-fuzz.

#![allow(dead_code, reason = "what only tests use is there too")]
#![allow(clippy::unwrap_used, reason = "a target that can't go on has found something")]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

#[path = "../../tests"]
mod suite {
    pub(crate) mod bundle;
    pub(crate) mod event;
    pub(crate) mod fuzz;
    pub(crate) mod inspect;
    pub(crate) mod property;
    pub(crate) mod support;
}

use std::fs;
use std::path::Path;

use suite::{bundle, event, fuzz, inspect, property, support};

/// A target, by its name.
fn target(name: &str) -> &'static fuzz::Target {
    let found = fuzz::TARGETS.iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("there is no target {name}"))
}

/// Runs a target over one input.
pub fn run(name: &str, data: &[u8]) {
    (target(name).run)(data);
}

/// Writes the seeds of a target into the folder that `RETORT_FUZZ_SEEDS` names, if it does.
pub fn write_seeds(name: &str) {
    let Some(folder) = std::env::var_os("RETORT_FUZZ_SEEDS") else { return };
    fs::create_dir_all(&folder).unwrap();
    for (index, seed) in (target(name).seeds)().iter().enumerate() {
        fs::write(Path::new(&folder).join(format!("seed-{index:04}")), seed).unwrap();
    }
}
