//! What a pipeline is built from.

use std::sync::{Arc, OnceLock};

use super::Pipeline;
use super::rust::RustCompiler;
use crate::gate::inspect::StructuralLimits;
use crate::sandbox::tenant::TenantPolicy;
use crate::sandbox::{Limits, ModuleLoadError, Options, RustcOptions, Sandbox};

/// Builds a [`Pipeline`] with an engine of its own. What isn't set has its default.
///
/// ```
/// use retort::{Limits, Pipeline, TenantPolicy};
///
/// let mut limits = Limits::default();
/// limits.deadline_ms = 200;
/// let host = Pipeline::builder().limits(limits).build()?;
///
/// // Another tenant on the same engine, with what its policy says.
/// let policy = TenantPolicy::parse("{deny: [content.email], limits: {memory_bytes: 4194304}}", "acme.yaml")?;
/// let acme = host.for_tenant(&policy)?;
/// assert_eq!(acme.sandbox().limits().deadline_ms, 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct PipelineBuilder {
    options: Options,
    structure: StructuralLimits,
    tenant: TenantPolicy,
    rust: Option<RustcOptions>,
}

impl PipelineBuilder {
    /// What extractors may use. The same as [`Options::limits`], which it replaces.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// How the sandbox is built, limits included.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// How extractors in Rust are compiled. By default with the helper that [`Options::foreign`] names, and not at all where it names none.
    pub fn rust(mut self, options: RustcOptions) -> Self {
        self.rust = Some(options);
        self
    }

    /// How modules may be built.
    pub fn structure(mut self, structure: StructuralLimits) -> Self {
        self.structure = structure;
        self
    }

    /// For this tenant alone. What its policy says comes before the other settings; which fields plans and modules may read it
    /// alone says. By default everything but the whole event.
    pub fn tenant(mut self, tenant: &TenantPolicy) -> Self {
        self.tenant = tenant.clone();
        self
    }

    /// Builds the engine, with the gates around it.
    ///
    /// # Errors
    /// As [`Sandbox::with_options`].
    pub fn build(self) -> Result<Pipeline, ModuleLoadError> {
        let Self { options, structure, tenant, rust } = self;
        let rust = RustCompiler::new(rust, &options.foreign);
        Ok(Pipeline {
            sandbox: Sandbox::with_options(tenant.options(options))?,
            structure: tenant.structure(&structure),
            policy: tenant.fields().clone(),
            rust: Arc::new(rust),
            require_confinement: tenant.require_confinement(),
            identity: OnceLock::new(),
        })
    }
}
