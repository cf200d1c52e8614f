//! The stages in their order: from a plan to a bundle.
//!
//! Each stage takes what the one before made, so a gate can't be skipped. [`Pipeline::accept`] goes through all of them up
//! to the verdict, [`Accepted::store`] puts what was accepted on disk, and [`Pipeline`] is also the gate that bundles pass
//! when they are loaded again.

mod accepted;
mod admit;
mod builder;
mod code;
mod error;
mod request;
mod rust;

use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};

pub use self::accepted::{Accepted, Stored};
pub use self::admit::{Admitted, Bundle};
pub use self::builder::PipelineBuilder;
pub use self::code::{Buildable, Built, Code};
pub use self::error::PipelineError;
pub use self::request::{Request, StageTime};

use self::rust::RustCompiler;
use crate::abi::section::ABI_VERSION;
use crate::bundle::Versions;
use crate::bundle::confirm::{Confirmed, confirm};
use crate::bundle::smoke::{SmokeOptions, Smoked, smoke, smoke_until};
use crate::diagnostics::problem::Stage;
use crate::evidence::effort::{Cancel, StepBudgets};
use crate::evidence::{Evidence, Expected, Samples, Task};
use crate::gate::fit::{Fitted, fit, fit_declared, fit_within};
use crate::gate::inspect::{Inspected, StructuralLimits, inspect, inspect_granting, prove};
use crate::gate::policy::FieldPolicy;
use crate::gate::source::SourceDeclaration;
use crate::graph::spec::GraphSpec;
use crate::plan::{self, EventPattern, Plan};
use crate::render::compile::{Compiled, compile};
use crate::render::{TEMPLATE_VERSION, render};
use crate::sandbox::tenant::TenantPolicy;
use crate::sandbox::{Confinement, Extractor, Limits, ModuleLoadError, Sandbox};

/// The version of the wording of prompts and diagnostics. Part of every bundle's fingerprint.
pub const TRANSCRIPT_VERSION: &str = "4";

/// What the module of a stored bundle is called.
pub const MODULE_NAME: &str = "extractor";

/// The gates with their limits.
#[derive(Clone, Debug)]
pub struct Pipeline {
    sandbox: Sandbox,
    structure: StructuralLimits,
    policy: FieldPolicy,
    rust: Arc<RustCompiler>,
    /// Whether source in Rust is compiled only by a compiler that is confined in full.
    require_confinement: bool,
    /// What tells these gates from others, once it was asked for.
    identity: OnceLock<[u8; 32]>,
}

impl Pipeline {
    /// Gates with the defaults for everything, and ways to change that before they are built.
    pub fn builder() -> PipelineBuilder {
        PipelineBuilder::default()
    }

    /// The gates for another tenant, on the same engine. What the tenant's policy doesn't say is as it is here, but for the
    /// fields that may be read, which are the policy's, and directories, which no two tenants share unasked.
    ///
    /// # Errors
    /// [`ModuleLoadError::Directory`], when a directory of the policy can't be granted; [`ModuleLoadError::OtherEngine`], when its extractors
    /// would have another size of stack, or come from another allocator: both belong to the engine, so such a tenant needs one
    /// of its own ([`PipelineBuilder::tenant`]).
    pub fn for_tenant(&self, tenant: &TenantPolicy) -> Result<Self, ModuleLoadError> {
        let limits = tenant.limits(self.sandbox.limits());
        let isolation = tenant.isolation().unwrap_or(self.sandbox.isolation());
        let shared = self.sandbox.allocator();
        if let Some(asked) = tenant.allocator().filter(|asked| *asked != shared) {
            return Err(ModuleLoadError::OtherEngine {
                what: "allocator",
                asked: asked.to_string(),
                shared: shared.to_string(),
            });
        }
        let sandbox = self.sandbox.for_tenant(limits, isolation)?;
        let sandbox = match tenant.check_one_in() {
            Some(check_one_in) => sandbox.checking_one_in(check_one_in),
            None => sandbox,
        };
        Ok(Self {
            sandbox: match tenant.wasi() {
                Some(wasi) => sandbox.with_wasi(wasi.clone())?,
                None => sandbox,
            },
            structure: tenant.structure(&self.structure),
            policy: tenant.fields().clone(),
            rust: Arc::clone(&self.rust),
            require_confinement: self.require_confinement || tenant.require_confinement(),
            identity: OnceLock::new(),
        })
    }

