//! What the results of a bundle are held to.

use std::sync::Arc;

use serde::Deserialize;
use thiserror::Error;

use super::served::Serving;
use crate::bundle::{BundleLoadError, Part};
use crate::diagnostics::codes::Code;
use crate::diagnostics::problem::Coded;
use crate::graph::spec::{GraphSpec, GraphSpecError};
use crate::graph::validate::ValidateOptions;

/// The graph spec of a bundle, and how strictly its samples were held to it.
#[derive(Clone, Debug)]
pub(super) struct BundleGraph {
    pub(super) spec: Arc<GraphSpec>,
    pub(super) options: ValidateOptions,
}

/// Why the graph spec of a bundle can't be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GraphsError {
    /// The file isn't the one any more that was there when the bundle was loaded.
    #[error(transparent)]
    Load(#[from] BundleLoadError),
    /// It isn't a graph spec that this version reads.
    #[error(transparent)]
    Spec(#[from] GraphSpecError),
}

impl Coded for GraphsError {
    fn entry(&self) -> Code {
        match self {
            Self::Load(error) => error.entry(),
            Self::Spec(error) => error.entry(),
        }
    }
}

/// What a bundle says of its edges, beside its limits.
#[derive(Default, Deserialize)]
struct Noted {
    #[serde(default)]
    allow_external_endpoints: bool,
}

impl BundleGraph {
    /// Reads it once more from the bundle, of which only what serves events is kept.
    pub(super) fn read(bundle: &Serving) -> Result<Self, GraphsError> {
        let name = Part::Graph.file_name(bundle.manifest().module_name());
        let origin = bundle.path().join(name);
        let graph = bundle.read(Part::Graph)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&graph);
        let spec = Arc::new(GraphSpec::parse(&text, &origin.to_string_lossy())?);
        let limits = bundle.read(Part::Limits)?.unwrap_or_default();
        // Whoever made the bundle may have written anything there.
        let noted: Noted = serde_json::from_slice(&limits).unwrap_or_default();
        let options = ValidateOptions { allow_external_endpoints: noted.allow_external_endpoints };
        Ok(Self { spec, options })
    }
}
