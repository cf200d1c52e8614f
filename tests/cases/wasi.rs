//! Guests in Rust.

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use retort::Coded;
use retort::gate::{Grant, StructuralLimits, inspect, inspect_granting};
use retort::sandbox::{Directory, ForeignModules, Options, Sandbox, WasiGrants};

use crate::support::workspace_root;
use crate::trial::with_rustc;

const EVENT: &[u8] = br#"{"event_type":"e"}"#;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        with_rustc("wasi::an_honest_guest_in_rust_is_served", an_honest_guest_in_rust_is_served),
        with_rustc(
            "wasi::a_guest_in_rust_reads_what_is_granted",
            a_guest_in_rust_reads_what_is_granted,
        ),
    ]
}

/// A guest in Rust, compiled as docs/wasi.md says.
fn compiled(rustc: &Path, path: &str) -> Vec<u8> {
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
    fs::read(module).unwrap()
}

fn sandbox(wasi: WasiGrants) -> Sandbox {
    let foreign = ForeignModules::InProcess;
    Sandbox::with_options(options!(Options { foreign, wasi, ..Options::default() })).unwrap()
}

fn an_honest_guest_in_rust_is_served(rustc: &Path) {
    let wasm = compiled(rustc, "tests/wasi/honest.rs");
    let module = inspect(&wasm, &StructuralLimits::default());
    let module = module.unwrap_or_else(|rejected| panic!("{rejected}"));
    assert!(module.facts().imports.contains(&"random_get"), "{:?}", module.facts().imports);
    let extractor = sandbox(WasiGrants::default()).load(&module).unwrap();
    let mut runner = extractor.runner();
    let order = br#"{"event_type":"order","customer":"Anna","sum":3}"#;
    let first = runner.run(order).unwrap().json.to_vec();
    let result: serde_json::Value = serde_json::from_slice(&first).unwrap();
    assert_eq!(result["nodes"][0]["node_id"], "Anna");
    assert_eq!(result["nodes"][0]["properties"].as_array().unwrap().len(), 3);
    assert_eq!(runner.log(), b"a customer: \"Anna\"\n3 letters\n");

    let error = runner.run(br#"{"event_type":"order","customer":"nobody"}"#).unwrap_err();
    assert_eq!(error.code(), "unreachable");
    let message = error.problem().message;
    assert!(message.contains("an order of nobody"), "{message}");
    assert!(message.contains("panicked at"), "{message}");
    assert!(!message.contains('\n'), "{message}");

    // Byte for byte the same, though the order of a map's entries depends on its seed.
    assert_eq!(runner.run(order).unwrap().json, first);
    assert_eq!(extractor.runner().run(order).unwrap().json, first);
}

fn a_guest_in_rust_reads_what_is_granted(rustc: &Path) {
    let wasm = compiled(rustc, "tests/wasi/reads.rs");
    let rejected = inspect(&wasm, &StructuralLimits::default()).unwrap_err();
    assert!(rejected.problems().iter().all(|problem| problem.code() == "wasi_refused"));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("countries.txt"), "de fr\n").unwrap();
    fs::write(folder.path().join("cities.txt"), "Bonn").unwrap();
    let sandbox = sandbox(WasiGrants {
        grant: Grant::Files,
        directories: vec![Directory::new(folder.path(), "/data")],
    });
    let extractor = sandbox
        .load(&inspect_granting(&wasm, &StructuralLimits::default(), Grant::Files).unwrap())
        .unwrap();
    let mut runner = extractor.runner();
    for _ in 0..2 {
        let outcome = runner.run(EVENT).unwrap_or_else(|error| panic!("{error}"));
        let result: serde_json::Value = serde_json::from_slice(outcome.json).unwrap();
        assert_eq!(
            result["fully_handled_span_ids"][0],
            "['cities.txt', 'countries.txt'] 6 de fr ['NotFound', 'PermissionDenied', \
             'PermissionDenied']"
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}
