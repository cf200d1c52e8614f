//! Extractors that aren't plans, and what an accepted module was made from.

use super::PipelineError;
use crate::plan::Plan;
use crate::render::TEMPLATE_VERSION;
use crate::render::compile::{Compiled, compile_text};

/// What the manifests of bundles say of a template that were made from none.
const NO_TEMPLATE: &str = "none";

/// An extractor that isn't a plan: nothing vouches for what it does, and nothing proves it to be reset-safe but the
/// [verifier](crate::gate::inspect).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Code<'a> {
    /// A module in the WebAssembly text format.
    Text(&'a str),
    /// A module in the binary format.
    Module(&'a [u8]),
}

impl Code<'_> {
    /// The module, and what the bundle is to say that it was made from.
    pub(super) fn built(self) -> Result<(Made, Vec<u8>), PipelineError> {
        match self {
            Self::Text(text) => Ok((Made::Text(text.to_owned()), compile_text(text)?)),
            Self::Module(module) => Ok((Made::Elsewhere, module.to_owned())),
        }
    }
}

/// What a module was made from.
#[derive(Clone, Debug)]
pub(super) enum Made {
    /// A plan, which was rendered.
    Plan(Box<Compiled>),
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

    /// The text of the module in the WebAssembly text format, where it was assembled from one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Plan(compiled) => Some(compiled.source().text()),
            Self::Text(text) => Some(text),
            Self::Elsewhere => None,
        }
    }

    /// The version of the template that it was made from.
    pub(super) fn template(&self) -> &'static str {
        match self {
            Self::Plan(_) => TEMPLATE_VERSION,
            Self::Text(_) | Self::Elsewhere => NO_TEMPLATE,
        }
    }
}
