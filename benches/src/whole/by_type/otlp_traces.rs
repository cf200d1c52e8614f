//! Spans of services.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::graph::{Entity, Graph, Id, Scalar};
use super::key::Key;
use super::lenient::{List, Object, Text};
use super::{integer, json, text, written};

static SERVICE: Entity = Entity { name: "Service", key: &[":name="] };
static SPAN: Entity = Entity { name: "Span", key: &[":trace_id=", ",span_id="] };

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    event_type: Text<'a>,
    #[serde(borrow)]
    session_id: Key<'a>,
    #[serde(borrow, rename = "resourceSpans")]
    resource_spans: List<Object<ResourceSpans<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ResourceSpans<'a> {
    #[serde(borrow)]
    resource: Object<Resource<'a>>,
    #[serde(borrow)]
    scope_spans: List<Object<ScopeSpans<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Resource<'a> {
    #[serde(borrow)]
    attributes: List<Object<Attribute<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ScopeSpans<'a> {
    #[serde(borrow)]
    scope: Object<Scope<'a>>,
    #[serde(borrow)]
    spans: List<Object<Span<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Scope<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Span<'a> {
    #[serde(borrow)]
    trace_id: Key<'a>,
    #[serde(borrow)]
    span_id: Key<'a>,
    #[serde(borrow)]
    parent_span_id: Text<'a>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    start_time_unix_nano: Option<&'a RawValue>,
    #[serde(borrow)]
    end_time_unix_nano: Option<&'a RawValue>,
    #[serde(borrow)]
    attributes: List<Object<Attribute<'a>>>,
    #[serde(borrow)]
    events: List<Object<SpanEvent<'a>>>,
    #[serde(borrow)]
    status: Object<Status<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SpanEvent<'a> {
    #[serde(borrow)]
    name: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Status<'a> {
    #[serde(borrow)]
    code: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Attribute<'a> {
    #[serde(borrow)]
    key: Text<'a>,
    #[serde(borrow)]
    value: Object<AnyValue<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AnyValue<'a> {
    #[serde(borrow)]
    string_value: Text<'a>,
    #[serde(borrow)]
    int_value: Option<&'a RawValue>,
}

pub(super) fn fill<'a>(event: &'a Event<'_>, graph: &mut Graph<'a>) -> Option<()> {
    if !event.event_type.is("otlp.export") {
        return None;
    }
    let session = event.session_id.text().unwrap_or_default();
    for resource in event.resource_spans.objects() {
        let attributes = resource.resource.get().map(|it| &it.attributes);
        let of =
            |key| attributes?.objects().find(|it| it.key.is(key))?.value.get()?.string_value.get();
        let service = of("service.name").unwrap_or("unknown_service");
        let id = Id::new(session, &SERVICE, [service]);
        if resource.scope_spans.objects().any(|scope| !scope.spans.0.is_empty()) {
            let version = of("service.version");
            graph.node(id, [("name", text(Some(service))), ("version", text(version))]);
        }
        for scope in resource.scope_spans.objects() {
            let name = scope.scope.get().and_then(|it| it.name);
            for span in scope.spans.objects() {
                let _ = add(span, name, (session, service, id), graph);
            }
        }
    }
    Some(())
}

fn add<'a>(
    span: &'a Span<'_>,
    scope: Option<&'a RawValue>,
    (session, service, service_id): (&'a str, &'a str, Id<'a>),
    graph: &mut Graph<'a>,
) -> Option<()> {
    let of = |key| span.attributes.objects().find(|it| it.key.is(key))?.value.get();
    let route = of("http.route").and_then(|it| it.string_value.get());
    if route == Some("/healthz") {
        return None;
    }
    let (trace, own) = (span.trace_id.text()?, span.span_id.text()?);
    let start = integer(span.start_time_unix_nano);
    let end = integer(span.end_time_unix_nano);
    let started = start.and_then(|it| Timestamp::from_microsecond(it.div_euclid(1000)).ok());
    let took = start.zip(end).map(|(start, end)| Scalar::Double((end - start) as f64 / 1e6));
    let http = |key| integer(of(key)?.int_value);
    let http = http("http.response.status_code").or_else(|| http("http.status_code"));
    let exceptions = span.events.objects().filter(|it| it.name.is("exception")).count();
    let id = Id::new(session, &SPAN, [trace, own]);
    let properties = [
        ("trace_id", span.trace_id.json()),
        ("span_id", span.span_id.json()),
        ("name", json(span.name)),
        ("service", text(Some(service))),
        ("scope", json(scope)),
        ("kind", text(kind(span.kind))),
        ("started_at", started.map(Scalar::Time)),
        ("duration_ms", took),
        ("status", text(Some(word_of_status(span.status.get().and_then(|it| it.code))))),
        ("route", text(route)),
        ("http_status", http.map(Scalar::Integer)),
        ("tool", text(of("gen_ai.tool.name").and_then(|it| it.string_value.get()))),
        ("exceptions", Some(Scalar::Integer(exceptions as i64))),
    ];
    graph.node(id, properties);
    graph.edge("RAN_IN", id, service_id, []);
    if let Some(parent) = span.parent_span_id.get().filter(|parent| !parent.is_empty()) {
        graph.edge("CHILD_OF", id, Id::new(session, &SPAN, [trace, parent]), []);
    }
    Some(())
}

fn kind(kind: Option<&RawValue>) -> Option<&'static str> {
    match written(kind?) {
        "1" | "SPAN_KIND_INTERNAL" => Some("internal"),
        "2" | "SPAN_KIND_SERVER" => Some("server"),
        "3" | "SPAN_KIND_CLIENT" => Some("client"),
        "4" | "SPAN_KIND_PRODUCER" => Some("producer"),
        "5" | "SPAN_KIND_CONSUMER" => Some("consumer"),
        _ => None,
    }
}

fn word_of_status(code: Option<&RawValue>) -> &'static str {
    match code.map(written) {
        Some("1" | "STATUS_CODE_OK") => "ok",
        Some("2" | "STATUS_CODE_ERROR") => "error",
        _ => "unset",
    }
}
