//! Guests in Rust, built with plain calls of `rustc`.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use retort_guest_template::SDK;
use tempfile::TempDir;

const COMMON: [&str; 8] = [
    "--edition=2024",
    "--target=wasm32-wasip1",
    "-Copt-level=2",
    "-Cpanic=abort",
    "-Cembed-bitcode=yes",
    "--cap-lints=warn",
    "-Dwarnings",
    "-Adead_code",
];

/// The crates that guests are built with, built.
pub(super) struct Sdk {
    folder: TempDir,
}

impl Sdk {
    /// Those of this `rustc`.
    pub(super) fn of(rustc: &Path) -> &'static Self {
        static BUILT: OnceLock<Sdk> = OnceLock::new();
        BUILT.get_or_init(|| {
            let folder = TempDir::new().unwrap();
            for (path, text) in SDK {
                let path = folder.path().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            for (name, root) in [("retort_guest_std", "std"), ("retort_guest", "sdk")] {
                let mut command = Command::new(rustc);
                command
                    .current_dir(&folder)
                    .args(COMMON)
                    .args(["--crate-type=rlib", "--crate-name"]);
                command.arg(name).arg(format!("{root}/src/lib.rs"));
                let output = command.output().unwrap();
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            }
            Self { folder }
        })
    }

    /// Builds an extractor; an error is what the compiler says.
    pub(super) fn build(&self, rustc: &Path, source: &str) -> Result<Vec<u8>, String> {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        // In front of the first line, so that all lines keep their numbers.
        std::fs::write(folder.path().join("src/lib.rs"), format!("#![no_std] {source}")).unwrap();
        let sdk = self.folder.path();
        let library = |name: &str, file: &str| format!("{name}={}", sdk.join(file).display());
        let output = Command::new(rustc)
            .current_dir(&folder)
            .args(["--crate-name=extractor", "--crate-type=cdylib", "--edition=2024"])
            .args(["--target=wasm32-wasip1", "-Copt-level=2", "-Cpanic=abort", "-Clto=fat"])
            .args(["-Ccodegen-units=1", "-Cdebuginfo=line-tables-only", "-Funsafe_code"])
            .args(["-Clink-arg=--max-memory=16777216", "--extern"])
            .arg(library("std", "libretort_guest_std.rlib"))
            .arg("--extern")
            .arg(library("retort_guest", "libretort_guest.rlib"))
            .args(["-o", "extractor.wasm", "src/lib.rs"])
            .output()
            .unwrap();
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(std::fs::read(folder.path().join("extractor.wasm")).unwrap())
    }
}
