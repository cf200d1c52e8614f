//! What passed every gate, on its way to disk.

use std::path::PathBuf;

use super::code::Made;
use super::{MODULE_NAME, json};
use crate::bundle::confirm::Confirmed;
use crate::bundle::coverage::Coverage;
use crate::bundle::load::load_unsaid;
use crate::bundle::smoke::Smoked;
use crate::bundle::store::Added;
use crate::bundle::{
    BundleError, Contents, Digest, Expect, Manifest, ModuleGate, ModuleRefusal, Others, Store,
    Storing,
};
use crate::evidence::Task;
use crate::gate::inspect::Inspected;
use crate::gate::source::VettedSource;
use crate::plan::Plan;
use crate::sandbox::Runner;

/// What passed every gate. Made by [`accept`](super::Pipeline::accept) and [`accept_code`](super::Pipeline::accept_code) of the pipeline alone.
#[derive(Clone, Debug)]
pub struct Accepted {
    pub(super) made: Made,
    pub(super) inspected: Inspected,
    pub(super) confirmed: Confirmed,
    pub(super) graph: String,
    pub(super) limits: String,
    pub(super) rule: Option<String>,
    pub(super) event_schema: Option<String>,
}

impl Accepted {
    /// The plan, where there is one.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.made.plan()
    }

    /// The source in Rust, where it was compiled from that.
    #[must_use]
    pub fn rust(&self) -> Option<&str> {
        self.made.source().map(VettedSource::text)
    }

    /// The module with what the static gate found.
    #[must_use]
    pub fn inspected(&self) -> &Inspected {
        &self.inspected
    }

    /// The extractor with the report of the sample run.
    #[must_use]
    pub fn smoked(&self) -> &Smoked {
        self.confirmed.smoked()
    }

    /// The samples that something was expected of, which they give.
    #[must_use]
    pub fn confirmed(&self) -> &Confirmed {
        &self.confirmed
    }

    /// What it makes of the samples of the task that it was accepted for, with what looks wrong about it.
    #[must_use]
    pub fn coverage(&self, task: &Task) -> Coverage {
        let (plan, samples, graph) = (self.plan(), task.samples(), Some(task.graph()));
        let coverage = Coverage::new(self.smoked(), plan, samples, graph, task.rule());
        match plan {
            Some(plan) => coverage.knowing(plan, task.evidence()),
            None => {
                let extractor = self.smoked().extractor();
                coverage.knowing_code(extractor, self.made.source(), task.evidence())
            }
        }
    }

    /// Something that runs the extractor over events, on one thread.
    #[must_use]
    pub fn runner(&self) -> Runner {
        self.smoked().extractor().runner()
    }

    /// Puts it on disk. The same inputs make the same bundle: where it is whole already, it isn't written again. It is another
    /// version of its extractor, and is served from then on in the place of the one before, which stays; unless it is told not to
    /// be, or an event type of it is served by another extractor. What is served changes in one step for those who read the
    /// directory.
    ///
    /// # Errors
    /// [`BundleError`]; what was on disk before is still there.
    pub fn store(&self, store: &Store, storing: impl Into<Storing>) -> Result<Stored, BundleError> {
        let storing = storing.into();
        let plan = self.plan().map(json);
        let module = self.inspected.wasm();
        let section = self.inspected.section();
        let contents = Contents {
            module_name: MODULE_NAME,
            name: storing.name.as_ref(),
            function_name: section.function(),
            event_types: section.event_types(),
            plan: plan.as_deref().map(str::as_bytes),
            source: self.made.text().map(str::as_bytes),
            rust: self.rust().map(str::as_bytes),
            module,
            graph: self.graph.as_bytes(),
            limits: self.limits.as_bytes(),
            event_schema: self.event_schema.as_deref().map(str::as_bytes),
            rule: self.rule.as_deref().map(str::as_bytes),
            versions: self.made.versions(),
        };
        let fingerprint = contents.fingerprint();
        let path = store.path_of(fingerprint);
        let text = fingerprint.to_string();
        let event_types: Vec<&str> = section.event_types().iter().map(String::as_str).collect();
        let expect =
            Expect { fingerprint: Some(&text), event_types: Some(&event_types), any_of: None };
        // Its module has just passed the gates, so that its bytes are the same is all there is to know.
        let same_bytes = SameBytes(module);
        let whole = || {
            let found = load_unsaid(&path, &expect, &same_bytes).ok()?;
            Some(found.manifest().clone())
        };
        let Added { manifest, was_there, is_active, others } =
            store.add(&contents, &storing, whole)?;
        Ok(Stored { path, fingerprint, manifest, cache_hit: was_there, is_active, others })
    }
}

/// A bundle on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its directory.
    pub path: PathBuf,
    /// Its fingerprint.
    pub fingerprint: Digest,
    /// What it says of itself.
    pub manifest: Manifest,
    /// Whether it was there already, whole and unaltered, so that nothing was written.
    pub cache_hit: bool,
    /// Whether it is served.
    pub is_active: bool,
    /// What it means for other bundles of the directory.
    pub others: Others,
}

/// Admits one module and no other.
struct SameBytes<'a>(&'a [u8]);

impl ModuleGate for SameBytes<'_> {
    type Module = ();

    fn admit(
        &self,
        module: &[u8],
        _plan: Option<&[u8]>,
        _manifest: &Manifest,
    ) -> Result<(), ModuleRefusal> {
        if module == self.0 {
            Ok(())
        } else {
            Err(ModuleRefusal::Rejected("another module".to_owned()))
        }
    }
}
