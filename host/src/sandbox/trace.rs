//! Where a guest failed, in the words of its source.
//!
//! Who serves events wants none of that: a guest's frames cost time, and say nothing to who didn't write it. So whatever fails in
//! a sample run is run again, in an engine of its own that keeps addresses: guests depend on nothing but the event, so it fails
//! in the same place.

use std::sync::{Mutex, OnceLock, PoisonError};

use wasmtime::WasmBacktrace;

use super::places::{Place, Places};
use super::rustc::RUST_SOURCE;
use super::{Extractor, Runner};
use crate::diagnostics::untrusted::escaped;
use crate::gate::inspect::Inspected;

/// Calls that are told of a failure, the innermost one included.
const MAX_CALLS: usize = 6;

/// What names of functions begin with that are the source's own, and that are the SDK's.
const CRATE_NAMES: &str = "extractor::";
const SDK_NAMES: &str = "retort_guest::";

/// A function of a guest that was at work.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Where it was, in bytes from the beginning of the module.
    offset: usize,
    /// The same from the beginning of the function.
    within: usize,
    /// What the module calls the function, if it says.
    function: Option<String>,
}

impl Frame {
    /// The frames that wasmtime tells of an error, the innermost one first.
    pub(super) fn all_of(error: &wasmtime::Error) -> Vec<Self> {
        let trace = error.downcast_ref::<WasmBacktrace>();
        let frames = trace.into_iter().flat_map(WasmBacktrace::frames);
        let known = |frame: &wasmtime::FrameInfo| {
            let function = frame.func_name().map(str::to_owned);
            Some(Self { offset: frame.module_offset()?, within: frame.func_offset()?, function })
        };
        frames.filter_map(known).collect()
    }
}

/// Finds out where an extractor fails that isn't rendered from a plan.
pub(super) struct Tracer {
    /// The module, with its debug information where there is some.
    module: Inspected,
    /// What runs it, once somebody has asked. `None` where it can't be run.
    runner: OnceLock<Option<Mutex<Runner>>>,
}

/// Where an extractor failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    /// Line and column of its source, `12:5`, where they are known. What it failed in is what was called there, if that isn't its own.
    pub(crate) place: Option<String>,
    /// The calls that led there, the innermost one first; without lines, the functions alone.
    pub(crate) calls: Vec<String>,
}

impl Tracer {
    pub(super) fn new(module: Inspected) -> Self {
        Self { module, runner: OnceLock::new() }
    }

    /// Where `extractor`, which is the same without debug information, fails for an event.
    pub(super) fn trace(&self, extractor: &Extractor, event: &[u8]) -> Option<Trace> {
        let made = || {
            let traced = extractor.sandbox().tracing().and_then(|it| it.load(&self.module)).ok()?;
            let traced = traced.withholding(extractor.withheld().cloned());
            Some(Mutex::new(traced.runner()))
        };
        let runner = self.runner.get_or_init(made).as_ref()?;
        let mut runner = runner.lock().unwrap_or_else(PoisonError::into_inner);
        runner.run(event).err()?;
        let frames = runner.take_trace();
        by_lines(self.module.wasm(), &frames).or_else(|| by_names(&frames))
    }
}

/// The calls by the debug information of the module.
fn by_lines(module: &[u8], frames: &[Frame]) -> Option<Trace> {
    let places = Places::of(module)?;
    let all = frames.iter().flat_map(|frame| places.up_to(frame.offset, frame.within, RUST_SOURCE));
    let own: Vec<Place> = all.filter(|place| place.file == RUST_SOURCE).take(MAX_CALLS).collect();
    let said = |place: &Place| {
        let function = place.function.as_deref().map(escaped);
        let function = function.map(|name| format!(" in `{name}`")).unwrap_or_default();
        format!("{place}{function}")
    };
    let Place { line, column, .. } = own.first()?;
    let place = Some(format!("{line}:{column}"));
    Some(Trace { place, calls: own.iter().map(said).collect() })
}

/// The calls by what the module calls its functions: of a loop in which nothing is left but a jump, no line is known.
fn by_names(frames: &[Frame]) -> Option<Trace> {
    let names = frames.iter().filter_map(|frame| frame.function.as_deref());
    // Names of Rust as its author writes them, without those of the SDK.
    let names = names.map(|name| format!("{:#}", rustc_demangle::demangle(name)));
    let own = names.filter(|name| !name.starts_with(SDK_NAMES));
    let said =
        |name: String| format!("`{}`", escaped(name.strip_prefix(CRATE_NAMES).unwrap_or(&name)));
    let calls: Vec<String> = own.take(MAX_CALLS).map(said).collect();
    (!calls.is_empty()).then_some(Trace { place: None, calls })
}
