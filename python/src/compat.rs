//! What the module `retort.compat` rests on.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};
use retort::author::{
    AnswerFormat, Category, Channel, GateError, Gates, LoopConfig, Rejection, Verdict,
    compile_with_llm as run_loop, resolution_prompt as prompt_of,
};
use retort::graph::{Extraction, Failure, ValidateOptions, validate as validate_result};
use retort::internal::codes;
use retort::plan::{self, Plan, PlanParseError};
use retort::render::render;
use retort::runtime::{ExtractError, run_with_fallback as run_one};
use retort::{Coded, GraphSpec, Task};
use serde_json::{Value, json};

use crate::author::block_on;
use crate::bundle::Bundle;
use crate::error::{Failed, data};
use crate::event::EventText;
use crate::json;
use crate::model::PyModel;
use crate::seat::{Left, Made, NOTHING};
use crate::task;

/// A graph spec, read once.
#[pyclass(frozen, module = "retort._native")]
pub(crate) struct Spec {
    spec: GraphSpec,
}

#[pymethods]
impl Spec {
    #[new]
    fn new(spec: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { spec: task::graph(spec)? })
    }

    /// Whether the results of all bundles here are held to this very spec.
    fn is_of(&self, bundle: &Bundle) -> bool {
        let specs = bundle.opened.registry().graph_specs();
        specs.is_ok_and(|specs| specs.iter().all(|spec| **spec == self.spec))
    }
}

/// A plan, or code, path and message of the first thing that is wrong with it.
type Parsed<'py> = (Option<Bound<'py, PyAny>>, Option<(String, String, String)>);

/// A plan in its normal form; or what is wrong with it.
#[pyfunction]
pub(crate) fn parse_plan<'py>(
    py: Python<'py>,
    payload: &Bound<'py, PyAny>,
) -> PyResult<Parsed<'py>> {
    let parsed = match payload.cast::<PyString>() {
        Ok(text) => plan::parse(text.to_str()?),
        Err(_) => match json::write(payload) {
            Ok(text) => match serde_json::from_slice(&text) {
                Ok(value) => plan::from_value(&value),
                Err(error) => {
                    return Ok((
                        None,
                        Some(("invalid_json".to_owned(), String::new(), error.to_string())),
                    ));
                }
            },
            // What no JSON can be is of the wrong type.
            Err(error) => {
                let code = codes::WRONG_TYPE.name.to_owned();
                return Ok((None, Some((code, error.path(), error.message()))));
            }
        },
    };
    match parsed {
        Ok(plan) => Ok((Some(data(py, &plan)?), None)),
        Err(PlanParseError { code, path, message, .. }) => {
            Ok((None, Some((code.to_string(), path, message))))
        }
    }
}

/// The JSON Schema of plans, a copy of its own.
#[pyfunction]
pub(crate) fn plan_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    data(py, &plan::schema())
}

/// The source that a plan is rendered to; or why it can't be.
#[pyfunction]
pub(crate) fn render_plan(plan: &Bound<'_, PyAny>) -> PyResult<(Option<String>, Option<String>)> {
    let plan = read_plan(plan)?;
    Ok(match render(&plan) {
        Ok(source) => (Some(source.text().to_owned()), None),
        Err(error) => (None, Some(error.to_string())),
    })
}

fn read_plan(plan: &Bound<'_, PyAny>) -> PyResult<Plan> {
    let (text, _) = task::text(plan, "plan")?;
    plan::parse(&text).map_err(|error| Failed::input(&error).into())
}

/// A report as the text that a model is given.
#[pyfunction]
pub(crate) fn diagnostic(kind: &str, report: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = json::write(report).map_err(|error| task::unwritable(&error, "report"))?;
    let report: Value = serde_json::from_slice(&text)
        .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))?;
    let kind =
        kind.parse().map_err(|error: retort::diagnostics::DiagnoseError| Failed::input(&error))?;
    retort::diagnostics::render_report(kind, &report).map_err(|error| Failed::input(&error).into())
}

fn read_extraction(result: &Bound<'_, PyAny>) -> Result<Extraction, String> {
    let text =
        json::write(result).map_err(|error| format!("{}: {}", error.path(), error.message()))?;
    serde_json::from_slice(&text).map_err(|error| error.to_string())
}

fn options(allow_external_endpoints: bool) -> ValidateOptions {
    let mut options = ValidateOptions::default();
    options.allow_external_endpoints = allow_external_endpoints;
    options
}