    /// The same gates, where [so many](crate::sandbox::Options::check_one_in) results of a known form come to one that is read in
    /// full.
    #[must_use]
    pub fn checking_one_in(self, check_one_in: NonZeroU32) -> Self {
        Self { sandbox: self.sandbox.checking_one_in(check_one_in), ..self }
    }

    /// What may be read.
    #[must_use]
    pub fn policy(&self) -> &FieldPolicy {
        &self.policy
    }

    /// The sandbox.
    #[must_use]
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// The limits for how modules are built.
    #[must_use]
    pub fn structure(&self) -> &StructuralLimits {
        &self.structure
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// [`PipelineError::Plan`], with every problem of it.
    pub fn plan(&self, text: &str) -> Result<Plan, PipelineError> {
        plan::parse(text).map_err(|_| PipelineError::Plan(plan::problems(text)))
    }

    /// Checks a plan against what may be read. Samples and event schema tell which of its paths lead to objects that hold what is
    /// denied.
    ///
    /// # Errors
    /// [`PipelineError::Policy`].
    pub fn permit(&self, plan: &Plan, evidence: &Evidence) -> Result<(), PipelineError> {
        Ok(self.policy.check_plan_knowing(plan, evidence)?)
    }

    /// Checks the declared inputs of a module that wasn't rendered from a plan against what may be read.
    ///
    /// # Errors
    /// [`PipelineError::Policy`].
    pub fn permit_inputs(&self, inspected: &Inspected) -> Result<(), PipelineError> {
        Ok(self.policy.check_section(inspected.section())?)
    }

    /// Checks the module of a bundle against what may be read, by the plan that it was rendered from if it was. Samples and event
    /// schema tell more than was known when it was loaded.
    ///
    /// # Errors
    /// [`PipelineError::Policy`].
    pub fn permit_admitted(
        &self,
        admitted: &Admitted,
        evidence: &Evidence,
    ) -> Result<(), PipelineError> {
        match admitted.rendered_plan() {
            Some(plan) => self.permit(plan, evidence),
            None => self.permit_inputs(admitted.inspected()),
        }
    }

    /// Checks a plan against what is known of events and graph.
    ///
    /// # Errors
    /// [`PipelineError::Fit`].
    pub fn fit(&self, plan: &Plan, task: &Task) -> Result<Fitted, PipelineError> {
        Ok(fit(plan, task)?)
    }

    /// Checks what an extractor in Rust declares against what is known of events. Of other code nothing is asked: who made it
    /// can't be told in their own words, so that what there is to say is a [warning](crate::bundle::Coverage::knowing_code).
    ///
    /// # Errors
    /// [`PipelineError::Fit`], with the lines of the source that declare what no event has.
    pub fn fit_code(
        &self,
        built: &Built,
        inspected: &Inspected,
        evidence: &Evidence,
    ) -> Result<(), PipelineError> {
        fit_code(built, inspected, evidence, &Cancel::default())
    }

    /// Renders and compiles a plan.
    ///
    /// # Errors
    /// [`PipelineError::Render`] or [`PipelineError::Compile`].
    pub fn build(&self, plan: &Plan) -> Result<Compiled, PipelineError> {
        Ok(compile(render(plan)?)?)
    }

    /// Inspects a module that this pipeline built; it is reset-safe by construction.
    ///
    /// # Errors
    /// [`PipelineError::Inspect`].
    pub fn inspect(&self, compiled: &Compiled) -> Result<Inspected, PipelineError> {
        let inspected = inspect(compiled.module(), &self.structure)?;
        Ok(prove::by_rendering(inspected, compiled))
    }

    /// Inspects bytes that nothing vouches for. They are reset-safe if the [verifier](prove::by_verification) finds a proof.
    ///
    /// # Errors
    /// [`PipelineError::Inspect`].
    pub fn inspect_bytes(&self, module: &[u8]) -> Result<Inspected, PipelineError> {
        let inspected = inspect_granting(module, &self.structure, self.sandbox.wasi().grant)?;
        Ok(prove::by_verification(inspected))
    }

    /// Inspects code that isn't a plan, as [`inspect_bytes`](Self::inspect_bytes) does what it is built to.
    ///
    /// # Errors
    /// [`PipelineError::Source`], [`PipelineError::Compile`], [`PipelineError::Rustc`] or [`PipelineError::Inspect`].
    pub fn inspect_code(&self, code: Code<'_>) -> Result<Inspected, PipelineError> {
        self.inspect_bytes(self.build_code(Buildable::of(code)?)?.module())
    }

    /// Builds code that isn't a plan.
    ///
    /// # Errors
    /// [`PipelineError::Compile`] or [`PipelineError::Rustc`].
    pub fn build_code(&self, code: Buildable<'_>) -> Result<Built, PipelineError> {
        self.built(code, &Cancel::default())
    }

    fn built(&self, code: Buildable<'_>, cancel: &Cancel) -> Result<Built, PipelineError> {
        code.built(&self.rust, self.require_confinement, cancel)
    }

    /// How the compiler was confined when source in Rust was last given to it; `None` where none was.
    #[must_use]
    pub fn confinement(&self) -> Option<Confinement> {
        self.rust.confinement()
    }

    /// The same extractor, which says where in its source it fails in a sample run, where that is known of what was built, and
    /// otherwise in which functions, where these have names.
    #[must_use]
    pub fn with_debug_information(&self, extractor: Extractor, built: &Built) -> Extractor {
        // What is rendered from a plan is about the plan, and not about functions.
        let own = built.made().plan().is_none().then(|| built.module());
        let module = built.unstripped().or(own);
        let module = module.and_then(|module| self.inspect_bytes(module).ok());
        extractor.with_debug_information(module)
    }

    /// Loads an inspected module into the sandbox. It runs with what the policy withholds.
    ///
    /// # Errors
    /// [`PipelineError::Load`].
    pub fn load(&self, inspected: &Inspected) -> Result<Extractor, PipelineError> {
        Ok(self.load_withholding(inspected)?)
    }

    fn load_withholding(&self, inspected: &Inspected) -> Result<Extractor, ModuleLoadError> {
        let withheld = self.policy.withheld(inspected.section());
        Ok(self.sandbox.load(inspected)?.withholding(withheld))
    }

    /// Runs an extractor over samples. `plan` is the oracle, where there is one.
    ///
    /// # Errors
    /// [`PipelineError::NoSample`], [`PipelineError::Smoke`], or [`PipelineError::Host`] where nothing could be found out.
    pub fn smoke(
        &self,
        extractor: &Extractor,
        plan: Option<&Plan>,
        samples: &Samples,
        graph: Option<&GraphSpec>,
        options: SmokeOptions,
    ) -> Result<Smoked, PipelineError> {
        covered(extractor, plan, samples)?;
        Ok(smoke(extractor, plan, samples, graph, options)?)
    }

    /// Compares what samples give with what is expected of them. `plan` says where a value is from, where there is one.
    ///
    /// # Errors
    /// [`PipelineError::Unconfirmed`], or [`PipelineError::Host`] where nothing could be found out.
    pub fn confirm(
        &self,
        smoked: Smoked,
        plan: Option<&Plan>,
        samples: &Samples,
        graph: Option<&GraphSpec>,
        expected: Option<&Expected>,
    ) -> Result<Confirmed, PipelineError> {
        Ok(confirm(smoked, plan, samples, graph, expected, &Cancel::default())?)
    }

    /// Takes a plan's text through every gate. A task is request enough:
    /// ```
    /// # use retort::{GraphSpec, Pipeline, Samples, Task};
    /// # fn judge(plan: &str, task: &Task) -> Result<(), Box<dyn std::error::Error>> {
    /// use retort::bundle::Request;
    ///
    /// let pipeline = Pipeline::builder().build()?;
    /// let accepted = pipeline.accept(plan, task)?;
    /// let mut stages = Vec::new();
    /// let same = pipeline.accept(plan, Request::new(task).watch(&mut |time| stages.push(time.stage)))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`PipelineError`], by the first stage that rejects it; [`PipelineError::Cancelled`], where it wasn't judged to the end.
    pub fn accept<'a>(
        &self,
        plan: &str,
        request: impl Into<Request<'a>>,
    ) -> Result<Accepted, PipelineError> {
        let mut request = request.into();
        let plan = request.stage(Stage::Plan, || self.plan(plan))?;
        self.accept_plan(&plan, request)
    }

