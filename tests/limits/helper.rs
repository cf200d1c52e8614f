//! Compiling what this host did not render, in a process of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use retort::gate::{Inspected, StructuralLimits, inspect};
use retort::internal::helper;
use retort::sandbox::{ForeignModules, ModuleLoadError, Options, Sandbox};
use retort::{Coded, Limits};

use crate::support::workspace_root;

const GOOD: &[u8] = br#"{"event_type":"e","bad":false}"#;

fn module(text: &str, structure: &StructuralLimits) -> Inspected {
    let wasm = wat::parse_str(text).unwrap();
    inspect(&wasm, structure).unwrap_or_else(|rejected| panic!("{rejected}"))
}

fn honest() -> Inspected {
    let text = fs::read_to_string(workspace_root().join("tests/hostile/output/ok.wat")).unwrap();
    module(&text, &StructuralLimits::default())
}

fn sandbox(foreign: ForeignModules, limits: Limits) -> Sandbox {
    Sandbox::with_options(options!(Options { limits, foreign, ..Options::default() })).unwrap()
}

fn retort() -> ForeignModules {
    ForeignModules::Helper(env!("CARGO_BIN_EXE_retort").into())
}

fn refusal(foreign: ForeignModules, limits: Limits, module: &Inspected) -> ModuleLoadError {
    sandbox(foreign, limits).load(module).unwrap_err()
}

/// Ifs inside each other, over locals that live across all of them: what compiling takes grows with the product.
fn costly(depth: usize) -> Inspected {
    let locals = 128;
    let ifs = (0..depth).map(|at| {
        let local = at % locals;
        format!("(if (local.get {local}) (then (local.set {local} (i32.const {at}))\n")
    });
    let sum = (0..locals).map(|local| format!("(drop (local.get {local}))"));
    let text = format!(
        r#"(module
            (@custom "retort" "{{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}}")
            (memory (export "memory") 1 1)
            (func (export "retort_buffer") (param i32) (result i32) (i32.const 1024))
            (func (export "extract") (param i32 i32) (result i64) (i64.const 0))
            (func (local {}) {} {} {}))"#,
        "i32 ".repeat(locals),
        ifs.collect::<String>(),
        "))".repeat(depth),
        sum.collect::<String>(),
    );
    let structure = options!(StructuralLimits {
        nesting: u64::MAX,
        branch_values: u64::MAX,
        module_branch_values: u64::MAX,
        body_bytes: u64::MAX,
        ..StructuralLimits::default()
    });
    module(&text, &structure)
}

/// A program that stands for a helper.
fn script(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path
}

#[test]
fn a_helper_compiles_what_this_process_would_have() {
    let module = honest();
    let here = sandbox(ForeignModules::InProcess, Limits::default()).load(&module).unwrap();
    let there = sandbox(retort(), Limits::default()).load(&module).unwrap();
    let (mut here, mut there) = (here.runner(), there.runner());
    assert_eq!(here.run(GOOD).unwrap(), there.run(GOOD).unwrap());
}

#[test]
fn nobody_compiles_what_was_not_rendered_unless_told_to() {
    let error = Sandbox::new(Limits::default()).unwrap().load(&honest()).unwrap_err();
    assert_eq!((error.code(), error.usage()), ("foreign_module", None));
}

#[test]
fn a_module_that_takes_too_much_memory_ends_its_helper_alone() {
    let limits = options!(Limits { compile_memory_bytes: 96 << 20, ..Limits::default() });
    let error = refusal(retort(), limits.clone(), &costly(5_000));
    assert_eq!(error.code(), "compile_memory_exceeded", "{error}");
    assert_eq!(error.usage(), Some((96 << 20, 96 << 20)));
    let next = sandbox(retort(), limits).load(&honest()).unwrap();
    assert!(next.runner().run(GOOD).is_ok());
}

#[test]
fn whatever_a_helper_without_memory_ends_in_it_is_known_by_what_it_says() {
    let directory = tempfile::tempdir().unwrap();
    let code = |name: &str, text: &str| {
        let program = script(directory.path(), name, text);
        refusal(ForeignModules::Helper(program), Limits::default(), &honest()).code()
    };
    let aborts = "echo 'memory allocation of 64 bytes failed' >&2; kill -ABRT $$";
    assert_eq!(code("aborts", aborts), "compile_memory_exceeded");
    // An arena of the compiler's.
    let panics =
        "echo \"thread 'main' panicked at lib.rs:1:1:\" >&2; echo 'out of memory' >&2; exit 101";
    assert_eq!(code("panics", panics), "compile_memory_exceeded");
    assert_eq!(code("else", "echo 'no way' >&2; exit 101"), "helper_failed");
}

