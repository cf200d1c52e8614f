//! A client that answers without a model.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;

use super::{Completion, FinishReason, LlmClient, LlmError, LlmRequest};
use crate::draft::{DraftError, Drafts};
use crate::task::Task;

/// Answers with what can be told of a task without a model: the draft that suits it best, and asked again, the next best.
///
/// It doesn't read what it is asked. When there are no more drafts it gives the best one again, so that whoever asks sees
/// the same answer twice and can stop.
#[derive(Debug)]
pub struct Draft {
    drafts: Result<Drafts, DraftError>,
    asked: AtomicUsize,
}

impl Draft {
    /// A client for one task.
    #[must_use]
    pub fn new(task: &Task) -> Self {
        Self { drafts: Drafts::new(task), asked: AtomicUsize::new(0) }
    }
}

#[async_trait]
impl LlmClient for Draft {
    fn name(&self) -> &'static str {
        "draft"
    }

    async fn generate_json(&self, _request: LlmRequest) -> Result<Completion, LlmError> {
        let drafts = self
            .drafts
            .as_ref()
            .map_err(|error| LlmError::Config { message: error.to_string() })?;
        let earlier = self.asked.fetch_add(1, Ordering::Relaxed);
        let plan = drafts.after(earlier).unwrap_or_else(|| drafts.best());
        Ok(Completion { text: format!("{plan:#}"), usage: None, finish_reason: FinishReason::Stop })
    }

    fn costs_tokens(&self) -> bool {
        false
    }
}