/// What is wrong with a result.
#[pyfunction]
pub(crate) fn validate<'py>(
    py: Python<'py>,
    spec: &Spec,
    result: &Bound<'py, PyAny>,
    allow_external_endpoints: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let result = read_extraction(result).map_err(|message| {
        pyo3::exceptions::PyTypeError::new_err(format!("expected an extracted graph: {message}"))
    })?;
    let report =
        py.detach(|| validate_result(&spec.spec, &result, options(allow_external_endpoints)));
    data(py, &failures_told(report.failures()))
}

/// Failures with what was expected and what was found.
fn failures_told(failures: &[Failure]) -> Vec<Value> {
    let told = |failure: &Failure| {
        let mut told = json!(failure);
        told["expected"] = failure.expected.clone().into();
        told["observed"] = failure.observed.clone().into();
        told
    };
    failures.iter().map(told).collect()
}

/// A result that a program gave, held to a graph spec: the decision with what it rests on.
#[pyfunction]
pub(crate) fn held_to<'py>(
    py: Python<'py>,
    spec: &Spec,
    result: &Bound<'py, PyAny>,
    event: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let extraction = read_extraction(result);
    let event = EventText::of(event);
    let decided = py.detach(|| {
        let event = event.as_ref().map_or(&b"{}"[..], |event| event.as_ref());
        let mut given = |_: &[u8]| extraction.clone().map_err(ExtractError::raised);
        let mut none = |_: &[u8]| Ok(Extraction::default());
        run_one(&mut given, &mut none, &spec.spec, options(false), event)
    });
    let decided = decided.map_err(|error| Failed::input(&error))?;
    let mut told = json!(decided);
    told["failures"] = failures_told(&decided.failures).into();
    data(py, &told)
}

/// What became of an event, and how.
#[pyclass(frozen, module = "retort.compat")]
pub(crate) struct FallbackOutcome {
    /// What a bundle made, of which objects are made when they are asked for.
    made: Option<Made>,
    result: PyOnceLock<Py<PyAny>>,
    #[pyo3(get)]
    decision: &'static str,
    #[pyo3(get)]
    compiled_exception: Option<String>,
    failures: PyOnceLock<Py<PyTuple>>,
    ids: PyOnceLock<(Py<PyTuple>, Py<PyTuple>)>,
}

fn decision_of(name: &str) -> PyResult<&'static str> {
    let known = ["compiled_unchanged", "compiled_filtered", "fallback_for_event"];
    let found = known.into_iter().find(|known| *known == name);
    found.ok_or_else(|| pyo3::exceptions::PyValueError::new_err(format!("no decision: {name:?}")))
}

impl FallbackOutcome {
    fn of(made: Made) -> Self {
        let decision = if made.left.is_some() { "compiled_filtered" } else { "compiled_unchanged" };
        Self {
            made: Some(made),
            decision,
            compiled_exception: None,
            result: PyOnceLock::new(),
            failures: PyOnceLock::new(),
            ids: PyOnceLock::new(),
        }
    }

    /// What was dropped, where something was.
    fn left(&self) -> Option<&Left> {
        self.made.as_ref().and_then(|made| made.left.as_deref())
    }
}

#[pymethods]
impl FallbackOutcome {
    #[new]
    #[pyo3(signature = (result, decision, compiled_exception=None, dropped_node_ids=None, dropped_edge_ids=None, validation_failures=None))]
    fn new(
        py: Python<'_>,
        result: Py<PyAny>,
        decision: &str,
        compiled_exception: Option<String>,
        dropped_node_ids: Option<Py<PyTuple>>,
        dropped_edge_ids: Option<Py<PyTuple>>,
        validation_failures: Option<Py<PyTuple>>,
    ) -> PyResult<Self> {
        let outcome = Self {
            made: None,
            decision: decision_of(decision)?,
            compiled_exception,
            result: PyOnceLock::new(),
            failures: PyOnceLock::new(),
            ids: PyOnceLock::new(),
        };
        let none = || PyTuple::empty(py).unbind();
        let ids = (dropped_node_ids.unwrap_or_else(none), dropped_edge_ids.unwrap_or_else(none));
        // Each is set once, right here.
        let _ = outcome.result.set(py, result);
        let _ = outcome.ids.set(py, ids);
        let _ = outcome.failures.set(py, validation_failures.unwrap_or_else(none));
        Ok(outcome)
    }

