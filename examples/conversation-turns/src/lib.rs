//! The turns of a conversation, and how each of them ended: a small machine that goes over the messages.
//!
//! A turn begins with a message of the user. It is answered when the assistant says something that calls no tool; it has failed
//! when a tool's last word was an error and no answer came; and it is abandoned when the user speaks again, or the
//! conversation ends, before that.

use retort_guest::prelude::*;

extractor! {
    function: read_turns,
    event_types: ["conversation.ended"],
    on_duplicate: "last",
    inputs: {
        session: ["session_id"],
        span_id: ["span_id"],
        conversation_id: ["content", "conversation_id"],
    },
    rows: {
        messages: each ["content", "messages"] {
            role: ["role"],
            text: ["text"],
            tool_calls: ["tool_calls"],
            tool: ["tool"],
            error: truthy ["error"],
        },
    },
}

/// Where a turn is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The user has spoken.
    Asked,
    /// A tool was called and hasn't given anything yet.
    Calling,
    /// A tool gave something.
    Informed,
    /// A tool failed.
    Failed,
    /// The assistant has answered.
    Answered,
}

/// A turn, as far as it has been seen.
struct Turn {
    state: State,
    tool_calls: i64,
    /// Calls of a tool whose call before had failed.
    retries: i64,
    failed_tools: Vec<String>,
}

impl Turn {
    fn new() -> Self {
        Self { state: State::Asked, tool_calls: 0, retries: 0, failed_tools: Vec::new() }
    }

    fn assistant(&mut self, calls: &[Call]) {
        self.state = if calls.is_empty() { State::Answered } else { State::Calling };
        for call in calls {
            self.tool_calls += 1;
            if let Some(at) = self.failed_tools.iter().position(|tool| *tool == call.name) {
                self.failed_tools.remove(at);
                self.retries += 1;
            }
        }
    }

    fn tool(&mut self, name: &str, failed: bool) {
        self.state = if failed { State::Failed } else { State::Informed };
        if failed {
            self.failed_tools.push(name.to_string());
        }
    }

    fn outcome(&self) -> &'static str {
        match self.state {
            State::Answered => "answered",
            State::Failed => "failed",
            State::Asked | State::Calling | State::Informed => "abandoned",
        }
    }
}

record! {
    struct Call { name: String }
}

fn read_turns(event: &Event<'_>, graph: &mut Graph) {
    graph.session(event.session);
    let mut turns: Vec<Turn> = Vec::new();
    for message in event.messages() {
        match message.role.str().as_deref() {
            Some("user") => turns.push(Turn::new()),
            Some("assistant") => {
                let calls: Vec<Call> = message.tool_calls.parse().unwrap_or_default();
                // Whatever is said before the user has spoken is a greeting.
                let Some(turn) = turns.last_mut() else { continue };
                if !calls.is_empty() || message.text.is_some() {
                    turn.assistant(&calls);
                }
            }
            Some("tool") => {
                let Some(turn) = turns.last_mut() else { continue };
                turn.tool(&message.tool.str().unwrap_or_default(), message.error.is_true());
            }
            _ => {}
        }
    }

    let draft = graph.node("Conversation").key("conversation_id", event.conversation_id);
    let Some(mut conversation) = draft.add() else { return };
    conversation.set("turns", turns.len());
    let answered = turns.iter().filter(|turn| turn.state == State::Answered).count();
    conversation.set("answered", answered);
    let conversation = conversation.id();

    let mut before = None;
    for (index, turn) in turns.iter().enumerate() {
        let draft = graph.node("Turn").key("conversation_id", event.conversation_id);
        let Some(mut node) = draft.key("turn_no", index + 1).add() else { continue };
        node.set("outcome", turn.outcome());
        node.set("tool_calls", turn.tool_calls).set("retries", turn.retries);
        let node = node.id();
        graph.edge("HAS_TURN", conversation, node);
        if let Some(before) = before {
            graph.edge("THEN", before, node);
        }
        before = Some(node);
    }
    graph.fully_handled(event.span_id);
}

#[cfg(test)]
mod tests {
    use retort_guest::mock;

    /// The outcome of each turn, with its calls and retries.
    fn turns(messages: &str) -> Vec<(String, i64, i64)> {
        let event = format!(r#"{{"content": {{"conversation_id": 1, "messages": {messages}}}}}"#);
        let result = mock::event::<super::Extractor>(&event).run();
        let turns = result.nodes.iter().filter(|node| node.entity == "Turn");
        let number = |node: &mock::MockNode, name: &str| node.property(name).i64().unwrap();
        turns
            .map(|turn| {
                let outcome = turn.property("outcome").str().unwrap().to_string();
                (outcome, number(turn, "tool_calls"), number(turn, "retries"))
            })
            .collect()
    }

    #[test]
    fn a_turn_ends_in_one_of_three_ways() {
        let found = turns(
            r#"[{"role": "assistant", "text": "Hello"}, {"role": "user", "text": "a"}, {"role": "assistant", "text": "b"},
                {"role": "user", "text": "c"}, {"role": "user", "text": "d"},
                {"role": "assistant", "tool_calls": [{"name": "t"}]}, {"role": "tool", "tool": "t", "error": "no"}]"#,
        );
        let expected = [("answered", 0, 0), ("abandoned", 0, 0), ("failed", 1, 0)];
        assert_eq!(
            found,
            expected.map(|(outcome, calls, retries)| (outcome.to_string(), calls, retries))
        );
    }

    #[test]
    fn a_tool_that_failed_and_is_called_again_is_a_retry() {
        let found = turns(
            r#"[{"role": "user"}, {"role": "assistant", "text": "let me see", "tool_calls": [{"name": "t"}, {"name": "u"}]},
                {"role": "tool", "tool": "t", "error": true}, {"role": "tool", "tool": "u"},
                {"role": "assistant", "tool_calls": [{"name": "t"}]}, {"role": "tool", "tool": "t"},
                {"role": "assistant", "text": "here"}]"#,
        );
        assert_eq!(found, [("answered".to_string(), 3, 1)]);
    }
}
