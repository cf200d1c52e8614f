//! Which entry of the services' logs belongs to which call of an agent's.
//!
//! The two know nothing of each other but the tool's name, and their clocks differ. So a call belongs to the entry of the same tool
//! that is nearest in time, within two seconds, and each entry to one call at most: the nearest pairs first.

use retort_guest::prelude::*;

extractor! {
    function: correlate_calls,
    event_types: ["agent.turn.completed"],
    on_duplicate: "last",
    inputs: {
        session: ["session_id"],
        span_id: ["span_id"],
        turn_id: ["content", "turn_id"],
    },
    rows: {
        calls: each ["content", "calls"] { id: ["call_id"], tool: ["tool"], at: ["at_ms"] },
        entries: each ["content", "service_log"] {
            id: ["entry_id"],
            tool: ["operation"],
            at: ["received_ms"],
            status: ["status"],
        },
    },
}

/// How far the clocks may be apart.
const TOLERANCE_MS: u64 = 2_000;

fn correlate_calls(event: &Event<'_>, graph: &mut Graph) {
    graph.session(event.session);
    let mut calls = Vec::new();
    for call in event.calls() {
        let draft = graph.node("Call").key("turn_id", event.turn_id).key("call_id", call.id);
        let Some(mut node) = draft.add() else { continue };
        node.set("tool", call.tool).set("at_ms", call.at.i64());
        calls.push((node.id(), call.tool, call.at.i64()));
    }
    let mut entries = Vec::new();
    for entry in event.entries() {
        let Some(mut node) = graph.node("Entry").key("entry_id", entry.id).add() else { continue };
        node.set("tool", entry.tool).set("status", entry.status);
        entries.push((node.id(), entry.tool, entry.at.i64()));
    }

    // All pairs that may belong together, the nearest first; what is as near goes by the order of the lists.
    let mut pairs = Vec::new();
    for (call_index, (_, tool, call_at)) in calls.iter().enumerate() {
        for (entry_index, (_, operation, entry_at)) in entries.iter().enumerate() {
            let (Some(call_at), Some(entry_at)) = (*call_at, *entry_at) else { continue };
            let apart = call_at.abs_diff(entry_at);
            if apart <= TOLERANCE_MS && tool.is_some() && tool.raw() == operation.raw() {
                pairs.push((apart, call_index, entry_index, entry_at.wrapping_sub(call_at)));
            }
        }
    }
    pairs.sort_unstable();
    let (mut served, mut taken) = (vec![false; calls.len()], vec![false; entries.len()]);
    for (_, call, entry, offset) in pairs {
        if served[call] || taken[entry] {
            continue;
        }
        (served[call], taken[entry]) = (true, true);
        graph.edge("SERVED_AS", calls[call].0, entries[entry].0).set("offset_ms", offset);
    }
    graph.fully_handled(event.span_id);
}

#[cfg(test)]
mod tests {
    use retort_guest::mock::{self, MockResult};

    fn run(calls: &[(&str, &str, i64)], entries: &[(&str, &str, i64)]) -> MockResult {
        let list = |all: &[(&str, &str, i64)], names: [&str; 3]| {
            let [id, tool, at] = names;
            let one = |(a, b, c): &(&str, &str, i64)| {
                format!(r#"{{"{id}": "{a}", "{tool}": "{b}", "{at}": {c}}}"#)
            };
            all.iter().map(one).collect::<Vec<_>>().join(",")
        };
        let event = format!(
            r#"{{"session_id": "s", "content": {{"turn_id": "t", "calls": [{}], "service_log": [{}]}}}}"#,
            list(calls, ["call_id", "tool", "at_ms"]),
            list(entries, ["entry_id", "operation", "received_ms"]),
        );
        mock::event::<super::Extractor>(&event).run()
    }

    fn pairs(result: &MockResult) -> Vec<(&str, &str)> {
        let last = |id: &'_ str| id.rfind('=').map_or(0, |at| at + 1);
        result.edges.iter().map(|it| (&it.from[last(&it.from)..], &it.to[last(&it.to)..])).collect()
    }

    #[test]
    fn the_nearest_pair_comes_first_and_each_entry_is_taken_once() {
        let result = run(
            &[("c1", "search", 10_000), ("c2", "search", 11_000)],
            &[("e1", "search", 11_100), ("e2", "search", 9_000)],
        );
        assert_eq!(pairs(&result), [("c2", "e1"), ("c1", "e2")]);
        assert_eq!(result.edges[1].property("offset_ms").i64(), Some(-1_000));
    }

    #[test]
    fn other_tools_and_times_too_far_apart_do_not_match() {
        let result = run(
            &[("c1", "search", 10_000), ("c2", "book", 10_000)],
            &[("e1", "pay", 10_000), ("e2", "search", 12_001)],
        );
        assert_eq!(result.nodes.len(), 4);
        assert!(result.edges.is_empty());
        let result = run(&[("c", "search", 10_000)], &[("e", "search", 12_000)]);
        assert_eq!(pairs(&result), [("c", "e")]);
    }
}
