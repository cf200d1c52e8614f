//! A module made ready: native code, its declaration, and how it may be run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tracing::{debug, error};
use wasmtime::{InstancePre, Linker, Module};

use super::declared::Declared;
use super::exports::ExportIndexes;
use super::known_form::{FormSource, KnownForm};
use super::native;
use super::restore::Image;
use super::standing::{Standing, Verdict};
use super::store::StoreState;
use super::trace::{Trace, Tracer};
use super::trap::EventBudget;
use super::wasi;
use super::{Isolation, ModuleLoadError, Sandbox};
use crate::abi::block::{BlockLimits, Deadline};
use crate::abi::event::Withhold;
use crate::abi::result::ResultForm;
use crate::abi::section::Section;
use crate::gate::inspect::Inspected;
use crate::render::capacities;

/// Bytes of an event that give fuel for what the host evaluates: a conversion isn't broken off for the deadline, so this is
/// what keeps a single one from taking longer than a second or two.
const PRICED_EVENT_BYTES: usize = 1 << 20;

/// An inspected module compiled in a sandbox. Cheap to clone and to send to other threads.
#[derive(Clone)]
pub struct Extractor {
    inner: Arc<ExtractorInner>,
    withheld: Option<Arc<dyn Withhold>>,
    tracer: Option<Arc<Tracer>>,
}

struct ExtractorInner {
    sandbox: Sandbox,
    declared: Declared,
    is_reset_safe: bool,
    is_restorable: bool,
    /// The form of all its results, where that is proven.
    result_form: KnownForm,
    /// Whether a result has shown that what is proven of it doesn't hold.
    is_refuted: AtomicBool,
    imports_wasi: bool,
    ready: InstancePre<StoreState>,
    exports: ExportIndexes,
    /// Where the blocks of a reset-safe module go, once an instance has said so.
    buffer: OnceLock<u32>,
    /// What a new instance is like, once that was looked at.
    image: OnceLock<Image>,
}

impl std::fmt::Debug for Extractor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Extractor").field("declared", &self.inner.declared).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Compiles an inspected module to native code.
    ///
    /// # Errors
    /// [`ModuleLoadError`], when wasmtime refuses the module or it doesn't link.
    pub fn load(&self, inspected: &Inspected) -> Result<Extractor, ModuleLoadError> {
        let module = native::compile(self, inspected)?;
        let section = inspected.section();
        let function = section.function().to_owned();
        let verdict = Verdict::of(inspected);
        let declared = Declared::read(section.clone());
        let result_form = KnownForm::known(inspected.result_form().cloned());
        Extractor::load(self.clone(), &module, verdict, declared, result_form, &function)
    }

    /// Loads what was admitted earlier, as [`note_verdict`](Self::note_verdict) has noted: a module that passed all gates of this
    /// build, of which they found this, and which exports `function`; what the form of its results is, `result_form` says when it is asked for.
    /// `None` where there is no native code of it that can be used at once.
    pub(crate) fn reload(
        &self,
        wasm: &Arc<[u8]>,
        verdict: Verdict,
        function: &str,
        result_form: FormSource,
    ) -> Option<Extractor> {
        let module = native::kept(self, wasm, verdict.standing)?;
        let declared = Declared::in_module(Arc::clone(wasm));
        let result_form = match verdict.standing {
            Standing::Rendered => KnownForm::later(result_form),
            Standing::Verified | Standing::Unproven => KnownForm::known(None),
        };
        let extractor =
            Extractor::load(self.clone(), &module, verdict, declared, result_form, function);
        let extractor = extractor.ok()?;
        self.cache()?.count_readmitted();
        Some(extractor)
    }

    /// Whether verdicts are kept.
    pub(crate) fn keeps_verdicts(&self) -> bool {
        self.cache().is_some()
    }

    /// What was noted of `subject`, a digest of all that the verdict depends on.
    pub(crate) fn verdict(&self, subject: &[u8; 32]) -> Option<Verdict> {
        self.cache()?.verdict(subject).and_then(Verdict::of_byte)
    }

    /// Notes that all gates have let `subject` pass, and what they found of its module.
    pub(crate) fn note_verdict(&self, subject: &[u8; 32], verdict: Verdict) {
        if let Some(cache) = self.cache() {
            cache.put_verdict(subject, verdict.byte());
        }
    }
}

