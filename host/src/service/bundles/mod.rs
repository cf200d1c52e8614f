//! `/v1/tenants/{tenant}/bundles`: which bundles a tenant has, and which of them are served.

mod archive;
mod shadow;
mod shown;
mod turns;
mod upload;

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State as Shared};
use jiff::Timestamp;
use tracing::info;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) use self::turns::Turns;

use self::shown::{Activate, BundleList, OfExtractor, ShownExtractor, ShownSwitch};
use super::access::{Caller, Granted, Wanted};
use super::error::Refusal;
use super::openapi::OfTenant;
use super::state::{State, tell_failures};
use super::whole::read_json;
use crate::bundle::{BundleError, Catalog, ExtractorName, Store, Switched};
use crate::diagnostics::codes;

/// The routes of bundles.
pub(super) fn routes() -> OpenApiRouter<Arc<State>> {
    OpenApiRouter::new()
        .routes(routes!(list, upload::upload))
        .routes(routes!(show))
        .routes(routes!(activate))
        .routes(routes!(roll_back))
        .routes(routes!(retire))
        .routes(routes!(shadow::report, shadow::begin, shadow::end))
        .routes(routes!(shadow::promote))
}

/// List a tenant's extractors and their versions
///
/// Of the first of the tenant's directories, which is the one that is managed.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/bundles", operation_id = "list_bundles", tag = "bundles",
    params(OfTenant),
    responses((
        status = 200, description = "What lies in the directory.", body = BundleList,
        example = json!({"record": true, "sharing": "off", "extractors": [shown::extractor_example()]}),
    )),
)]
async fn list(
    Shared(state): Shared<Arc<State>>,
    of: Result<Path<OfTenant>, PathRejection>,
    caller: Caller,
) -> Result<Json<BundleList>, Refusal> {
    let granted = state.tenant_of_bundles(&tenant(of), caller, Wanted::Look)?;
    in_turn(&state, granted, |granted| Ok(Json(BundleList::of(&catalog(&granted.root)?)))).await
}

/// Show an extractor: its versions, and what was active since when and by what
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/bundles/{name}", operation_id = "show_extractor", tag = "bundles",
    params(OfExtractor),
    responses((status = 200, description = "The extractor.", body = ShownExtractor, example = json!(shown::extractor_example()))),
)]
async fn show(
    Shared(state): Shared<Arc<State>>,
    of: Result<Path<OfExtractor>, PathRejection>,
    caller: Caller,
) -> Result<Json<ShownExtractor>, Refusal> {
    let (granted, name) = extractor(&state, of, caller, Wanted::Look)?;
    let name = name?;
    in_turn(&state, granted, move |Granted { root, .. }| {
        Ok(Json(ShownExtractor::of(catalog(root)?.entry(root, &name)?)))
    })
    .await
}

/// Serve a version from the next event on
///
/// In the place of the one that is served. Events that have begun are served as before.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/bundles/{name}/activate", operation_id = "activate_version", tag = "bundles",
    params(OfExtractor),
    request_body(content = Activate, example = json!({"version": "0004f5f83c1a", "replace": false})),
    responses((status = 200, description = "What is served now.", body = ShownSwitch, example = json!(shown::switch_example()))),
)]
async fn activate(
    Shared(state): Shared<Arc<State>>,
    of: Result<Path<OfExtractor>, PathRejection>,
    caller: Caller,
    request: Request,
) -> Result<Json<ShownSwitch>, Refusal> {
    let (granted, name) = extractor(&state, of, caller, Wanted::Manage)?;
    let (request, body) = request.into_parts();
    let Activate { version, replace } =
        read_json(&state, &granted.tenant, &request.headers, body).await?;
    switch(&state, granted, name?, "activate", move |store, name, now, by| match replace {
        true => store.replace(name, &version, now, by),
        false => store.activate(name, &version, now, by),
    })
    .await
}

