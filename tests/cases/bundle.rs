//! The contract's bundles: what loads, and what doesn't.

mod discovery;
mod loading;
mod manifest;
#[allow(dead_code, reason = "other tests use it as well")]
#[path = "../bundle/recipe.rs"]
mod recipe;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [discovery::trials, loading::trials, manifest::trials].into_iter().flat_map(|of| of()).collect()
}
