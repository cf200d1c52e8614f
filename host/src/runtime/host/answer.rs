//! What a host gives for an event.

use std::sync::Arc;
use std::time::Duration;

use crate::bundle::{Digest, ExtractorName};
use crate::graph::{Extraction, Failure};
use crate::runtime::Decision;
use crate::sandbox::ResultCounts;

/// What a host gives for an event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The event's type, if it has one.
    pub event_type: Option<Arc<str>>,
    /// Who gave the result.
    pub by: By,
    /// The result, as the text of JSON. Empty, without even an object, where nobody serves the event's type.
    pub json: Vec<u8>,
    /// How much is in it, of the result of a single version that was given as it was.
    pub shape: Option<ResultCounts>,
    /// What was wrong with the result of a version, and isn't in this one any more.
    pub dropped: Vec<Failure>,
    /// The fuel that it took.
    pub fuel: u64,
    /// For how long a thread was busy with it. The time that it waited isn't in it.
    pub time: Duration,
}

/// Who gave a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum By {
    /// A version of an extractor.
    Version {
        /// The extractor.
        name: ExtractorName,
        /// Its version.
        version: Digest,
        /// Whether its result was given as it was, or in part.
        decision: Decision,
    },
    /// Versions of several extractors that [share](crate::bundle::Sharing) the event's type, whose results were
    /// [merged](crate::graph::merge).
    Versions {
        /// The extractors and their versions, in the order of their names.
        versions: Vec<(ExtractorName, Digest)>,
        /// Whether all results were taken as they were given, or some in part.
        decision: Decision,
    },
    /// What stands in for the extractor of the event's type.
    Fallback {
        /// The code of why it did, where there is an extractor.
        instead_of: Option<&'static str>,
    },
    /// Nobody serves the event's type, or it has none.
    Nobody,
}

impl Answer {
    /// The result as data; an empty one where there is none.
    ///
    /// # Errors
    /// For a number that is beyond what can be held.
    pub fn extraction(&self) -> Result<Extraction, serde_json::Error> {
        if self.json.is_empty() {
            return Ok(Extraction::default());
        }
        serde_json::from_slice(&self.json)
    }

    /// The version that gave the result, if a single one did.
    #[must_use]
    pub fn version(&self) -> Option<Digest> {
        match &self.by {
            By::Version { version, .. } => Some(*version),
            _ => None,
        }
    }
}
