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

use super::access;
use super::error::Refusal;
use super::state::{Phase, State};

#[derive(Serialize)]
struct Health {
    ok: bool,
}

#[derive(Serialize)]
struct Ready {
    ready: bool,
}

/// That the process answers.
pub(super) async fn health() -> impl IntoResponse {
    Json(Health { ok: true })
}

/// Whether events are to be sent here.
pub(super) async fn ready(Shared(state): Shared<Arc<State>>) -> impl IntoResponse {
    let ready = state.phase() == Phase::Serving;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(Ready { ready }))
}

/// What is counted.
pub(super) async fn metrics(
    Shared(state): Shared<Arc<State>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    access::require_local(&headers)?;
    let content_type = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((content_type, state.meters.text(&state.host)).into_response())
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
    let response = next.run(request).await;
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
