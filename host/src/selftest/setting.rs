//! What cases are run in: the engine that all tenants share, and what is known of the graph that plans are about.

use std::path::Path;
use std::sync::OnceLock;

use super::attempt::CaseAttempt;
use super::good_bundle::GoodBundle;
use super::{Case, Config, SelftestError};
use crate::bundle::Store;
use crate::bundle::pipeline::{Accepted, Pipeline, PipelineError, Stored};
use crate::diagnostics::problem::{Coded, Problem, Stage};
use crate::evidence::{Samples, Task};
use crate::gate::inspect::{Grant, Inspected, inspect_granting, prove};
use crate::graph::GraphSpec;
use crate::render::compile::compile_text;
use crate::sandbox::{
    ForeignModules, ModuleLoadError, Options, RustcOptions, Sandbox, Toolchain, WasiGrants,
};

/// The plan of the honest tenant, which the bundles of cases are made from.
pub(super) const PLAN: &str = include_str!("honest/plan.json");

/// The graph that it is about, and that of plans and answers in the corpus.
const GRAPH: &str = include_str!("honest/graph.yaml");

/// The sample events of both.
const SAMPLES: &str = include_str!("honest/samples.ndjson");

/// A deadline that nothing runs into that ends by another limit, on a machine with more to do.
const PATIENT_DEADLINE_MS: u64 = 10_000;

/// Where a case runs.
#[derive(Debug)]
pub(super) struct Setting {
    config: Config,
    engine: Sandbox,
    task: Task,
    good_bundle: OnceLock<GoodBundle>,
    toolchain: OnceLock<Result<Toolchain, String>>,
}

impl Setting {
    pub(super) fn new(config: &Config) -> Result<Self, SelftestError> {
        let mut options = without_files(config.options.clone());
        if config.is_exact() {
            // How busy this machine is says nothing of a case that doesn't set a deadline, nor of its neighbour.
            options.limits.deadline_ms = options.limits.deadline_ms.max(PATIENT_DEADLINE_MS);
        }
        let config = Config { options, ..config.clone() };
        let engine = Sandbox::with_options(config.options.clone())?;
        let graph = GraphSpec::parse(GRAPH, "graph.yaml")
            .expect("the corpus's graph spec is built in, and a test reads it");
        let samples = Samples::parse(SAMPLES, "samples.ndjson")
            .expect("the corpus's samples are built in, and a test reads them");
        let task = Task::new(graph, samples);
        Ok(Self { config, engine, task, good_bundle: OnceLock::new(), toolchain: OnceLock::new() })
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// The sandbox of the honest tenant.
    pub(super) fn engine(&self) -> &Sandbox {
        &self.engine
    }

    /// The sandbox of a case: that of another tenant of the same engine, unless its limits need an engine of their own.
    pub(super) fn sandbox(&self, case: &Case) -> Result<Sandbox, ModuleLoadError> {
        let options = &self.config.options;
        let limits = case.limits(&options.limits);
        match self.engine.for_tenant(limits.clone(), options.isolation) {
            Ok(sandbox) => Ok(sandbox),
            Err(_) => Sandbox::with_options(Options { limits, ..options.clone() }),
        }
    }

    /// The gates of a case.
    pub(super) fn pipeline(&self, case: &Case) -> Result<Pipeline, ModuleLoadError> {
        Ok(Pipeline::from(self.sandbox(case)?))
    }

    /// What sources are compiled by; found when the first one is.
    pub(super) fn toolchain(&self) -> Result<&Toolchain, CaseAttempt> {
        let found = self.toolchain.get_or_init(|| {
            let ForeignModules::Helper(helper) = &self.config.options.foreign else {
                return Err("there is no helper to confine the compiler".to_owned());
            };
            let mut options = RustcOptions::new(helper);
            options.rustc.clone_from(&self.config.rustc);
            Toolchain::find(options).map_err(|error| error.to_string())
        });
        found.as_ref().map_err(CaseAttempt::failed)
    }

    /// What plans are checked against.
    pub(super) fn task(&self) -> &Task {
        &self.task
    }

    /// The honest tenant's extractor, inspected and proved.
    pub(super) fn rendered(&self) -> Result<Inspected, PipelineError> {
        let pipeline = Pipeline::from(self.engine.clone());
        pipeline.inspect(&pipeline.build(&pipeline.plan(PLAN)?)?)
    }

    /// Takes the honest tenant's plan through all gates.
    pub(super) fn accept(&self, pipeline: &Pipeline) -> Result<Accepted, PipelineError> {
        pipeline.accept(PLAN, &self.task)
    }

    /// The bundle that cases have copies of.
    pub(super) fn good_bundle(&self) -> Result<&GoodBundle, CaseAttempt> {
        if let Some(made) = self.good_bundle.get() {
            return Ok(made);
        }
        let root = tempfile::tempdir()?;
        let stored = self
            .store_bundle(root.path())
            .map_err(|error| CaseAttempt::failed(format!("a good bundle: {error}")))?;
        let pipeline = Pipeline::from(self.engine().clone());
        let made = GoodBundle::new(root, stored.path, pipeline);
        Ok(self.good_bundle.get_or_init(|| made))
    }

    /// Stores a good bundle in the directory `root`.
    pub(super) fn store_bundle(&self, root: &Path) -> Result<Stored, PipelineError> {
        let pipeline = Pipeline::from(self.engine.clone());
        let accepted = self.accept(&pipeline)?;
        let created_at = jiff::Timestamp::UNIX_EPOCH;
        Ok(accepted.store(&Store::open(root)?, created_at)?)
    }

    /// Takes text of a guest to bytes.
    pub(super) fn compiled(text: &str) -> Result<Vec<u8>, CaseAttempt> {
        compile_text(text).map_err(|error| {
            CaseAttempt::stopped(Problem::new(Stage::Compile, error.entry(), error.to_string()))
        })
    }

    /// Takes bytes through the static gate of a case, as a bundle's module would be.
    pub(super) fn inspected(&self, case: &Case, wasm: &[u8]) -> Result<Inspected, CaseAttempt> {
        let structure = case.structure(&self.config.structure);
        let grant = self.config.options.wasi.grant;
        match inspect_granting(wasm, &structure, grant) {
            Ok(inspected) => Ok(prove::by_verification(inspected)),
            Err(rejected) => {
                let problems = rejected.problems().iter().map(Coded::problem).collect();
                Err(CaseAttempt::stopped_by_one(problems, case))
            }
        }
    }
}

/// The same, without the directories that a tenant may read: they are no hostile guest's.
fn without_files(options: Options) -> Options {
    let grant = options.wasi.grant.min(Grant::Core);
    Options { wasi: WasiGrants { grant, ..WasiGrants::default() }, ..options }
}
