//! WASI: what guests are granted and what they make of it, and on which threads they may run. Guests in Rust are in
//! `cases/wasi.rs`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use retort::gate::{Grant, Inspected, StructuralLimits, inspect_granting};
use retort::internal::inspect::WASI_FUNCTIONS;
use retort::sandbox::{
    Directory, Extractor, ForeignModules, GuestError, Options, Sandbox, WasiGrants, Worker,
};
use retort::{Coded, Limits, RunError};
use tokio::runtime::{Builder, Runtime};

use crate::support::workspace_root;

mod files;

fn document() -> String {
    fs::read_to_string(workspace_root().join("docs/wasi.md")).unwrap()
}

/// The rows of the tables that name functions of WASI.
fn rows(document: &str) -> Vec<Vec<&str>> {
    document
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"))
        .map(|line| line.split(" | ").map(|cell| cell.trim_matches('`')).collect())
        .filter(|cells: &Vec<&str>| cells[0].contains('_'))
        .collect()
}

#[test]
fn the_document_names_every_function_with_its_type_its_grant_and_its_price() {
    let document = document();
    let rows = rows(&document);
    let granted: Vec<[String; 4]> = rows
        .iter()
        .filter(|cells| cells.len() == 5)
        .map(|cells| [0, 1, 2, 3].map(|cell| cells[cell].to_owned()))
        .collect();
    let expected: Vec<[String; 4]> = WASI_FUNCTIONS
        .iter()
        .map(|function| {
            let grant = function.grant.as_str().to_owned();
            [function.name.to_owned(), function.signature(), grant, function.fuel.to_string()]
        })
        .collect();
    assert_eq!(granted, expected);
    let names: BTreeSet<&str> = rows.iter().map(|cells| cells[0]).collect();
    assert_eq!((names.len(), rows.len()), (46, 46), "preview 1 has 46 functions");
    for cells in rows.iter().filter(|cells| cells.len() == 2) {
        let wasm = importing(cells[0]);
        let rejected = inspect_granting(&wasm, &StructuralLimits::default(), Grant::Files);
        let says = format!("a guest can't import {} of WASI: no grant allows it", cells[0]);
        assert!(rejected.unwrap_err().to_string().contains(&says), "{says}");
    }
}

const SECTION: &str =
    r#"{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}"#;

const EVENT: &[u8] = br#"{"event_type":"e"}"#;

/// The text of a guest that does this before it gives an empty result.
fn doing(imports: &str, what: &str, data: &str) -> String {
    format!(
        r#"(module
            {imports}
            (memory (export "memory") 1 1)
            (func (export "retort_buffer") (param i32) (result i32) (i32.const 4096))
            (func (export "extract") (param i32 i32) (result i64)
                {what}
                (i64.const 0x0000_0010_0000_0053))
            (data (i32.const 16) "{{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}}")
            {data}
            (@custom "retort" "{SECTION}"))"#
    )
}

fn importing(function: &str) -> Vec<u8> {
    let import = format!(r#"(import "wasi_snapshot_preview1" "{function}" (func))"#);
    wat::parse_str(doing(&import, "", "")).unwrap()
}

const FD_WRITE: &str = r#"(import "wasi_snapshot_preview1" "fd_write"
    (func $fd_write (param i32 i32 i32 i32) (result i32)))"#;

/// Writes the text at 200, of so many bytes, to standard error.
fn writing(bytes: usize) -> String {
    format!(
        "(i32.store (i32.const 1000) (i32.const 200))
         (i32.store (i32.const 1004) (i32.const {bytes}))
         (drop (call $fd_write (i32.const 2) (i32.const 1000) (i32.const 1) (i32.const 1008)))"
    )
}

fn sandbox(limits: Limits, wasi: WasiGrants) -> Sandbox {
    let foreign = ForeignModules::InProcess;
    Sandbox::with_options(options!(Options { limits, foreign, wasi, ..Options::default() }))
        .unwrap()
}

