//! A client that answers with first sketches from names and types, without a model.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;

use super::{Completion, FinishReason, LlmClient, LlmError, LlmRequest};
use crate::author::background::run_blocking;
use crate::author::draft::{DraftError, Sketch, draft_until};
use crate::evidence::Task;

/// Answers with a first sketch from names and types.
///
/// It doesn't read what it is asked: there is one sketch for a task, and whoever asks again sees it again and can stop. It is
/// computed when it is first asked for, on a thread of its own, which ends soon after nobody waits for the answer any longer.
/// Needs a tokio runtime.
#[derive(Debug)]
pub struct Draft {
    task: Arc<Task>,
    sketch: OnceLock<Result<Sketch, DraftError>>,
}

impl Draft {
    /// A client for one task.
    #[must_use]
    pub fn new(task: &Task) -> Self {
        Self { task: Arc::new(task.clone()), sketch: OnceLock::new() }
    }
}

#[async_trait]
impl LlmClient for Draft {
    fn name(&self) -> &'static str {
        "draft"
    }

    async fn generate_json(&self, _request: LlmRequest) -> Result<Completion, LlmError> {
        let sketch = match self.sketch.get() {
            Some(sketch) => sketch,
            None => {
                let task = Arc::clone(&self.task);
                let drafted = run_blocking(move |cancel| draft_until(&task, cancel)).await;
                let drafted =
                    drafted.map_err(|error| LlmError::Config { message: error.to_string() })?;
                self.sketch.get_or_init(|| drafted)
            }
        };
        let plan = sketch.as_ref().map_err(no_sketch)?.plan();
        Ok(Completion { text: format!("{plan:#}"), usage: None, finish_reason: FinishReason::Stop })
    }

    fn remark(&self) -> Option<String> {
        self.sketch.get()?.as_ref().ok().map(ToString::to_string)
    }

    fn costs_tokens(&self) -> bool {
        false
    }
}

fn no_sketch(error: &DraftError) -> LlmError {
    let message = error.to_string();
    match error {
        DraftError::NoEntity => LlmError::DraftNoEntity { message },
        DraftError::NoKey { .. } | DraftError::FewProperties { .. } => {
            LlmError::DraftNoKey { message }
        }
        DraftError::Limit { .. } => LlmError::DraftLimit { message },
    }
}
