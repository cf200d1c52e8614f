//! Limits: each of them holds, at its figure and not before, and says what was used and what was allowed.

mod deadline;
mod fuel;
mod helper;
mod memory;
mod tenants;

use retort::diagnostics::Problem;
use retort::gate::{Inspected, StructuralLimits, inspect};
use retort::sandbox::Extractor;
use retort::{Coded, Limits, Runner};

use crate::support::sandbox;

/// A declaration of no inputs, as a custom section.
const NO_INPUTS: &str = r#"{"abi":1,"function":"extract","event_types":["e"],"inputs":[]}"#;

/// A result without nodes, at the address 16.
const EMPTY: &str = r#"{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}"#;

/// A module with this declaration, 64 KiB of memory or what is said here, and these functions besides `retort_buffer`.
fn module(section: &str, memory: &str, functions: &str) -> Inspected {
    let text = format!(
        r#"(module
            (@custom "retort" "{}")
            (memory (export "memory") {memory})
            (data (i32.const 16) "{EMPTY}")
            (func (export "retort_buffer") (param i32) (result i32) (i32.const 1024))
            {functions})"#,
        section.replace('\n', " ").replace('"', "\\\"")
    );
    let wasm = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}"));
    inspect(&wasm, &StructuralLimits::default()).unwrap_or_else(|rejected| panic!("{rejected}"))
}

/// An extractor that does this and then declines.
fn doing(body: &str) -> String {
    let length = EMPTY.replace('\\', "").len();
    format!(
        r#"(func (export "extract") (param i32 i32) (result i64)
            {body}
            (i64.or (i64.shl (i64.const 16) (i64.const 32)) (i64.const {length})))"#
    )
}

fn load(module: &Inspected, limits: Limits) -> Extractor {
    sandbox(limits).load(module).unwrap()
}

/// The problem that an event ends in.
fn problem(runner: &mut Runner, event: &str) -> Problem {
    runner.run(event.as_bytes()).unwrap_err().problem()
}

/// Code, what was used and what was allowed.
fn figures(problem: &Problem) -> (&str, u64, u64) {
    let of = |figure: Option<u64>| figure.unwrap_or_else(|| panic!("{problem:?} has no figures"));
    (problem.code.name, of(problem.used), of(problem.allowed))
}