/// Serve what was active before; once more, what was active before that
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/bundles/{name}/rollback", operation_id = "roll_back", tag = "bundles",
    params(OfExtractor),
    responses((status = 200, description = "What is served now.", body = ShownSwitch, example = json!(shown::switch_example()))),
)]
async fn roll_back(
    Shared(state): Shared<Arc<State>>,
    of: Result<Path<OfExtractor>, PathRejection>,
    caller: Caller,
) -> Result<Json<ShownSwitch>, Refusal> {
    let (granted, name) = extractor(&state, of, caller, Wanted::Manage)?;
    switch(&state, granted, name?, "rollback", Store::roll_back).await
}

/// Serve the extractor no more; a roll-back brings it back
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/bundles/{name}/retire", operation_id = "retire", tag = "bundles",
    params(OfExtractor),
    responses((status = 200, description = "What is served now: nothing.", body = ShownSwitch, example = json!(shown::switch_example()))),
)]
async fn retire(
    Shared(state): Shared<Arc<State>>,
    of: Result<Path<OfExtractor>, PathRejection>,
    caller: Caller,
) -> Result<Json<ShownSwitch>, Refusal> {
    let (granted, name) = extractor(&state, of, caller, Wanted::Manage)?;
    switch(&state, granted, name?, "retire", Store::retire).await
}

/// The name of a tenant in a path; what isn't text names none.
fn tenant(of: Result<Path<OfTenant>, PathRejection>) -> String {
    of.map(|Path(of)| of.tenant).unwrap_or_default()
}

/// The tenant and the extractor that a request is about, if it may be. What is wrong with the name isn't told to who may not.
fn extractor(
    state: &State,
    of: Result<Path<OfExtractor>, PathRejection>,
    caller: Caller,
    wanted: Wanted,
) -> Result<(Granted, Result<ExtractorName, Refusal>), Refusal> {
    let OfExtractor { tenant, name } = of.map(|Path(of)| of).unwrap_or_default();
    let granted = state.tenant_of_bundles(&tenant, caller, wanted)?;
    let name = name.parse::<ExtractorName>();
    Ok((granted, name.map_err(|error| Refusal::new(codes::NAME_UNKNOWN, error.to_string()))))
}

/// Does something with a tenant's directory when it is its turn, on a thread that may wait for the disk. It is done to its end, also
/// where the client doesn't wait for that.
async fn in_turn<T: Send + 'static>(
    state: &State,
    granted: Granted,
    done: impl FnOnce(&Granted) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let turn = state.turns.take(granted.tenant.name()).await;
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        done(&granted)
    });
    match done.await.map_err(tokio::task::JoinError::try_into_panic) {
        Ok(done) => done,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(_)) => Err(Refusal::new(codes::SERVICE_ENDING, "the service is ending")),
    }
}

/// Changes what is served of an extractor, and serves it.
async fn switch<C>(
    state: &State,
    granted: Granted,
    name: ExtractorName,
    action: &'static str,
    change: C,
) -> Result<Json<ShownSwitch>, Refusal>
where
    C: FnOnce(&Store, &ExtractorName, Timestamp, &str) -> Result<Switched, BundleError>
        + Send
        + 'static,
{
    in_turn(state, granted, move |granted| {
        // Nothing is created where there is nothing to change.
        catalog(&granted.root)?.entry(&granted.root, &name)?;
        let store = Store::open(&granted.root)?;
        let switched = change(&store, &name, Timestamp::now(), &by(granted, action))?;
        granted.tell(action, &name);
        granted.tenant.refresh()?;
        tell_failures(&granted.tenant);
        Ok(Json(ShownSwitch::of(&name, switched)))
    })
    .await
}

/// What is noted in the directory of who did something: in which role, and nothing of a token.
fn by(granted: &Granted, action: &str) -> String {
    format!("retort serve: {action} ({})", granted.role.as_str())
}

impl Granted {
    fn tell(&self, action: &str, name: &ExtractorName) {
        let (tenant, role, extractor) = (self.tenant.name(), self.role.as_str(), name.as_str());
        info!(tenant, role, action, extractor, "managed");
    }
}

/// What lies in a directory, which may not be there yet.
fn catalog(root: &FilePath) -> Result<Catalog, BundleError> {
    if root.exists() { Catalog::read(root) } else { Ok(Catalog::default()) }
}
