"""Batches of traces after OTLP's JSON form."""

NAMES = ["GET /orders/{id}", "SELECT orders", "publish order.placed", "execute_tool search", "chat", "GET /healthz", "render ünïcode"]
ROUTES = ["/orders/{id}", "/cart", "/healthz", "/orders/{id}/lines"]
SCOPES = ["io.opentelemetry.http", "io.opentelemetry.sql", "agent.runtime"]
SERVICES = ["checkout", "cart", "search-agent", "billing"]
START = 1_760_000_000_000_000_000


def attribute(key, **value):
    return {"key": key, "value": value}


def whole_number(choices, number):
    """An integer as most exporters write it, or as some do."""
    return number if choices.chance(0.2) else str(number)


def span(choices, trace, parents):
    start = START + choices.below(10**15)
    made = {"traceId": trace, "spanId": choices.hexadecimal(16)}
    if parents and choices.chance(0.8):
        made["parentSpanId"] = choices.one_of(parents)
    elif choices.chance(0.6):
        made["parentSpanId"] = ""
    made["name"] = choices.one_of(NAMES)
    number = choices.below(7)
    if number < 6:
        named = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"][number]
        made["kind"] = f"SPAN_KIND_{named}" if choices.chance(0.2) else number
    made["startTimeUnixNano"] = str(start)
    if choices.chance(0.9):
        made["endTimeUnixNano"] = str(start + choices.below(10 ** choices.whole(1, 10)))
    attributes = []
    if choices.chance(0.6):
        attributes.append(attribute("http.route", stringValue=choices.one_of(ROUTES)))
    if choices.chance(0.6):
        key = choices.one_of(["http.response.status_code", "http.status_code"])
        code = choices.one_of([200, 201, 404, 500, 503])
        attributes.append(attribute(key, intValue=whole_number(choices, code)))
    if choices.chance(0.3):
        attributes.append(attribute("gen_ai.tool.name", stringValue=choices.one_of(["search", "fetch", "sql"])))
    if choices.chance(0.4):
        attributes.insert(0, attribute("retry", boolValue=choices.chance(0.5)))
    if attributes or choices.chance(0.5):
        made["attributes"] = attributes
    events = []
    for _ in range(choices.whole(-2, 2)):
        events.append({"timeUnixNano": str(start + 5), "name": choices.one_of(["exception", "exception", "cache.miss"])})
    if events or choices.chance(0.3):
        made["events"] = events
    status = choices.below(5)
    if status < 3:
        made["status"] = {"code": f"STATUS_CODE_{['UNSET', 'OK', 'ERROR'][status]}" if choices.chance(0.3) else status}
    elif status == 3:
        made["status"] = {}
    return made


def resource(choices):
    attributes = [attribute("host.name", stringValue=f"host-{choices.below(9)}")]
    if choices.chance(0.85):
        attributes.append(attribute("service.name", stringValue=choices.one_of(SERVICES)))
    if choices.chance(0.7):
        attributes.append(attribute("service.version", stringValue=f"1.{choices.below(20)}.0"))
    return {"attributes": attributes}


def batch(choices):
    trace = choices.hexadecimal(32)
    parents = []
    resources = []
    for _ in range(2 if choices.chance(0.2) else 1):
        scopes = []
        for name in SCOPES:
            spans = []
            for _ in range(choices.whole(1, 3)):
                made = span(choices, trace, parents)
                parents.append(made["spanId"])
                spans.append(made)
            scope = {"name": name, "version": "1.4.0"} if choices.chance(0.9) else {}
            scopes.append({"scope": scope, "spans": spans})
        resources.append({"resource": resource(choices), "scopeSpans": scopes})
    return {"event_type": "otlp.export", "session_id": f"tr-{trace[:6]}", "resourceSpans": resources}


def samples(choices):
    yield {"event_type": "otlp.metrics", "session_id": "m-1", "resourceMetrics": []}
    for _ in range(12):
        yield batch(choices)


def held_out(choices):
    for _ in range(40):
        yield batch(choices)
    trace, start = "ab" * 16, str(START)
    bare = {"traceId": trace, "spanId": "0000000000000001", "startTimeUnixNano": start}
    # A resource without attributes, and a scope that isn't said.
    yield {"event_type": "otlp.export", "session_id": "odd-1", "resourceSpans": [{"scopeSpans": [{"spans": [bare]}]}]}
    # Nothing in it.
    yield {"event_type": "otlp.export", "session_id": "odd-2", "resourceSpans": []}
    yield {"event_type": "otlp.export", "session_id": "odd-3"}
    # Another type of event.
    yield {"event_type": "otlp.metrics", "session_id": "odd-4", "resourceMetrics": []}
    # The same attribute twice: the first one counts. A span that is there twice: the last one counts.
    twice = [attribute("http.route", stringValue="/cart"), attribute("http.route", stringValue="/other")]
    spans = [{**bare, "name": "first"}, {**bare, "name": "second", "attributes": twice, "endTimeUnixNano": start}]
    scopes = [{"scope": {"name": "agent.runtime"}, "spans": spans}]
    attributes = [attribute("service.name", stringValue="cart")]
    yield {"event_type": "otlp.export", "session_id": "odd-5", "resourceSpans": [
        {"resource": {"attributes": attributes}, "scopeSpans": scopes},
        {"resource": {"attributes": attributes}, "scopeSpans": []},
    ]}
    # A span without an id.
    spans = [{"traceId": trace, "name": "nameless", "startTimeUnixNano": start}]
    yield {"event_type": "otlp.export", "session_id": "odd-6", "resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
