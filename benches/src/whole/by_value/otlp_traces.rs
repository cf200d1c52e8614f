//! Spans of services.

use serde_json::Value;

use super::{Graph, Scalar, id, in_id, integer, json, list, moment, text};

pub(super) fn fill<'a>(event: &'a Value, graph: &mut Graph<'a>) -> Option<()> {
    if event["event_type"] != "otlp.export" {
        return None;
    }
    let session = in_id(&event["session_id"]).unwrap_or_default();
    for resource in list(&event["resourceSpans"]) {
        let attributes = &resource["resource"]["attributes"];
        let service = attribute(attributes, "service.name", "stringValue")
            .and_then(Value::as_str)
            .unwrap_or("unknown_service");
        let service_id = id(&session, "Service", format_args!("name={service}"));
        let scopes = list(&resource["scopeSpans"]);
        if scopes.iter().any(|scope| !list(&scope["spans"]).is_empty()) {
            let version = attribute(attributes, "service.version", "stringValue");
            let properties = [("name", text(service)), ("version", version.and_then(json))];
            graph.node(service_id.clone(), "Service", properties);
        }
        for scope in scopes {
            for span in list(&scope["spans"]) {
                add(span, &scope["scope"]["name"], service, (&session, &service_id), graph);
            }
        }
    }
    Some(())
}

fn add<'a>(
    span: &'a Value,
    scope: &'a Value,
    service: &'a str,
    (session, service_id): (&str, &str),
    graph: &mut Graph<'a>,
) -> Option<()> {
    let attributes = &span["attributes"];
    let route = attribute(attributes, "http.route", "stringValue");
    if route.is_some_and(|route| route == "/healthz") {
        return None;
    }
    let (trace, own) = (in_id(&span["traceId"])?, in_id(&span["spanId"])?);
    let (start, end) = (integer(&span["startTimeUnixNano"]), integer(&span["endTimeUnixNano"]));
    let status = attribute(attributes, "http.response.status_code", "intValue")
        .or_else(|| attribute(attributes, "http.status_code", "intValue"));
    let exceptions = list(&span["events"]).iter().filter(|event| event["name"] == "exception");
    let name = id(session, "Span", format_args!("trace_id={trace},span_id={own}"));
    let properties = [
        ("trace_id", json(&span["traceId"])),
        ("span_id", json(&span["spanId"])),
        ("name", json(&span["name"])),
        ("service", text(service)),
        ("scope", json(scope)),
        ("kind", kind(&span["kind"]).and_then(text)),
        ("started_at", start.and_then(|start| moment(start.into()))),
        (
            "duration_ms",
            start.zip(end).map(|(start, end)| Scalar::Double((end - start) as f64 / 1e6)),
        ),
        ("status", text(word_of_status(&span["status"]["code"]))),
        ("route", route.and_then(json)),
        ("http_status", status.and_then(integer).map(Scalar::Integer)),
        ("tool", attribute(attributes, "gen_ai.tool.name", "stringValue").and_then(json)),
        ("exceptions", Some(Scalar::Integer(exceptions.count() as i64))),
    ];
    graph.node(name.clone(), "Span", properties);
    graph.edge("RAN_IN", &name, service_id, []);
    if let Some(parent) = span["parentSpanId"].as_str().filter(|parent| !parent.is_empty()) {
        let parent = id(session, "Span", format_args!("trace_id={trace},span_id={parent}"));
        graph.edge("CHILD_OF", &name, &parent, []);
    }
    Some(())
}

fn attribute<'a>(attributes: &'a Value, key: &str, kind: &str) -> Option<&'a Value> {
    list(attributes).iter().find(|one| one["key"] == key)?["value"].get(kind)
}

fn kind(kind: &Value) -> Option<&'static str> {
    match (kind.as_i64(), kind.as_str()) {
        (Some(1), _) | (_, Some("SPAN_KIND_INTERNAL")) => Some("internal"),
        (Some(2), _) | (_, Some("SPAN_KIND_SERVER")) => Some("server"),
        (Some(3), _) | (_, Some("SPAN_KIND_CLIENT")) => Some("client"),
        (Some(4), _) | (_, Some("SPAN_KIND_PRODUCER")) => Some("producer"),
        (Some(5), _) | (_, Some("SPAN_KIND_CONSUMER")) => Some("consumer"),
        _ => None,
    }
}

fn word_of_status(code: &Value) -> &'static str {
    match (code.as_i64(), code.as_str()) {
        (Some(1), _) | (_, Some("STATUS_CODE_OK")) => "ok",
        (Some(2), _) | (_, Some("STATUS_CODE_ERROR")) => "error",
        _ => "unset",
    }
}
