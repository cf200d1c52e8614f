//! `POST /v1/tenants/{tenant}/events`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State as Shared};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;

use super::access::Caller;
use super::answer::{Answering, parts};
use super::body::{Pieces, packing};
use super::error::Refusal;
use super::openapi::{OfTenant, Packed};
use super::state::State;

/// Send events, and read what they give
///
/// One JSON object a line; a line comes back for each result and each event that was rejected, in the order of the events and while they
/// are sent. The last line is a `summary`, or an `error` that says up to which line all is answered.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/events", operation_id = "send_events", tag = "events",
    params(OfTenant, Packed),
    request_body(
        content = Option<String>, content_type = "application/x-ndjson", description = "Events, one JSON object a line.",
        example = json!("{\"event_type\":\"order_placed\",\"session_id\":\"s1\",\"content\":{\"id\":\"o1\"}}\n"),
    ),
    responses((
        status = 200, content_type = "application/x-ndjson", body = String,
        description = "Lines of results, `{\"line\",\"code\",\"message\"}` for events that were rejected, and the last line.",
        example = json!("{\"summary\":{\"events\":1,\"results\":0,\"empty\":0,\"unrouted\":1,\"rejected\":0}}\n"),
    )),
)]
pub(super) async fn events(
    Shared(state): Shared<Arc<State>>,
    of: Result<Path<OfTenant>, PathRejection>,
    caller: Caller,
    request: Request,
) -> Result<Response, Refusal> {
    let (request, body) = request.into_parts();
    // What isn't text names no tenant.
    let OfTenant { tenant: name } = of.map(|Path(of)| of).unwrap_or_default();
    let tenant = state.tenant_of_events(&name, caller)?;
    let packing = packing(&request.headers)?;
    let limits = state.config().limits.clone();
    let underway = state.underway.begin(tenant.name(), limits.concurrent_requests)?;
    let pieces = Pieces::new(body, packing, limits.body_bytes.get(), &tenant, &underway.unpacking);
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
