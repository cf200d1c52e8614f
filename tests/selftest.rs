//! The hostile corpus (`hostile/`, see its README), run as `retort selftest` runs it: in every isolation mode, with both
//! allocators.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use retort::abi::block::BlockError;
use retort::abi::result::ResultError;
use retort::compile::compile_text;
use retort::event::EventError;
use retort::sandbox::{Allocator, ForeignModules, GuestError, Isolation, Limits, Options, Pool};
use retort::selftest::{self, Case, Config, Kind, Report};
use wasmtime::{Engine, Instance, Module, Store};

use crate::support::{rustc, workspace_root};

fn corpus() -> Vec<Case> {
    selftest::corpus().unwrap_or_else(|error| panic!("{error}"))
}

fn config(isolation: Isolation, allocator: Allocator) -> Config {
    let foreign = ForeignModules::InProcess;
    let options = Options { isolation, allocator, foreign, ..Options::default() };
    Config { options, rustc: rustc(), ..Config::default() }
}

/// What a report says that doesn't depend on the machine: a line for each case.
fn table(report: &Report) -> String {
    let mut table = String::new();
    for case in &report.cases {
        let limit = case.limit.as_deref().unwrap_or("-");
        let _ = write!(table, "{}: {} by {limit}", case.case, case.observed);
        if let (Some(used), Some(allowed)) = (case.used, case.allowed) {
            let _ = write!(table, ", {used} of {allowed}");
        }
        table.push('\n');
    }
    table
}

/// Names the file that the process which runs the corpus writes its table to.
const TABLE: &str = "RETORT_TEST_TABLE";

/// Names how it runs it: `isolation` and `allocator`.
const HOW: &str = "RETORT_TEST_HOW";

/// Runs the corpus where another test asked for it: in a process that does nothing else, so that its memory tells of the
/// corpus alone.
#[test]
fn in_a_process_of_its_own() {
    let (Some(path), Ok(how)) = (env::var_os(TABLE), env::var(HOW)) else { return };
    let (isolation, allocator) = how.split_once(' ').unwrap();
    let isolation = serde_json::from_value(isolation.into()).unwrap();
    let allocator = match allocator {
        "on-demand" => Allocator::OnDemand,
        _ => Allocator::Pooling(Pool::default()),
    };
    let config = Config { watch_memory: true, ..config(isolation, allocator) };
    let report = selftest::run(&corpus(), &config, &mut |_| {}).unwrap();
    let failures: Vec<String> = report
        .failures()
        .map(|case| format!("{} ({how}): {}", case.case, case.reason.as_deref().unwrap_or("")))
        .collect();
    assert!(report.ok(), "{}", failures.join("\n"));
    for skipped in &report.skipped {
        eprintln!("skipped: {}: {}", skipped.case, skipped.reason);
    }
    fs::write(path, table(&report)).unwrap();
}

#[test]
fn every_attack_is_stopped_in_every_mode_with_both_allocators() {
    let folder = tempfile::tempdir().unwrap();
    let mut tables = BTreeSet::new();
    for isolation in Isolation::ALL {
        for allocator in ["on-demand", "pooling"] {
            let how = format!("{} {allocator}", isolation.as_str());
            let path = folder.path().join("table");
            let output = Command::new(env::current_exe().unwrap())
                .args(["--exact", "selftest::in_a_process_of_its_own", "--nocapture"])
                .env(TABLE, &path)
                .env(HOW, &how)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{how}: {}: {said}", output.status);
            tables.insert(fs::read_to_string(&path).unwrap());
        }
    }
    assert_eq!(tables.len(), 1, "the same attacks, stopped by other means: {tables:#?}");
    // Guests in Rust depend on who compiles them, which is not the same everywhere.
    let rust: BTreeSet<String> = corpus()
        .iter()
        .filter(|case| case.kind() == Kind::Rust)
        .map(|case| format!("{}: ", case.name()))
        .collect();
    let table = tables.pop_first().unwrap();
    let stable: Vec<&str> = table
        .lines()
        .filter(|line| !rust.iter().any(|name| line.starts_with(name.as_str())))
        .collect();
    insta::assert_snapshot!(stable.join("\n"));
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
    let attacks: BTreeSet<&str> = cases.iter().map(Case::attack).collect();
    assert_eq!(attacks.len(), cases.len(), "two cases say that they are the same attack");
    for case in &cases {
        let name = case.name();
        assert!(name.split('/').count() == 2, "{name}: expected one folder");
        assert!(case.attack().len() <= 120, "{name}: expected one line of a table");
        for code in [case.expect(), case.good()] {
            assert!(
                code == "ok" || retort::explain::lookup(code).is_some(),
                "{name}: there is no code {code}"
            );
        }
    }
}

#[test]
fn every_way_to_fail_has_a_case() {
    let codes = [GuestError::CODES, ResultError::CODES, BlockError::CODES, EventError::CODES];
    let listed: BTreeSet<&str> = codes.into_iter().flatten().copied().collect();
    let cases = corpus();
    let mut seen: BTreeSet<&str> = cases.iter().map(Case::expect).collect();
    // What wasmtime calls by another name needs a feature that guests don't have.
    seen.insert("trap");
    // No guest does this: the tests of isolation have it.
    seen.insert("pool_exhausted");
    let missing: Vec<&&str> = listed.difference(&seen).collect();
    assert!(missing.is_empty(), "no case ends in {missing:?}");
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
    for case in corpus().iter().filter(|case| case.leaks() && case.kind() == Kind::Wat) {
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
    let mut config = config(Isolation::PerEvent, Allocator::OnDemand);
    config.filter = Some("stack/recursion".to_owned());
    config.options.limits =
        Limits { stack_bytes: 1 << 20, fuel_base: u64::MAX, ..Limits::default() };
    let report = selftest::run(&corpus(), &config, &mut |_| {}).unwrap();
    assert_eq!(report.cases[0].observed, "stack_overflow");
}
