//! Guests that mean harm: `hostile/*.wat` are modules that pass the static gate, with what the sandbox says to them.
//!
//! The head of a case: `;; expect: code` for the bad event, or `ok`; optionally `;; good: code` where the good event can't
//! do better, `;; limits: {..}` (fields of `Limits` other than the defaults), `;; event: ..` and `;; good-event: ..`
//! in place of the usual ones, `;; path: ..` and `;; says: ..` for the report, and `;; leaks` for a guest that carries
//! something from one call to the next if it is let.

use std::collections::BTreeSet;
use std::fs;

use retort::abi::block::BlockError;
use retort::abi::result::ResultError;
use retort::event::EventError;
use retort::gate::inspect::{Inspected, StructuralLimits, inspect};
use retort::plan::{self, Plan};
use retort::problem::Coded;
use retort::sandbox::{Extractor, GuestError, Limits, LoadError, RunError, Runner, Sandbox};
use wasmtime::{Engine, Instance, Module, Store};

use crate::support::{rendered, sandbox, workspace_root};

const BAD: &str = r#"{"event_type":"e","bad":true}"#;
const GOOD: &str = r#"{"event_type":"e","bad":false}"#;

struct Case {
    name: String,
    inspected: Inspected,
    limits: Limits,
    bad: (String, String),
    good: (String, String),
    path: Option<String>,
    says: Vec<String>,
    leaks: bool,
}

impl Case {
    fn read(name: String, text: &str) -> Self {
        let heads = |key: &str| -> Vec<String> {
            let prefix = format!(";; {key}: ");
            text.lines().filter_map(|line| Some(line.strip_prefix(&prefix)?.to_owned())).collect()
        };
        let head =
            |key: &str, default: &str| heads(key).pop().unwrap_or_else(|| default.to_owned());
        let wasm = wat::parse_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let inspected = inspect(&wasm, &StructuralLimits::default());
        Self {
            inspected: inspected.unwrap_or_else(|rejected| panic!("{name}: {rejected}")),
            limits: serde_json::from_str(&head("limits", "{}")).unwrap(),
            bad: (head("event", BAD), head("expect", "")),
            good: (head("good-event", GOOD), head("good", "ok")),
            path: heads("path").pop(),
            says: heads("says"),
            leaks: text.lines().any(|line| line == ";; leaks"),
            name,
        }
    }

    fn extractor(&self) -> Extractor {
        sandbox(self.limits.clone()).load(&self.inspected).unwrap()
    }
}

fn cases() -> Vec<Case> {
    let mut paths: Vec<_> = fs::read_dir(workspace_root().join("tests/hostile"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "wat"))
        .collect();
    paths.sort();
    let read = |path: std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Case::read(name, &fs::read_to_string(&path).unwrap())
    };
    paths.into_iter().map(read).collect()
}

/// The code of what a runner makes of an event.
fn code(runner: &mut Runner, event: &[u8]) -> &'static str {
    runner.run(event).map_or_else(|error| error.code(), |_| "ok")
}

/// What is wrong with how a case went, if anything.
fn fault(case: &Case) -> Option<String> {
    let extractor = case.extractor();
    assert!(!extractor.is_reset_safe(), "{}: nothing vouches for it", case.name);
    let mut runner = extractor.runner();
    let (bad, expect) = (case.bad.0.as_bytes(), case.bad.1.as_str());
    let (good, expect_good) = (case.good.0.as_bytes(), case.good.1.as_str());
    for (event, expect) in [(good, expect_good), (bad, expect), (good, expect_good), (bad, expect)]
    {
        let found = code(&mut runner, event);
        if found != expect {
            return Some(format!("expected {expect}, got {found}"));
        }
    }
    let Err(error) = runner.run(bad) else { return None };
    let problem = error.problem();
    if problem.message.contains(|c: char| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c))
    {
        return Some(format!("a message that isn't one line of plain text: {:?}", problem.message));
    }
    if case.path.as_deref().is_some_and(|path| problem.path.as_deref() != Some(path)) {
        return Some(format!("found at {:?}", problem.path));
    }
    let silent = case.says.iter().find(|part| !problem.message.contains(*part))?;
    Some(format!("`{}` doesn't say `{silent}`", problem.message))
}