fn inspected(wasm: &[u8], grant: Grant) -> Inspected {
    inspect_granting(wasm, &StructuralLimits::default(), grant)
        .unwrap_or_else(|rejected| panic!("{rejected}"))
}

/// An extractor from text, with the functions of [`Grant::Core`].
fn core(text: &str, limits: Limits) -> Extractor {
    let inspected = inspected(&wat::parse_str(text).unwrap(), Grant::Core);
    sandbox(limits, WasiGrants::default()).load(&inspected).unwrap()
}

#[test]
fn what_the_gate_let_through_under_another_grant_is_not_linked() {
    let wasm = wat::parse_str(doing(FD_WRITE, "", "")).unwrap();
    let module = inspected(&wasm, Grant::Core);
    let none = sandbox(Limits::default(), WasiGrants { grant: Grant::None, directories: vec![] });
    let error = none.load(&module).unwrap_err();
    assert_eq!(error.code(), "link_failed");
    assert!(error.to_string().contains("fd_write"), "{error}");
    // Nor what another sandbox of the same engine has.
    none.with_wasi(WasiGrants::default()).unwrap().load(&module).unwrap();
    let files = WasiGrants { grant: Grant::Files, directories: vec![] };
    let tenant = sandbox(Limits::default(), files);
    let tenant = tenant.for_tenant(Limits::default(), tenant.isolation()).unwrap();
    let probe = inspected(&probe(0, 2, 1), Grant::Files);
    let error = tenant.load(&probe).unwrap_err();
    assert!(error.to_string().contains("path_open"), "{error}");
}

#[test]
fn a_grant_of_nothing_is_a_guest_without_imports() {
    let wasm = wat::parse_str(doing(FD_WRITE, &writing(1), "")).unwrap();
    let rejected = inspect_granting(&wasm, &StructuralLimits::default(), Grant::None).unwrap_err();
    assert_eq!(rejected.problems()[0].code(), "wasi_refused");
    assert!(rejected.to_string().contains("this host grants nothing of WASI"), "{rejected}");
    let facts = inspected(&wasm, Grant::Core).facts().clone();
    assert_eq!(facts.imports, ["fd_write"]);
    assert_eq!(facts.fuel_bound, None, "a call of the host has no bound");
}

