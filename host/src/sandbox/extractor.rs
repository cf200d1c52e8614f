//! A module made ready: native code, its declaration, and how it may be run.

use std::sync::{Arc, OnceLock};

use tracing::debug;
use wasmtime::{InstancePre, Linker, Module};

use super::declared::Declared;
use super::exports::ExportIndexes;
use super::native;
use super::standing::Standing;
use super::store::StoreState;
use super::trap::EventBudget;
use super::wasi;
use super::{Isolation, ModuleLoadError, Sandbox};
use crate::abi::block::{BlockLimits, Deadline};
use crate::abi::event::Withhold;
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
}

struct ExtractorInner {
    sandbox: Sandbox,
    declared: Declared,
    is_reset_safe: bool,
    imports_wasi: bool,
    ready: InstancePre<StoreState>,
    exports: ExportIndexes,
    /// Where the blocks of a reset-safe module go, once an instance has said so.
    buffer: OnceLock<u32>,
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
        let standing = Standing::of(inspected.reset_safety());
        let declared = Declared::read(section.clone());
        Extractor::load(self.clone(), &module, standing, declared, &function)
    }

    /// Loads what was admitted earlier, as [`note_verdict`](Self::note_verdict) has noted: a module that passed all gates of this
    /// build, has this standing, and exports `function`. `None` where there is no native code of it that can be used at once.
    pub(crate) fn reload(
        &self,
        wasm: &Arc<[u8]>,
        standing: Standing,
        function: &str,
    ) -> Option<Extractor> {
        let module = native::kept(self, wasm, standing)?;
        let declared = Declared::in_module(Arc::clone(wasm));
        let extractor =
            Extractor::load(self.clone(), &module, standing, declared, function).ok()?;
        self.cache()?.count_readmitted();
        Some(extractor)
    }

    /// Whether verdicts are kept.
    pub(crate) fn keeps_verdicts(&self) -> bool {
        self.cache().is_some()
    }

    /// What was noted of `subject`, a digest of all that the verdict depends on.
    pub(crate) fn verdict(&self, subject: &[u8; 32]) -> Option<Standing> {
        self.cache()?.verdict(subject).and_then(Standing::of_byte)
    }

    /// Notes that all gates have let `subject` pass, and which standing its module has.
    pub(crate) fn note_verdict(&self, subject: &[u8; 32], standing: Standing) {
        if let Some(cache) = self.cache() {
            cache.put_verdict(subject, standing.byte());
        }
    }
}

impl Extractor {
    fn load(
        sandbox: Sandbox,
        module: &Module,
        standing: Standing,
        declared: Declared,
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
        let exports = ExportIndexes::of(module, function)?;
        debug!(function, is_reset_safe, imports_wasi, "module loaded");
        let buffer = OnceLock::new();
        let inner = ExtractorInner {
            sandbox,
            declared,
            is_reset_safe,
            imports_wasi,
            ready,
            exports,
            buffer,
        };
        Ok(Self { inner: Arc::new(inner), withheld: None })
    }

    /// The same extractor for a host that withholds some of the values that it declares: see
    /// [`FieldPolicy::withheld`](crate::gate::policy::FieldPolicy::withheld), made for this extractor's section.
    #[must_use]
    pub fn withholding(self, withheld: Option<Arc<dyn Withhold>>) -> Self {
        Self { withheld, ..self }
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

    /// Whether one instance may serve event after event: its result is proven to depend on the event alone.
    #[must_use]
    pub fn is_reset_safe(&self) -> bool {
        self.inner.is_reset_safe
    }

    /// Whether it imports functions of WASI.
    #[must_use]
    pub fn imports_wasi(&self) -> bool {
        self.inner.imports_wasi
    }

    /// Whether its runners keep an instance from event to event.
    pub(super) fn keeps_instances(&self) -> bool {
        self.is_reset_safe() && self.sandbox().isolation() != Isolation::PerEvent
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
