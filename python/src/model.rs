//! A callable of Python as a model.

use std::sync::Mutex;

use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use retort::author::llm::{Completion, FinishReason, LlmClient, LlmError, LlmRequest};

use crate::json;

/// Asks a callable `(prompt, schema)`, or the `generate_json` of an object. It is called on the thread that waits for it.
pub(crate) struct PyModel {
    name: String,
    ask: Py<PyAny>,
    /// What it raised.
    raised: Mutex<Option<PyErr>>,
}

impl PyModel {
    pub(crate) fn new(model: &Bound<'_, PyAny>) -> PyResult<Self> {
        let ask = match model.getattr_opt("generate_json")? {
            Some(method) => method,
            None => model.clone(),
        };
        if !ask.is_callable() {
            let found = json::kind(model);
            let message = format!(
                "expected a model as str, a callable (prompt, schema), or an object with generate_json, found {found}"
            );
            return Err(PyTypeError::new_err(message));
        }
        let name = ask.getattr_opt("__qualname__")?.and_then(|name| name.extract::<String>().ok());
        let name = format!("python:{}", name.unwrap_or_else(|| json::kind(model)));
        Ok(Self { name, ask: ask.unbind(), raised: Mutex::default() })
    }

    /// What it raised, if that ended it.
    pub(crate) fn take_raised(&self) -> Option<PyErr> {
        self.raised.lock().ok()?.take()
    }

    fn answer(&self, py: Python<'_>, prompt: &str, schema: &serde_json::Value) -> PyResult<String> {
        // A copy of its own: a client may alter it.
        let schema = crate::error::data(py, schema)?;
        let answer = self.ask.bind(py).call1((prompt, schema))?;
        if let Ok(text) = answer.cast::<PyString>() {
            return Ok(text.to_str()?.to_owned());
        }
        if answer.is_instance_of::<PyDict>() {
            let text = json::write(&answer).map_err(|error| {
                let place = error.path();
                PyTypeError::new_err(format!("the model's answer: {place}: {}", error.message()))
            })?;
            return Ok(String::from_utf8_lossy(&text).into_owned());
        }
        let found = json::kind(&answer);
        Err(PyTypeError::new_err(format!("expected a str or a dict from the model, found {found}")))
    }
}

#[retort::async_trait::async_trait]
impl LlmClient for PyModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn generate_json(&self, request: LlmRequest) -> Result<Completion, LlmError> {
        let prompt = request.messages.last().map_or("", |message| message.text.as_str());
        let answer = Python::attach(|py| {
            self.answer(py, prompt, &request.schema).map_err(|error| {
                let message = error.to_string();
                if let Ok(mut raised) = self.raised.lock() {
                    *raised = Some(error);
                }
                LlmError::Command { model: self.name.clone(), message }
            })
        });
        answer.map(|text| Completion { text, usage: None, finish_reason: FinishReason::Stop })
    }
}

/// Whether this is no error to be handled, but the end of the program or an interrupt.
pub(crate) fn ends_program(py: Python<'_>, error: &PyErr) -> bool {
    !error.is_instance_of::<PyException>(py)
}
