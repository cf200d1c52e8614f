//! The gate that a bundle's module passes when it is loaded again.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use sha2::{Digest as _, Sha256};

use super::{Pipeline, json};
use crate::bundle::{
    BundleLoadError, Digest, Expect, Loaded, Manifest, ModuleGate, ModuleRefusal, Unaltered, load,
};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::escaped;
use crate::gate::inspect::{Inspected, Proof, Rejected, ResetSafety, inspect_granting, prove};
use crate::plan::{self, Plan};
use crate::sandbox::standing::Verdict;
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
    extractor: Extractor,
    judged: Judged,
}

/// What the gates said of a module.
#[derive(Clone, Debug)]
enum Judged {
    Now(Box<Judgement>),
    /// When it was loaded an earlier time, by the same build with the same configuration. What they said is worked out again
    /// if it is asked for.
    Before(Arc<Recalled>),
}

/// What the gates found of a module and its plan.
#[derive(Clone, Debug)]
struct Judgement {
    inspected: Inspected,
    plan: Option<Plan>,
}

/// What a judgement is made of.
#[derive(Debug)]
struct Recalled {
    gates: Pipeline,
    module: Arc<[u8]>,
    plan: Option<Vec<u8>>,
    judgement: OnceLock<Judgement>,
}

impl Admitted {
    /// What the static gate found.
    #[must_use]
    pub fn inspected(&self) -> &Inspected {
        &self.judgement().inspected
    }

    /// The extractor, loaded.
    #[must_use]
    pub fn extractor(&self) -> &Extractor {
        &self.extractor
    }

    /// The bundle's plan, if this version reads it.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.judgement().plan.as_ref()
    }

    /// The bundle's plan, if this version renders it to the very module. Then the module reads what the plan does.
    pub(super) fn rendered_plan(&self) -> Option<&Plan> {
        self.judgement().rendered_plan()
    }

    fn judgement(&self) -> &Judgement {
        match &self.judged {
            Judged::Now(judgement) => judgement,
            Judged::Before(recalled) => recalled.judgement(),
        }
    }
}

impl Recalled {
    fn judgement(&self) -> &Judgement {
        self.judgement.get_or_init(|| {
            self.gates.judge(&self.module, self.plan.as_deref()).expect(
                "these gates have let these bytes pass, and go by nothing else than the bytes",
            )
        })
    }
}

impl Judgement {
    fn rendered_plan(&self) -> Option<&Plan> {
        let proof = self.inspected.reset_safety();
        let is_rendered = matches!(proof, ResetSafety::Proven { how: Proof::Rendered });
        self.plan.as_ref().filter(|_| is_rendered)
    }
}

impl Pipeline {
    /// What the static gate finds of a module, and what can be proven of it.
    fn judge(&self, module: &[u8], plan: Option<&[u8]>) -> Result<Judgement, Rejected> {
        let grant = self.sandbox.wasi().grant;
        let mut inspected = inspect_granting(module, &self.structure, grant)?;
        let text = plan.and_then(|plan| std::str::from_utf8(plan).ok());
        let plan = text.and_then(|text| plan::parse(text).ok());
        if let Some(compiled) = plan.as_ref().and_then(|plan| self.build(plan).ok()) {
            inspected = prove::by_rendering(inspected, &compiled);
        }
        // What another version of the renderer made may be proven all the same.
        inspected = prove::by_verification(inspected);
        Ok(Judgement { inspected, plan })
    }

    /// All that the gates' verdict on a bundle depends on, besides the bundle itself: of what source they are built, and how they are
    /// configured.
    fn identity(&self) -> &[u8; 32] {
        self.identity.get_or_init(|| {
            // How source is compiled is of no account to what was compiled.
            let Self { sandbox, structure, policy, rust: _, require_confinement: _, identity: _ } =
                self;
            let configured = json(&(structure, policy, sandbox.wasi().grant));
            Sha256::new_with_prefix(env!("RETORT_BUILD"))
                .chain_update([0])
                .chain_update(configured)
                .finalize()
                .into()
        })
    }

    /// What a verdict on the bundle is about whose manifest's text has this digest: the manifest has the digests of all its files.
    fn subject(&self, text: Digest) -> [u8; 32] {
        // Both are digests of one length, so that they can't run together.
        Sha256::new().chain_update(self.identity()).chain_update(text.as_bytes()).finalize().into()
    }
}

/// The gate that a bundle's module passes when it is loaded: inspected again, checked against the manifest, and kept warm only if
/// this host renders the bundle's plan to the very same bytes, or the verifier finds a proof in the binary.
///
/// Where the sandbox has a cache, it is noted there that a bundle has passed. The next time it is held to its fingerprint, and
/// what the gates make of the same bytes isn't worked out again.
impl ModuleGate for Pipeline {
    type Module = Admitted;

    fn admit(
        &self,
        module: &[u8],
        plan: Option<&[u8]>,
        manifest: &Manifest,
    ) -> Result<Admitted, ModuleRefusal> {
        let judgement =
            self.judge(module, plan).map_err(|rejected| refusal(&rejected, manifest))?;
        let section = judgement.inspected.section();
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
        let permitted = match judgement.rendered_plan() {
            Some(plan) => self.policy.check_plan(plan),
            None => self.policy.check_section(section),
        };
        permitted.map_err(|denied| {
            ModuleRefusal::Rejected(format!("it reads what the policy denies: {denied}"))
        })?;
        let extractor = self
            .load_withholding(&judgement.inspected)
            .map_err(|error| ModuleRefusal::LoadFailed(error.to_string()))?;
        Ok(Admitted { extractor, judged: Judged::Now(Box::new(judgement)) })
    }

    fn readmit(
        &self,
        text: Digest,
        manifest: &Manifest,
        files: &mut dyn FnMut() -> Option<Unaltered>,
    ) -> Option<Admitted> {
        if !self.sandbox.keeps_verdicts() {
            return None;
        }
        let verdict = self.sandbox.verdict(&self.subject(text))?;
        let Unaltered { module, plan } = files()?;
        let module: Arc<[u8]> = module.into();
        let judgement = OnceLock::new();
        let recalled = Recalled { gates: self.clone(), module: module.clone(), plan, judgement };
        let recalled = Arc::new(recalled);
        let rendered = Arc::clone(&recalled);
        let extractor = self.sandbox.reload(
            &module,
            verdict,
            manifest.function_name(),
            Box::new(move || rendered.judgement().inspected.result_form().cloned()),
        )?;
        let is_unrestricted = self.policy.denied().is_empty() && self.policy.explicit().is_empty();
        // The declaration needn't be read where nothing could be withheld.
        let withheld =
            if is_unrestricted { None } else { self.policy.withheld(extractor.section()) };
        let extractor = extractor.withholding(withheld);
        Some(Admitted { extractor, judged: Judged::Before(recalled) })
    }

    fn note(&self, text: Digest, admitted: &Admitted) {
        if self.sandbox.keeps_verdicts()
            && let Judged::Now(judgement) = &admitted.judged
        {
            let verdict = Verdict::of(&judgement.inspected);
            self.sandbox.note_verdict(&self.subject(text), verdict);
        }
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
