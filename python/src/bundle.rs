//! Bundles that serve events.

use std::path::PathBuf;

use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use retort::{Limits, TenantPolicy};

use crate::error::{Failed, data};
use crate::event::EventText;
use crate::json;
use crate::many::ExtractMany;
use crate::open::{Opened, Source, digests};
use crate::result::Result;
use crate::task;

/// A bundle, or the active bundles of a directory, ready to serve events.
///
/// It may be shared between threads: each that calls it has runners of its own. A pickle of it holds its path and its fingerprints, and
/// no code; what is there when it is read has to be the very same. In a child that was forked it is opened again.
#[pyclass(frozen, module = "retort")]
pub(crate) struct Bundle {
    pub(crate) opened: Opened,
}

impl Bundle {
    fn open(py: Python<'_>, source: Source, fingerprints: Option<Vec<String>>) -> PyResult<Self> {
        let pinned = fingerprints.as_deref().map(digests).transpose()?;
        let opened = py.detach(|| Opened::open(source, pinned.as_ref()))?;
        Ok(Self { opened })
    }
}

/// What a pickle is made of: what restores it, and what that takes.
type Reduced<'py> = (Bound<'py, PyAny>, (String, Vec<String>));

#[pymethods]
impl Bundle {
    /// Opens the bundle, or the directory of bundles, at `path`, through every gate.
    ///
    /// `limits` are those of an event, by name; `policy` is what the tenant may do, as a path, a dict or text. `helper` is a `retort`
    /// program, which compiles extractors that weren't rendered here; without one they are refused. `cache` is a directory of this user
    /// alone that keeps native code between processes. `fingerprints` are those that have to be served, and no others. With
    /// `lenient`, a bundle of a directory that can't be loaded is passed over, and its events are served by nobody. Without `graph_check`,
    /// results are given as extractors give them, whatever the graph spec says.
    #[classmethod]
    #[pyo3(signature = (path, *, limits=None, policy=None, helper=None, cache=None, fingerprints=None, lenient=false, graph_check=true))]
    #[allow(clippy::too_many_arguments, reason = "they are named in Python")]
    fn load(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        path: PathBuf,
        limits: Option<&Bound<'_, PyAny>>,
        policy: Option<&Bound<'_, PyAny>>,
        helper: Option<PathBuf>,
        cache: Option<PathBuf>,
        fingerprints: Option<Vec<String>>,
        lenient: bool,
        graph_check: bool,
    ) -> PyResult<Self> {
        let limits = limits.map(task_limits).transpose()?;
        let policy = policy.map(|policy| task::text(policy, "policy")).transpose()?;
        // Wherever the process is by the time that a pickle of it is read.
        let path = std::path::absolute(&path).unwrap_or(path);
        Self::open(
            py,
            Source { path, limits, policy, helper, cache, lenient, unchecked: !graph_check },
            fingerprints,
        )
    }

