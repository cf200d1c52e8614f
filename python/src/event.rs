//! Events as Python has them.

use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyString};
use retort::diagnostics::Problem;
use retort::internal::codes;

use crate::error::{Failed, Kind};
use crate::json;

/// The text of an event, which stays where it is.
pub(crate) enum EventText {
    Bytes(PyBackedBytes),
    Text(PyBackedStr),
    /// Of a dict.
    Written(Vec<u8>),
}

impl AsRef<[u8]> for EventText {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
            Self::Written(text) => text,
        }
    }
}

impl EventText {
    /// The text of an event that is a str, bytes, a bytearray or a dict.
    pub(crate) fn of(event: &Bound<'_, PyAny>) -> Result<Self, Failed> {
        if let Ok(bytes) = event.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone().into()));
        }
        if let Ok(text) = event.cast::<PyString>() {
            return text.clone().try_into().map(Self::Text).map_err(|_| {
                let message = "expected UTF-8, found a str with half of a surrogate pair";
                Failed::new(Kind::Event, codes::EVENT_NOT_UTF8, message)
            });
        }
        if event.is_instance_of::<PyDict>() {
            return json::write(event).map(Self::Written).map_err(|error| {
                let code = codes::EVENT_NOT_JSON;
                let problem = Problem::new(code.stage, code, error.message()).at(error.path());
                Failed { kind: Kind::EventType, problem: problem.into() }
            });
        }
        if let Ok(bytes) = event.cast::<PyByteArray>() {
            return Ok(Self::Bytes(bytes.clone().into()));
        }
        let found = json::kind(event);
        let message = format!("expected an event as str, bytes or dict, found {found}");
        Err(Failed::new(Kind::EventType, codes::EVENT_NOT_OBJECT, message))
    }
}
