//! What was made of an event, as an object of Python.

use std::sync::Arc;

use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::json;
use crate::seat::{Bundles, Made};

/// What an extractor made of one event.
///
/// Its text is there at once, as `json()`. Nodes and edges are made of it when they are asked for first. It is a mapping as well:
/// `result["nodes"]` and `dict(result)` are as the text has them.
#[pyclass(frozen, module = "retort")]
pub(crate) struct Result {
    pub(crate) made: Made,
    read: PyOnceLock<Py<PyDict>>,
}

impl Result {
    pub(crate) fn new(made: Made) -> Self {
        Self { made, read: PyOnceLock::new() }
    }

    fn data<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyDict>> {
        let read = self.read.get_or_try_init(py, || {
            Ok::<_, PyErr>(json::read(py, &self.made.json)?.cast_into::<PyDict>()?.unbind())
        })?;
        Ok(read.bind(py))
    }

    fn listed<'py, T: PyClass<BaseType = Element>>(
        &self,
        py: Python<'py>,
        key: &str,
        of: impl Fn(Py<PyDict>) -> PyClassInitializer<T>,
    ) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for item in item(self.data(py)?, key)?.try_iter()? {
            list.append(Bound::new(py, of(item?.cast_into::<PyDict>()?.unbind()))?)?;
        }
        Ok(list)
    }
}

fn item<'py>(data: &Bound<'py, PyDict>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    data.as_any().get_item(key)
}

#[pymethods]
impl Result {
    /// The nodes, in the order in which the extractor wrote them.
    #[getter]
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.listed(py, "nodes", Node::of)
    }

    /// The edges, in the order in which the extractor wrote them.
    #[getter]
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.listed(py, "edges", Edge::of)
    }

    /// Spans of which nothing is left to extract.
    #[getter]
    fn fully_handled_span_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        item(self.data(py)?, "fully_handled_span_ids")
    }

    /// Spans of which free text is left for a model.
    #[getter]
    fn partially_handled_span_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        item(self.data(py)?, "partially_handled_span_ids")
    }

    /// The event's type; None where it has none.
    #[getter]
    fn event_type(&self) -> Option<&str> {
        self.made.event_type.as_deref()
    }

    /// The fingerprint of the bundle that gave it; None where nobody serves the event's type, or several do.
    #[getter]
    fn bundle(&self) -> Option<String> {
        match &self.made.bundles {
            Bundles::One(digest) => Some(digest.to_string()),
            Bundles::None | Bundles::Several(_) => None,
        }
    }

    /// The fingerprints of all bundles that gave it.
    #[getter]
    fn bundles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let bundles = match &self.made.bundles {
            Bundles::None => Vec::new(),
            Bundles::One(digest) => vec![digest.to_string()],
            Bundles::Several(digests) => digests.iter().map(ToString::to_string).collect(),
        };
        PyTuple::new(py, bundles)
    }

    /// The fuel that the event took.
    #[getter]
    fn fuel(&self) -> u64 {
        self.made.spent.fuel
    }

    /// How many conversions failed and left their value out.
    #[getter]
    fn failed_conversions(&self) -> u64 {
        self.made.spent.failed_conversions
    }

    /// What was wrong with what the extractor gave, and isn't in here: dicts with code, path and detail.
    #[getter]
    fn dropped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let failures = self.made.left.as_ref().map(|left| left.failures.as_slice());
        crate::error::data(py, &failures.unwrap_or_default())
    }

    /// The result as JSON text, as `retort run` writes it.
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        PyString::from_bytes(py, &self.made.json)
    }

    /// A dict of its own with all that is in the result.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::read(py, &self.made.json)
    }

    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        Ok(self.data(py)?.keys())
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyAny>> {
        item(self.data(py)?, key)
    }

    /// Whether there is anything in it.
    fn __bool__(&self) -> bool {
        !self.made.is_empty
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.made.json == other.made.json
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        self.made.json.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let event_type = self.made.event_type.as_ref().map(Arc::as_ref).unwrap_or_default();
        format!("<retort.Result of {event_type:?}: {}>", String::from_utf8_lossy(&self.made.json))
    }
}

/// What nodes and edges have in common.
#[pyclass(frozen, subclass, module = "retort")]
pub(crate) struct Element {
    data: Py<PyDict>,
    /// What its id is called.
    id: &'static str,
}

impl Element {
    fn get<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        item(self.data.bind(py), name)
    }
}

#[pymethods]
impl Element {
    /// A dict of its properties; of a node, the key first.
    #[getter]
    fn properties<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let properties = PyDict::new(py);
        if let Some(list) = self.data.bind(py).get_item("properties")? {
            for property in list.try_iter()? {
                let property = property?;
                properties.set_item(property.get_item("name")?, property.get_item("value")?)?;
            }
        }
        Ok(properties)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        item(&self.properties(py)?, name)
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        self.data.bind(py).eq(other.data.bind(py))
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.get(py, self.id)?.hash()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let id = slf.get().get(slf.py(), slf.get().id)?.repr()?;
        Ok(format!("<retort.{} {id}>", slf.get_type().name()?))
    }
}

/// One node.
#[pyclass(frozen, extends = Element, module = "retort")]
pub(crate) struct Node;

impl Node {
    fn of(data: Py<PyDict>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Element { data, id: "node_id" }).add_subclass(Self)
    }
}

#[pymethods]
impl Node {
    /// `{session}:{entity}:{key}={value}`.
    #[getter]
    fn node_id<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.as_super().get().get(slf.py(), "node_id")
    }

    /// The entity of the graph spec that it is one of.
    #[getter]
    fn entity_name<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.as_super().get().get(slf.py(), "entity_name")
    }

    /// Its labels.
    #[getter]
    fn labels<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match slf.as_super().get().data.bind(slf.py()).get_item("labels")? {
            Some(labels) => Ok(labels),
            None => Ok(PyList::empty(slf.py()).into_any()),
        }
    }
}

/// One edge.
#[pyclass(frozen, extends = Element, module = "retort")]
pub(crate) struct Edge;

impl Edge {
    fn of(data: Py<PyDict>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Element { data, id: "edge_id" }).add_subclass(Self)
    }
}

#[pymethods]
impl Edge {
    /// The edge's own id.
    #[getter]
    fn edge_id<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.as_super().get().get(slf.py(), "edge_id")
    }

    /// The relationship of the graph spec that it is one of.
    #[getter]
    fn relationship_name<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.as_super().get().get(slf.py(), "relationship_name")
    }

    /// The id of the node that it leaves.
    #[getter]
    fn from_node_id<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.as_super().get().get(slf.py(), "from_node_id")
    }

    /// The id of the node that it enters.
    #[getter]
    fn to_node_id<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.as_super().get().get(slf.py(), "to_node_id")
    }
}
