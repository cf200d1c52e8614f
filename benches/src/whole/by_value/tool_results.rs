//! What an agent's tools gave.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use super::{Graph, Scalar, id, in_id, json, list, sorted, text};

pub(super) fn fill<'a>(event: &'a Value, graph: &mut Graph<'a>) -> Option<()> {
    if event["event_type"] != "agent.turn" {
        return None;
    }
    let session = in_id(&event["session_id"]).unwrap_or_default();
    let messages = list(&event["messages"]);
    let blocks = || {
        messages
            .iter()
            .flat_map(|message| list(&message["content"]).iter().map(move |block| (message, block)))
    };
    let mut results = HashMap::new();
    let mut errors = 0;
    for (_, block) in blocks().filter(|(_, block)| block["type"] == "tool_result") {
        if let Some(of) = block["tool_use_id"].as_str() {
            results.entry(of).or_insert(block);
        }
        errors += i64::from(block["is_error"] == true);
    }
    let uses: Vec<(&Value, &Value)> =
        blocks().filter(|(_, block)| block["type"] == "tool_use").collect();
    let turn = in_id(&event["turn"]).map(|turn| id(&session, "Turn", format_args!("turn={turn}")));
    if let Some(turn) = &turn {
        let asked = messages.iter().rev();
        let mut asked = asked.filter(|it| it["role"] == "user" && it["content"].is_string());
        let names = uses.iter().filter_map(|(_, block)| block["name"].as_str());
        let properties = [
            ("turn", json(&event["turn"])),
            ("model", json(&event["model"])),
            ("calls", Some(Scalar::Integer(uses.len() as i64))),
            ("tools", sorted(names, ", ")),
            ("errors", Some(Scalar::Integer(errors))),
            ("asked", asked.next().and_then(|message| json(&message["content"]))),
        ];
        graph.node(turn.clone(), "Turn", properties);
    }
    for (message, block) in uses {
        let Some(own) = block["id"].as_str() else { continue };
        let result = results.get(own).copied();
        let input = &block["input"];
        let path = input.get("file_path").or_else(|| input.get("path"));
        let call = id(&session, "ToolCall", format_args!("call_id={own}"));
        let properties = [
            ("call_id", json(&block["id"])),
            ("tool", json(&block["name"])),
            ("input", text(input.to_string())),
            ("command", input["command"].as_str().and_then(|command| text(command.trim()))),
            ("path", path.and_then(json)),
            ("output", result.and_then(|result| output(&result["content"]))),
            ("answered", Some(Scalar::Boolean(result.is_some()))),
            ("failed", result.map(|result| Scalar::Boolean(result["is_error"] == true))),
        ];
        graph.node(call.clone(), "ToolCall", properties);
        if let Some(turn) = &turn {
            graph.edge("MADE", turn, &call, [("role", json(&message["role"]))]);
        }
    }
    if let Some(span) = in_id(&event["span_id"]).filter(|_| !graph.nodes.is_empty()) {
        if event["truncated"] == true {
            graph.partially_handled_span_ids.push(span);
        } else {
            graph.fully_handled_span_ids.push(span);
        }
    }
    Some(())
}

fn output(content: &Value) -> Option<Scalar<'_>> {
    let Value::Array(blocks) = content else { return json(content) };
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    let texts: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
    text(Cow::Owned(texts.join("\n")))
}
