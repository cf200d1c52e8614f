//! The turns of agents' sessions, and how each of them ended.

use std::path::Path;

use serde_json::{Value, json};

use super::sessions::{SPOKEN, Session, ends_call, sessions};
use super::{Compiled, property, source_of};

/// How many turns ended in which way: answered, failed, abandoned.
type Ends = [usize; 3];

const OUTCOMES: [&str; 3] = ["answered", "failed", "abandoned"];

pub(super) fn check(rustc: &Path, corpora: &Path) -> String {
    let mut example = Compiled::new(rustc, "conversation-turns", &source_of("conversation-turns"));
    let (mut rows, mut events, mut messages) = (0, 0, 0);
    let (mut ends, mut calls, mut retries): (Ends, i64, i64) = ([0; 3], 0, 0);
    for file in SPOKEN {
        for session in sessions(corpora, file) {
            rows += session.rows.len();
            events += 1;
            let said: Vec<Value> = session.rows.iter().flat_map(messages_of).collect();
            messages += said.len();
            let found = example.run(&event(&session, &said));
            let turns = found.nodes.iter().filter(|it| it.entity_name == "Turn");
            let turns: Vec<Turn> = turns
                .map(|turn| {
                    let value = |name| property(&turn.properties, name);
                    let number = |name| value(name).as_i64().unwrap();
                    let outcome = value("outcome").as_str().unwrap().to_owned();
                    (number("turn_no"), outcome, number("tool_calls"), number("retries"))
                })
                .collect();
            assert_eq!(turns, reference(&said), "{}", session.id);
            for (_, outcome, of_turn, again) in &turns {
                let end = OUTCOMES.iter().position(|it| it == outcome).unwrap();
                ends[end] += 1;
                (calls, retries) = (calls + of_turn, retries + again);
            }
            let count = |name| found.edges.iter().filter(|it| it.relationship_name == name).count();
            let pairs = (count("HAS_TURN"), count("THEN"));
            assert_eq!(pairs, (turns.len(), turns.len().saturating_sub(1)), "{}", session.id);
        }
    }
    assert_eq!((rows, events), (1_280, 206));
    assert_eq!((messages, ends, calls, retries), (MESSAGES, ENDS, CALLS, RETRIES));
    let [answered, failed, abandoned] = ends;
    format!(
        "{rows} rows of agent_telemetry as {events} events with {messages} messages: {answered} turns answered, {failed} failed, \
         {abandoned} abandoned; {calls} calls, {retries} of them again"
    )
}

/// What came of it when it was written.
const MESSAGES: usize = 2_031;
const ENDS: Ends = [204, 0, 1];
const CALLS: i64 = 809;
const RETRIES: i64 = 1;

/// Number, outcome, calls and retries.
type Turn = (i64, String, i64, i64);

/// What a row says. Of sessions that have the ends of calls alone, each is a call and what came of it, and who hands a request in is
/// the user.
fn messages_of(row: &Value) -> Vec<Value> {
    let content = &row["content"];
    let call = |name: &str| json!({"name": name});
    match row["event_type"].as_str().unwrap() {
        "USER_MESSAGE_RECEIVED" => {
            vec![json!({"role": "user", "text": content["text_summary"]})]
        }
        "LLM_RESPONSE" => {
            let response = content["response"].as_str().unwrap_or_default();
            let parts: Vec<&str> = response.split(" | ").collect();
            let names = parts.iter().filter_map(|part| part.strip_prefix("call: "));
            let mut calls: Vec<Value> = names.map(call).collect();
            let listed = content["function_calls"].as_array().into_iter().flatten();
            calls.extend(listed.map(|it| json!({"name": it["name"]})));
            let text = parts.iter().find_map(|part| part.strip_prefix("text: "));
            let text = text.or(content["text"].as_str());
            vec![json!({"role": "assistant", "text": text, "tool_calls": calls})]
        }
        "AGENT_COMPLETED" if content["final"] == true => {
            vec![json!({"role": "assistant", "text": "done"})]
        }
        _ if !ends_call(row) => Vec::new(),
        _ if content["tool"] == "submit_request" => {
            vec![json!({"role": "user", "text": content["result"]["request_text"]})]
        }
        event_type => {
            let error = match event_type {
                "TOOL_ERROR" => json!("failed"),
                _ => row["error_message"].clone(),
            };
            let given = json!({"role": "tool", "tool": content["tool"], "error": error});
            let is_called = row["parent_span_id"].is_string();
            let called = json!({"role": "assistant", "tool_calls": [{"name": content["tool"]}]});
            if is_called { vec![given] } else { vec![called, given] }
        }
    }
}

fn event(session: &Session, messages: &[Value]) -> String {
    let content = json!({"conversation_id": session.id, "messages": messages});
    let event = json!({"event_type": "conversation.ended", "session_id": session.id,
        "span_id": session.id, "content": content});
    event.to_string()
}

/// The turns, each by looking at all its messages at once.
fn reference(messages: &[Value]) -> Vec<Turn> {
    let starts = messages.iter().enumerate().filter(|(_, it)| it["role"] == "user");
    let starts: Vec<usize> = starts.map(|(index, _)| index).collect();
    let ends = starts.iter().skip(1).copied().chain([messages.len()]);
    let turns = starts.iter().zip(ends).enumerate();
    let turn = |(index, (start, end)): (usize, (&usize, usize))| {
        let own = &messages[start + 1..end];
        let called = |it: &Value| {
            let calls = it["tool_calls"].as_array().into_iter().flatten();
            calls.map(|call| call["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        // What says neither a word nor calls anything is no message.
        let counts =
            |it: &&Value| it["role"] == "tool" || it["text"].is_string() || !called(it).is_empty();
        let outcome = match own.iter().rfind(counts) {
            Some(it) if it["role"] == "tool" && it["error"].is_string() => "failed",
            Some(it) if it["role"] == "assistant" && called(it).is_empty() => "answered",
            _ => "abandoned",
        };
        // A call is one again as often as the tool failed before it, less those that were called again already.
        let (mut retries, mut calls) = (0, 0);
        let mut names: Vec<String> = own.iter().flat_map(called).collect();
        names.sort();
        names.dedup();
        for name in names {
            let mut open = 0;
            for message in own {
                let of_name = called(message).into_iter().filter(|it| *it == name).count() as i64;
                calls += of_name;
                let again = of_name.min(open);
                (retries, open) = (retries + again, open - again);
                let failed = message["role"] == "tool" && message["tool"] == name.as_str();
                open += i64::from(failed && message["error"].is_string());
            }
        }
        (index as i64 + 1, outcome.to_owned(), calls, retries)
    };
    turns.map(turn).collect()
}
