//! Says that the library has to be built anew when a case is added to the corpus: a macro takes them in, and only the
//! contents of those that it saw are known to the compiler. And tells one build of its source from others.

#![allow(clippy::print_stdout, reason = "it is how a build script speaks")]

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;

/// What decides what gates and renderer do. What a published package hasn't beside it is of a version that its own files name.
const SOURCES: [&str; 4] = ["src", "Cargo.toml", "../guest-template", "../Cargo.lock"];

fn main() {
    println!("cargo::rerun-if-changed=../tests/hostile");
    let mut hasher = DefaultHasher::new();
    for source in SOURCES.map(Path::new) {
        if source.exists() {
            println!("cargo::rerun-if-changed={}", source.display());
            add(source, &mut hasher);
        }
    }
    let build = ["CARGO_PKG_VERSION", "CARGO_CFG_FEATURE"].map(|name| std::env::var(name).ok());
    build.hash(&mut hasher);
    println!("cargo::rustc-env=RETORT_BUILD={:016x}", hasher.finish());
}

/// A file, or all that is in a folder, by name.
fn add(path: &Path, hasher: &mut DefaultHasher) {
    path.hash(hasher);
    if let Ok(entries) = fs::read_dir(path) {
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().for_each(|path| add(path, hasher));
    } else {
        fs::read(path).unwrap_or_default().hash(hasher);
    }
}
