"""What the rule says, by hand."""

import json


def blocks(message):
    content = message.get("content")
    return content if isinstance(content, list) else []


def output(result):
    content = result.get("content")
    if isinstance(content, list):
        return "\n".join(block["text"] for block in content if block["type"] == "text")
    return content


def extract(event, Result):
    result = Result(event.get("session_id"))
    if event["event_type"] != "agent.turn":
        return result
    messages = event.get("messages", [])
    results = {}
    errors = 0
    for message in messages:
        for block in blocks(message):
            if block["type"] == "tool_result":
                results.setdefault(block["tool_use_id"], block)
                errors += block.get("is_error") is True
    uses = [(message, block) for message in messages for block in blocks(message) if block["type"] == "tool_use"]
    asked = [message["content"] for message in messages if message["role"] == "user" and isinstance(message.get("content"), str)]
    turn = result.node(
        "Turn",
        {"turn": event.get("turn")},
        model=event.get("model"),
        calls=len(uses),
        tools=", ".join(sorted({block["name"] for _, block in uses})),
        errors=errors,
        asked=asked[-1] if asked else None,
    )
    for message, block in uses:
        given = block["input"]
        named = given if isinstance(given, dict) else {}
        found = results.get(block["id"])
        call = result.node(
            "ToolCall",
            {"call_id": block["id"]},
            tool=block["name"],
            input=json.dumps(given, ensure_ascii=False, separators=(",", ":")),
            command=named["command"].strip() if "command" in named else None,
            path=named.get("file_path", named.get("path")),
            output=output(found) if found else None,
            answered=found is not None,
            failed=found.get("is_error") is True if found else None,
        )
        result.edge("MADE", turn, call, role=message["role"])
    result.span(event.get("span_id"), partially=event.get("truncated") is True)
    return result