#[test]
fn a_log_is_that_of_one_event_and_ends_in_the_message_of_a_failure() {
    let fails = doing(
        FD_WRITE,
        &format!("{} (unreachable)", writing(10)),
        r#"(data (i32.const 200) "so\n\1b[31m!\n")"#,
    );
    let extractor = core(&fails, Limits::default());
    assert!(extractor.imports_wasi() && !extractor.is_reset_safe());
    let mut runner = extractor.runner();
    for _ in 0..2 {
        let error = runner.run(EVENT).unwrap_err();
        assert_eq!(error.code(), "unreachable");
        assert_eq!(*error.cause(), RunError::Guest(GuestError::Unreachable));
        let problem = error.problem();
        let message = r"the extractor executed `unreachable`; its log ends with: so\n\u{1b}[31m!";
        assert_eq!((problem.code.name, problem.message.as_str()), ("unreachable", message));
        assert_eq!(runner.log(), b"so\n\x1b[31m!\n");
    }
    // An event that never gets to the guest has no log, nor that of the event before.
    for (event, code) in [(&b"[]"[..], "event_not_object"), (b"{", "event_not_json")] {
        assert_eq!(runner.run(EVENT).unwrap_err().code(), "unreachable");
        let error = runner.run(event).unwrap_err();
        assert_eq!(error.code(), code);
        assert!(!matches!(error, RunError::Logged { .. }), "{error}");
        assert_eq!(runner.log(), b"");
    }
    let goes_well = doing(FD_WRITE, &writing(2), r#"(data (i32.const 200) "so")"#);
    let mut runner = core(&goes_well, Limits::default()).runner();
    runner.run(EVENT).unwrap();
    assert_eq!(runner.log(), b"so");
}

#[test]
fn a_full_log_is_told_with_what_was_used_and_what_was_allowed() {
    let text = doing(FD_WRITE, &writing(9), "");
    let mut runner = core(&text, options!(Limits { log_bytes: 8, ..Limits::default() })).runner();
    let problem = runner.run(EVENT).unwrap_err().problem();
    assert_eq!(
        (problem.code.name, problem.used, problem.allowed),
        ("log_exceeded", Some(9), Some(8))
    );
    core(&text, options!(Limits { log_bytes: 9, ..Limits::default() }))
        .runner()
        .run(EVENT)
        .unwrap();
}

#[test]
fn host_calls_cost_what_the_document_says() {
    let fuel = |text: &str| core(text, Limits::default()).runner().run(EVENT).unwrap().fuel;
    let one = doing(FD_WRITE, &writing(10), "");
    let two = doing(FD_WRITE, &writing(20), "");
    // 10 bytes more.
    assert_eq!(fuel(&two) - fuel(&one), 10);
    // The call and its list of one buffer, the bytes, and the operators around it.
    let cost = WASI_FUNCTIONS.iter().find(|function| function.name == "fd_write").unwrap().fuel;
    let without = doing(FD_WRITE, "", "");
    let around = fuel(&one) - fuel(&without) - (cost + 8 + 10);
    assert!(around < 20, "{around}");
}

#[test]
fn a_place_for_a_list_costs_what_the_document_says() {
    let files = sandbox(Limits::default(), WasiGrants { grant: Grant::Files, directories: vec![] });
    let fuel = |text: &str| {
        let inspected = inspected(&wat::parse_str(text).unwrap(), Grant::Files);
        files.load(&inspected).unwrap().runner().run(EVENT).unwrap().fuel
    };
    for (name, params, rest) in [
        ("fd_readdir", "i32 i32 i32 i64 i32", "(i64.const 0) (i32.const 200)"),
        ("fd_prestat_dir_name", "i32 i32 i32", ""),
    ] {
        let import = format!(
            r#"(import "wasi_snapshot_preview1" "{name}" (func $list (param {params}) (result i32)))"#
        );
        let [none, some] = [0, 70].map(|length| {
            let place = format!("(i32.const 9) (i32.const 300) (i32.const {length})");
            fuel(&doing(&import, &format!("(drop (call $list {place} {rest}))"), ""))
        });
        assert_eq!(some - none, 70, "{name}");
    }
}

#[test]
fn an_exit_costs_what_the_document_says() {
    let import = r#"(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))"#;
    let text = doing(import, "(call $exit (i32.const 0))", "");
    for (fuel_base, code) in [(190, "out_of_fuel"), (250, "exit")] {
        let limits = options!(Limits { fuel_base, fuel_per_byte: 0, ..Limits::default() });
        assert_eq!(core(&text, limits).runner().run(EVENT).unwrap_err().code(), code);
    }
}

/// The guest that opens and reads what an event names.
fn probe(oflags: u32, rights: u64, opens: u32) -> Vec<u8> {
    closing_probe(oflags, rights, opens, "")
}

/// The same, which does `closing` after each opening, with `$opens` of them left, that one included.
fn closing_probe(oflags: u32, rights: u64, opens: u32, closing: &str) -> Vec<u8> {
    let text = fs::read_to_string(workspace_root().join("tests/wasi/probe.wat")).unwrap();
    let text = text
        .replace("i32.const OFLAGS", &format!("i32.const {oflags}"))
        .replace("i64.const RIGHTS", &format!("i64.const {rights}"))
        .replace("i32.const OPENS", &format!("i32.const {opens}"))
        .replace("      CLOSING\n", closing);
    wat::parse_str(text).unwrap()
}

/// What the guest finds at `path`: the number of an error, and what it read.
fn finds(extractor: &Extractor, path: &str) -> (String, String) {
    let event = serde_json::json!({"event_type": "e", "path": path}).to_string();
    let mut runner = extractor.runner();
    let outcome = runner.run(event.as_bytes()).unwrap_or_else(|error| panic!("{path}: {error}"));
    let result: serde_json::Value = serde_json::from_slice(outcome.json).unwrap();
    let text = |key: &str| result[key][0].as_str().unwrap().to_owned();
    (text("fully_handled_span_ids"), text("partially_handled_span_ids"))
}

fn granting(directory: &Path) -> WasiGrants {
    WasiGrants { grant: Grant::Files, directories: vec![Directory::new(directory, "/data")] }
}

const READ: u64 = 1 << 1;
const WRITE: u64 = 1 << 6;

#[test]
fn a_granted_directory_is_read_and_never_left_or_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let (inside, outside) = (folder.path().join("data"), folder.path().join("secret.txt"));
    fs::create_dir_all(inside.join("more")).unwrap();
    fs::write(&outside, "a secret").unwrap();
    fs::write(inside.join("countries.txt"), "de fr").unwrap();
    fs::write(inside.join("more/cities.txt"), "Bonn").unwrap();
    symlink("more/cities.txt", inside.join("link")).unwrap();
    symlink("../secret.txt", inside.join("link_out")).unwrap();
    symlink("/dev/zero", inside.join("link_to_a_device")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        inside.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let _socket = UnixListener::bind(inside.join("socket")).unwrap();

    let sandbox = sandbox(Limits::default(), granting(&inside));
    let load = |wasm: Vec<u8>| sandbox.load(&inspected(&wasm, Grant::Files)).unwrap();
    let reader = load(probe(0, READ, 1));
    // The numbers are those of preview 1: 2 access, 8 bad descriptor, 44 no entry, 63 not permitted.
    for (path, errno, content) in [
        ("countries.txt", "00", "de fr"),
        ("more/cities.txt", "00", "Bonn"),
        ("more/../countries.txt", "00", "de fr"),
        ("link", "00", "Bonn"),
        ("missing.txt", "44", ""),
        ("more", "08", ""),
        ("../secret.txt", "63", ""),
        ("more/../../secret.txt", "63", ""),
        ("link_out", "63", ""),
        ("link_to_a_device", "63", ""),
        ("/etc/passwd", "63", ""),
        ("pipe", "02", ""),
        ("socket", "02", ""),
    ] {
        assert_eq!(finds(&reader, path), (errno.to_owned(), content.to_owned()), "{path}");
    }
    // To create, to cut off, and to write to what is there.
    for (oflags, rights, path, errno) in [
        (1, READ, "new.txt", "44"),
        (1, READ | WRITE, "countries.txt", "63"),
        (8, READ | WRITE, "countries.txt", "63"),
        (0, READ | WRITE, "countries.txt", "63"),
        (0, WRITE, "countries.txt", "63"),
    ] {
        let found = finds(&load(probe(oflags, rights, 1)), path);
        assert_eq!(found, (errno.to_owned(), String::new()), "{path}: {oflags} {rights}");
    }
    assert!(!inside.join("new.txt").exists());
    assert_eq!(fs::read_to_string(inside.join("countries.txt")).unwrap(), "de fr");
    // 33 is too many open files. Those of one event are closed at the next.
    for _ in 0..3 {
        assert_eq!(finds(&load(probe(0, READ, 32)), "countries.txt").0, "00");
        assert_eq!(finds(&load(probe(0, READ, 33)), "countries.txt").0, "33");
    }
}

#[test]
fn a_directory_without_the_grant_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let wasi = WasiGrants { grant: Grant::Core, ..granting(folder.path()) };
    let error =
        Sandbox::with_options(options!(Options { wasi, ..Options::default() })).unwrap_err();
    assert_eq!(error.code(), "directory_refused");
}

