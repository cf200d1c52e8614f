//! Where a guest failed, in the words of its source.
//!
//! Who serves events wants none of that: a guest's frames cost time, and say nothing to who didn't write it. So whatever fails in
//! a sample run is run again, in an engine of its own that keeps addresses: guests depend on nothing but the event, so it fails
//! in the same place.

use std::sync::{Mutex, PoisonError};

use wasmtime::WasmBacktrace;

use super::places::{Place, Places};
use super::{ModuleLoadError, Runner, Sandbox};
use crate::diagnostics::untrusted::escaped;
use crate::gate::inspect::Inspected;

/// Calls that are told of a failure, the innermost one included.
const MAX_CALLS: usize = 6;

/// A function of a guest that was at work.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Where it was, in bytes from the beginning of the module.
    offset: usize,
}

impl Frame {
    /// The frames that wasmtime tells of an error, the innermost one first.
    pub(super) fn all_of(error: &wasmtime::Error) -> Vec<Self> {
        let trace = error.downcast_ref::<WasmBacktrace>();
        let frames = trace.into_iter().flat_map(WasmBacktrace::frames);
        frames.filter_map(|frame| Some(Self { offset: frame.module_offset()? })).collect()
    }
}

/// Finds out where an extractor fails that was compiled from a source of one file.
pub(crate) struct Tracer {
    runner: Mutex<Runner>,
    module: Vec<u8>,
    /// The file, as the compiler names it.
    file: String,
}

/// Where an extractor failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    /// File, line and column of its source: `src/lib.rs:12:5`. What it failed in is what was called there, if that isn't its own.
    pub(crate) place: String,
    /// The calls that led there, the innermost one first.
    pub(crate) calls: Vec<String>,
}

impl Tracer {
    /// For an extractor whose module was stripped of the debug information that this one has. `inspected` is the latter.
    ///
    /// # Errors
    /// [`ModuleLoadError`], where it can't be loaded.
    pub(crate) fn new(
        sandbox: &Sandbox,
        inspected: &Inspected,
        file: &str,
    ) -> Result<Self, ModuleLoadError> {
        let extractor = sandbox.tracing()?.load(inspected)?;
        let module = inspected.wasm().to_vec();
        Ok(Self { runner: Mutex::new(extractor.runner()), module, file: file.to_owned() })
    }

    /// Where it fails for an event, if it fails within the extractor and that was compiled with debug information.
    pub(crate) fn trace(&self, event: &[u8]) -> Option<Trace> {
        let mut runner = self.runner.lock().unwrap_or_else(PoisonError::into_inner);
        runner.run(event).err()?;
        let places = Places::of(&self.module)?;
        let frames = runner.take_trace();
        let all = frames.iter().flat_map(|frame| places.of_offset(frame.offset));
        let own: Vec<Place> = all.filter(|place| place.file == self.file).take(MAX_CALLS).collect();
        let said = |place: &Place| {
            let function = place.function.as_deref().map(escaped);
            let function = function.map(|name| format!(" in `{name}`")).unwrap_or_default();
            format!("{place}{function}")
        };
        Some(Trace { place: own.first()?.to_string(), calls: own.iter().map(said).collect() })
    }
}

impl std::fmt::Debug for Tracer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tracer").field("file", &self.file).finish_non_exhaustive()
    }
}