    /// Takes a plan that was read already through all the other gates.
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub fn accept_plan<'a>(
        &self,
        plan: &Plan,
        request: impl Into<Request<'a>>,
    ) -> Result<Accepted, PipelineError> {
        let mut request = request.into();
        let (task, cancel) = (request.task, request.cancel.clone());
        request.stage(Stage::Policy, || self.permit(plan, task.evidence()))?;
        let efforts = StepBudgets::new(&cancel);
        let fitted = request.stage(Stage::Fit, || Ok(fit_within(plan, task, &efforts)?))?;
        let plan = fitted.plan();
        let source = request.stage(Stage::Render, || Ok(render(plan)?))?;
        let compiled = request.stage(Stage::Compile, || Ok(compile(source)?))?;
        let inspected = request.stage(Stage::Inspect, || self.inspect(&compiled))?;
        self.accept_inspected(Built::of_plan(compiled), inspected, request)
    }

    /// Takes code that isn't a plan through all gates that there are for it. Of an extractor in Rust whose call fails in the sample run,
    /// the problem says where in the source.
    ///
    /// # Errors
    /// As [`accept`](Self::accept); and [`PipelineError::Source`] and [`PipelineError::Rustc`], of source in Rust.
    pub fn accept_code<'a>(
        &self,
        code: Code<'_>,
        request: impl Into<Request<'a>>,
    ) -> Result<Accepted, PipelineError> {
        let mut request = request.into();
        // What there is nothing to do for is no stage.
        let buildable = match code {
            Code::Rust(_) => request.stage(Stage::Source, || Buildable::of(code))?,
            Code::Text(_) | Code::Module(_) => Buildable::of(code)?,
        };
        let cancel = request.cancel.clone();
        let build = || {
            let built = self.built(buildable, &cancel);
            request::unless_cancelled(&cancel, Stage::Compile)?;
            built
        };
        let built = match code {
            Code::Rust(_) | Code::Text(_) => request.stage(Stage::Compile, build)?,
            Code::Module(_) => build()?,
        };
        let inspected = request.stage(Stage::Inspect, || self.inspect_bytes(built.module()))?;
        request.stage(Stage::Policy, || self.permit_inputs(&inspected))?;
        if built.source().is_some() {
            let (task, cancel) = (request.task, request.cancel.clone());
            let fit = || fit_code(&built, &inspected, task.evidence(), &cancel);
            request.stage(Stage::Fit, fit)?;
        }
        self.accept_inspected(built, inspected, request)
    }

    /// Takes an extractor in Rust through all gates that there are for it.
    ///
    /// # Errors
    /// As [`accept_code`](Self::accept_code).
    pub fn accept_rust<'a>(
        &self,
        source: &str,
        request: impl Into<Request<'a>>,
    ) -> Result<Accepted, PipelineError> {
        self.accept_code(Code::Rust(source), request)
    }

    /// The gates that run an extractor, which are the same whatever it was made from.
    fn accept_inspected(
        &self,
        built: Built,
        inspected: Inspected,
        mut request: Request<'_>,
    ) -> Result<Accepted, PipelineError> {
        let (task, options, cancel) = (request.task, request.smoke, request.cancel.clone());
        let (plan, samples) = (built.made().plan(), task.samples());
        let graph = Some(task.graph());
        let extractor = request.stage(Stage::Load, || self.load(&inspected))?;
        let extractor = self.with_debug_information(extractor, &built);
        let smoked = request.stage(Stage::Smoke, || {
            covered(&extractor, plan, samples)?;
            let smoked = smoke_until(&extractor, plan, samples, graph, options, &cancel);
            request::unless_cancelled(&cancel, Stage::Smoke)?;
            Ok(smoked?)
        })?;
        let confirm = |expected: Option<&Expected>| {
            let confirmed = confirm(smoked, plan, samples, graph, expected, &cancel);
            request::unless_cancelled(&cancel, Stage::Expected)?;
            Ok(confirmed?)
        };
        // It is a stage of those alone of whom something is expected.
        let confirmed = match task.expected() {
            Some(expected) => request.stage(Stage::Expected, || confirm(Some(expected)))?,
            None => confirm(None)?,
        };
        Ok(Accepted {
            made: built.into_made(),
            inspected,
            confirmed,
            graph: json(task.graph()),
            limits: json(&PassedUnder::new(self.sandbox.limits(), options)),
            rule: task.rule().map(|rule| rule.text().to_owned()),
            event_schema: task.event_schema().map(|schema| schema.text().to_owned()),
        })
    }
}

