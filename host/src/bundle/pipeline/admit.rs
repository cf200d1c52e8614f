//! The gate that a bundle's module passes when it is loaded again.

use std::path::Path;

use super::Pipeline;
use crate::bundle::{BundleLoadError, Expect, Loaded, Manifest, ModuleGate, ModuleRefusal, load};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::escaped;
use crate::gate::inspect::{Inspected, Proof, Rejected, ResetSafety, inspect_granting, prove};
use crate::plan::{self, Plan};
use crate::sandbox::{Extractor, Runner};

/// A bundle that was loaded through the gates of a [`Pipeline`], ready to run.
pub type Bundle = Loaded<Admitted>;

impl Bundle {
    /// Loads the bundle in `path`, whatever its fingerprint and its event types are. [`load`] takes expectations as well.
    ///
    /// # Errors
    /// As [`load`].
    pub fn open(path: impl AsRef<Path>, pipeline: &Pipeline) -> Result<Self, BundleLoadError> {
        load(path.as_ref(), &Expect::default(), pipeline)
    }

    /// Something that runs its extractor over events, on one thread.
    #[must_use]
    pub fn runner(&self) -> Runner {
        self.module().extractor().runner()
    }
}

/// A bundle's module, admitted.
#[derive(Clone, Debug)]
pub struct Admitted {
    inspected: Inspected,
    extractor: Extractor,
    plan: Option<Plan>,
}

impl Admitted {
    /// What the static gate found.
    #[must_use]
    pub fn inspected(&self) -> &Inspected {
        &self.inspected
    }

    /// The extractor, loaded.
    #[must_use]
    pub fn extractor(&self) -> &Extractor {
        &self.extractor
    }

    /// The bundle's plan, if this version reads it.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// The bundle's plan, if this version renders it to the very module. Then the module reads what the plan does.
    pub(super) fn rendered_plan(&self) -> Option<&Plan> {
        rendered_plan(self.plan.as_ref(), &self.inspected)
    }
}

fn rendered_plan<'p>(plan: Option<&'p Plan>, inspected: &Inspected) -> Option<&'p Plan> {
    let proof = inspected.reset_safety();
    plan.filter(|_| matches!(proof, ResetSafety::Proven { how: Proof::Rendered }))
}

/// The gate that a bundle's module passes when it is loaded: inspected again, checked against the manifest, and kept warm only if
/// this host renders the bundle's plan to the very same bytes, or the verifier finds a proof in the binary.
impl ModuleGate for Pipeline {
    type Module = Admitted;

    fn admit(
        &self,
        module: &[u8],
        plan: &[u8],
        manifest: &Manifest,
    ) -> Result<Admitted, ModuleRefusal> {
        let grant = self.sandbox.wasi().grant;
        let mut inspected = inspect_granting(module, &self.structure, grant)
            .map_err(|rejected| refusal(&rejected, manifest))?;
        let section = inspected.section();
        if section.abi() != manifest.versions().abi {
            return Err(ModuleRefusal::Rejected(format!(
                "the manifest says version {} of the ABI, the module declares {}",
                manifest.versions().abi,
                section.abi(),
            )));
        }
        if section.function() != manifest.function_name() {
            return Err(ModuleRefusal::FunctionNotFound(format!(
                "expected function `{}`, the module declares `{}`",
                escaped(manifest.function_name()),
                escaped(section.function()),
            )));
        }
        if section.event_types() != manifest.event_types() {
            return Err(ModuleRefusal::Rejected(
                "the module declares other event types than the manifest".to_owned(),
            ));
        }
        let plan = std::str::from_utf8(plan).ok().and_then(|text| plan::parse(text).ok());
        if let Some(compiled) = plan.as_ref().and_then(|plan| self.build(plan).ok()) {
            inspected = prove::by_rendering(inspected, &compiled);
        }
        // What another version of the renderer made may be proven all the same.
        inspected = prove::by_verification(inspected);
        let permitted = match rendered_plan(plan.as_ref(), &inspected) {
            Some(plan) => self.policy.check_plan(plan),
            None => self.policy.check_section(inspected.section()),
        };
        permitted.map_err(|denied| {
            ModuleRefusal::Rejected(format!("it reads what the policy denies: {denied}"))
        })?;
        let extractor = self
            .load_withholding(&inspected)
            .map_err(|error| ModuleRefusal::LoadFailed(error.to_string()))?;
        Ok(Admitted { inspected, extractor, plan })
    }
}

/// A rejection by the static gate; one that is all about the manifest's function has codes of its own.
fn refusal(rejected: &Rejected, manifest: &Manifest) -> ModuleRefusal {
    let text = rejected.to_string();
    let place = format!("export \"{}\"", manifest.function_name());
    let about_function = |code: &str| {
        rejected.problems().iter().all(|problem| problem.code() == code && problem.path() == place)
    };
    if about_function("export_missing") {
        ModuleRefusal::FunctionNotFound(text)
    } else if about_function("export_type") || about_function("export_kind") {
        ModuleRefusal::SignatureMismatch(text)
    } else {
        ModuleRefusal::Rejected(text)
    }
}
