//! Extractors that aren't plans, and what an accepted module was made from.

use retort_guest_template::SDK_VERSION;

use super::PipelineError;
use super::rust::RustCompiler;
use crate::bundle::{Digest, RustVersions, Versions};
use crate::evidence::effort::Cancel;
use crate::gate::source::{SourceLimits, VettedSource, vet};
use crate::plan::Plan;
use crate::render::TEMPLATE_VERSION;
use crate::render::compile::{Compiled, compile_text};
use crate::sandbox::RustModule;

/// What the manifests of bundles say of a template that were made from none.
const NO_TEMPLATE: &str = "none";

/// An extractor that isn't a plan: nothing vouches for what it does, and nothing proves it to be reset-safe but the
/// [verifier](crate::gate::inspect).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Code<'a> {
    /// Source in Rust, by the SDK.
    Rust(&'a str),
    /// A module in the WebAssembly text format.
    Text(&'a str),
    /// A module in the binary format.
    Module(&'a [u8]),
}

/// Code that may be built: source in Rust has passed its gate.
#[derive(Clone, Debug)]
pub struct Buildable<'a>(Passed<'a>);

#[derive(Clone, Debug)]
enum Passed<'a> {
    Rust(VettedSource),
    Text(&'a str),
    Module(&'a [u8]),
}

impl<'a> Buildable<'a> {
    /// Takes source in Rust through its gate; there is none for anything else.
    ///
    /// # Errors
    /// [`PipelineError::Source`].
    pub fn of(code: Code<'a>) -> Result<Self, PipelineError> {
        Ok(Self(match code {
            Code::Rust(text) => Passed::Rust(vet(text, &SourceLimits::default())?),
            Code::Text(text) => Passed::Text(text),
            Code::Module(module) => Passed::Module(module),
        }))
    }

    pub(super) fn built(
        self,
        rust: &RustCompiler,
        require_confinement: bool,
        cancel: &Cancel,
    ) -> Result<Built, PipelineError> {
        Ok(match self.0 {
            Passed::Rust(source) => {
                let RustModule { module, unstripped, compiler, sdk, .. } =
                    rust.compile(&source, require_confinement, cancel)?;
                let made = Made::Rust { source, compiler, sdk: Digest::of_sha256(sdk) };
                Built { made, module, unstripped: Some(unstripped) }
            }
            Passed::Text(text) => {
                let (made, module) = (Made::Text(text.to_owned()), compile_text(text)?);
                Built { made, module, unstripped: None }
            }
            Passed::Module(module) => {
                let (made, module) = (Made::Elsewhere, module.to_owned());
                Built { made, module, unstripped: None }
            }
        })
    }
}

/// What code became: a module that nothing vouches for.
#[derive(Clone, Debug)]
pub struct Built {
    made: Made,
    module: Vec<u8>,
    unstripped: Option<Vec<u8>>,
}

impl Built {
    pub(super) fn of_plan(compiled: Compiled) -> Self {
        let module = compiled.module().to_vec();
        Self { made: Made::Plan(Box::new(compiled)), module, unstripped: None }
    }

    /// The module.
    #[must_use]
    pub fn module(&self) -> &[u8] {
        &self.module
    }

    /// What compiled it, where it was source in Rust.
    #[must_use]
    pub fn rust(&self) -> Option<RustVersions<'_>> {
        self.made.rust()
    }

    /// The source in Rust, where it was compiled from that.
    #[must_use]
    pub fn source(&self) -> Option<&VettedSource> {
        self.made.source()
    }

    /// The same module with debug information, where there is some.
    pub(super) fn unstripped(&self) -> Option<&[u8]> {
        self.unstripped.as_deref()
    }

    /// What the bundle is to say that it was made from.
    pub(super) fn made(&self) -> &Made {
        &self.made
    }

    pub(super) fn into_made(self) -> Made {
        self.made
    }
}

/// What a module was made from.
#[derive(Clone, Debug)]
pub(super) enum Made {
    /// A plan, which was rendered.
    Plan(Box<Compiled>),
    /// Rust, by the SDK and this compiler.
    Rust { source: VettedSource, compiler: String, sdk: Digest },
    /// Somebody's own text.
    Text(String),
    /// What isn't known here.
    Elsewhere,
}

impl Made {
    pub(super) fn plan(&self) -> Option<&Plan> {
        match self {
            Self::Plan(compiled) => Some(compiled.source().plan()),
            _ => None,
        }
    }

    /// The source in Rust.
    pub(super) fn source(&self) -> Option<&VettedSource> {
        match self {
            Self::Rust { source, .. } => Some(source),
            Self::Plan(_) | Self::Text(_) | Self::Elsewhere => None,
        }
    }

    /// The text of the module in the WebAssembly text format, where it was assembled from one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Plan(compiled) => Some(compiled.source().text()),
            Self::Text(text) => Some(text),
            Self::Rust { .. } | Self::Elsewhere => None,
        }
    }

    /// The versions of all that it was made by.
    pub(super) fn versions(&self) -> Versions<'_> {
        Versions { template: self.template(), rust: self.rust(), ..Versions::CURRENT }
    }

    fn rust(&self) -> Option<RustVersions<'_>> {
        match self {
            Self::Rust { compiler, sdk, .. } => Some(RustVersions { compiler, sdk: *sdk }),
            Self::Plan(_) | Self::Text(_) | Self::Elsewhere => None,
        }
    }

    /// The version of the template that it was made from.
    fn template(&self) -> &'static str {
        match self {
            Self::Plan(_) => TEMPLATE_VERSION,
            Self::Rust { .. } => SDK_VERSION,
            Self::Text(_) | Self::Elsewhere => NO_TEMPLATE,
        }
    }
}
