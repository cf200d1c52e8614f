//! How much a compiler may start and write.

use std::fs;
use std::time::{Duration, Instant};

use retort::Coded;
use retort::sandbox::{RustcError, Toolchain};

use super::{PLAIN, body, fake};

/// What becomes of a compiler that does this.
fn ended(does: &str) -> RustcError {
    let folder = tempfile::tempdir().unwrap();
    let mut options = fake(folder.path(), "much", does);
    options.limits.written_bytes = 4 << 20;
    options.limits.module_bytes = 1 << 20;
    let toolchain = Toolchain::find(options).unwrap_or_else(|error| panic!("{error}"));
    let start = Instant::now();
    let error = toolchain.compile(&body(PLAIN)).expect_err("too much");
    eprintln!("{error}, {:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    error
}

#[test]
fn a_compiler_that_starts_too_many_processes_is_ended_with_all_of_them() {
    // Each names itself by its directory, and would go on for ever.
    let error =
        ended("n=0; while [ $n -lt 100 ]; do n=$((n+1)); (while :; do :; done) & done; wait");
    assert_eq!(error.code(), "rustc_processes_exceeded");
    assert!(error.usage().is_some_and(|(used, allowed)| used > allowed && allowed == 64));
    // None of them is left: they would have the directory of the compilation, which is gone.
    let is_left = |process: &fs::DirEntry| {
        let directory = fs::read_link(process.path().join("cwd")).unwrap_or_default();
        let directory = directory.to_string_lossy();
        directory.contains("retort-rustc-") && directory.ends_with("(deleted)")
    };
    let start = Instant::now();
    loop {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        match processes.filter(is_left).count() {
            0 => break,
            left => assert!(start.elapsed() < Duration::from_secs(10), "{left} are left"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_compiler_that_writes_too_much_is_ended() {
    let block = "b=x; while [ ${#b} -lt 65536 ]; do b=$b$b; done";
    let files = |most: &str| {
        format!("{block}; n=0; while {most}; do n=$((n+1)); echo \"$b$b$b$b$b$b$b$b\" > f$n; done")
    };
    // Without an end, and so fast that nobody looks before it is done.
    for most in [":", "[ $n -lt 20 ]"] {
        let error = ended(&files(most));
        assert_eq!(error.code(), "rustc_written_exceeded", "{error}");
        assert!(error.usage().is_some_and(|(used, allowed)| used > allowed && allowed == 4 << 20));
    }
    // Files without anything in them take room too.
    let error = ended("n=0; while :; do n=$((n+1)); : > f$n; done");
    assert_eq!(error.code(), "rustc_written_exceeded", "{error}");
}
