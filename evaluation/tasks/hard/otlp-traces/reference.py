"""What the rule says, by hand."""

from datetime import datetime, timedelta, timezone

KINDS = ["INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"]


def attribute(attributes, key, kind):
    for one in attributes or []:
        if one["key"] == key:
            return one["value"].get(kind)
    return None


def word_of_kind(kind):
    for number, name in enumerate(KINDS, 1):
        if kind in (number, f"SPAN_KIND_{name}"):
            return name.lower()
    return None


def word_of_status(status):
    code = (status or {}).get("code")
    if code in (1, "STATUS_CODE_OK"):
        return "ok"
    return "error" if code in (2, "STATUS_CODE_ERROR") else "unset"


def moment(nanoseconds):
    """RFC 3339 in UTC, with six digits of the fraction at most and no zeros at their end."""
    seconds, rest = divmod(int(nanoseconds), 10**9)
    second = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)
    fraction = f"{rest // 1000:06}".rstrip("0")
    return second.strftime("%Y-%m-%dT%H:%M:%S") + (f".{fraction}" if fraction else "") + "Z"


def extract(event, Result):
    result = Result(event.get("session_id"))
    if event["event_type"] != "otlp.export":
        return result
    for one in event.get("resourceSpans", []):
        resource = one.get("resource", {}).get("attributes")
        service = attribute(resource, "service.name", "stringValue") or "unknown_service"
        has_spans = any(scope.get("spans") for scope in one.get("scopeSpans", []))
        service_id = result.id_of("Service", name=service)
        if has_spans:
            version = attribute(resource, "service.version", "stringValue")
            result.node("Service", {"name": service}, version=version)
        for scope in one.get("scopeSpans", []):
            for span in scope["spans"]:
                own = span.get("attributes")
                route = attribute(own, "http.route", "stringValue")
                if route == "/healthz":
                    continue
                start, end = span.get("startTimeUnixNano"), span.get("endTimeUnixNano")
                code = attribute(own, "http.response.status_code", "intValue")
                if code is None:
                    code = attribute(own, "http.status_code", "intValue")
                trace = span.get("traceId")
                span_id = result.node(
                    "Span",
                    {"trace_id": trace, "span_id": span.get("spanId")},
                    name=span.get("name"),
                    service=service,
                    scope=scope.get("scope", {}).get("name"),
                    kind=word_of_kind(span.get("kind")),
                    started_at=moment(start) if start is not None else None,
                    duration_ms=(int(end) - int(start)) / 10**6 if start and end else None,
                    status=word_of_status(span.get("status")),
                    route=route,
                    http_status=int(code) if code is not None else None,
                    tool=attribute(own, "gen_ai.tool.name", "stringValue"),
                    exceptions=sum(event["name"] == "exception" for event in span.get("events", [])),
                )
                result.edge("RAN_IN", span_id, service_id)
                if span.get("parentSpanId"):
                    result.edge("CHILD_OF", span_id, result.id_of("Span", trace_id=trace, span_id=span["parentSpanId"]))
    return result
