//! The sessions of agents: the rows of each, in the order in which they were written.

use std::path::Path;

use serde_json::Value;

/// The corpora of agents' telemetry that have whole sessions.
pub(super) const FILES: [&str; 3] = [
    "agent_telemetry/adk_fixture_synthetic.ndjson",
    "agent_telemetry/seeded_decision.ndjson",
    "agent_telemetry/mako_tools.ndjson",
];

/// Those in which a user speaks.
pub(super) const SPOKEN: [&str; 2] = [FILES[0], FILES[1]];

/// What one agent did.
pub(super) struct Session {
    pub(super) id: String,
    pub(super) rows: Vec<Value>,
}

/// All rows of a file by their session; of sessions the one that begins first is the first.
pub(super) fn sessions(corpora: &Path, file: &str) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    for (_, row) in super::events(corpora, file) {
        let id = row["session_id"].as_str().unwrap().to_owned();
        match sessions.iter_mut().find(|session| session.id == id) {
            Some(session) => session.rows.push(row),
            None => sessions.push(Session { id, rows: vec![row] }),
        }
    }
    sessions
}

/// Whether a row is the end of a tool's call.
pub(super) fn ends_call(row: &Value) -> bool {
    row["event_type"] == "TOOL_COMPLETED" || row["event_type"] == "TOOL_ERROR"
}

pub(super) fn milliseconds(row: &Value) -> i64 {
    let time: jiff::Timestamp = row["timestamp"].as_str().unwrap().parse().unwrap();
    time.as_millisecond()
}
