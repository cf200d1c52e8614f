//! The hostile corpus (`hostile/`, see its README) as a whole. What its cases are stopped by is in `cases/hostile.rs`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use retort::Limits;
use retort::diagnostics::{Code, Stage};
use retort::internal::codes;
use retort::render::compile_text;
use retort::sandbox::{ForeignModules, Options};
use retort::selftest::{self, Case, CaseKind, Config};
use sha2::{Digest as _, Sha256};
use wasmtime::{Engine, Instance, Module, Store};

use crate::support::{rustc, workspace_root};

fn corpus() -> Vec<Case> {
    selftest::corpus().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_is_built_in_is_what_lies_in_the_folder() {
    fn walk(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path
                .extension()
                .is_some_and(|end| end == "wat" || end == "rs" || end == "case")
            {
                found.insert(path.with_extension("").to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    let root = workspace_root().join("tests/hostile");
    let mut found = BTreeSet::new();
    walk(&root, &mut found);
    let in_folder = |case: &Case| root.join(case.name()).to_str().unwrap().replace('\\', "/");
    assert_eq!(found, corpus().iter().map(in_folder).collect());
}

#[test]
fn cases_have_names_attacks_and_codes_that_tell_them_apart() {
    let cases = corpus();
    let mut attacks = BTreeSet::new();
    for case in &cases {
        let name = case.name();
        assert!(name.split('/').count() == 2, "{name}: expected one folder");
        assert!(case.attack().len() <= 120, "{name}: expected one line of a table");
        let folder = name.split('/').next();
        assert!(attacks.insert((folder, case.attack())), "{name}: another case is this attack");
        for code in [case.expect(), case.good()] {
            assert!(
                code == "ok" || retort::internal::codes::lookup(code).is_some(),
                "{name}: there is no code {code}"
            );
        }
    }
}

#[test]
fn every_way_to_fail_has_a_case() {
    let is_listed = |code: &&Code| matches!(code.stage, Stage::Event | Stage::Run);
    let listed: BTreeSet<&str> = codes::all().filter(is_listed).map(|code| code.name).collect();
    let cases = corpus();
    let mut seen: BTreeSet<&str> = cases.iter().map(Case::expect).collect();
    // No guest does these: the tests of isolation, of fallbacks and of the command line have them.
    seen.extend([
        "extractor_raised",
        "pool_exhausted",
        "host_failed",
        "worker_failed",
        "host_panicked",
        "proof_refuted",
    ]);
    // Nor has it to do with what is read and written around it.
    seen.extend(["stream_unreadable", "stream_unwritable"]);
    // What a host refuses, and what its tenants are told, has the tests of hosts.
    seen.extend([
        "not_served",
        "queue_full",
        "quota_exceeded",
        "tenant_exists",
        "tenant_gone",
        "tenant_unknown",
        "version_not_promoted",
        "version_set_aside",
    ]);
    // What a service tells its clients has the tests of services.
    seen.extend([
        "client_too_slow",
        "config_invalid",
        "headers_too_large",
        "management_off",
        "request_invalid",
        "too_many_requests",
        "upload_invalid",
        "unauthorized",
        "cross_origin",
        "encoding_unknown",
        "listen_failed",
        "listen_open",
        "method_unknown",
        "path_unknown",
        "request_corrupt",
        "request_cut_off",
        "request_too_large",
        "service_ending",
        "too_many_requests",
    ]);
    let missing: Vec<&&str> = listed.difference(&seen).collect();
    assert!(missing.is_empty(), "no case ends in {missing:?}");
}

/// The variable that has guests in Rust compiled anew, by the `rustc` that `RETORT_RUSTC` names.
const UPDATE: &str = "RETORT_UPDATE_GUESTS";

/// Beside each guest in Rust lies what it was compiled to, so that nobody needs a compiler to try it. It says of which source it was made.
#[test]
fn guests_in_rust_are_what_their_sources_were_compiled_to() {
    let folder = workspace_root().join("tests/hostile/rust");
    let mut guests = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let source = entry.unwrap().path();
        if source.extension().is_none_or(|end| end != "rs") {
            continue;
        }
        let compiled = source.with_extension("hex");
        let digest: String = Sha256::digest(fs::read(&source).unwrap())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        if std::env::var_os(UPDATE).is_some() {
            fs::write(&compiled, hexadecimal(&source, &digest)).unwrap();
        }
        let text = fs::read_to_string(&compiled).unwrap_or_default();
        assert!(
            text.contains(&format!("SHA-256 {digest}")),
            "{}: of another source; {UPDATE}=1 RETORT_RUSTC=.. makes it anew",
            compiled.display()
        );
        guests += 1;
    }
    assert!(guests > 10);
}

/// What a guest in Rust is compiled to, as its file has it.
fn hexadecimal(source: &Path, digest: &str) -> String {
    let rustc = rustc().expect("a rustc for wasm32-wasip1");
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join("guest.wasm");
    let output = Command::new(&rustc)
        // Where its panics are is told from there, wherever the project lies.
        .current_dir(source.parent().unwrap())
        .args(["--edition=2024", "--crate-name=guest", "--crate-type=cdylib"])
        .args(["--target=wasm32-wasip1", "-Copt-level=s", "-Cpanic=abort", "-Clto=fat"])
        .args(["-Ccodegen-units=1", "-Cstrip=symbols", "-Clink-arg=--max-memory=16777216", "-o"])
        .arg(&module)
        .arg(source.file_name().unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let version = Command::new(&rustc).arg("--version").output().unwrap().stdout;
    let mut text = format!(
        "# {} of a source with the SHA-256 {digest}\n",
        String::from_utf8(version).unwrap().trim()
    );
    for line in fs::read(&module).unwrap().chunks(64) {
        text.extend(line.iter().map(|byte| format!("{byte:02x}")));
        text.push('\n');
    }
    text
}

/// Two calls of one instance with the block of the bad event: the bytes of both results.
fn called_twice(wasm: &[u8]) -> [Vec<u8>; 2] {
    let mut block: Vec<u8> = [1_u32, 1, 2, 20, 4].into_iter().flat_map(u32::to_le_bytes).collect();
    block.extend(b"true");
    let engine = Engine::default();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &Module::new(&engine, wasm).unwrap(), &[]).unwrap();
    let memory = instance.get_memory(&mut store, "memory").unwrap();
    let extract = instance.get_typed_func::<(u32, u32), u64>(&mut store, "extract").unwrap();
    [(); 2].map(|()| {
        memory.write(&mut store, 1024, &block).unwrap();
        let packed = extract.call(&mut store, (1024, 24)).unwrap();
        let (address, length) = ((packed >> 32) as usize, packed as u32 as usize);
        memory.data(&store)[address..address + length].to_vec()
    })
}

#[test]
fn a_case_that_is_said_to_leak_does_if_it_is_let() {
    let mut leaks = 0;
    for case in corpus().iter().filter(|case| case.leaks() && case.kind() == CaseKind::Wat) {
        let wasm = compile_text(&case.body().unwrap()).unwrap();
        let [first, second] = called_twice(&wasm);
        assert_ne!(first, second, "{}: leaks nothing, so shows nothing", case.name());
        leaks += 1;
    }
    assert!(leaks > 0);
}

#[test]
fn the_largest_stack_that_may_be_given_fits_a_thread() {
    // Cases run on threads of the usual size.
    let limits =
        options!(Limits { stack_bytes: 1 << 20, fuel_base: u64::MAX, ..Limits::default() });
    let options =
        options!(Options { limits, foreign: ForeignModules::InProcess, ..Options::default() });
    let filter = Some("stack/recursion".to_owned());
    let config = options!(Config { options, filter, ..Config::default() });
    let report = selftest::run(&corpus(), &config, |_| {}).unwrap();
    assert_eq!(report.cases[0].observed, "stack_overflow");
}
