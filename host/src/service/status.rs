//! What is asked by those who look after the service.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::{MatchedPath, Request, State as Shared};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tracing::{debug, info};

use super::error::Refusal;
use super::state::{Phase, State};
use crate::diagnostics::codes::{self, Code};

#[derive(Serialize)]
struct Health {
    ok: bool,
}

#[derive(Serialize)]
struct Ready {
    ready: bool,
    config: ConfigStatus,
}

/// Whether the configuration on disk is what is served.
#[derive(Serialize)]
struct ConfigStatus {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<Code>,
}

/// That the process answers.
pub(super) async fn health() -> impl IntoResponse {
    Json(Health { ok: true })
}

/// Whether events are to be sent here.
pub(super) async fn ready(Shared(state): Shared<Arc<State>>) -> impl IntoResponse {
    let ready = state.phase() == Phase::Serving;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let code = state.broken();
    (status, Json(Ready { ready, config: ConfigStatus { ok: code.is_none(), code } }))
}

/// What is counted.
pub(super) async fn metrics(
    Shared(state): Shared<Arc<State>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    state.require_admin(&headers)?;
    let content_type = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((content_type, state.meters.text(&state.host, state.broken().is_none())).into_response())
}

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
    let response = match require_small(&state, &request) {
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
