//! Which end of a tool's call belongs to which beginning, by tool and time alone.
//!
//! The rows of a session say it: both have one span. The extractor isn't given that, so it is held to a reference for what it computes,
//! and its pairs to the truth.

use std::path::Path;

use serde_json::{Value, json};

use super::sessions::{FILES, Session, ends_call, milliseconds, sessions};
use super::{Compiled, property, source_of};

/// The farthest that a call and an entry may be apart, as the example says.
const TOLERANCE_MS: i64 = 2_000;

/// A beginning or an end of a call.
struct Step {
    id: String,
    tool: String,
    at: i64,
    status: Value,
}

pub(super) fn check(rustc: &Path, corpora: &Path) -> String {
    let mut example = Compiled::new(rustc, "tool-timing", &source_of("tool-timing"));
    let (mut rows, mut events, mut calls, mut entries) = (0, 0, 0, 0);
    let (mut pairs, mut right) = (0, 0);
    for file in FILES {
        for session in sessions(corpora, file) {
            rows += session.rows.len();
            events += 1;
            let (begun, ended) = steps(&session);
            let found = example.run(&event(&session, &begun, &ended));
            let last = |id: &str| id.rsplit_once('=').map(|(_, id)| id.to_owned()).unwrap();
            let found_pairs: Vec<(String, String, i64)> = found
                .edges
                .iter()
                .map(|edge| {
                    let offset = property(&edge.properties, "offset_ms").as_i64().unwrap();
                    (last(&edge.from_node_id), last(&edge.to_node_id), offset)
                })
                .collect();
            let mut sorted = found_pairs.clone();
            sorted.sort();
            assert_eq!(sorted, reference(&begun, &ended), "{}", session.id);
            let count = |name: &str| found.nodes.iter().filter(|it| it.entity_name == name).count();
            assert_eq!((count("Call"), count("Entry")), (begun.len(), ended.len()));
            (calls, entries) = (calls + begun.len(), entries + ended.len());
            pairs += found_pairs.len();
            right += found_pairs.iter().filter(|(call, entry, _)| call == entry).count();
        }
    }
    assert_eq!((rows, events), (2_480, 249));
    assert_eq!((calls, entries, pairs, right), (CALLS, ENTRIES, PAIRS, RIGHT));
    format!(
        "{rows} rows of agent_telemetry as {events} events: {calls} calls, {entries} entries, {pairs} pairs, {right} of one span"
    )
}

/// What came of it when it was written: pairs of one span are right ones.
const CALLS: usize = 2_212;
const ENTRIES: usize = 2_212;
const PAIRS: usize = 2_210;
const RIGHT: usize = 2_208;

/// The beginnings and the ends of calls. Where rows have the ends alone, a call began as long before as it took.
fn steps(session: &Session) -> (Vec<Step>, Vec<Step>) {
    let step = |row: &Value, at: i64| Step {
        id: row["span_id"].as_str().unwrap().to_owned(),
        tool: row["content"]["tool"].as_str().unwrap().to_owned(),
        at,
        status: row["status"].clone(),
    };
    let starts = session.rows.iter().filter(|row| row["event_type"] == "TOOL_STARTING");
    let starts: Vec<Step> = starts.map(|row| step(row, milliseconds(row))).collect();
    let ended = session.rows.iter().filter(|row| ends_call(row));
    let begun = |row: &Value| {
        let took = row["latency_ms"]["total_ms"].as_i64().unwrap_or(0);
        step(row, milliseconds(row) - took)
    };
    let is_complete = session.rows.iter().any(|row| row["event_type"] == "TOOL_STARTING");
    let begun = if is_complete { starts } else { ended.clone().map(begun).collect() };
    (begun, ended.map(|row| step(row, milliseconds(row))).collect())
}

fn event(session: &Session, begun: &[Step], ended: &[Step]) -> String {
    let call = |it: &Step| json!({"call_id": it.id, "tool": it.tool, "at_ms": it.at});
    let entry = |it: &Step| json!({"entry_id": it.id, "operation": it.tool, "received_ms": it.at, "status": it.status});
    let content = json!({
        "turn_id": session.id,
        "calls": begun.iter().map(call).collect::<Vec<_>>(),
        "service_log": ended.iter().map(entry).collect::<Vec<_>>(),
    });
    let event = json!({"event_type": "agent.turn.completed", "session_id": session.id,
        "span_id": session.id, "content": content});
    event.to_string()
}

/// The pairs, sorted: again and again, the nearest of all calls and entries that are left, of equals the first call's first entry.
fn reference(begun: &[Step], ended: &[Step]) -> Vec<(String, String, i64)> {
    let (mut begun, mut ended): (Vec<&Step>, Vec<&Step>) =
        (begun.iter().collect(), ended.iter().collect());
    let mut pairs = Vec::new();
    loop {
        let mut nearest: Option<(i64, usize, usize)> = None;
        for (call, one) in begun.iter().enumerate() {
            for (entry, other) in ended.iter().enumerate() {
                let apart = (other.at - one.at).abs();
                let is_nearer = nearest.is_none_or(|(least, ..)| apart < least);
                if one.tool == other.tool && apart <= TOLERANCE_MS && is_nearer {
                    nearest = Some((apart, call, entry));
                }
            }
        }
        let Some((_, call, entry)) = nearest else { break };
        let (call, entry) = (begun.remove(call), ended.remove(entry));
        pairs.push((call.id.clone(), entry.id.clone(), entry.at - call.at));
    }
    pairs.sort();
    pairs
}
