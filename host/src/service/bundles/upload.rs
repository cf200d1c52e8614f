//! Taking a bundle in.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State as Shared};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;

use super::archive::{Unpacked, unpack};
use super::shown::{self, Uploaded};
use super::{in_turn, tenant};
use crate::bundle::{ReceiveError, Store};
use crate::service::access::{Caller, Granted, Wanted};
use crate::service::error::Refusal;
use crate::service::openapi::{BundleArchive, OfTenant, Packed};
use crate::service::state::State;
use crate::service::whole;

/// When another upload may be tried.
const NEXT: Duration = Duration::from_secs(1);

/// Upload a bundle
///
/// A bundle is a directory that `retort compile` writes; it comes as a tar archive of its files. It goes through every gate once more
/// before it has its name in the tenant's first directory. It is served once it is activated.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/bundles", operation_id = "upload_bundle", tag = "bundles",
    params(OfTenant, Packed),
    request_body(
        content = BundleArchive, content_type = "application/x-tar",
        description = "As `tar c -C bundles/FINGERPRINT .` writes it, or `tar c -C bundles FINGERPRINT`.",
    ),
    responses(
        (
            status = 201, description = "The bundle was taken.", body = Uploaded,
            headers(("Location" = String, description = "The path of its extractor.")),
            example = json!(shown::uploaded_example(true)),
        ),
        (
            status = 200, description = "The same bundle was there.", body = Uploaded,
            example = json!(shown::uploaded_example(false)),
        ),
    ),
)]
pub(super) async fn upload(
    Shared(state): Shared<Arc<State>>,
    of: Result<Path<OfTenant>, PathRejection>,
    caller: Caller,
    request: Request,
) -> Result<Response, Refusal> {
    let granted = state.tenant_of_bundles(&tenant(of), caller, Wanted::Manage)?;
    let uploading = state.turns.upload(granted.tenant.name());
    let uploading =
        uploading.ok_or_else(|| Refusal::too_many("uploads of this tenant at one time", NEXT))?;
    let limits = state.config().limits.clone();
    let (request, body) = request.into_parts();
    let allowed = limits.upload_bytes.get();
    let archive =
        whole::read(&state, &granted.tenant, &request.headers, body, allowed, limits.upload());
    let archive = archive.await?;
    let gates = state.gates(&granted.policy)?;
    in_turn(&state, granted, move |granted| {
        let _uploading = uploading;
        let Unpacked { manifest, version, files } = unpack(&archive)?;
        drop(archive);
        let store = Store::open(&granted.root)?;
        let is_new = store.receive(version, &files, &gates, Timestamp::now())?;
        let uploaded = Uploaded {
            name: manifest.name(),
            version,
            event_types: manifest.event_types().to_vec(),
            is_new,
        };
        granted.tell("upload", &uploaded.name);
        Ok(answer(granted, uploaded))
    })
    .await
}

fn answer(granted: &Granted, uploaded: Uploaded) -> Response {
    if !uploaded.is_new {
        return Json(uploaded).into_response();
    }
    // Neither name has anything that a path would have to escape.
    let location = format!("/v1/tenants/{}/bundles/{}", granted.tenant.name(), uploaded.name);
    (StatusCode::CREATED, [(header::LOCATION, location)], Json(uploaded)).into_response()
}

impl From<ReceiveError> for Refusal {
    fn from(error: ReceiveError) -> Self {
        match error {
            ReceiveError::Load(error) => error.into(),
            ReceiveError::Store(error) => error.into(),
        }
    }
}
