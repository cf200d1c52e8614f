//! The `retort` custom section: what an extractor declares about itself.
//!
//! One JSON object, exactly once in a module:
//!
//! ```
//! use retort::abi::section::Section;
//!
//! let section = Section::parse(
//!     br#"{"abi":1,"function":"extract_push","event_types":["PushEvent"],
//!          "inputs":[{"path":["payload","head"]},{"path":["public"],"as":"truthy"}]}"#,
//! )?;
//! assert_eq!(section.inputs()[0].plain_path().unwrap_or_default(), ["payload", "head"]);
//! # Ok::<(), retort::abi::section::SectionError>(())
//! ```
//!
//! The host copies the declared inputs into the guest, in this order, and nothing else. Reading is
//! strict: unknown and repeated keys, missing keys and values of another type are refused.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

pub use super::input::{Input, Rows, What};
use crate::expr::OnDuplicate;
use crate::problem::Coded;
use crate::untrusted::{escaped, quoted};

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

/// Names that begin with this belong to the ABI.
pub const RESERVED_PREFIX: &str = "retort_";

/// Most inputs that a section may declare.
pub const MAX_INPUTS: usize = 1024;

/// Most segments of an input's path: an accepted event nests no deeper.
pub const MAX_PATH_SEGMENTS: usize = 127;

/// The declaration of an extractor, checked. See the [module](self) for its JSON form.
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
}

impl Section {
    /// A declaration of the current ABI version.
    ///
    /// # Errors
    /// When `function` can't name an extractor, `event_types` is empty or holds an empty or repeated
    /// type, or there are too many inputs or segments.
    pub fn new(
        function: impl Into<String>,
        event_types: Vec<String>,
        inputs: Vec<Input>,
    ) -> Result<Self, SectionError> {
        let section = Self {
            abi: ABI_VERSION,
            function: function.into(),
            event_types,
            inputs,
            rows: Vec::new(),
            on_duplicate: None,
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
        // The version decides what the other keys mean, so it is looked at before them.
        let Object(Version { abi }) = serde_json::from_slice(bytes)?;
        if abi != u64::from(ABI_VERSION) {
            return Err(SectionError::Version { found: abi });
        }
        let Object(raw): Object<Raw> = serde_json::from_slice(bytes)?;
        let inputs = raw.inputs.into_iter().map(|Object(input)| input).collect();
        Self::new(raw.function, raw.event_types, inputs)
    }

    /// The same declaration with iterations, which inputs name by their place.
    ///
    /// # Errors
    /// When an input or an iteration names what doesn't come before it, or a level that it isn't in.
    pub fn with_rows(self, rows: Vec<Rows>) -> Result<Self, SectionError> {
        let section = Self { rows, ..self };
        section.check()?;
        Ok(section)
    }

    /// The same declaration, of an extractor that leaves it to the host what becomes of the same id twice.
    #[must_use]
    pub fn with_on_duplicate(self, on_duplicate: OnDuplicate) -> Self {
        Self { on_duplicate: Some(on_duplicate), ..self }
    }

    fn check(&self) -> Result<(), SectionError> {
        if let Some(expected) = function_fault(&self.function) {
            return Err(SectionError::Function { found: quoted(&self.function), expected });
        }
        if self.event_types.is_empty() {
            return Err(SectionError::NoEventTypes);
        }
        let mut seen = BTreeSet::new();
        for (index, event_type) in self.event_types.iter().enumerate() {
            if event_type.is_empty() {
                return Err(SectionError::EmptyEventType { index });
            }
            if !seen.insert(event_type) {
                return Err(SectionError::RepeatedEventType { index, found: quoted(event_type) });
            }
        }
        if self.inputs.len() > MAX_INPUTS {
            return Err(SectionError::TooManyInputs { found: self.inputs.len() });
        }
        for (index, input) in self.inputs.iter().enumerate() {
            for reference in input.references() {
                if reference.path.len() > MAX_PATH_SEGMENTS {
                    return Err(SectionError::PathTooDeep { index, found: reference.path.len() });
                }
            }
        }
        Ok(())
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
}

/// What is expected of an extractor's name that `name` isn't.
fn function_fault(name: &str) -> Option<&'static str> {
    let mut bytes = name.bytes();
    let identifier = bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !identifier {
        Some("an identifier, [A-Za-z_][A-Za-z0-9_]*")
    } else if [MEMORY_EXPORT, "_start", INITIALIZE_EXPORT].contains(&name) {
        Some("a name other than memory, _start and _initialize")
    } else if name.starts_with(RESERVED_PREFIX) {
        Some("a name that doesn't begin with retort_, which belongs to the ABI")
    } else {
        None
    }
}

/// Why a `retort` section is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SectionError {
    /// The bytes aren't one JSON value.
    #[error("not JSON: {message}")]
    NotJson {
        /// What the parser says, with line and column.
        message: String,
    },
    /// JSON, but not an object with exactly the section's keys and their types.
    #[error("{message}")]
    WrongShape {
        /// What was expected and what was found, with line and column.
        message: String,
    },
    /// Another version of the ABI.
    #[error("abi: expected {ABI_VERSION}, got {found}")]
    Version {
        /// The version stated.
        found: u64,
    },
    /// The extractor's name.
    #[error("function: expected {expected}, got {found}")]
    Function {
        /// The name, quoted.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// An empty list of event types.
    #[error("event_types: expected at least one event type, got none")]
    NoEventTypes,
    /// An empty event type.
    #[error("event_types[{index}]: expected a non-empty string")]
    EmptyEventType {
        /// Position in the list.
        index: usize,
    },
    /// An event type that the list holds already.
    #[error("event_types[{index}]: {found} is listed twice")]
    RepeatedEventType {
        /// Position of the second one.
        index: usize,
        /// The event type, quoted.
        found: String,
    },
    /// Too many inputs.
    #[error("inputs: {found} inputs, at most {MAX_INPUTS} are allowed")]
    TooManyInputs {
        /// How many there are.
        found: usize,
    },
    /// A path that no accepted event can hold.
    #[error("inputs[{index}].path: {found} segments, at most {MAX_PATH_SEGMENTS} are allowed")]
    PathTooDeep {
        /// Position in the list of inputs.
        index: usize,
        /// How many segments the path has.
        found: usize,
    },
}

/// Every code that [`SectionError`] can carry.
pub const CODES: &[&str] = &[
    "section_not_json",
    "section_wrong_shape",
    "section_abi_version",
    "section_function",
    "section_event_types",
    "section_inputs",
];

impl Coded for SectionError {
    fn code(&self) -> &'static str {
        match self {
            Self::NotJson { .. } => "section_not_json",
            Self::WrongShape { .. } => "section_wrong_shape",
            Self::Version { .. } => "section_abi_version",
            Self::Function { .. } => "section_function",
            Self::NoEventTypes | Self::EmptyEventType { .. } | Self::RepeatedEventType { .. } => {
                "section_event_types"
            }
            Self::TooManyInputs { .. } | Self::PathTooDeep { .. } => "section_inputs",
        }
    }
}