impl Extractor {
    fn load(
        sandbox: Sandbox,
        module: &Module,
        Verdict { standing, is_restorable }: Verdict,
        declared: Declared,
        result_form: KnownForm,
        function: &str,
    ) -> Result<Self, ModuleLoadError> {
        let imports_wasi = module.imports().next().is_some();
        let linker = if imports_wasi {
            wasi::linker(sandbox.engine(), sandbox.wasi().grant).map_err(ModuleLoadError::link)?
        } else {
            Linker::new(sandbox.engine())
        };
        let ready = linker.instantiate_pre(module).map_err(ModuleLoadError::link)?;
        // The state of a clock or of open files is no part of any proof.
        let is_reset_safe = standing != Standing::Unproven && !imports_wasi;
        let result_form = if is_reset_safe { result_form } else { KnownForm::known(None) };
        let exports = ExportIndexes::of(module, function)?;
        debug!(function, is_reset_safe, imports_wasi, "module loaded");
        let (buffer, image) = (OnceLock::new(), OnceLock::new());
        let inner = ExtractorInner {
            sandbox,
            declared,
            is_reset_safe,
            is_restorable: is_restorable && !imports_wasi,
            result_form,
            is_refuted: AtomicBool::new(false),
            imports_wasi,
            ready,
            exports,
            buffer,
            image,
        };
        Ok(Self { inner: Arc::new(inner), withheld: None, tracer: None })
    }

    /// The same extractor for a host that withholds some of the values that it declares: see
    /// [`FieldPolicy::withheld`](crate::gate::policy::FieldPolicy::withheld), made for this extractor's section.
    #[must_use]
    pub fn withholding(self, withheld: Option<Arc<dyn Withhold>>) -> Self {
        Self { withheld, ..self }
    }

    /// The same extractor, which can say where in its source it fails: by the same module as it was before its debug information was
    /// taken from it.
    pub(crate) fn with_debug_information(self, unstripped: Option<Inspected>) -> Self {
        let tracer = unstripped.map(|module| Arc::new(Tracer::new(module)));
        Self { tracer, ..self }
    }

    /// Where it fails for an event, if it fails and that can be found out.
    pub(crate) fn trace(&self, event: &[u8]) -> Option<Trace> {
        self.tracer.as_ref()?.trace(self, event)
    }

    /// What is withheld of the values that it declares.
    pub(super) fn withheld(&self) -> Option<&Arc<dyn Withhold>> {
        self.withheld.as_ref()
    }

    /// What the module declares.
    #[must_use]
    pub fn section(&self) -> &Section {
        self.inner.declared.section()
    }

    /// The sandbox that it was loaded into.
    #[must_use]
    pub fn sandbox(&self) -> &Sandbox {
        &self.inner.sandbox
    }

    /// Whether one instance may serve event after event: its result is proven to depend on the event alone, and nothing was seen
    /// that speaks against it.
    #[must_use]
    pub fn is_reset_safe(&self) -> bool {
        self.inner.is_reset_safe && !self.is_refuted()
    }

    /// Whether the form of its results is proven, since this host rendered it, so that most of them needn't be read to be checked:
    /// their length, their counts and where their ids are follow from the block that the host wrote. One in
    /// [so many](super::Options::check_one_in) is read all the same, and what is accepted, and given, is the same for all of
    /// them. Should one ever be other than it is proven to be, its event fails with the code `proof_refuted`, and from then on
    /// every result of this extractor is read and every event gets a new instance.
    #[must_use]
    pub fn knows_results(&self) -> bool {
        self.result_form().is_some()
    }

