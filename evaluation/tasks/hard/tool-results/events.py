"""Turns of an agent, with content in blocks."""

COMMANDS = ["ls -la", " git status\n", "cargo test", "grep -rn 'ä' src", "cat notes.txt"]
PATHS = ["src/main.rs", "README.md", "docs/größe.md"]
OUTPUTS = ["ok", "total 12\ndrwxr-xr-x", "", "error: no such file", "3 matches \"quoted\""]
ASKED = ["Fix the test", "Why is this slow?", "Grüße", "list the files"]


def text(choices):
    return {"type": "text", "text": choices.one_of(["Let me look.", "Done.", "I'll check that."])}


def use(choices):
    tool = choices.one_of(["bash", "read", "edit", "search"])
    if tool == "bash":
        given = {"command": choices.one_of(COMMANDS), "timeout": choices.one_of([10, 30.5])}
    elif tool == "search":
        given = {"query": choices.one_of(["fuel", "limit"]), "options": {"deep": choices.chance(0.5)}} if choices.chance(0.8) else {}
    else:
        given = {choices.one_of(["file_path", "file_path", "path"]): choices.one_of(PATHS)}
    return {"type": "tool_use", "id": f"toolu_{choices.hexadecimal(10)}", "name": tool, "input": given}


def result(choices, used):
    made = {"type": "tool_result", "tool_use_id": used}
    form = choices.below(4)
    if form == 0:
        blocks = [{"type": "text", "text": choices.one_of(OUTPUTS)} for _ in range(choices.whole(1, 3))]
        if choices.chance(0.3):
            blocks.insert(1, {"type": "image", "source": {"media_type": "image/png", "data": "aGk="}})
        made["content"] = blocks
    elif form < 3:
        made["content"] = choices.one_of(OUTPUTS)
    if choices.chance(0.3):
        made["is_error"] = choices.chance(0.8)
    return made


def turn(choices, number):
    messages = [{"role": "user", "content": choices.one_of(ASKED)}]
    for _ in range(choices.whole(0, 3)):
        uses = [use(choices) for _ in range(choices.whole(1, 2))]
        messages.append({"role": "assistant", "content": ([text(choices)] if choices.chance(0.7) else []) + uses})
        results = [result(choices, used["id"]) for used in uses if choices.chance(0.85)]
        if results:
            messages.append({"role": "user", "content": results})
        if choices.chance(0.2):
            messages.append({"role": "user", "content": choices.one_of(ASKED)})
    messages.append({"role": "assistant", "content": choices.one_of(["All done.", [text(choices)]])})
    made = {"event_type": "agent.turn", "session_id": f"s-{choices.below(5)}", "span_id": f"sp-{choices.hexadecimal(6)}", "turn": number}
    if choices.chance(0.8):
        made["model"] = choices.one_of(["large-2", "small-1"])
    if choices.chance(0.4):
        made["truncated"] = choices.chance(0.5)
    made["messages"] = messages
    return made


def samples(choices):
    yield {"event_type": "agent.started", "session_id": "s-0", "span_id": "sp-0"}
    for number in range(1, 13):
        yield turn(choices, number)


def held_out(choices):
    for number in range(1, 45):
        yield turn(choices, number)
    call = {"type": "tool_use", "id": "toolu_same", "name": "bash", "input": {"command": "true"}}
    start = {"event_type": "agent.turn", "session_id": "s-odd", "span_id": "sp-odd"}

    def gave(content, **more):
        return {"type": "tool_result", "tool_use_id": "toolu_same", "content": content, **more}

    # Two results for one use.
    yield {**start, "turn": 100, "messages": [
        {"role": "assistant", "content": [call]}, {"role": "user", "content": [gave("first", is_error=True), gave("second")]},
    ]}
    # A result of another event's use, and a block that no rule knows.
    yield {**start, "turn": 101, "messages": [{"role": "user", "content": [gave("late"), {"type": "thinking", "id": "toolu_t", "name": "x"}]}]}
    # No turn: calls, and nothing that made them.
    yield {**start, "messages": [{"role": "assistant", "content": [call]}]}
    # No messages, no content, and content that is empty.
    yield {**start, "turn": 102}
    yield {**start, "turn": 103, "messages": [{"role": "user"}, {"role": "assistant", "content": []}, {"role": "user", "content": ""}]}
    # Images alone, and an input that is a list.
    image = {"type": "image", "source": {"media_type": "image/png", "data": ""}}
    yield {**start, "turn": 104, "messages": [
        {"role": "assistant", "content": [{**call, "input": ["a", 1.50, None]}]}, {"role": "user", "content": [gave([image])]},
    ]}
    yield {"event_type": "agent.started", "session_id": "s-odd", "span_id": "sp-1"}
