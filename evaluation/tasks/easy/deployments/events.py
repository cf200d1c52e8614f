"""Deployments of services."""


def finished(choices, number):
    deployment = {"id": f"dep-{number}", "environment": choices.one_of(["staging", "production"]), "version": f"2.{choices.below(9)}.0"}
    if choices.chance(0.8):
        deployment["service"] = {"name": choices.one_of(["api", "web", "búsqueda"])}
    if choices.chance(0.8):
        deployment["actor"] = choices.one_of([{"login": "ana"}, {"login": "bot"}, {}])
    if choices.chance(0.8):
        deployment["finished"] = f"2026-05-0{choices.whole(1, 9)}T1{choices.below(10)}:00:00{choices.one_of(['Z', '+02:00', '.250Z'])}"
    kind = choices.one_of(["succeeded", "failed", "cancelled"])
    return {"event_type": f"deployment.{kind}", "session_id": f"r-{choices.below(5)}", "span_id": f"sp-{number}", "deployment": deployment}


def samples(choices):
    for number in range(12):
        yield finished(choices, number)
    yield {"event_type": "build.succeeded", "session_id": "r-0", "span_id": "sp-b", "build": {"id": "b-1"}}


def held_out(choices):
    for number in range(50, 90):
        yield finished(choices, number)
    start = {"session_id": "odd", "span_id": "sp-odd"}
    yield {**start, "event_type": "deployment.rolled_back", "deployment": {"id": "dep-odd", "service": {"name": "api"}}}
    yield {**start, "event_type": "deployment.succeeded", "deployment": {"service": {"name": "api"}}}
    yield {**start, "event_type": "deployment.succeeded", "deployment": {"id": "dep-late", "finished": "yesterday", "service": {}}}
    yield {**start, "event_type": "deployments.succeeded", "deployment": {"id": "dep-other"}}
    yield {"event_type": "deployment.failed", "deployment": {"id": "dep-bare"}}
