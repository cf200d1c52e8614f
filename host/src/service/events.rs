//! `POST /v1/tenants/{tenant}/events`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State as Shared};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;

use super::answer::{Answering, parts};
use super::body::{Pieces, packing};
use super::error::Refusal;
use super::state::State;

/// Serves the events of a body, one a line.
pub(super) async fn events(
    Shared(state): Shared<Arc<State>>,
    tenant: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Refusal> {
    let (request, body) = request.into_parts();
    // What isn't text names no tenant.
    let name = tenant.map(|Path(name)| name).unwrap_or_default();
    let tenant = state.tenant(&name, &request.headers)?;
    let packing = packing(&request.headers)?;
    let limits = state.config().limits.clone();
    let underway = state.underway.begin(tenant.name(), limits.requests)?;
    let pieces = Pieces::new(body, packing, limits.body_bytes.get(), &tenant, &underway);
    let (give, taken) = parts();
    let answering = Answering::new(Arc::clone(&state), tenant, limits, pieces, give);
    tokio::spawn(async move {
        answering.run().await;
        drop(underway);
    });
    let parts = unfold(taken, |mut taken| async { Some((taken.recv().await?, taken)) });
    let content_type = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((content_type, Body::from_stream(parts)).into_response())
}