impl From<serde_json::Error> for SectionError {
    fn from(error: serde_json::Error) -> Self {
        let message = escaped(&error.to_string());
        if error.is_data() { Self::WrongShape { message } } else { Self::NotJson { message } }
    }
}

/// The one key that every version has.
#[derive(Deserialize)]
struct Version {
    abi: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    /// Checked by way of [`Version`]; named here because unknown keys are refused.
    #[serde(rename = "abi")]
    _abi: u64,
    function: String,
    event_types: Vec<String>,
    inputs: Vec<Object<Input>>,
}

/// A `T` that was written as a JSON object: serde's derived structs would accept an array as well.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::{Input, MAX_INPUTS, MAX_PATH_SEGMENTS, Section};
    use crate::problem::Coded;

    fn code(json: &str) -> &'static str {
        Section::parse(json.as_bytes()).map_or_else(|error| error.code(), |_| "ok")
    }

    fn inputs(json: &str) -> String {
        format!(r#"{{"abi":1,"function":"f","event_types":["e"],"inputs":{json}}}"#)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let json = r#"{"abi":1,"function":"extract_x","event_types":["a","b\n"],"inputs":[{"path":["content","id"],"as":"json"},{"path":[],"as":"truthy"}]}"#;
        let section = Section::parse(json.as_bytes()).unwrap();
        assert_eq!(section.to_json(), json.as_bytes());
        let made = Section::new(
            "extract_x",
            vec!["a".into(), "b\n".into()],
            vec![Input::json(&["content".into(), "id".into()]), Input::truthy(&[])],
        );
        assert_eq!(made.unwrap(), section);
    }

    #[test]
    fn each_rule_has_its_code() {
        let cases = [
            ("ok", r#" {"inputs":[],"event_types":["e"],"function":"_f9","abi":1} "#),
            ("section_not_json", ""),
            ("section_not_json", r#"{"abi":1"#),
            ("section_not_json", r#"{"abi":1,"function":"f","event_types":["e"],"inputs":[]} x"#),
            ("section_wrong_shape", r#"[1,"f",["e"],[]]"#),
            ("section_wrong_shape", r#"{"function":"f","event_types":["e"],"inputs":[]}"#),
            ("section_wrong_shape", r#"{"abi":1,"function":"f","event_types":["e"]}"#),
            (
                "section_wrong_shape",
                r#"{"abi":"1","function":"f","event_types":["e"],"inputs":[]}"#,
            ),
            (
                "section_wrong_shape",
                r#"{"abi":1,"abi":1,"function":"f","event_types":["e"],"inputs":[]}"#,
            ),
            (
                "section_wrong_shape",
                r#"{"abi":1,"function":"f","event_types":["e"],"inputs":[],"x":0}"#,
            ),
            (
                "section_wrong_shape",
                r#"{"abi":1,"function":"f","function":"f","event_types":["e"],"inputs":[]}"#,
            ),
            ("section_abi_version", r#"{"abi":2,"entry":"f"}"#),
            ("section_function", r#"{"abi":1,"function":"","event_types":["e"],"inputs":[]}"#),
            ("section_function", r#"{"abi":1,"function":"9f","event_types":["e"],"inputs":[]}"#),
            ("section_function", r#"{"abi":1,"function":"f-g","event_types":["e"],"inputs":[]}"#),
            (
                "section_function",
                r#"{"abi":1,"function":"memory","event_types":["e"],"inputs":[]}"#,
            ),
            (
                "section_function",
                r#"{"abi":1,"function":"_start","event_types":["e"],"inputs":[]}"#,
            ),
            (
                "section_function",
                r#"{"abi":1,"function":"_initialize","event_types":["e"],"inputs":[]}"#,
            ),
            (
                "section_function",
                r#"{"abi":1,"function":"retort_buffer","event_types":["e"],"inputs":[]}"#,
            ),
            ("section_event_types", r#"{"abi":1,"function":"f","event_types":[],"inputs":[]}"#),
            ("section_event_types", r#"{"abi":1,"function":"f","event_types":[""],"inputs":[]}"#),
            (
                "section_event_types",
                r#"{"abi":1,"function":"f","event_types":["e","e"],"inputs":[]}"#,
            ),
            ("section_wrong_shape", &inputs(r#"[[["a"],"json"]]"#)),
            ("section_wrong_shape", &inputs(r#"[{"as":"json"}]"#)),
            ("section_wrong_shape", &inputs(r#"[{"path":["a"],"as":"text"}]"#)),
            ("section_wrong_shape", &inputs(r#"[{"path":["a"],"as":null}]"#)),
            ("section_wrong_shape", &inputs(r#"[{"path":["a"],"path":["a"]}]"#)),
            ("section_wrong_shape", &inputs(r#"[{"path":["a",1]}]"#)),
            ("ok", &inputs(&format!("[{}]", vec![r#"{"path":[]}"#; MAX_INPUTS].join(",")))),
            (
                "section_inputs",
                &inputs(&format!("[{}]", vec![r#"{"path":[]}"#; MAX_INPUTS + 1].join(","))),
            ),
            (
                "ok",
                &inputs(&format!(
                    r#"[{{"path":[{}]}}]"#,
                    vec![r#""k""#; MAX_PATH_SEGMENTS].join(",")
                )),
            ),
            (
                "section_inputs",
                &inputs(&format!(
                    r#"[{{"path":[{}]}}]"#,
                    vec![r#""k""#; MAX_PATH_SEGMENTS + 1].join(",")
                )),
            ),
        ];
        for (expected, json) in cases {
            assert_eq!(code(json), expected, "{json}");
        }
    }

    #[test]
    fn a_message_says_where_and_stays_on_one_line() {
        let hostile = "{\"abi\":1,\"x\\nIgnore the above\":0}";
        let error = Section::parse(hostile.as_bytes()).unwrap_err().to_string();
        assert!(!error.contains('\n') && error.contains("unknown field"), "{error}");
    }
}
