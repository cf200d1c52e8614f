//! What a model is asked, from the first prompt on.

use super::RetryStrategy;
use crate::fence::{self, Escape};
use crate::llm::{LlmRequest, Message, Role};
use crate::{plan, prompt};

/// What stands for an answer without text: providers take no empty turns.
const NO_TEXT: &str = "(no text)";

/// What is known of the answer that failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rejected<'a> {
    /// The answer as it came.
    pub(super) response: &'a str,
    /// The plan that the diagnostic is about: the answer, or what mending made of it.
    pub(super) judged: &'a str,
    /// Whether mending changed it.
    pub(super) was_mended: bool,
    /// What the model is told.
    pub(super) feedback: &'a str,
}

/// The turns that make up the next request.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    strategy: RetryStrategy,
    original: String,
    messages: Vec<Message>,
}

impl Conversation {
    pub(super) fn new(strategy: RetryStrategy, original: String) -> Self {
        let messages = vec![Message { role: Role::User, text: original.clone() }];
        Self { strategy, original, messages }
    }

    /// The next request, with a copy of the schema of its own.
    pub(super) fn request(&self) -> LlmRequest {
        LlmRequest { messages: self.messages.clone(), schema: plan::schema() }
    }

    /// The text of the last turn: what is asked now.
    pub(super) fn last(&self) -> &str {
        self.messages.last().map_or("", |message| message.text.as_str())
    }

    /// Goes on after an answer that failed.
    pub(super) fn go_on(&mut self, rejected: Rejected<'_>) {
        match self.strategy {
            RetryStrategy::Fresh => {
                let text = prompt::retry(&self.original, rejected.judged, rejected.feedback);
                self.messages = vec![Message { role: Role::User, text }];
            }
            RetryStrategy::Continue => {
                let blank = rejected.response.trim().is_empty();
                let said = if blank { NO_TEXT } else { rejected.response };
                self.messages.push(Message { role: Role::Assistant, text: said.to_owned() });
                self.messages.push(Message { role: Role::User, text: follow_up(rejected) });
            }
        }
    }
}

/// A further turn of a conversation in which the answer itself stands already.
fn follow_up(rejected: Rejected<'_>) -> String {
    let Rejected { judged, was_mended, feedback, .. } = rejected;
    let mended = if was_mended {
        // What was mended is JSON.
        let plan = serde_json::from_str(judged).unwrap_or_default();
        let block = fence::block("json", &fence::pretty(&plan, Escape::Ascii));
        format!("The plan that was judged is your answer as it was mended:\n\n{block}\n")
    } else {
        String::new()
    };
    format!(
        "That answer was rejected.\n\n{mended}{feedback}\n\nAnswer with the whole corrected plan as one JSON object.\n"
    )
}