#[test]
fn a_module_that_takes_too_long_is_given_up_in_time() {
    let started = Instant::now();
    let limits = options!(Limits { compile_ms: 100, ..Limits::default() });
    let error = refusal(retort(), limits, &costly(4_000));
    assert_eq!(error.code(), "compile_deadline_exceeded", "{error}");
    let (used, allowed) = error.usage().unwrap();
    assert!(allowed == 100 && used >= 100, "{used} of {allowed}");
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

#[test]
fn a_helper_that_does_not_answer_is_killed_with_all_it_started() {
    let directory = tempfile::tempdir().unwrap();
    let left = directory.path().join("left");
    // The grandchild holds the pipes, and would write the file if it lived.
    let text = format!("(sleep 1; echo alive > {}) & sleep 60", left.display());
    let program = script(directory.path(), "stalls", &text);
    let started = Instant::now();
    let limits = options!(Limits { compile_ms: 100, ..Limits::default() });
    let error = refusal(ForeignModules::Helper(program), limits, &honest());
    assert_eq!(error.code(), "compile_deadline_exceeded", "{error}");
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(!left.exists());
}

#[test]
fn as_many_helpers_run_at_one_time_as_there_are_processors_and_waiting_is_not_counted() {
    let directory = tempfile::tempdir().unwrap();
    let program = script(directory.path(), "slow", "sleep 1; exit 3");
    // Less than two take behind each other, so that one that waits would be late.
    let limits = options!(Limits { compile_ms: 1_900, ..Limits::default() });
    let sandbox = sandbox(ForeignModules::Helper(program), limits);
    let tenant = sandbox.for_tenant(sandbox.limits().clone(), sandbox.isolation()).unwrap();
    let processors = std::thread::available_parallelism().unwrap().get();
    let module = honest();
    let started = Instant::now();
    std::thread::scope(|scope| {
        for at in 0..=processors {
            let (module, sandbox) = (&module, if at == 0 { &tenant } else { &sandbox });
            scope.spawn(move || {
                let error = sandbox.load(module).unwrap_err();
                assert_eq!(error.code(), "helper_failed", "{error}");
            });
        }
    });
    assert!(started.elapsed() >= Duration::from_secs(2), "{:?}", started.elapsed());
}

#[test]
fn what_is_no_helper_is_told_as_one_that_failed() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    let cases = [
        ("missing", missing, "could not start"),
        ("silent", script(directory.path(), "silent", "exit 3"), "exit status: 3"),
        (
            "talks",
            script(directory.path(), "talks", "echo >&2; echo no\u{1b}[2J >&2"),
            r"no\u{1b}[2J",
        ),
        ("garbage", script(directory.path(), "garbage", "echo code"), "without a reply"),
        ("killed", script(directory.path(), "killed", "kill -KILL $$"), "SIGKILL"),
        ("floods", script(directory.path(), "floods", "exec yes"), "67108864 bytes of code"),
        // The head of a reply that is longer than what comes.
        ("cut", script(directory.path(), "cut", r"printf '\0\377\0\0\0\0\0\0\0code'"), "without a"),
    ];
    for (name, program, says) in cases {
        let error = refusal(ForeignModules::Helper(program), Limits::default(), &honest());
        assert_eq!((error.code(), error.usage()), ("helper_failed", None), "{name}");
        let message = error.to_string();
        assert!(message.contains(says) && !message.contains('\u{1b}'), "{name}: {message}");
    }
}

#[test]
fn code_that_is_not_of_this_build_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    // A whole reply whose code is four letters.
    let text = r"cat > /dev/null; printf '\0\4\0\0\0\0\0\0\0code'";
    let program = script(directory.path(), "wrong", text);
    let error = refusal(ForeignModules::Helper(program), Limits::default(), &honest());
    assert_eq!(error.code(), "load_failed", "{error}");
}

#[test]
fn a_helper_takes_no_request_of_another_version() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_retort"))
        .arg(helper::COMPILE_COMMAND)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&[b'x'; 64]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("expected a request of version 3"), "{said:?}");
}

/// Not a test of speed: it shows what a process of its own costs.
#[test]
fn a_helper_costs_milliseconds() {
    let module = honest();
    let fastest = |foreign: ForeignModules| {
        let sandbox = sandbox(foreign, Limits::default());
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..10 {
            let started = Instant::now();
            sandbox.load(&module).unwrap();
            times.push(started.elapsed());
        }
        times.into_iter().min().unwrap_or_default()
    };
    let (here, there) = (fastest(ForeignModules::InProcess), fastest(retort()));
    eprintln!("compiled in {here:?} in this process and in {there:?} in one of its own");
    assert!(there < Duration::from_secs(1), "{there:?}");
}
