//! The targets of `tests/fuzz` under libFuzzer: `RETORT_FUZZ_TARGET` names the one that is run.

#![no_main]
#![allow(dead_code, unused_imports, reason = "what only tests use is there too")]
#![allow(clippy::unwrap_used, reason = "a target that can't go on has found something")]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

#[path = "../../tests"]
mod suite {
    #[macro_use]
    pub(crate) mod options;

    pub(crate) mod bundle;
    pub(crate) mod event;
    pub(crate) mod fuzz;
    pub(crate) mod inspect;
    pub(crate) mod property;
    pub(crate) mod support;
}

use std::env;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use suite::{bundle, event, fuzz, inspect, property, support};

static TARGET: LazyLock<&fuzz::Target> = LazyLock::new(|| {
    let name = env::var("RETORT_FUZZ_TARGET").expect("RETORT_FUZZ_TARGET names a target");
    let found = fuzz::TARGETS.iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("there is no target {name}"))
});

/// Writes the target's seeds into the folder that `RETORT_FUZZ_SEEDS` names, if it does.
fn write_seeds() {
    let Some(folder) = env::var_os("RETORT_FUZZ_SEEDS") else { return };
    fs::create_dir_all(&folder).unwrap();
    for (index, seed) in (TARGET.seeds)().iter().enumerate() {
        fs::write(Path::new(&folder).join(format!("seed-{index:04}")), seed).unwrap();
    }
}

libfuzzer_sys::fuzz_target!(init: write_seeds(), |data: &[u8]| {
    (TARGET.run)(data);
});
