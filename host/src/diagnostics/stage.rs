//! The stages of the pipeline.

use serde::{Deserialize, Serialize};

/// The stages of the pipeline, in the order in which a candidate passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Reading what the caller named: project file, samples, graph spec.
    Input,
    /// Asking a model.
    Model,
    /// JSON text to a plan.
    Plan,
    /// What a tenant's policy lets a plan read.
    Policy,
    /// The plan against what is known of events and graph.
    Fit,
    /// Plan to WAT.
    Render,
    /// Rust source, before a compiler sees it.
    Source,
    /// Source to a module.
    Compile,
    /// Static inspection of the module.
    Inspect,
    /// Loading the module into the sandbox.
    Load,
    /// Reading an event and projecting the declared inputs.
    Event,
    /// Running the module.
    Run,
    /// The sample run.
    Smoke,
    /// Results against the graph spec.
    Graph,
    /// Results against what samples are expected to give.
    Expected,
    /// The bundle on disk.
    Bundle,
}

impl Stage {
    /// The name used in reports, the same as the serialised form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Model => "model",
            Self::Plan => "plan",
            Self::Policy => "policy",
            Self::Fit => "fit",
            Self::Render => "render",
            Self::Source => "source",
            Self::Compile => "compile",
            Self::Inspect => "inspect",
            Self::Load => "load",
            Self::Event => "event",
            Self::Run => "run",
            Self::Smoke => "smoke",
            Self::Graph => "graph",
            Self::Expected => "expected",
            Self::Bundle => "bundle",
        }
    }
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
