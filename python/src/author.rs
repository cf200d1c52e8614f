//! From a rule, or a plan, to a bundle; checks; repairs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use retort::author::llm::{ClientConfig, Draft, LlmClient, ModelSpec, connect};
use retort::author::{
    Backend, History, LoopConfig, LoopError, LoopOutcome, PipelineGates, ProjectFile,
    compile_with_llm, repair_plan,
};
use retort::bundle::{Coverage, Part, Request, SmokeOptions, Storing};
use retort::diagnostics::{Finding, Problem};
use retort::evidence::Evidence;
use retort::internal::codes;
use retort::{Accepted, Bundle, Coded, GraphSpec, Pipeline, PipelineError, Store, Task};
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{Failed, Kind, data, guarded};
use crate::many::BETWEEN_SIGNALS;
use crate::model::{PyModel, ends_program};
use crate::open::Source;
use crate::task::{Asked, Given};

/// How a compilation goes about its work.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings<'py> {
    plan: Option<Bound<'py, PyAny>>,
    model: Bound<'py, PyAny>,
    backend: String,
    out: PathBuf,
    name: Option<String>,
    activate: bool,
    max_attempts: i64,
    token_budget: Option<u64>,
    time_budget: Option<f64>,
    repair: bool,
    base_url: Option<String>,
    timeout: f64,
}

/// What came of a compilation.
#[derive(Default, Serialize)]
struct Compiled {
    ok: bool,
    /// Why it ended: a reason of the loop, or a code.
    reason: String,
    message: Option<String>,
    history: Option<History>,
    diagnostic: Option<String>,
    problems: Vec<Problem>,
    plan: Option<Value>,
    rust: Option<String>,
    coverage: Option<Coverage>,
    bundle: Option<Value>,
}

/// The gates by a policy, and those of a loop.
fn gates(asked: &Asked) -> Result<Pipeline, Failed> {
    let (policy, helper) = (asked.policy.clone(), asked.helper.clone());
    let path = PathBuf::new();
    Source { path, limits: None, policy, helper, cache: None, lenient: false, unchecked: false }
        .pipeline()
}

fn smoke(allow_external_endpoints: bool) -> SmokeOptions {
    let mut options = SmokeOptions::default();
    options.allow_external_endpoints = allow_external_endpoints;
    options
}

/// Runs a future to its end on this thread, which is without the interpreter's lock, unless a signal raises something.
pub(crate) fn block_on<T: Send>(
    py: Python<'_>,
    future: impl Future<Output = T> + Send,
) -> PyResult<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Failed::new(Kind::Host, codes::HOST_FAILED, error.to_string()))?;
    let signalled = async {
        loop {
            tokio::time::sleep(BETWEEN_SIGNALS).await;
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                return error;
            }
        }
    };
    let done = py.detach(|| {
        let done = guarded(|| {
            runtime.block_on(async {
                tokio::select! {
                    biased;
                    done = future => Ok(done),
                    error = signalled => Err(error),
                }
            })
        });
        runtime.shutdown_background();
        done
    });
    done?
}

/// A plan, a source or a rule through every gate, to a bundle on disk.
#[pyfunction]
pub(crate) fn compile<'py>(
    py: Python<'py>,
    given: Given<'py>,
    settings: Settings<'py>,
) -> PyResult<(Bound<'py, PyAny>, Option<PyErr>)> {
    let asked = given.read()?;
    let options = smoke(given.allow_external_endpoints);
    let pipeline = gates(&asked)?;
    let task = asked.task()?;
    let (compiled, raised) = match &settings.plan {
        Some(plan) => {
            let (text, _) = crate::task::text(plan, "plan")?;
            let goes = goes_to(&settings);
            let compiled =
                py.detach(|| guarded(|| given_plan(&text, &task, &pipeline, options, &goes)));
            (compiled??, None)
        }
        None => asked_for(py, &task, &pipeline, options, &settings)?,
    };
    Ok((data(py, &compiled)?, raised))
}

/// Where what was accepted goes.
struct Goes {
    out: PathBuf,
    name: Option<String>,
    activate: bool,
}