#[test]
fn hostile_guests_get_their_codes_and_the_next_event_is_served() {
    let faults: Vec<String> = cases()
        .iter()
        .filter_map(|case| Some(format!("{}: {}", case.name, fault(case)?)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_way_to_fail_has_a_case() {
    let codes = [GuestError::CODES, ResultError::CODES, BlockError::CODES, EventError::CODES];
    let listed: BTreeSet<&str> = codes.into_iter().flatten().copied().collect();
    let cases = cases();
    let mut seen: BTreeSet<&str> = cases.iter().map(|case| case.bad.1.as_str()).collect();
    seen.remove("ok");
    // Text in a case is UTF-8, so an event that isn't stands in a test below.
    seen.insert("event_not_utf8");
    // What wasmtime calls by another name needs a feature that guests don't have.
    seen.insert("trap");
    // No guest does this: the tests of isolation have it.
    seen.insert("pool_exhausted");
    assert_eq!(listed, seen);
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
fn a_guest_that_keeps_state_answers_as_if_each_event_were_the_first() {
    let mut leaks = 0;
    for case in cases().into_iter().filter(|case| case.leaks) {
        let [first, second] = called_twice(case.inspected.wasm());
        assert_ne!(first, second, "{}: leaks nothing, so shows nothing", case.name);
        let extractor = case.extractor();
        let mut runner = extractor.runner();
        let answers: Vec<Vec<u8>> = [BAD, GOOD, BAD, BAD, GOOD]
            .iter()
            .map(|event| runner.run(event.as_bytes()).unwrap().json.to_vec())
            .collect();
        assert!(answers.iter().all(|answer| *answer == first), "{}: {answers:?}", case.name);
        leaks += 1;
    }
    assert!(leaks > 0);
}

fn plan() -> Plan {
    plan::parse(
        r#"{"event_type": "e", "target_entity_name": "E", "function_name": "f",
            "key_field": {"property_name": "k", "source_path": ["k"]},
            "property_fields": [{"property_name": "v", "source_path": ["v"]}]}"#,
    )
    .unwrap()
}

/// A rendered extractor, which keeps its instance, under these limits.
fn warm(limits: Limits) -> Runner {
    let extractor = Sandbox::new(limits).unwrap().load(&rendered(&plan())).unwrap();
    assert!(extractor.is_reset_safe());
    extractor.runner()
}

fn event(value: &str) -> Vec<u8> {
    format!(r#"{{"event_type":"e","k":1,"v":{value}}}"#).into_bytes()
}

#[test]
fn a_warm_runner_serves_the_next_event_after_every_failure() {
    let good = event("\"small\"");
    let expected = warm(Limits::default()).run(&good).unwrap().json.to_vec();
    let spent = warm(Limits::default()).run(&good).unwrap().fuel;
    let large = event(&format!("\"{}\"", "x".repeat(5000)));
    let defaults = Limits::default;
    let cases: [(&str, Limits, Vec<u8>); 10] = [
        (
            "event_not_utf8",
            defaults(),
            event("\"\u{e9}\"").into_iter().filter(|b| *b != 0xc3).collect(),
        ),
        ("event_not_json", defaults(), event("[1,]")),
        ("event_not_object", defaults(), b"[]".to_vec()),
        ("event_too_large", Limits { event_bytes: 4000, ..defaults() }, large.clone()),
        ("input_too_large", Limits { input_bytes: 4000, ..defaults() }, large.clone()),
        ("input_too_large", defaults(), event(&format!("\"{}\"", "x".repeat(1 << 20)))),
        ("output_too_large", Limits { output_bytes: 4000, ..defaults() }, large.clone()),
        // The block fits, the result with its constant text doesn't: the guest itself says so.
        ("output_too_large", defaults(), event(&format!("\"{}\"", "x".repeat((1 << 20) - 100)))),
        // Enough for the small event and not for copying 5,000 bytes.
        ("out_of_fuel", Limits { fuel_base: spent + 500, fuel_per_byte: 0, ..defaults() }, large),
        // A value that fits an event is too deep inside a result.
        ("result_not_json", defaults(), event(&format!("{}{}", "[".repeat(125), "]".repeat(125)))),
    ];
    for (expect, limits, bad) in cases {
        let mut runner = warm(limits);
        for _ in 0..2 {
            assert_eq!(runner.run(&good).unwrap().json, expected, "around {expect}");
            assert_eq!(code(&mut runner, &bad), expect);
            assert_eq!(code(&mut runner, &bad), expect);
        }
        assert_eq!(runner.run(&good).unwrap().json, expected, "after {expect}");
    }
}

#[test]
fn limits_above_what_a_rendered_extractor_holds_are_told_as_limits() {
    let roomy = Limits { input_bytes: 8 << 20, output_bytes: 8 << 20, ..Limits::default() };
    let mut runner = warm(roomy);
    let cases = [("input_too_large", 2 << 20), ("output_too_large", (1 << 20) - 100)];
    for (expect, length) in cases {
        let problem =
            runner.run(&event(&format!("\"{}\"", "x".repeat(length)))).unwrap_err().problem();
        assert_eq!((problem.code, problem.allowed), (expect, Some(1 << 20)), "{}", problem.message);
        assert!(problem.used > problem.allowed, "{}", problem.message);
    }
}

#[test]
fn an_input_block_counts_whole_even_where_the_event_has_none_of_its_inputs() {
    // A head of 8 bytes and four slots of 12.
    assert_eq!(code(&mut warm(Limits { input_bytes: 56, ..Limits::default() }), b"{}"), "ok");
    assert_eq!(
        code(&mut warm(Limits { input_bytes: 55, ..Limits::default() }), b"{}"),
        "input_too_large"
    );
}

#[test]
fn limits_are_told_with_what_was_used_and_what_was_allowed() {
    let mut runner = warm(Limits { output_bytes: 300, ..Limits::default() });
    let large = event(&format!("\"{}\"", "x".repeat(5000)));
    let RunError::Guest(error) = runner.run(&large).unwrap_err() else { panic!("not the guest") };
    let (used, allowed) = error.usage().unwrap();
    assert!(used > 5000 && allowed == 300, "{used} of {allowed}");
    let problem = RunError::from(error).problem();
    assert_eq!((problem.used, problem.allowed), (Some(used), Some(300)));
}

#[test]
fn an_engine_that_cannot_be_built_is_an_error_of_its_own() {
    // The static gate refuses imports and whatever wasmtime would refuse, so that of the errors of loading only this one
    // can be provoked.
    for stack_bytes in [0, (1 << 20) + 1, usize::MAX] {
        let error = Sandbox::new(Limits { stack_bytes, ..Limits::default() }).unwrap_err();
        assert_eq!(error.code(), "engine_failed");
        assert!(LoadError::CODES.contains(&error.code()));
    }
}

#[test]
fn the_largest_stack_that_may_be_given_fits_a_thread() {
    let text =
        fs::read_to_string(workspace_root().join("tests/hostile/stack_overflow.wat")).unwrap();
    let mut case = Case::read("stack_overflow".to_owned(), &text);
    case.limits.stack_bytes = 1 << 20;
    case.limits.fuel_base = u64::MAX;
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let run = move || code(&mut case.extractor().runner(), BAD.as_bytes());
    assert_eq!(thread.spawn(run).unwrap().join().unwrap(), "stack_overflow");
}