    /// The form of all its results, where that is proven.
    pub(super) fn result_form(&self) -> Option<&Arc<ResultForm>> {
        if self.is_refuted() { None } else { self.inner.result_form.get() }
    }

    /// Whether it takes no work to say whether there is such a form.
    pub(super) fn has_form_at_hand(&self) -> bool {
        self.inner.result_form.is_at_hand()
    }

    /// Trusts no proof of this extractor from now on, in all of its runners.
    #[cold]
    pub(super) fn refute(&self) {
        error!(function = self.section().function(), "what is proven of a module doesn't hold");
        self.inner.is_refuted.store(true, Ordering::Relaxed);
    }

    fn is_refuted(&self) -> bool {
        self.inner.is_refuted.load(Ordering::Relaxed)
    }

    /// Bytes of its native code with what belongs to it.
    pub(crate) fn native_bytes(&self) -> usize {
        let image = self.inner.ready.module().image_range();
        image.end.addr().saturating_sub(image.start.addr())
    }

    /// Whether it imports functions of WASI.
    #[must_use]
    pub fn imports_wasi(&self) -> bool {
        self.inner.imports_wasi
    }

    /// Whether its runners keep an instance from event to event as it is.
    pub(super) fn keeps_instances(&self) -> bool {
        self.is_reset_safe() && self.sandbox().isolation() != Isolation::PerEvent
    }

    /// Whether an instance that has served an event can be put back as it was when it was new, here and now: a module's state has to be
    /// within the host's reach ([`Inspected::unrestorable`]), and the system has to tell which pages were written (Linux since 6.7).
    /// Of a module that was seen to do what it can't, nothing is taken for granted.
    #[must_use]
    pub fn restores_instances(&self) -> bool {
        self.inner.is_restorable && !self.is_refuted() && self.sandbox().pages().is_some()
    }

    /// What a new instance is like, if that was looked at.
    pub(super) fn image(&self) -> &OnceLock<Image> {
        &self.inner.image
    }

    /// What the block of an event of `bytes` bytes may take.
    pub(super) fn block_limits(&self, bytes: usize) -> BlockLimits {
        let limits = self.sandbox().limits();
        let fuel = limits.fuel(bytes.min(PRICED_EVENT_BYTES));
        BlockLimits { bytes: self.input_bytes(), rows: limits.max_rows, fuel }
    }

    /// Bytes that an input block may have: what the sandbox allows, and no more than a rendered extractor takes.
    pub(super) fn input_bytes(&self) -> usize {
        self.within_capacity(self.sandbox().limits().input_bytes, capacities(self.section()).input)
    }

    /// Bytes that a result may have: what the sandbox allows, and no more than a rendered extractor writes.
    pub(super) fn output_bytes(&self) -> usize {
        let capacity = capacities(self.section()).output;
        self.within_capacity(self.sandbox().limits().output_bytes, capacity)
    }

    /// What is proven to be reset-safe has these capacities.
    fn within_capacity(&self, allowed: usize, capacity: u32) -> usize {
        if self.is_reset_safe() { allowed.min(capacity as usize) } else { allowed }
    }

    /// What an event with a block of `bytes` bytes may take of fuel, stack and time.
    pub(super) fn budget<'a>(&self, bytes: usize, deadline: Deadline<'a>) -> EventBudget<'a> {
        let limits = self.sandbox().limits();
        EventBudget { fuel: limits.fuel(bytes), stack_bytes: limits.stack_bytes, deadline }
    }

    pub(super) fn exports(&self) -> &ExportIndexes {
        &self.inner.exports
    }

    pub(super) fn buffer(&self) -> &OnceLock<u32> {
        &self.inner.buffer
    }

    pub(super) fn ready(&self) -> &InstancePre<StoreState> {
        &self.inner.ready
    }
}
