//! Errors of the library as exceptions of Python.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use retort::Coded;
use retort::diagnostics::{Code, Problem, Stage};
use retort::internal::codes;
use retort::runtime::ServeError;
use retort::sandbox::Blame;

/// Which class of exceptions something is, by whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The event's.
    Event,
    /// The event's, which is of no type that an event may have.
    EventType,
    /// The extractor's.
    Extractor,
    /// The host's.
    Host,
    /// The caller's: what was handed in besides events.
    Input,
}

impl Kind {
    pub(crate) fn of(blame: Blame) -> Self {
        match blame {
            Blame::Event => Self::Event,
            Blame::Extractor => Self::Extractor,
            _ => Self::Host,
        }
    }

    fn class<'py>(self, py: Python<'py>) -> PyResult<&'py Bound<'py, PyType>> {
        static EVENT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static EVENT_TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static EXTRACTOR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static HOST: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static INPUT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let (cell, name) = match self {
            Self::Event => (&EVENT, "EventError"),
            Self::EventType => (&EVENT_TYPE, "EventTypeError"),
            Self::Extractor => (&EXTRACTOR, "ExtractorError"),
            Self::Host => (&HOST, "HostError"),
            Self::Input => (&INPUT, "InputError"),
        };
        cell.import(py, "retort._errors", name)
    }
}

/// What went wrong, before it is an exception.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    pub(crate) kind: Kind,
    /// Apart, so that what mostly comes in its place is small enough to be handed on.
    pub(crate) problem: Box<Problem>,
}

impl Failed {
    pub(crate) fn new(kind: Kind, code: Code, message: impl Into<String>) -> Self {
        Self { kind, problem: Problem::new(code.stage, code, message).into() }
    }

    pub(crate) fn of(kind: Kind, error: &impl Coded) -> Self {
        Self { kind, problem: error.problem().into() }
    }

    /// Of what was handed in.
    pub(crate) fn input(error: &impl Coded) -> Self {
        Self::of(Kind::Input, error)
    }

    /// An exception.
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        match self.exception(py) {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        }
    }

    /// The same as a value.
    pub(crate) fn exception<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Problem { code, path, message, used, allowed, .. } = &*self.problem;
        let arguments = PyDict::new(py);
        arguments.set_item("code", code.name)?;
        arguments.set_item("path", path)?;
        arguments.set_item("used", used)?;
        arguments.set_item("allowed", allowed)?;
        self.kind.class(py)?.call((message,), Some(&arguments))
    }
}

impl From<Failed> for PyErr {
    fn from(failed: Failed) -> Self {
        Python::attach(|py| failed.raise(py))
    }
}

impl From<ServeError> for Failed {
    fn from(error: ServeError) -> Self {
        let kind = Kind::of(error.blame());
        let problem = match error {
            ServeError::Run { error, .. } => error.problem().into(),
            ServeError::Load(error) => error.problem().into(),
            ServeError::Graph { problem, .. } => problem,
            error => error.problem().into(),
        };
        Self { kind, problem }
    }
}

/// Does the work, whose panic is an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> std::result::Result<T, Failed> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        let message = format!("the host has panicked, which is a defect of its own: {said}");
        let problem = Problem::new(Stage::Run, codes::HOST_PANICKED, message);
        Failed { kind: Kind::Host, problem: problem.into() }
    })
}

/// Panics, for the tests to see what becomes of that.
#[cfg(debug_assertions)]
#[pyfunction]
#[pyo3(name = "_panicking")]
pub(crate) fn panicking(py: Python<'_>) -> PyResult<()> {
    let panics = |is_so: bool| assert!(!is_so, "as it was asked to");
    py.detach(|| guarded(|| panics(true))).map_err(PyErr::from)
}

/// A value that serialises, as an object of Python.
pub(crate) fn data<'py>(
    py: Python<'py>,
    value: &impl serde::Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    // Text, numbers and maps with text for keys always become JSON.
    crate::json::read(py, &serde_json::to_vec(value).unwrap_or_default())
}