    /// The result, as the original has it.
    #[getter]
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        static OF: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let result = self.result.get_or_try_init(py, || {
            let of = OF.import(py, "retort.compat", "_structured")?;
            let text = self.made.as_ref().map_or(NOTHING, |made| &made.json);
            Ok::<_, PyErr>(of.call1((json::read(py, text)?,))?.unbind())
        })?;
        Ok(result.bind(py).clone())
    }

    #[getter]
    fn dropped_node_ids(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        Ok(self.ids(py)?.0.clone_ref(py))
    }

    #[getter]
    fn dropped_edge_ids(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        Ok(self.ids(py)?.1.clone_ref(py))
    }

    #[getter]
    fn validation_failures(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        static OF: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let failures = self.failures.get_or_try_init(py, || {
            let of = OF.import(py, "retort.compat", "_failures_of")?;
            let told = self.left().map_or(&[][..], |left| &left.failures);
            let told = data(py, &failures_told(told))?;
            Ok::<_, PyErr>(of.call1((told,))?.cast_into::<PyTuple>()?.unbind())
        })?;
        Ok(failures.clone_ref(py))
    }

    fn __repr__(&self) -> String {
        format!("<retort.compat.FallbackOutcome {}>", self.decision)
    }
}

impl FallbackOutcome {
    fn ids(&self, py: Python<'_>) -> PyResult<&(Py<PyTuple>, Py<PyTuple>)> {
        self.ids.get_or_try_init(py, || {
            let Some(Left { dropped, .. }) = self.left() else {
                return Ok((PyTuple::empty(py).unbind(), PyTuple::empty(py).unbind()));
            };
            let nodes = PyTuple::new(py, &dropped.node_ids)?.unbind();
            Ok((nodes, PyTuple::new(py, &dropped.edge_ids)?.unbind()))
        })
    }
}

/// A bundle as an extractor of the original: a callable of an event and a spec, which it doesn't need.
#[pyclass(frozen, subclass, module = "retort.compat")]
pub(crate) struct BundleExtractor {
    #[pyo3(get)]
    bundle: Py<Bundle>,
    /// The last graph spec that was found to be the bundle's own.
    fits: Mutex<Option<Py<PyAny>>>,
}

#[pymethods]
impl BundleExtractor {
    #[new]
    fn new(bundle: Py<Bundle>) -> Self {
        Self { bundle, fits: Mutex::default() }
    }

    /// Notes that a graph spec is the bundle's own.
    fn _note(&self, graph: Py<PyAny>) {
        if let Ok(mut fits) = self.fits.lock() {
            *fits = Some(graph);
        }
    }
}

impl BundleExtractor {
    /// Whether results are to be held to no other graph spec than the bundle's, as far as that is known.
    fn is_held_to(&self, graph: &Bound<'_, PyAny>) -> bool {
        graph.is_none()
            || self.fits.lock().is_ok_and(|fits| fits.as_ref().is_some_and(|it| it.is(graph)))
    }
}

/// What an extractor makes of an event, held to a graph spec; what doesn't fit is dropped, and where nothing can be kept, or there is no
/// result, the fallback's result is given as it is.
///
/// The extractor is a bundle, or any callable of an event and a spec. `resolved_graph` may be None for a bundle, which knows its own. An
/// event may be text as well as a dict. What the fallback raises is raised.
#[pyfunction]
#[pyo3(signature = (*, event, spec, resolved_graph, compiled_extractor, fallback_extractor))]
pub(crate) fn run_with_fallback<'py>(
    py: Python<'py>,
    event: &Bound<'py, PyAny>,
    spec: &Bound<'py, PyAny>,
    resolved_graph: &Bound<'py, PyAny>,
    compiled_extractor: &Bound<'py, PyAny>,
    fallback_extractor: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    static OTHERS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let extractor = compiled_extractor.cast::<BundleExtractor>().ok();
    let Some(extractor) = extractor.filter(|it| it.get().is_held_to(resolved_graph)) else {
        let others = OTHERS.import(py, "retort.compat", "_run_with_fallback")?;
        return others.call1((event, spec, resolved_graph, compiled_extractor, fallback_extractor));
    };
    let opened = &extractor.get().bundle.get().opened;
    let made = match EventText::of(event) {
        Ok(text) => {
            py.detach(|| opened.seated(|seat| seat.extract(text.as_ref()))).and_then(|made| made)
        }
        Err(failed) => Err(failed),
    };
    let outcome = match made {
        Ok(made) => FallbackOutcome::of(made),
        Err(failed) => {
            let result = fallback_extractor.call1((event, spec))?.unbind();
            let message = format!("{}: {}", failed.problem.code.name, failed.problem.message);
            FallbackOutcome::new(py, result, "fallback_for_event", Some(message), None, None, None)?
        }
    };
    Ok(Bound::new(py, outcome)?.into_any())
}

