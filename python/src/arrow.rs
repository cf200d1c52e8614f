//! Events of an Arrow batch, to results as Arrow batches.

use std::sync::Arc;
use std::time::Instant;

use arrow_data::ArrayData;
use arrow_pyarrow::{FromPyArrow as _, ToPyArrow as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use retort::columns::arrow_array::RecordBatch;
use retort::columns::arrow_array::array::{Array as _, ArrayRef, Int64Array, make_array};
use retort::columns::arrow_array::cast::AsArray as _;
use retort::columns::arrow_array::types::Int64Type;
use retort::columns::{EventTexts, Table, Tables};
use retort::diagnostics::{Code, Problem};
use retort::internal::codes;
use retort::{EventRows, tables};

use crate::bundle::Bundle;
use crate::error::{Failed, Kind, data};
use crate::json::kind;
use crate::many::BETWEEN_SIGNALS;

/// The tables of what a bundle's extractors give.
fn tables_of(bundle: &Bundle) -> Result<Arc<Tables>, Failed> {
    let registry = bundle.opened.registry();
    let specs = registry.graph_specs().map_err(|error| Failed::of(Kind::Extractor, error))?;
    let tables = tables(specs.iter().map(AsRef::as_ref));
    tables.map(Arc::new).map_err(|error| Failed::input(&error))
}

/// The schema of each table, by its name.
pub(crate) fn schemas<'py>(py: Python<'py>, bundle: &Bundle) -> PyResult<Bound<'py, PyDict>> {
    let schemas = PyDict::new(py);
    for table in tables_of(bundle)?.list() {
        schemas.set_item(table.name(), table.schema().to_pyarrow(py)?)?;
    }
    Ok(schemas)
}

fn unsupported(code: Code, message: String) -> PyErr {
    let problem = Problem::new(code.stage, code, message);
    Failed { kind: Kind::Input, problem: problem.into() }.into()
}

/// A column of a batch, whichever library's.
fn column(batch: &Bound<'_, PyAny>, name: &str) -> PyResult<ArrayRef> {
    if !batch.hasattr("__arrow_c_array__")? {
        let message = format!(
            "expected a record batch of Arrow, found {}: of a table, give each batch of to_batches()",
            kind(batch)
        );
        return Err(PyTypeError::new_err(message));
    }
    // Of pyarrow's, nothing but that column is looked at.
    if let Some(method) = batch.getattr_opt("column")? {
        if let Ok(column) = method.call1((name,)) {
            return Ok(make_array(ArrayData::from_pyarrow_bound(&column)?));
        }
    } else if let Some(column) = RecordBatch::from_pyarrow_bound(batch)?.column_by_name(name) {
        return Ok(Arc::clone(column));
    }
    Err(unsupported(
        codes::COLUMN_NOT_FOUND,
        format!("expected a column {name:?}, found none in the batch"),
    ))
}

/// Where the events of a batch are from.
enum Lines {
    From(i64),
    Column(Int64Array),
}

impl Lines {
    fn line(&self, row: usize) -> i64 {
        match self {
            Self::From(first) => first.saturating_add_unsigned(row as u64),
            Self::Column(lines) if lines.is_null(row) => 0,
            Self::Column(lines) => lines.value(row),
        }
    }
}

/// What is made of the events of a batch: a batch for each table, and what they came to.
pub(crate) fn extract<'py>(
    py: Python<'py>,
    bundle: &Bundle,
    batch: &Bound<'py, PyAny>,
    name: &str,
    line: i64,
    line_column: Option<&str>,
    input: Option<&str>,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyAny>)> {
    let events =
        EventTexts::new(column(batch, name)?, name).map_err(|error| Failed::input(&error))?;
    let lines = match line_column {
        None => Lines::From(line),
        Some(name) => {
            let column = column(batch, name)?;
            let lines = column.as_primitive_opt::<Int64Type>().cloned();
            Lines::Column(lines.ok_or_else(|| {
                let message =
                    format!("column {name:?}: expected int64, found {}", column.data_type());
                unsupported(codes::COLUMN_UNSUPPORTED, message)
            })?)
        }
    };
    let tables = tables_of(bundle)?;
    let mut rows = EventRows::new(Arc::clone(&tables));
    let mut row = 0;
    while row < events.len() {
        py.detach(|| serve(bundle, &events, &lines, input, &mut rows, &mut row));
        py.check_signals()?;
    }
    let taken = py.detach(|| rows.take());
    let mut taken = taken
        .map_err(|error| Failed::new(Kind::Host, codes::HOST_FAILED, error.to_string()))?
        .into_iter()
        .peekable();
    let batches = PyDict::new(py);
    for (place, table) in tables.list().iter().enumerate() {
        let batch = match taken.next_if(|(of, _)| *of == place) {
            Some((_, batch)) => batch,
            None => RecordBatch::new_empty(Table::schema(table)),
        };
        batches.set_item(table.name(), batch.to_pyarrow(py)?)?;
    }
    Ok((batches, data(py, rows.summary())?))
}

/// Serves events until signals are to be looked at.
fn serve(
    bundle: &Bundle,
    events: &EventTexts,
    lines: &Lines,
    input: Option<&str>,
    rows: &mut EventRows,
    row: &mut usize,
) {
    let started = Instant::now();
    let mut buffer = Vec::new();
    let done = bundle.opened.seated(|seat| {
        seat.dispatching(|dispatcher| {
            while *row < events.len() {
                let line = lines.line(*row);
                match events.get(*row, &mut buffer) {
                    Some(event) => rows.add(input, line, dispatcher.checked(event)),
                    None => rows.reject(input, line, &no_event()),
                }
                *row += 1;
                if started.elapsed() > BETWEEN_SIGNALS {
                    break;
                }
            }
        });
    });
    if let Err(failed) = done {
        rows.reject(input, lines.line(*row), &failed.problem);
        *row += 1;
    }
}

/// That a row has no event.
fn no_event() -> Problem {
    Problem::new(
        codes::EVENT_NOT_JSON.stage,
        codes::EVENT_NOT_JSON,
        "expected an event, found null",
    )
}
