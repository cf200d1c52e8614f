//! What samples are expected to give: written by a person, or accepted by one, and held to by a gate.
//!
//! A file of them has one JSON object a line, each for one sample, which it names by the line of the samples file, by the
//! SHA-256 of its text, or by both:
//!
//! ```json
//! {"line": 4, "nodes": [{"entity": "Decision", "key": {"decision_id": "d-1"}, "properties": {"outcome": "approved"}}]}
//! ```
//!
//! Only what is listed has to hold, unless it says `"exact": true`: then there may be nothing else. docs/cli.md has all of it.

mod error;
mod read;
mod written;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

pub use error::ExpectedError;

use super::Samples;
use crate::graph::extraction::Extraction;
use crate::graph::spec::GraphSpec;

/// How many hexadecimal digits of a sample's SHA-256 are written: enough to tell any samples apart that are held in memory.
const DIGEST_DIGITS: usize = 16;

/// What some samples are expected to give. Made by [`Expected::parse`] alone: each entry names one of the samples, and what the
/// graph spec declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    entries: Vec<ExpectedSample>,
}

impl Expected {
    /// Reads expected results of `samples`, one JSON object a line; blank lines are skipped. `origin` names the text in errors. With
    /// a graph spec, names have to be declared in it.
    ///
    /// # Errors
    /// [`ExpectedError`], for the first entry that isn't one, and where there is none.
    ///
    /// # Example
    /// ```
    /// use retort::Samples;
    /// use retort::evidence::Expected;
    ///
    /// let samples = Samples::parse(r#"{"event_type": "order", "id": "A-7"}"#, "samples.ndjson")?;
    /// let text = r#"{"line": 1, "nodes": [{"entity": "Order", "key": {"order_id": "A-7"}}]}"#;
    /// let expected = Expected::parse(text, "expected.ndjson", &samples, None)?;
    /// assert_eq!(expected.entries()[0].sample_line(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(
        text: &str,
        origin: &str,
        samples: &Samples,
        graph: Option<&GraphSpec>,
    ) -> Result<Self, ExpectedError> {
        read::entries(text, origin, samples, graph).map(|entries| Self { entries })
    }

    /// What is expected of each sample, in the order of the file; never empty.
    #[must_use]
    pub fn entries(&self) -> &[ExpectedSample] {
        &self.entries
    }

    /// What is expected of the sample on a line of the samples file.
    #[must_use]
    pub fn of_line(&self, line: usize) -> Option<&ExpectedSample> {
        self.entries.iter().find(|entry| entry.sample == line)
    }
}

/// What one sample is expected to give.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedSample {
    /// The line of the samples file.
    sample: usize,
    pub(crate) result: ExpectedResult,
}

impl ExpectedSample {
    /// The line of the sample that it is about, from 1.
    #[must_use]
    pub fn sample_line(&self) -> usize {
        self.sample
    }

    /// A line of a file of expected results: that the sample on `line` gives exactly this.
    #[must_use]
    pub fn line_of(line: usize, text: &str, result: &Extraction, graph: &GraphSpec) -> String {
        written::line(line, text, result, graph)
    }
}

/// What is expected of a sample, as it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedResult {
    /// The line of the samples file that it is about, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The digest of the sample that it is about, or the beginning of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// The session that the ids of all nodes begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) nodes: Vec<ExpectedNode>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) edges: Vec<ExpectedEdge>,
    /// All of them, where they are named at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fully_handled_span_ids: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) partially_handled_span_ids: Option<Vec<String>>,
    /// Whether there may be nothing but what is listed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) exact: bool,
}

/// One node: by its entity and key, by its id, or by both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedNode {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) entity: Option<String>,
    /// The properties of its key, with their values.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) key: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) node_id: Option<String>,
    /// What else it has to have; null stands for nothing, or null.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) properties: Map<String, Value>,
}

/// One edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedEdge {
    pub(crate) relationship: String,
    /// The node that it leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<ExpectedEnd>,
    /// The node that it enters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<ExpectedEnd>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) properties: Map<String, Value>,
}

/// A node at an end of an edge: by its entity and key, by its id, or by both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedEnd {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) entity: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) key: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) node_id: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// The SHA-256 of a sample's text, without the white space around it, in hexadecimal digits.
fn digest(text: &str) -> String {
    Sha256::digest(text.trim()).iter().map(|byte| format!("{byte:02x}")).collect()
}