fn runtimes() -> [Runtime; 2] {
    [Builder::new_current_thread(), Builder::new_multi_thread()]
        .map(|mut builder| builder.enable_time().build().unwrap())
}

/// A guest that writes to its log and computes until its deadline.
fn staller() -> Extractor {
    let text = doing(
        FD_WRITE,
        &format!("{} (loop $again (br $again))", writing(7)),
        r#"(data (i32.const 200) "waiting")"#,
    );
    core(&text, options!(Limits { fuel_base: u64::MAX, deadline_ms: 300, ..Limits::default() }))
}

#[test]
fn a_runner_inside_a_task_does_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("countries.txt"), "de fr").unwrap();
    let sandbox = sandbox(Limits::default(), granting(folder.path()));
    let extractor = sandbox.load(&inspected(&probe(0, READ, 1), Grant::Files)).unwrap();
    for runtime in runtimes() {
        let in_task = extractor.clone();
        let found = runtime.block_on(async {
            tokio::spawn(async move { finds(&in_task, "countries.txt") }).await.unwrap()
        });
        assert_eq!(found, ("00".to_owned(), "de fr".to_owned()));
    }
}

#[test]
fn a_worker_keeps_its_caller_free() {
    for runtime in runtimes() {
        let worker = Worker::new(staller()).unwrap();
        let (error, ticks) = runtime.block_on(async {
            let mut run = Box::pin(worker.run(EVENT.to_vec()));
            let mut ticks = 0;
            loop {
                tokio::select! {
                    outcome = &mut run => break (outcome.unwrap_err(), ticks),
                    () = tokio::time::sleep(Duration::from_millis(10)) => ticks += 1,
                }
            }
        });
        assert_eq!(error.code(), "deadline_exceeded");
        assert!(error.to_string().ends_with("its log ends with: waiting"), "{error}");
        assert!(ticks >= 10, "{ticks} in 300 ms: the caller was held up");
    }
}

