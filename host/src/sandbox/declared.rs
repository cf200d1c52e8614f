//! What a module declares, read when it is first asked for.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::abi::section::Section;
use crate::gate::inspect::declared_by;

/// The declaration of a module that the static gate has let pass.
#[derive(Debug)]
pub(super) struct Declared {
    section: OnceLock<Section>,
    /// The module, until its declaration is read.
    wasm: Mutex<Option<Arc<[u8]>>>,
}

impl Declared {
    /// A declaration that was read.
    pub(super) fn read(section: Section) -> Self {
        Self { section: section.into(), wasm: Mutex::default() }
    }

    /// That of a module which passed the static gate of this build earlier, byte for byte the same.
    pub(super) fn in_module(wasm: Arc<[u8]>) -> Self {
        Self { section: OnceLock::new(), wasm: Mutex::new(Some(wasm)) }
    }

    pub(super) fn section(&self) -> &Section {
        self.section.get_or_init(|| {
            let wasm = self.wasm.lock().unwrap_or_else(PoisonError::into_inner).take();
            wasm.and_then(|wasm| declared_by(&wasm))
                .expect("the static gate of this build has read the declaration of these bytes")
        })
    }
}