fn goes_to(settings: &Settings<'_>) -> Goes {
    let Settings { out, name, activate, .. } = settings;
    Goes { out: out.clone(), name: name.clone(), activate: *activate }
}

fn given_plan(
    text: &str,
    task: &Task,
    pipeline: &Pipeline,
    options: SmokeOptions,
    goes: &Goes,
) -> Result<Compiled, Failed> {
    match pipeline.accept(text, Request::new(task).smoke(options)) {
        Ok(accepted) => stored(&accepted, task, goes),
        Err(error) if error.is_of_host() => Err(Failed::of(Kind::Host, &error)),
        Err(error) => Ok(Compiled {
            reason: error.code().to_owned(),
            message: Some(error.to_string()),
            diagnostic: Some(error.diagnostic()),
            problems: error.problems(),
            ..Compiled::default()
        }),
    }
}

/// Puts what was accepted on disk.
fn stored(accepted: &Accepted, task: &Task, goes: &Goes) -> Result<Compiled, Failed> {
    let name = goes.name.clone().map(TryInto::try_into).transpose();
    let name = name.map_err(|error: retort::bundle::InvalidName| Failed::input(&error))?;
    let store = Store::open(&goes.out).map_err(|error| Failed::input(&error))?;
    let storing = Storing::at(retort::jiff::Timestamp::now())
        .name(name)
        .activate(goes.activate)
        .by("retort.compile");
    let stored = accepted.store(&store, storing).map_err(|error| Failed::input(&error))?;
    let names = |paths: &[PathBuf]| -> Vec<String> {
        paths.iter().map(|path| path.display().to_string()).collect()
    };
    let is_taken = !stored.others.colliding.is_empty();
    Ok(Compiled {
        ok: !is_taken,
        reason: if is_taken {
            codes::EVENT_TYPE_TAKEN.name.to_owned()
        } else {
            "succeeded".to_owned()
        },
        plan: accepted.plan().map(|plan| json!(plan)),
        rust: accepted.rust().map(str::to_owned),
        coverage: Some(accepted.coverage(task)),
        bundle: Some(json!({
            "path": stored.path.display().to_string(),
            "fingerprint": stored.fingerprint.to_string(),
            "name": stored.manifest.name().to_string(),
            "event_types": stored.manifest.event_types(),
            "cached": stored.cache_hit,
            "active": stored.is_active,
            "replaced": names(&stored.others.replaced),
            "colliding": names(&stored.others.colliding),
        })),
        ..Compiled::default()
    })
}

fn asked_for(
    py: Python<'_>,
    task: &Task,
    pipeline: &Pipeline,
    options: SmokeOptions,
    settings: &Settings<'_>,
) -> PyResult<(Compiled, Option<PyErr>)> {
    let (named, callable) = match settings.model.cast::<PyString>() {
        Ok(name) => (Some(connected(name.to_str()?, task, settings)?), None),
        Err(_) => (None, Some(PyModel::new(&settings.model)?)),
    };
    let client: &dyn LlmClient = match (&named, &callable) {
        (Some(named), _) => named.as_ref(),
        (None, Some(callable)) => callable,
        (None, None) => return Err(pyo3::exceptions::PyTypeError::new_err("expected a model")),
    };
    let backend: Backend = serde_json::from_value(json!(settings.backend)).map_err(|_| {
        let message = format!("backend: expected plan, rust or auto, found {:?}", settings.backend);
        Failed::new(Kind::Input, codes::PROJECT_INVALID, message)
    })?;
    let config = LoopConfig::builder()
        .max_attempts(settings.max_attempts)
        .backend(backend)
        .token_budget(settings.token_budget)
        .wall_budget(settings.time_budget.map(seconds).transpose()?)
        .repair(settings.repair)
        .build()
        .map_err(|error| Failed::input(&error))?;
    let gates = PipelineGates::new(pipeline, task).smoke(options);
    let outcome = block_on(py, compile_with_llm(client, task, &gates, &config))?;
    let raised = callable.as_ref().and_then(PyModel::take_raised);
    match outcome {
        Ok(outcome) => {
            let goes = goes_to(settings);
            Ok((py.detach(|| ended(outcome, task, &goes))?, None))
        }
        Err(error) => match raised {
            Some(raised) if ends_program(py, &raised) => Err(raised),
            raised => Ok((broken_off(&error), raised)),
        },
    }
}

