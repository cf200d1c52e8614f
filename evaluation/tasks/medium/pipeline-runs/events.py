"""Runs of a build pipeline."""


def step(choices, number):
    made = {"number": number, "name": choices.one_of(["checkout", "build", "test", "überprüfen"]), "result": choices.one_of(["success", "failure", "skipped"])}
    if made["result"] == "failure" and choices.chance(0.8):
        made["exit_code"] = choices.one_of([1, 2, 137])
    return made


def job(choices, number):
    made = {"name": f"job-{number}", "result": choices.one_of(["success", "failure", None])}
    if choices.chance(0.8):
        made["runner"] = {"labels": [choices.one_of(["linux", "arm"]), "x"][: choices.whole(0, 2)]}
        if choices.chance(0.5):
            made["runner"]["name"] = f"r-{choices.below(5)}"
    if choices.chance(0.9):
        made["steps"] = [step(choices, number) for number in range(1, choices.whole(1, 5))]
    return made


def finished(choices, number):
    run = {"id": 9000 + number, "result": choices.one_of(["success", "failure"])}
    if choices.chance(0.9):
        run["ref"] = choices.one_of(["refs/heads/main", "refs/heads/fix/ä", "refs/tags/v1"])
    if choices.chance(0.8):
        run["trigger"] = {"actor": choices.one_of(["ana", "bot"])}
    run["started"] = f"2026-07-01T10:{choices.whole(10, 29)}:00Z"
    if choices.chance(0.9):
        run["finished"] = f"2026-07-01T10:{choices.whole(30, 59)}:{choices.whole(10, 59)}.{choices.one_of(['5', '125', '000'])}Z"
    if choices.chance(0.2):
        run["retry_of"] = 8999 + number
    if choices.chance(0.95):
        run["jobs"] = [job(choices, index) for index in range(choices.whole(1, 3))]
    return {"event_type": "pipeline.finished", "session_id": f"b-{choices.below(4)}", "run": run}


def samples(choices):
    for number in range(14):
        yield finished(choices, number)
    yield {"event_type": "pipeline.started", "session_id": "b-0", "run": {"id": 1}}


def held_out(choices):
    for number in range(100, 140):
        yield finished(choices, number)
    start = {"event_type": "pipeline.finished", "session_id": "odd"}
    yield {**start, "run": {"id": 1, "jobs": [{"steps": [{"number": 1, "result": "failure"}]}, {"name": "empty", "steps": []}]}}
    yield {**start, "run": {"jobs": [{"name": "no run", "steps": [{"number": 1, "result": "failure"}]}]}}
    yield {**start, "run": {"id": 2, "ref": "refs/heads/", "started": "2026-07-01T10:00:00Z", "finished": "2026-07-01T09:59:58Z"}}
    yield {**start, "run": {"id": 3, "ref": "x/refs/heads/main", "retry_of": None}}
    yield {**start, "event_type": "pipeline.started", "run": {"id": 4}}
