//! The `retort` custom section: what an extractor declares about itself.
//!
//! One JSON object, exactly once in a module:
//!
//! ```
//! use retort::internal::section::Section;
//!
//! let section = Section::parse(
//!     br#"{"abi":1,"function":"extract_push","event_types":["PushEvent"],
//!          "inputs":[{"path":["payload","head"]},{"path":["public"],"as":"truthy"}]}"#,
//! )?;
//! assert_eq!(section.inputs()[0].plain_path().unwrap_or_default(), ["payload", "head"]);
//! # Ok::<(), retort::internal::section::SectionError>(())
//! ```
//!
//! The host evaluates the declared inputs, in this order, and copies them into the guest, and nothing else. An input is a
//! value (what is at a path, a template, the first of several, each with conversions), a test of one, or a condition;
//! `rows` declares iterations, and an input that names one is a column. docs/abi.md has all of the form. Reading is
//! strict: unknown and repeated keys, missing keys and values of another type are rejected.

mod check;
mod error;
mod read;

use serde::Serialize;

pub use self::error::SectionError;
pub use super::input::{Input, InputKind, Rows};
use crate::plan::expr::{Empty, OnDuplicate, Zone};

/// The custom section's name.
pub const SECTION_NAME: &str = "retort";

/// The version of the ABI that this host speaks.
pub const ABI_VERSION: u32 = 1;

/// Name of the exported memory.
pub const MEMORY_EXPORT: &str = "memory";

/// Name of the exported function that hands out the place of the input block.
pub const BUFFER_EXPORT: &str = "retort_buffer";

/// Name of the optional exported function that is called once, before anything else.
pub const INITIALIZE_EXPORT: &str = "_initialize";

/// Name of the optional exported global that holds the address of two words: address and length of what the guest says about
/// its end, where a call ended in a trap.
pub const MESSAGE_EXPORT: &str = "retort_message";

/// Names that begin with this belong to the ABI.
pub use crate::plan::RESERVED_FUNCTION_PREFIX as RESERVED_PREFIX;

/// Most event types that a section may declare.
pub const MAX_EVENT_TYPES: usize = 1024;

/// Most inputs that a section may declare.
pub const MAX_INPUTS: usize = 1024;

/// Most segments of a path: an accepted event nests no deeper.
pub const MAX_PATH_SEGMENTS: usize = 127;

/// Most keys that all paths of a section may have together, those of iterations and of what values and conditions are made of
/// included: the host keeps so many places for each event, and clears them.
pub const MAX_PATH_KEYS: usize = 16_384;

/// Most iterations that a section may declare.
pub const MAX_ROWS: usize = 16;

/// Most entries of one list inside an input: conversions, pieces of a template, values, conditions.
pub const MAX_ENTRIES: usize = 256;

/// How deep the conditions, or the values, of one input may nest. It is more than a plan has levels, so that a condition
/// of a plan can be inside one that the renderer adds.
pub const MAX_LEVELS: usize = 16;

/// The declaration of an extractor, checked. docs/abi.md has its JSON form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    abi: u32,
    function: String,
    event_types: Vec<String>,
    inputs: Vec<Input>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rows: Vec<Rows>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_duplicate: Option<OnDuplicate>,
    #[serde(skip_serializing_if = "Empty::is_value")]
    empty: Empty,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_zone: Option<Zone>,
}

impl Section {
    /// A declaration of the current ABI version. Inputs name the iterations of `rows` by their place.
    ///
    /// # Errors
    /// When `function` can't name an extractor, `event_types` is empty or holds an empty or repeated
    /// type, or an input or an iteration is beyond a bound or depends on what it can't depend on.
    pub fn new(
        function: impl Into<String>,
        event_types: Vec<String>,
        inputs: Vec<Input>,
        rows: Vec<Rows>,
    ) -> Result<Self, SectionError> {
        let function = function.into();
        let section = Self {
            abi: ABI_VERSION,
            function,
            event_types,
            inputs,
            rows,
            on_duplicate: None,
            empty: Empty::Value,
            time_zone: None,
        };
        section.check()?;
        Ok(section)
    }

    /// Reads the contents of the custom section.
    ///
    /// # Errors
    /// Whatever is wrong first: the JSON, the ABI version, the shape, then the values in the order
    /// in which the section's keys are listed in the [module](self)'s documentation.
    pub fn parse(bytes: &[u8]) -> Result<Self, SectionError> {
        let section = read::section(bytes)?;
        section.check()?;
        Ok(section)
    }

    /// The same declaration, of an extractor that leaves it to the host what becomes of the same id twice.
    #[must_use]
    pub fn with_on_duplicate(self, on_duplicate: OnDuplicate) -> Self {
        Self { on_duplicate: Some(on_duplicate), ..self }
    }

    /// The same declaration where empty strings count as this.
    #[must_use]
    pub fn with_empty(self, empty: Empty) -> Self {
        Self { empty, ..self }
    }

    /// The same declaration with the zone that its conversions have.
    #[must_use]
    pub fn with_time_zone(self, time_zone: Option<Zone>) -> Self {
        Self { time_zone, ..self }
    }

    /// The section's contents: compact JSON, the same bytes for the same declaration.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings and integers under string keys are always JSON")
    }

    /// The ABI version, always [`ABI_VERSION`].
    #[must_use]
    pub fn abi(&self) -> u32 {
        self.abi
    }

    /// Name of the exported extractor function.
    #[must_use]
    pub fn function(&self) -> &str {
        &self.function
    }

    /// The event types that the extractor is for: at least one, each once, none empty.
    #[must_use]
    pub fn event_types(&self) -> &[String] {
        &self.event_types
    }

    /// The inputs, in the order of their slots.
    #[must_use]
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The iterations, those outside before those inside.
    #[must_use]
    pub fn rows(&self) -> &[Rows] {
        &self.rows
    }

    /// What becomes of nodes, edges and claims on spans of the same id; `None`: the result is taken as it is.
    #[must_use]
    pub fn on_duplicate(&self) -> Option<OnDuplicate> {
        self.on_duplicate
    }

    /// What strings of the event that are empty count as.
    #[must_use]
    pub fn empty(&self) -> Empty {
        self.empty
    }

    /// The zone in which conversions read times without an offset.
    #[must_use]
    pub fn time_zone(&self) -> Option<&Zone> {
        self.time_zone.as_ref()
    }
}

#[cfg(test)]
mod tests;
