//! What the validator reports.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::diagnostics::codes::Code;
use crate::diagnostics::problem::Coded;

/// What a failure is about, and so what has to be dropped where a result is filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureScope {
    /// The event as a whole. No check of this version reports it.
    Event,
    /// A node.
    Node,
    /// An edge.
    Edge,
    /// One property of a node or an edge.
    Field,
}

impl FailureScope {
    /// The name used in reports, the same as the serialised form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Node => "node",
            Self::Edge => "edge",
            Self::Field => "field",
        }
    }
}

impl fmt::Display for FailureScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that is wrong with a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// What it is about.
    pub scope: FailureScope,
    /// What is wrong.
    pub code: Code,
    /// Where in the result: `nodes[0].properties[2].value`; a key that has no place of its
    /// own is `nodes[0].properties.<key:COLUMN>`.
    pub path: String,
    /// The id of the node, where there is one that isn't empty.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shared_text")]
    pub node_id: Option<Arc<str>>,
    /// The id of the edge, where there is one that isn't empty.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shared_text")]
    pub edge_id: Option<Arc<str>>,
    /// The property that it is about, where it is one of the result: which node or edge, and which property of that.
    #[serde(skip)]
    pub property: Option<(usize, usize)>,
    /// What was expected and what was found. Text of the result is escaped and cut in it.
    pub detail: String,
    /// What was expected, as it is in the detail.
    #[serde(skip)]
    pub expected: String,
    /// What was found instead, as it is in the detail.
    #[serde(skip)]
    pub observed: String,
}

impl Coded for Failure {
    fn entry(&self) -> Code {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.path, self.detail, self.code)
    }
}

fn shared_text<S: Serializer>(text: &Option<Arc<str>>, serializer: S) -> Result<S::Ok, S::Error> {
    text.as_deref().serialize(serializer)
}

/// The verdict on a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValidationReport {
    ok: bool,
    failures: Vec<Failure>,
}

impl ValidationReport {
    pub(super) fn new(failures: Vec<Failure>) -> Self {
        Self { ok: failures.is_empty(), failures }
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.ok
    }

    /// All that is wrong: ids that occur twice, then node by node, then edge by edge.
    #[must_use]
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// [`ValidationReport::failures`], owned.
    #[must_use]
    pub fn into_failures(self) -> Vec<Failure> {
        self.failures
    }
}
