//! Where cases are found.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use retort::gate::inspect::{self, Inspected, StructuralLimits};
use retort::plan::Plan;
use retort::render::{self, compile};
use retort::sandbox::{ForeignModules, Limits, Options, Sandbox};

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

/// A `rustc` that compiles for `wasm32-wasip1`: the one that `RETORT_RUSTC` names, or the one that a script beside the checkout
/// finds. `None` (said on stderr) where there is none.
pub(crate) fn rustc() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        if let Some(named) = std::env::var_os("RETORT_RUSTC") {
            return Some(named.into());
        }
        let output = Command::new(shared("tools/wasm-rustc")?).output().ok()?;
        let path = String::from_utf8(output.stdout).ok()?;
        (output.status.success() && !path.trim().is_empty()).then(|| path.trim().into())
    };
    let found = FOUND.get_or_init(find).clone();
    if found.is_none() {
        eprintln!("skipped: no rustc for wasm32-wasip1: guests in Rust are not built");
    }
    found
}

/// A guest in Rust, compiled as docs/wasi.md says. `None` where there is nothing to compile it with.
pub(crate) fn rust_guest(path: &str) -> Option<Vec<u8>> {
    let rustc = rustc()?;
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join("guest.wasm");
    let output = Command::new(rustc)
        .args(["--edition", "2024", "--crate-name", "guest", "--crate-type", "cdylib"])
        .args(["--target", "wasm32-wasip1", "-C", "opt-level=s", "-C", "panic=abort"])
        .args(["-C", "strip=debuginfo", "-C", "link-arg=--max-memory=16777216", "-o"])
        .args([&module, &workspace_root().join(path)])
        .output()
        .unwrap();
    assert!(output.status.success(), "{path}: {}", String::from_utf8_lossy(&output.stderr));
    Some(fs::read(module).unwrap())
}

/// The bytes of a module in hexadecimal, if it is no more than that.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).ok();
    digits.chunks(2).map(byte).collect()
}