/// The prompt that asks for a plan.
#[pyfunction]
pub(crate) fn resolution_prompt(
    rule: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    graph: &Bound<'_, PyAny>,
    samples: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let task = task_of(rule, schema, graph, samples)?;
    prompt_of(&task).map_err(|error| Failed::input(&error).into())
}

fn task_of(
    rule: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    graph: &Bound<'_, PyAny>,
    samples: &Bound<'_, PyAny>,
) -> PyResult<Task> {
    let samples = task::samples(samples)?;
    let schema = if schema.is_none() { None } else { Some(task::schema(schema)?) };
    Ok(Task::builder(task::graph(graph)?, samples)
        .rule(task::rule(rule)?)
        .event_schema(schema)
        .build())
}

/// Gates that are a callable of Python: of a plan's data and its source, whether it is accepted, with code, category and diagnostic.
struct PyGates {
    judge: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

/// What the callable says of a plan.
#[derive(FromPyObject)]
struct Said {
    ok: bool,
    code: String,
    category: String,
    diagnostic: String,
}

impl PyGates {
    fn said(&self, py: Python<'_>, plan: &Plan, source: &str) -> PyResult<Said> {
        let (ok, code, category, diagnostic) =
            self.judge.bind(py).call1((data(py, plan)?, source))?.extract()?;
        Ok(Said { ok, code, category, diagnostic })
    }
}

/// The callable raised something.
#[derive(Debug)]
struct Raised(String);

impl std::fmt::Display for Raised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Coded for Raised {
    fn entry(&self) -> retort::diagnostics::Code {
        codes::EXTRACTOR_RAISED
    }
}

#[retort::async_trait::async_trait]
impl Gates for PyGates {
    type Accepted = ();

    async fn judge(&self, plan: &Plan) -> Result<Verdict<()>, GateError> {
        let reject = |channel, code: &str, category, diagnostic| {
            Ok(Verdict::Rejected(Rejection {
                channel,
                code: code.to_owned(),
                category,
                diagnostic,
                findings: Vec::new(),
            }))
        };
        let source = match render(plan) {
            Ok(source) => source,
            Err(error) => {
                let diagnostic = format!("RenderError [code=invalid_plan]: {error}");
                return reject(Channel::RenderError, "invalid_plan", Category::Unknown, diagnostic);
            }
        };
        let said = Python::attach(|py| {
            self.said(py, plan, source.text()).map_err(|error| {
                let failed = GateError::new(&Raised(error.to_string()));
                if let Ok(mut raised) = self.raised.lock() {
                    *raised = Some(error);
                }
                failed
            })
        })?;
        if said.ok {
            return Ok(Verdict::Accepted(()));
        }
        let category = serde_json::from_value(json!(said.category)).unwrap_or(Category::Unknown);
        reject(Channel::CompileResult, &said.code, category, said.diagnostic)
    }
}

/// The loop with a model and gates of Python, as the original has it: nothing is repaired without the model, and nothing ends it early.
#[pyfunction]
pub(crate) fn compile_with_llm<'py>(
    py: Python<'py>,
    task: &Bound<'py, PyDict>,
    model: &Bound<'py, PyAny>,
    judge: Py<PyAny>,
    max_attempts: i64,
) -> PyResult<Bound<'py, PyAny>> {
    let part = |name: &str| task.as_any().get_item(name);
    let task = task_of(&part("rule")?, &part("schema")?, &part("graph")?, &part("samples")?)?;
    let model = PyModel::new(model)?;
    let gates = PyGates { judge, raised: Mutex::default() };
    let config = LoopConfig::builder()
        .max_attempts(max_attempts)
        .repetition(None)
        .repair(false)
        .answer_format(AnswerFormat::Strict)
        .build();
    let config = config.map_err(|error| Failed::input(&error))?;
    let outcome = block_on(py, run_loop(&model, &task, &gates, &config))?;
    let of_gates = gates.raised.into_inner().ok().flatten();
    if let Some(raised) = model.take_raised().or(of_gates) {
        return Err(raised);
    }
    let outcome = outcome.map_err(|error| Failed::input(&error))?;
    data(py, &outcome)
}
