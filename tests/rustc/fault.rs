//! What isn't the fault of a source: the machine's, the compiler's, or that of what it was given beside the source.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use retort::Coded;
use retort::evidence::Cancel;
use retort::sandbox::{RustcError, RustcOptions, Toolchain};

use super::{PLAIN, body, fake, options, private_cache};
use crate::support::guest_rustc;

fn found(options: RustcOptions) -> Toolchain {
    Toolchain::find(options).unwrap_or_else(|error| panic!("{error}"))
}

/// The one entry of a cache.
fn entry(cache: &Path) -> PathBuf {
    let mut entries = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path());
    let only = entries.next().expect("an entry");
    assert_eq!(entries.next(), None);
    only
}

fn library(cache: &Path) -> PathBuf {
    entry(cache).join("libretort_guest.rlib")
}

#[test]
fn libraries_that_are_broken_are_compiled_anew_and_the_source_is_not_blamed() {
    let Some(_) = guest_rustc() else { return };
    let cache = private_cache();
    let mut options = options(|_| {});
    options.cache = Some(cache.path().to_owned());
    let toolchain = found(options.clone());
    let made = toolchain.compile(&body(PLAIN)).unwrap_or_else(|error| panic!("{error}"));
    let whole = fs::read(library(cache.path())).unwrap();
    let half = whole.get(..whole.len() / 2).unwrap();
    let broken: [&dyn Fn(&Path); 4] = [
        &|it| fs::write(it, half).unwrap(),
        &|it| fs::write(it, "").unwrap(),
        &|it| fs::remove_file(it).unwrap(),
        &|it| fs::remove_dir_all(it.parent().unwrap()).unwrap(),
    ];
    for (number, broken) in broken.iter().enumerate() {
        // While it is in use.
        broken(&library(cache.path()));
        let again = toolchain.compile(&body(PLAIN));
        let again = again.unwrap_or_else(|error| panic!("{number}: {error}"));
        assert_eq!(again.module, made.module);
        assert_eq!(fs::read(library(cache.path())).unwrap(), whole, "{number}");
    }
    // An error of the source is one whatever the libraries are.
    fs::write(library(cache.path()), half).unwrap();
    let error = toolchain.compile(&body("nothing")).expect_err("an error");
    assert_eq!((error.code(), error.is_of_host()), ("rustc_rejected", false), "{error}");
    assert!(error.to_string().contains("E0425"), "{error}");
    // Before it is used.
    fs::write(library(cache.path()), half).unwrap();
    let toolchain = found(options);
    assert_eq!(fs::read(library(cache.path())).unwrap(), whole);
    toolchain.compile(&body(PLAIN)).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_compiler_that_compiles_nothing_is_not_put_down_to_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let refuses = |code: &str| {
        format!(
            "echo '{{\"level\":\"error\",\"message\":\"found crate `core`\",\"code\":{{\"code\":\"{code}\"}},\"spans\":[\
             {{\"file_name\":\"src/lib.rs\",\"line_start\":1,\"column_start\":5,\"is_primary\":true}}]}}' >&2; exit 1"
        )
    };
    for (name, does, code, says) in [
        ("crashes", "exit 101".to_owned(), "toolchain_failed", "exit status: 101"),
        ("faults", "kill -SEGV $$".to_owned(), "toolchain_failed", "known to be good"),
        ("is_killed", "kill -KILL $$".to_owned(), "toolchain_failed", "killed from outside"),
        ("is_of_another", refuses("E0514"), "sdk_unusable", "E0514: found crate"),
        ("is_older", refuses("E0460"), "sdk_unusable", "E0460: found crate"),
        ("is_not_there", refuses("E0463"), "sdk_unusable", "compiled anew"),
    ] {
        let toolchain = found(fake(folder.path(), name, &does));
        let error = toolchain.compile(&body(PLAIN)).expect_err("no module");
        assert_eq!((error.code(), error.is_of_host()), (code, true), "{name}: {error}");
        assert!(error.to_string().contains(says), "{name}: {error}");
    }
    // One that crashes by this source alone.
    let by_source =
        "while read -r line; do case \"$line\" in *boom*) exit 101;; esac; done < src/lib.rs";
    let toolchain = found(fake(folder.path(), "by_source", by_source));
    toolchain.compile(&body(PLAIN)).unwrap_or_else(|error| panic!("{error}"));
    let error = toolchain.compile(&body("let boom = 1;")).expect_err("no module");
    assert_eq!((error.code(), error.is_of_host()), ("rustc_crashed", false), "{error}");
    // One that is gone.
    let options = fake(folder.path(), "gone", ":");
    let toolchain = found(options.clone());
    fs::remove_file(options.rustc.unwrap()).unwrap();
    let error = toolchain.compile(&body(PLAIN)).expect_err("no compiler");
    assert_eq!((error.code(), error.is_of_host()), ("toolchain_failed", true), "{error}");
}

#[test]
fn a_compiler_without_a_processor_is_waited_for_longer_and_then_not_put_down_to_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = fake(folder.path(), "stops", "kill -STOP $$");
    options.limits.time_ms = 400;
    let toolchain = found(options);
    let start = Instant::now();
    let error = toolchain.compile(&body(PLAIN)).expect_err("no module");
    assert_eq!((error.code(), error.is_of_host()), ("rustc_starved", true), "{error}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let RustcError::Starved { waited_ms, used_ms } = error else { panic!("{error}") };
    assert!(waited_ms > 5_000 && used_ms < 200, "{waited_ms} {used_ms}");

    let busy = "while :; do :; done";
    let mut options = fake(folder.path(), "works", busy);
    options.limits.time_ms = 400;
    let error = found(options).compile(&body(PLAIN)).expect_err("no module");
    assert_eq!((error.code(), error.is_of_host()), ("rustc_timeout", false), "{error}");
}

#[test]
fn who_cancels_waits_for_no_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let toolchain = found(fake(folder.path(), "stops", "kill -STOP $$"));
    let (cancel, start) = (Cancel::default(), Instant::now());
    // More than there are places for.
    let many = std::thread::available_parallelism().unwrap().get() + 2;
    std::thread::scope(|scope| {
        let compiling = || toolchain.compile_unless(&body(PLAIN), &cancel);
        let waiting: Vec<_> = (0..many).map(|_| scope.spawn(compiling)).collect();
        std::thread::sleep(Duration::from_millis(200));
        cancel.cancel();
        for compiled in waiting {
            let ended = compiled.join().unwrap();
            assert_eq!(ended.map(|_| ()), Err(RustcError::Cancelled));
        }
    });
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn another_toolchain_has_libraries_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let cache = private_cache();
    let entries = || fs::read_dir(cache.path()).unwrap().count();
    let mut options = fake(folder.path(), "rustc", ":");
    options.cache = Some(cache.path().to_owned());
    let _ = (found(options.clone()), found(options.clone()));
    assert_eq!(entries(), 1);
    // The same compiler, whose target was installed anew.
    fs::write(folder.path().join("libcore-1.rlib"), "another one").unwrap();
    let _ = found(options.clone());
    assert_eq!(entries(), 2);
    // Another compiler by the same path, of the same release.
    let rustc = options.rustc.clone().unwrap();
    let script = fs::read_to_string(&rustc).unwrap();
    let other = script.replace("release: 1.96.0", "\"release: 1.96.0\ncommit-hash: 7\"");
    assert_ne!(script, other);
    fs::write(&rustc, other).unwrap();
    let _ = found(options);
    assert_eq!(entries(), 3);
}