/// The gates around a sandbox that was built already, with the defaults for all else.
impl From<Sandbox> for Pipeline {
    fn from(sandbox: Sandbox) -> Self {
        let (structure, policy) = (StructuralLimits::default(), FieldPolicy::default());
        let rust = Arc::new(RustCompiler::new(None, sandbox.foreign()));
        Self {
            sandbox,
            structure,
            policy,
            rust,
            require_confinement: false,
            identity: OnceLock::new(),
        }
    }
}

impl Versions<'static> {
    /// Those of this build of Retort, which its pipeline writes into manifests.
    pub const CURRENT: Self = Self {
        abi: ABI_VERSION,
        compiler_package: concat!("retort ", env!("CARGO_PKG_VERSION")),
        template: TEMPLATE_VERSION,
        transcript_builder: TRANSCRIPT_VERSION,
        rust: None,
    };
}

/// [`Pipeline::fit_code`], as long as nobody cancels it.
fn fit_code(
    built: &Built,
    inspected: &Inspected,
    evidence: &Evidence,
    cancel: &Cancel,
) -> Result<(), PipelineError> {
    let section = inspected.section();
    let declaration = built.source().and_then(|source| SourceDeclaration::of(source, section));
    match declaration {
        Some(declaration) => Ok(fit_declared(section, declaration, evidence, cancel)?),
        None => Ok(()),
    }
}

