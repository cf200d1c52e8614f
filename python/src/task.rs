//! What is asked for, as Python has it: files by their paths, text, and data.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use retort::diagnostics::Problem;
use retort::evidence::Expected;
use retort::internal::codes;
use retort::{Coded, EventSchema, GraphSpec, Rule, Samples, Task};

use crate::error::{Failed, Kind};
use crate::event::EventText;
use crate::json::{self, Unwritable};

/// What can't be written as JSON, of what is called `what`.
pub(crate) fn unwritable(error: &Unwritable, what: &str) -> Failed {
    let code = codes::FILE_NOT_JSON;
    let message = format!("{what}: {}", error.message());
    let problem = Problem::new(code.stage, code, message).at(error.path());
    Failed { kind: Kind::Input, problem: problem.into() }
}

/// The text of what is called `what`, and what messages call it: of a path the file's, of a str itself, of data its JSON.
pub(crate) fn text(value: &Bound<'_, PyAny>, what: &str) -> PyResult<(String, PathBuf)> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok((text.to_str()?.to_owned(), what.into()));
    }
    if value.hasattr("__fspath__")? {
        let path: PathBuf = value.extract()?;
        let refused = |error: std::io::Error| {
            let code = match error.kind() {
                std::io::ErrorKind::NotFound => codes::FILE_NOT_FOUND,
                std::io::ErrorKind::InvalidData => codes::FILE_NOT_UTF8,
                _ => codes::FILE_NOT_READABLE,
            };
            Failed::new(Kind::Input, code, format!("{what}: {}: {error}", path.display()))
        };
        let text = std::fs::read_to_string(&path).map_err(refused)?;
        return Ok((text, path));
    }
    let text = json::write(value).map_err(|error| unwritable(&error, what))?;
    Ok((String::from_utf8_lossy(&text).into_owned(), what.into()))
}

/// The same of lines of JSON, which may be a list of values as well.
fn lines(value: &Bound<'_, PyAny>, what: &str) -> PyResult<(String, PathBuf)> {
    let is_text = value.is_instance_of::<PyString>() || value.hasattr("__fspath__")?;
    if is_text {
        return text(value, what);
    }
    if value.is_instance_of::<PyDict>() || value.is_instance_of::<PyBytes>() {
        let found = json::kind(value);
        let message = format!("{what}: expected an iterable of events, found {found}");
        return Err(Failed::new(Kind::Input, codes::FILE_NOT_JSON, message).into());
    }
    let mut all = Vec::new();
    for (number, line) in value.try_iter()?.enumerate() {
        let event = EventText::of(&line?).map_err(|mut failed| {
            failed.kind = Kind::Input;
            failed.problem.message = format!("{what}[{number}]: {}", failed.problem.message);
            failed
        })?;
        // Between the values of JSON, a line end is white space.
        let one_line = event.as_ref().iter().map(|byte| match byte {
            b'\n' | b'\r' => b' ',
            byte => *byte,
        });
        all.extend(one_line);
        all.push(b'\n');
    }
    let all = String::from_utf8(all).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("{what}: expected UTF-8, found a wrong byte at offset {at}");
        Failed::new(Kind::Input, codes::FILE_NOT_UTF8, message)
    })?;
    Ok((all, what.into()))
}

fn named(path: &std::path::Path) -> String {
    path.display().to_string()
}

fn input<T, E: Coded>(parsed: Result<T, E>) -> PyResult<T> {
    parsed.map_err(|error| Failed::input(&error).into())
}

/// A graph spec: a path, text or data; or an ontology and its binding as a pair of those.
pub(crate) fn graph(value: &Bound<'_, PyAny>) -> PyResult<GraphSpec> {
    if let Ok(pair) = value.cast::<PyTuple>() {
        let (ontology, binding): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        let (ontology, binding) = (text(&ontology, "ontology")?, text(&binding, "binding")?);
        let (one, other) = (named(&ontology.1), named(&binding.1));
        return input(GraphSpec::from_ontology_files((&ontology.0, &one), (&binding.0, &other)));
    }
    let (text, path) = text(value, "graph")?;
    input(GraphSpec::parse(&text, &named(&path)))
}

/// A rule: a path, words, or data.
pub(crate) fn rule(value: &Bound<'_, PyAny>) -> PyResult<Rule> {
    let (text, path) = text(value, "rule")?;
    input(Rule::parse(&text, &named(&path)))
}

/// A schema of events: a path, text or data.
pub(crate) fn schema(value: &Bound<'_, PyAny>) -> PyResult<EventSchema> {
    let (text, path) = text(value, "schema")?;
    input(EventSchema::parse(&text, &named(&path)))
}

/// Sample events: a path or text with one on each line, or an iterable of events.
pub(crate) fn samples(value: &Bound<'_, PyAny>) -> PyResult<Samples> {
    let (text, path) = lines(value, "samples")?;
    input(Samples::parse(&text, &named(&path)))
}

/// What samples are expected to give, as `retort label` writes it.
pub(crate) fn expected(
    value: &Bound<'_, PyAny>,
    samples: &Samples,
    graph: Option<&GraphSpec>,
) -> PyResult<Expected> {
    let (text, path) = lines(value, "expected")?;
    input(Expected::parse(&text, &named(&path), samples, graph))
}

/// What is asked for, in the parts that a caller names.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Given<'py> {
    rule: Option<Bound<'py, PyAny>>,
    graph: Option<Bound<'py, PyAny>>,
    samples: Bound<'py, PyAny>,
    schema: Option<Bound<'py, PyAny>>,
    expected: Option<Bound<'py, PyAny>>,
    policy: Option<Bound<'py, PyAny>>,
    helper: Option<PathBuf>,
    pub(crate) allow_external_endpoints: bool,
}

/// The same, read.
pub(crate) struct Asked {
    pub(crate) rule: Option<Rule>,
    pub(crate) graph: Option<GraphSpec>,
    pub(crate) samples: Samples,
    pub(crate) schema: Option<EventSchema>,
    pub(crate) expected: Option<Expected>,
    pub(crate) policy: Option<(String, PathBuf)>,
    pub(crate) helper: Option<PathBuf>,
}

impl Given<'_> {
    pub(crate) fn read(&self) -> PyResult<Asked> {
        let graph = self.graph.as_ref().map(graph).transpose()?;
        let samples = samples(&self.samples)?;
        let expected = self.expected.as_ref();
        Ok(Asked {
            rule: self.rule.as_ref().map(rule).transpose()?,
            schema: self.schema.as_ref().map(schema).transpose()?,
            expected: expected
                .map(|it| self::expected(it, &samples, graph.as_ref()))
                .transpose()?,
            policy: self.policy.as_ref().map(|policy| text(policy, "policy")).transpose()?,
            helper: self.helper.clone(),
            graph,
            samples,
        })
    }
}

impl Asked {
    /// As a task, for which there has to be a graph spec.
    pub(crate) fn task(self) -> PyResult<Task> {
        let Some(graph) = self.graph else {
            let message = "expected a graph spec, found none: give `graph`";
            return Err(Failed::new(Kind::Input, codes::PROJECT_INCOMPLETE, message).into());
        };
        Ok(Task::builder(graph, self.samples)
            .rule(self.rule)
            .event_schema(self.schema)
            .expected(self.expected)
            .build())
    }
}
