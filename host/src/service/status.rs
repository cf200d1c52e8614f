//! What is asked by those who look after the service.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::{MatchedPath, Request, State as Shared};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tracing::{debug, info};
use utoipa::ToSchema;

use super::access::{Caller, Peer};
use super::error::Refusal;
use super::state::{Phase, State};
use crate::diagnostics::codes::{self, Code};

/// That the process answers.
#[derive(Serialize, ToSchema)]
pub(super) struct Health {
    ok: bool,
}

/// Whether events are to be sent here.
#[derive(Serialize, ToSchema)]
pub(super) struct Ready {
    ready: bool,
    config: ConfigStatus,
}

/// Whether the configuration on disk is what is served.
#[derive(Serialize, ToSchema)]
struct ConfigStatus {
    ok: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    code: Option<Code>,
}

/// Whether the process answers
#[utoipa::path(
    get, path = "/healthz", operation_id = "health", tag = "service", security(()),
    responses((status = 200, description = "It does.", body = Health, example = json!({"ok": true}))),
)]
pub(super) async fn health() -> Json<Health> {
    Json(Health { ok: true })
}

/// Whether events are to be sent here
#[utoipa::path(
    get, path = "/readyz", operation_id = "ready", tag = "service", security(()),
    responses(
        (status = 200, description = "They are.", body = Ready, example = json!({"ready": true, "config": {"ok": true}})),
        (
            status = 503, description = "The service is ending.", body = Ready,
            example = json!({"ready": false, "config": {"ok": true}}),
        ),
    ),
)]
pub(super) async fn ready(Shared(state): Shared<Arc<State>>) -> impl IntoResponse {
    let ready = state.phase() == Phase::Serving;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let code = state.broken();
    (status, Json(Ready { ready, config: ConfigStatus { ok: code.is_none(), code } }))
}

/// Read what is counted, for Prometheus
#[utoipa::path(
    get, path = "/metrics", operation_id = "metrics", tag = "service",
    responses((
        status = 200, description = "Counters and gauges.", body = String, content_type = "text/plain",
        example = json!("# HELP retort_connections Connections that are open.\n# TYPE retort_connections gauge\nretort_connections 1\n"),
    )),
)]
pub(super) async fn metrics(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
) -> Result<Response, Refusal> {
    state.require_admin(caller)?;
    let content_type = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((content_type, state.meters.text(&state.host, state.broken().is_none())).into_response())
}

/// The routes by which it is seen whether a service is well.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];

/// Counts a request and tells of it: by its route, and never by what a client has written.
pub(super) async fn note(
    Shared(state): Shared<Arc<State>>,
    request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    let method = method_name(request.method());
    let admitted = require_small(&state, &request).and_then(|()| {
        // Those that look after it aren't kept from that by others behind the same address.
        let peer = request.extensions().get::<Peer>().filter(|_| !PROBES.contains(&route));
        peer.map_or(Ok(()), |peer| state.admit_address(peer.0))
    });
    let response = match admitted {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let status = response.status().as_u16();
    state.meters.asked(route, method, status);
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    if status < 400 {
        debug!(method, route, status, ms, "answered");
    } else {
        info!(method, route, status, ms, "refused");
    }
    response
}

/// A connection reads more than is allowed, so that it can be told.
fn require_small(state: &State, request: &Request) -> Result<(), Refusal> {
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len());
    let line = request.uri().path_and_query().map_or(0, |it| it.as_str().len());
    let (found, allowed) = (line + headers.sum::<usize>(), state.config().limits.header_bytes);
    if found <= allowed {
        return Ok(());
    }
    let message = format!("expected {allowed} bytes of headers at most, found {found}");
    Err(Refusal::new(codes::HEADERS_TOO_LARGE, message))
}

fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}