fn seconds(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
}

fn connected(name: &str, task: &Task, settings: &Settings<'_>) -> PyResult<Box<dyn LlmClient>> {
    let spec: ModelSpec =
        name.parse().map_err(|error: retort::author::llm::LlmError| Failed::input(&error))?;
    let mut config = ClientConfig::default();
    config.base_url = settings.base_url.clone();
    config.timeout = seconds(settings.timeout)?;
    let client = connect(&spec, &config).map_err(|error| Failed::input(&error))?;
    Ok(client.unwrap_or_else(|| Box::new(Draft::new(task))))
}

fn ended(outcome: LoopOutcome<Accepted>, task: &Task, goes: &Goes) -> Result<Compiled, Failed> {
    let mut compiled = match outcome.accepted() {
        Some(accepted) => stored(accepted, task, goes)?,
        None => Compiled { reason: outcome.reason().as_str().to_owned(), ..Compiled::default() },
    };
    compiled.diagnostic = outcome.last_diagnostic().map(str::to_owned);
    compiled.message = retort::author::Account::of_outcome(&outcome, task).map(|it| it.to_string());
    compiled.history = Some(outcome.into_parts().1);
    Ok(compiled)
}

fn broken_off(error: &LoopError) -> Compiled {
    Compiled {
        reason: error.code().to_owned(),
        message: Some(error.to_string()),
        history: Some(error.history().clone()),
        ..Compiled::default()
    }
}

/// What a folder's retort.toml says.
#[pyfunction]
pub(crate) fn project<'py>(py: Python<'py>, folder: PathBuf) -> PyResult<Bound<'py, PyDict>> {
    let file = ProjectFile::read(&folder).map_err(|error| Failed::input(&error))?;
    let said = PyDict::new(py);
    let paths = [
        ("plan", &file.plan),
        ("source", &file.source),
        ("graph", &file.graph),
        ("ontology", &file.ontology),
        ("binding", &file.binding),
        ("samples", &file.samples),
        ("out", &file.output),
        ("rule", &file.rule),
        ("schema", &file.schema),
        ("policy", &file.policy),
        ("expected", &file.expected),
    ];
    for (name, path) in paths {
        if let Some(path) = path {
            said.set_item(name, path)?;
        }
    }
    if let Some(name) = file.extractor_name().map_err(|error| Failed::input(&error))? {
        said.set_item("name", name.to_string())?;
    }
    if let Some(model) = &file.model {
        said.set_item("model", model)?;
    }
    if let Some(backend) = &file.backend {
        said.set_item("backend", data(py, backend)?)?;
    }
    said.set_item("allow_external_endpoints", file.allow_external_endpoints)?;
    Ok(said)
}

/// What a check found.
#[derive(Serialize)]
struct Report {
    ok: bool,
    problems: Vec<Problem>,
    coverage: Option<Coverage>,
    diagnostic: Option<String>,
}

impl Report {
    fn of(checked: Result<Coverage, PipelineError>) -> Result<Self, Failed> {
        match checked {
            Ok(coverage) => Ok(Self {
                ok: true,
                problems: Vec::new(),
                coverage: Some(coverage),
                diagnostic: None,
            }),
            Err(error) if error.is_of_host() => Err(Failed::of(Kind::Host, &error)),
            Err(error) => {
                let diagnostic = Some(error.diagnostic());
                Ok(Self { ok: false, problems: error.problems(), coverage: None, diagnostic })
            }
        }
    }

    fn problem(problem: Problem) -> Self {
        Self { ok: false, problems: vec![problem], coverage: None, diagnostic: None }
    }
}

