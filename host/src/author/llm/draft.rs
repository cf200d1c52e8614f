//! A client that answers without a model.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;

use super::{Completion, FinishReason, LlmClient, LlmError, LlmRequest};
use crate::author::draft::{DraftError, Drafts};
use crate::bundle::apart::compute;
use crate::evidence::Task;

/// Answers with what can be told of a task without a model: the draft that suits it best, and asked again, the next best.
///
/// It doesn't read what it is asked. When there are no more drafts it gives the best one again, so that whoever asks sees
/// the same answer twice and can stop. Drafts are worked out when it is first asked, on a thread of their own, which ends
/// soon after nobody waits for the answer any longer. Needs a tokio runtime.
#[derive(Debug)]
pub struct Draft {
    task: Arc<Task>,
    drafts: OnceLock<Result<Drafts, DraftError>>,
    asked: AtomicUsize,
}

impl Draft {
    /// A client for one task.
    #[must_use]
    pub fn new(task: &Task) -> Self {
        let (drafts, asked) = (OnceLock::new(), AtomicUsize::new(0));
        Self { task: Arc::new(task.clone()), drafts, asked }
    }
}

#[async_trait]
impl LlmClient for Draft {
    fn name(&self) -> &'static str {
        "draft"
    }

    async fn generate_json(&self, _request: LlmRequest) -> Result<Completion, LlmError> {
        let config =
            |error: &dyn std::fmt::Display| LlmError::Config { message: error.to_string() };
        let drafts = match self.drafts.get() {
            Some(drafts) => drafts,
            None => {
                let task = Arc::clone(&self.task);
                let drafted = compute(move |cancel| Drafts::until(&task, cancel)).await;
                let drafted = drafted.map_err(|error| config(&error))?;
                self.drafts.get_or_init(|| drafted)
            }
        };
        let drafts = drafts.as_ref().map_err(|error| config(error))?;
        let earlier = self.asked.fetch_add(1, Ordering::Relaxed);
        let plan = drafts.after(earlier).unwrap_or_else(|| drafts.best());
        Ok(Completion { text: format!("{plan:#}"), usage: None, finish_reason: FinishReason::Stop })
    }

    fn remark(&self) -> Option<String> {
        let drafts = self.drafts.get()?.as_ref().ok().filter(|drafts| !drafts.is_whole())?;
        Some(format!(
            "the draft is made of a part of rule, graph spec and samples: the search ended at its limit, after {} comparisons of a property with a path",
            drafts.compared()
        ))
    }

    fn costs_tokens(&self) -> bool {
        false
    }
}