/// Whether there is a sample of each event type that an extractor declares, but for those that its plan says are unseen.
fn covered(
    extractor: &Extractor,
    plan: Option<&Plan>,
    samples: &Samples,
) -> Result<(), PipelineError> {
    let is_unseen = |event_type: &&String| {
        plan.is_some_and(|plan| plan.is_unseen_type(&EventPattern::new(event_type)))
    };
    let declared = extractor.section().event_types().iter();
    match samples.uncovered(declared.filter(|it| !is_unseen(it))) {
        Some(event_type) => Err(PipelineError::NoSample { event_type: event_type.to_owned() }),
        None => Ok(()),
    }
}

/// Under what a bundle has passed the gates.
#[derive(serde::Serialize)]
struct PassedUnder<'a> {
    #[serde(flatten)]
    limits: &'a Limits,
    /// Serving holds results to the same. Left out where it is so, as it is in bundles of earlier versions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    allow_external_endpoints: bool,
}

impl<'a> PassedUnder<'a> {
    fn new(limits: &'a Limits, options: SmokeOptions) -> Self {
        Self { limits, allow_external_endpoints: options.allow_external_endpoints }
    }
}

/// Data of ours as JSON for people and fingerprints.
fn json<T: serde::Serialize>(value: &T) -> String {
    let mut text = serde_json::to_string_pretty(value)
        .expect("plans, specs and limits are strings and numbers under string keys");
    text.push('\n');
    text
}
