//! The compiler of extractors in Rust, which is looked for when it is needed.

use std::sync::{Mutex, OnceLock, PoisonError};

use crate::evidence::effort::Cancel;
use crate::gate::source::VettedSource;
use crate::sandbox::{
    Confinement, ForeignModules, RustModule, RustcError, RustcOptions, Toolchain,
};

/// A compiler that is looked for when something is to be compiled, until one was found.
#[derive(Debug, Default)]
pub(super) struct RustCompiler {
    options: Option<RustcOptions>,
    toolchain: OnceLock<Toolchain>,
    finding: Mutex<()>,
}

impl RustCompiler {
    /// As these options say, or with the helper that compiles modules which this host didn't render, if there is one.
    pub(super) fn new(options: Option<RustcOptions>, foreign: &ForeignModules) -> Self {
        let with_helper = || match foreign {
            ForeignModules::Helper(program) => Some(RustcOptions::new(program)),
            ForeignModules::Refuse | ForeignModules::InProcess => None,
        };
        Self { options: options.or_else(with_helper), ..Self::default() }
    }

    /// The compiler.
    pub(super) fn toolchain(&self) -> Result<&Toolchain, RustcError> {
        if let Some(found) = self.toolchain.get() {
            return Ok(found);
        }
        let no_helper =
            || RustcError::ToolchainFailed("no helper is named that confines it".to_owned());
        let options = self.options.as_ref().ok_or_else(no_helper)?;
        // One looks, and all others wait for what it finds. What isn't there may be there the next time.
        let _finding = self.finding.lock().unwrap_or_else(PoisonError::into_inner);
        match self.toolchain.get() {
            Some(found) => Ok(found),
            None => {
                let found = Toolchain::find(options.clone())?;
                Ok(self.toolchain.get_or_init(|| found))
            }
        }
    }

    pub(super) fn compile(
        &self,
        source: &VettedSource,
        require_confinement: bool,
        cancel: &Cancel,
    ) -> Result<RustModule, RustcError> {
        self.toolchain()?.compile_requiring(source, require_confinement, cancel)
    }

    /// How the compiler was confined, where it was given a source.
    pub(super) fn confinement(&self) -> Option<Confinement> {
        self.toolchain.get()?.confinement()
    }
}