/// All gates on a plan, or, where `subject` is the path of one, on a bundle.
#[pyfunction]
pub(crate) fn check<'py>(
    py: Python<'py>,
    subject: Bound<'py, PyAny>,
    is_bundle: bool,
    given: Given<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let asked = given.read()?;
    let options = smoke(given.allow_external_endpoints);
    let pipeline = gates(&asked)?;
    let report = if is_bundle {
        let path: PathBuf = subject.extract()?;
        py.detach(|| guarded(|| check_bundle(&path, asked, &pipeline, options)))??
    } else {
        let (text, _) = crate::task::text(&subject, "plan")?;
        let task = asked.task()?;
        py.detach(|| {
            guarded(|| {
                let accepted = pipeline.accept(&text, Request::new(&task).smoke(options));
                Report::of(accepted.map(|accepted| accepted.coverage(&task)))
            })
        })??
    };
    data(py, &report)
}

fn check_bundle(
    path: &Path,
    asked: Asked,
    pipeline: &Pipeline,
    options: SmokeOptions,
) -> Result<Report, Failed> {
    let loaded = match Bundle::open(path, pipeline) {
        Ok(loaded) => loaded,
        Err(error) => return Ok(Report::problem(error.problem())),
    };
    let part = |part| -> Result<String, Failed> {
        let bytes = loaded.read(part).map_err(|error| Failed::of(Kind::Extractor, &error))?;
        Ok(String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned())
    };
    let Asked { graph, samples, schema, expected, .. } = asked;
    let graph = match graph {
        Some(graph) => graph,
        None => GraphSpec::parse(&part(Part::Graph)?, "graph.json")
            .map_err(|error| Failed::of(Kind::Extractor, &error))?,
    };
    let rule = retort::Rule::parse(&part(Part::Rule)?, "rule.md").ok();
    let evidence = Evidence::new(&samples, schema.as_ref());
    let module = loaded.module();
    let plan = module.plan();
    let checked = pipeline.permit_admitted(module, &evidence).and_then(|()| {
        let smoked = pipeline.smoke(module.extractor(), plan, &samples, Some(&graph), options)?;
        let coverage = Coverage::new(&smoked, plan, &samples, Some(&graph), rule.as_ref());
        let coverage = match plan {
            Some(plan) => coverage.knowing(plan, &evidence),
            None => coverage.knowing_code(module.extractor(), None, &evidence),
        };
        pipeline.confirm(smoked, plan, &samples, Some(&graph), expected.as_ref())?;
        Ok(coverage)
    });
    Report::of(checked)
}

/// What is wrong with a plan, and the plan that it could be.
#[derive(Serialize)]
struct Repaired<'a> {
    ok: bool,
    problems: Vec<&'a Finding>,
    changes: Vec<Value>,
    plan: Option<Value>,
    diagnostic: Option<&'a str>,
}

/// A plan through every gate, repaired as far as there is one thing to do.
#[pyfunction]
pub(crate) fn repair<'py>(
    py: Python<'py>,
    plan: Bound<'py, PyAny>,
    given: Given<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (text, _) = crate::task::text(&plan, "plan")?;
    let asked = given.read()?;
    let pipeline = gates(&asked)?;
    let task = asked.task()?;
    let gates = PipelineGates::new(&pipeline, &task).smoke(smoke(given.allow_external_endpoints));
    let config = LoopConfig::default();
    let outcome = block_on(py, repair_plan(&text, &gates, &config))?;
    let outcome = outcome.map_err(|error| Failed::of(Kind::Host, &error))?;
    let mut problems: Vec<&Finding> = Vec::new();
    for finding in outcome.attempts().iter().flat_map(|attempt| &attempt.record.findings) {
        if !problems.iter().any(|it| (it.code, &it.pointer) == (finding.code, &finding.pointer)) {
            problems.push(finding);
        }
    }
    let changes = outcome.attempts().iter().flat_map(|attempt| &attempt.record.changes);
    let changes: Vec<Value> = changes.map(|change| json!(change)).collect();
    data(
        py,
        &Repaired {
            ok: outcome.ok() && problems.is_empty() && changes.is_empty(),
            plan: outcome.accepted().and_then(Accepted::plan).map(|plan| json!(plan)),
            diagnostic: outcome.last_diagnostic(),
            problems,
            changes,
        },
    )
}