    /// What a pickle is made into.
    #[staticmethod]
    fn _restore(py: Python<'_>, source: &str, fingerprints: Vec<String>) -> PyResult<Self> {
        let source = serde_json::from_str(source).map_err(|error| {
            pyo3::exceptions::PyValueError::new_err(format!("not a pickle of a Bundle: {error}"))
        })?;
        Self::open(py, source, Some(fingerprints))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let restore = py.get_type::<Self>().getattr("_restore")?;
        let source = serde_json::to_string(&self.opened.source)
            .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))?;
        Ok((restore, (source, self.fingerprints())))
    }

    /// What the extractor of its type makes of an event: the text of a JSON object, as str or bytes, or a dict.
    ///
    /// Raises EventError, ExtractorError or HostError, by whose fault it is. The next event can be served all the same.
    fn extract(&self, py: Python<'_>, event: &Bound<'_, PyAny>) -> PyResult<Result> {
        let event = EventText::of(event)?;
        let made = py.detach(|| self.opened.seated(|seat| seat.extract(event.as_ref())));
        Ok(Result::new(made??))
    }

    /// What is made of each of these events, in their order: an iterator that gives a Result, or the exception that `extract` would raise,
    /// as a value. One bad event never stops it, and what the iterable itself raises comes after all that was made of the events before.
    ///
    /// Events are taken in batches while the iterable has them at hand, and one by one where it has to be waited for. The
    /// interpreter's lock is released while a batch is served.
    fn extract_many(
        slf: Py<Self>,
        py: Python<'_>,
        events: &Bound<'_, PyAny>,
    ) -> PyResult<ExtractMany> {
        if events.is_instance_of::<pyo3::types::PyString>()
            || events.is_instance_of::<pyo3::types::PyBytes>()
        {
            let found = json::kind(events);
            let message =
                format!("expected an iterable of events, found {found}; extract takes one event");
            return Err(pyo3::exceptions::PyTypeError::new_err(message));
        }
        Ok(ExtractMany::new(slf.clone_ref(py), events.try_iter()?.unbind()))
    }

    /// The same as `extract_arrow`, with what the events came to as a dict.
    #[pyo3(signature = (batch, column="event", *, line=1, line_column=None, input=None))]
    #[allow(clippy::too_many_arguments, reason = "they are named in Python")]
    fn _extract_arrow<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, PyAny>,
        column: &str,
        line: i64,
        line_column: Option<&str>,
        input: Option<&str>,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyAny>)> {
        crate::arrow::extract(py, self, batch, column, line, line_column, input)
    }

    /// What is made of the events of a record batch, as record batches: one for each table of the graph specs, and those of spans and of
    /// rejects, by name, also where they have no rows.
    ///
    /// Column `column` holds JSON text, or a struct that is rendered to it. Each row has a line: from `line` on, or what column
    /// `line_column` says; and an `input`, where one is named. Batches come and go by Arrow's C interface, without a copy.
    ///
    /// Raises TypeError for a table, and InputError for a column that there isn't, or that holds no events.
    #[pyo3(signature = (batch, column="event", *, line=1, line_column=None, input=None))]
    #[allow(clippy::too_many_arguments, reason = "they are named in Python")]
    fn extract_arrow<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, PyAny>,
        column: &str,
        line: i64,
        line_column: Option<&str>,
        input: Option<&str>,
    ) -> PyResult<Bound<'py, PyDict>> {
        Ok(crate::arrow::extract(py, self, batch, column, line, line_column, input)?.0)
    }

    /// The schema of each table that `extract_arrow` gives, by its name. No event has to be served for that.
    fn arrow_schemas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        crate::arrow::schemas(py, self)
    }

    /// The path that it was opened at.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.opened.source.path.clone().into_bound_py_any(py)
    }

    /// The event types and prefixes that are served.
    #[getter]
    fn event_types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.opened.registry().event_types().collect::<Vec<_>>())
    }

    /// The fingerprints of the bundles that serve events, sorted.
    #[getter]
    fn fingerprints(&self) -> Vec<String> {
        self.opened.pinned().iter().map(ToString::to_string).collect()
    }

    /// Why bundles of the directory aren't served: dicts with code and message. Empty but for those that were opened `lenient`.
    #[getter]
    fn failures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        use retort::Coded as _;
        let failures = self.opened.registry().failures();
        data(py, &failures.iter().map(|failure| failure.error.problem()).collect::<Vec<_>>())
    }

    /// The graph specs that results are held to, in their resolved form, by fingerprint.
    #[getter]
    fn graphs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let registry = self.opened.registry();
        let specs = py.detach(|| registry.graph_specs());
        let specs = specs.map_err(|error| Failed::of(crate::error::Kind::Extractor, error))?;
        let served = registry.served().map(|(_, digest)| digest.to_string());
        let specs: std::collections::BTreeMap<_, _> =
            served.zip(specs.iter().map(AsRef::as_ref)).collect();
        data(py, &specs)
    }

    fn __repr__(&self) -> String {
        format!("<retort.Bundle {}>", self.opened.source.path.display())
    }
}

/// Limits by their names, as a policy has them.
fn task_limits(limits: &Bound<'_, PyAny>) -> PyResult<Limits> {
    let text = json::write(limits).map_err(|error| task::unwritable(&error, "limits"))?;
    let policy = format!("{{\"limits\": {}}}", String::from_utf8_lossy(&text));
    let policy = TenantPolicy::parse(&policy, "limits").map_err(|error| Failed::input(&error))?;
    Ok(policy.limits(&Limits::default()))
}
