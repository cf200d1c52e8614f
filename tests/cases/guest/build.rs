//! Guests in Rust, built as all are: vetted, and compiled by a confined compiler.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::OnceLock;

use retort::gate::{SourceLimits, vet_source};
use retort::sandbox::{RustcOptions, Toolchain};
use tempfile::TempDir;

/// Builds an extractor; an error is what the source gate or the compiler says.
pub(super) fn build(rustc: &Path, source: &str) -> Result<Vec<u8>, String> {
    let vetted = vet_source(source, &SourceLimits::default()).map_err(|it| it.to_string())?;
    let made = toolchain(rustc).compile(&vetted).map_err(|it| it.to_string())?;
    Ok(made.module)
}

fn toolchain(rustc: &Path) -> &'static Toolchain {
    static FOUND: OnceLock<(Toolchain, TempDir)> = OnceLock::new();
    let (toolchain, _) = FOUND.get_or_init(|| {
        let cache = tempfile::tempdir().unwrap();
        std::fs::set_permissions(cache.path(), Permissions::from_mode(0o700)).unwrap();
        let mut options = RustcOptions::new(env!("CARGO_BIN_EXE_retort"));
        options.rustc = Some(rustc.to_owned());
        options.cache = Some(cache.path().to_owned());
        (Toolchain::find(options).unwrap_or_else(|error| panic!("{error}")), cache)
    });
    toolchain
}
