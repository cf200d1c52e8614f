//! A version beside the one that is served, on a share of its events.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State as Shared};

use super::shown::{self, BeginShadow, OfExtractor, ShownShadow, ShownSwitch};
use super::{by, catalog, extractor, in_turn};
use crate::bundle::ExtractorName;
use crate::diagnostics::codes;
use crate::runtime::{HostError, TenantHandle};
use crate::service::access::{Caller, Granted, Wanted};
use crate::service::error::Refusal;
use crate::service::state::State;
use crate::service::whole::read_json;

/// Run a version beside the one that is served
///
/// It has a share of the tenant's events, what it gives is compared and given to nobody, and what it takes is the tenant's. It takes the
/// place of another one beside the same extractor. It is this process's alone, and ends with it or with the tenant's policy.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/bundles/{name}/shadow", operation_id = "begin_shadow", tag = "shadow",
    params(OfExtractor),
    request_body(content = BeginShadow, example = json!({"version": "0004f5f83c1a", "share": 0.1})),
    responses((status = 200, description = "It runs.", body = ShownShadow, example = json!(shown::shadow_example()))),
)]
pub(super) async fn begin(
    Shared(state): Shared<Arc<State>>,
    of: Result<Path<OfExtractor>, PathRejection>,
    caller: Caller,
    request: Request,
) -> Result<Json<ShownShadow>, Refusal> {
    let (granted, name) = extractor(&state, of, caller, Wanted::Manage)?;
    let (request, body) = request.into_parts();
    let BeginShadow { version, share } =
        read_json(&state, &granted.tenant, &request.headers, body).await?;
    if !(share > 0.0 && share <= 1.0) {
        let message = format!("share: expected a number above 0 and up to 1, found {share}");
        return Err(Refusal::new(codes::REQUEST_INVALID, message));
    }
    let name = name?;
    in_turn(&state, granted, move |granted| {
        let catalog = catalog(&granted.root)?;
        let found = catalog.version(&granted.root, &name, &version)?;
        granted.tenant.shadow(&found.path, share)?;
        granted.tell("shadow", &name);
        Ok(Json(shadow(&granted.tenant, name)?))
    })
    .await
}

/// Read how it does
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/bundles/{name}/shadow", operation_id = "read_shadow", tag = "shadow",
    params(OfExtractor),
    responses((status = 200, description = "What was counted.", body = ShownShadow, example = json!(shown::shadow_example()))),
)]
pub(super) async fn report(
    Shared(state): Shared<Arc<State>>,
    of: Result<Path<OfExtractor>, PathRejection>,
    caller: Caller,
) -> Result<Json<ShownShadow>, Refusal> {
    let (granted, name) = extractor(&state, of, caller, Wanted::Look)?;
    Ok(Json(shadow(&granted.tenant, name?)?))
}

/// End it
#[utoipa::path(
    delete, path = "/v1/tenants/{tenant}/bundles/{name}/shadow", operation_id = "end_shadow", tag = "shadow",
    params(OfExtractor),
    responses((status = 200, description = "What was counted to its end.", body = ShownShadow, example = json!(shown::shadow_example()))),
)]
pub(super) async fn end(
    Shared(state): Shared<Arc<State>>,
    of: Result<Path<OfExtractor>, PathRejection>,
    caller: Caller,
) -> Result<Json<ShownShadow>, Refusal> {
    let (granted, name) = extractor(&state, of, caller, Wanted::Manage)?;
    let name = name?;
    in_turn(&state, granted, move |Granted { tenant, .. }| {
        let ShownShadow { name, version, .. } = shadow(tenant, name)?;
        let counts = tenant.end_shadow(&name)?;
        Ok(Json(ShownShadow { name, version, counts }))
    })
    .await
}

/// Serve it in the place of the other one, if it has done well enough
///
/// How well that is says the configuration.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/bundles/{name}/shadow/promote", operation_id = "promote_shadow", tag = "shadow",
    params(OfExtractor),
    responses((status = 200, description = "What is served now.", body = ShownSwitch, example = json!(shown::switch_example()))),
)]
pub(super) async fn promote(
    Shared(state): Shared<Arc<State>>,
    of: Result<Path<OfExtractor>, PathRejection>,
    caller: Caller,
) -> Result<Json<ShownSwitch>, Refusal> {
    let (granted, name) = extractor(&state, of, caller, Wanted::Manage)?;
    let name = name?;
    in_turn(&state, granted, move |granted| {
        let by = by(granted, "promote");
        let switched = granted.tenant.promote_by(&name, &granted.promotion, &by)?;
        granted.tell("promote", &name);
        Ok(Json(ShownSwitch::of(&name, switched)))
    })
    .await
}

fn shadow(tenant: &TenantHandle, name: ExtractorName) -> Result<ShownShadow, HostError> {
    let (version, counts) = tenant.shadow_report(&name)?;
    Ok(ShownShadow { name, version, counts })
}
