//! Where cases are found.

use std::path::{Path, PathBuf};

use retort::gate::inspect::{self, Inspected, StructuralLimits};
use retort::plan::Plan;
use retort::sandbox::{ForeignModules, Limits, Options, Sandbox};
use retort::{compile, render};

/// The root of the workspace.
pub(crate) fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A file or folder of the shared data, or `None` (said on stderr) where it isn't there.
///
/// # Panics
/// Under `CI=true`, where missing conformance cases are a failure.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let found = workspace_root().join("../shared").join(path);
    if found.exists() {
        return Some(found);
    }
    assert!(
        !(path.starts_with("conformance") && std::env::var("CI").is_ok_and(|ci| ci == "true")),
        "{path} is missing under CI"
    );
    eprintln!("skipped: no {path} beside the checkout");
    None
}

/// A plan rendered, compiled, inspected and proved.
pub(crate) fn rendered(plan: &Plan) -> Inspected {
    let compiled = compile::compile(render::render(plan).unwrap()).unwrap();
    let inspected = inspect::inspect(compiled.module(), &StructuralLimits::default());
    let inspected = inspected.unwrap_or_else(|rejected| panic!("{rejected}"));
    inspect::prove::by_rendering(inspected, &compiled)
}

/// A sandbox that takes any module that passes the static gate.
pub(crate) fn sandbox(limits: Limits) -> Sandbox {
    let foreign = ForeignModules::InProcess;
    Sandbox::with_options(Options { limits, foreign, ..Options::default() }).unwrap()
}
