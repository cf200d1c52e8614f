//! The compiler of extractors in Rust, which is looked for when it is needed.

use std::sync::OnceLock;

use crate::gate::source::VettedSource;
use crate::sandbox::{ForeignModules, RustModule, RustcError, RustcOptions, Toolchain};

/// A compiler that is looked for once, when something is to be compiled.
#[derive(Debug, Default)]
pub(super) struct RustCompiler {
    options: Option<RustcOptions>,
    toolchain: OnceLock<Result<Toolchain, RustcError>>,
}

impl RustCompiler {
    /// As these options say, or with the helper that compiles modules which this host didn't render, if there is one.
    pub(super) fn new(options: Option<RustcOptions>, foreign: &ForeignModules) -> Self {
        let with_helper = || match foreign {
            ForeignModules::Helper(program) => Some(RustcOptions::new(program)),
            ForeignModules::Refuse | ForeignModules::InProcess => None,
        };
        Self { options: options.or_else(with_helper), toolchain: OnceLock::new() }
    }

    /// The compiler.
    pub(super) fn toolchain(&self) -> Result<&Toolchain, RustcError> {
        let found = self.toolchain.get_or_init(|| match &self.options {
            Some(options) => Toolchain::find(options.clone()),
            None => {
                Err(RustcError::ToolchainFailed("no helper is named that confines it".to_owned()))
            }
        });
        found.as_ref().map_err(RustcError::clone)
    }

    pub(super) fn compile(&self, source: &VettedSource) -> Result<RustModule, RustcError> {
        self.toolchain()?.compile(source)
    }
}