#[test]
fn a_worker_serves_in_order_and_goes_on_after_failures() {
    let goes_well = doing(FD_WRITE, &writing(2), r#"(data (i32.const 200) "so")"#);
    let worker = Worker::with_queue(core(&goes_well, Limits::default()), 1).unwrap();
    let mut runner = core(&goes_well, Limits::default()).runner();
    let expected = runner.run(EVENT).unwrap();
    for runtime in runtimes() {
        runtime.block_on(async {
            let events = [EVENT, b"[]", EVENT, b"{", EVENT].map(|event| worker.run(event.to_vec()));
            let outcomes = futures_util::future::join_all(events).await;
            let codes = outcomes.iter().map(|outcome| match outcome {
                Ok(outcome) => {
                    assert_eq!((&outcome.json[..], outcome.fuel), (expected.json, expected.fuel));
                    assert_eq!(outcome.log, b"so");
                    "ok"
                }
                Err(error) => error.code(),
            });
            let codes: Vec<&str> = codes.collect();
            assert_eq!(codes, ["ok", "event_not_object", "ok", "event_not_json", "ok"]);
        });
    }
}

#[test]
fn an_event_that_nobody_waits_for_any_more_holds_up_nobody() {
    let [runtime, _] = runtimes();
    let worker = Worker::new(staller()).unwrap();
    let code = runtime.block_on(async {
        for _ in 0..5 {
            // Given up while the first one of them runs.
            let run = worker.run(EVENT.to_vec());
            assert!(tokio::time::timeout(Duration::from_millis(1), run).await.is_err());
        }
        let start = std::time::Instant::now();
        let code = worker.run(b"{".to_vec()).await.unwrap_err().code();
        // One deadline, where each in its turn would have had its own.
        assert!(start.elapsed() < Duration::from_millis(1200), "{:?}", start.elapsed());
        code
    });
    assert_eq!(code, "event_not_json");
}
