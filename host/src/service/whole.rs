//! Bodies that are read as a whole before anything is done.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use serde::de::{DeserializeOwned, IgnoredAny};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::body::{BodyError, Pieces, packing};
use super::error::Refusal;
use super::state::{Phase, State, reached};
use crate::diagnostics::codes;
use crate::diagnostics::problem::Coded as _;
use crate::diagnostics::untrusted::sanitize;
use crate::diagnostics::wording::{expected_first, json_in_text};
use crate::runtime::TenantHandle;

/// Bytes of a body of JSON.
const JSON_BYTES: u64 = 64 << 10;

/// How much of a message is kept, in characters.
const MESSAGE_CHARS: usize = 400;

/// Reads a body of `allowed` bytes at most, unpacked, that comes in this time, for which the tenant pays.
pub(super) async fn read(
    state: &State,
    tenant: &TenantHandle,
    headers: &HeaderMap,
    body: Body,
    allowed: u64,
    time: Duration,
) -> Result<Vec<u8>, Refusal> {
    // A tenant has one upload at a time, and all other bodies that are read so are short.
    let unpacking = Arc::new(Semaphore::new(1));
    let mut pieces = Pieces::new(body, packing(headers)?, allowed, tenant, &unpacking);
    let reading = async {
        let mut whole = Vec::new();
        while let Some(piece) = pieces.next().await {
            whole.extend_from_slice(&piece?);
        }
        Ok::<_, BodyError>(whole)
    };
    let mut phases = state.phases();
    tokio::select! {
        biased;
        () = reached(&mut phases, Phase::Stopping) => {
            Err(Refusal::new(codes::SERVICE_ENDING, "the service is ending"))
        }
        read = timeout(time, reading) => match read {
            Ok(read) => read.map_err(|error| Refusal::new(error.entry(), error.to_string())),
            Err(_) => {
                let message = format!("expected the whole body within {} seconds", time.as_secs());
                Err(Refusal::new(codes::CLIENT_TOO_SLOW, message))
            }
        },
    }
}

/// Reads a body of JSON.
pub(super) async fn read_json<T: DeserializeOwned>(
    state: &State,
    tenant: &TenantHandle,
    headers: &HeaderMap,
    body: Body,
) -> Result<T, Refusal> {
    let idle = state.config().limits.idle();
    parse(&read(state, tenant, headers, body, JSON_BYTES, idle).await?)
}

/// Reads an object. A derived reader would take a list for an object's fields in order.
fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, Refusal> {
    let invalid =
        |message: &str| Refusal::new(codes::REQUEST_INVALID, sanitize(message, MESSAGE_CHARS));
    let text =
        std::str::from_utf8(text).map_err(|_| invalid("expected UTF-8, found other bytes"))?;
    if !text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return Err(invalid("expected a JSON object, found another value"));
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let inner = error.inner();
        if !inner.is_data() {
            return invalid(&json_in_text(text, inner));
        }
        let said = inner.to_string();
        let end = said.rfind(" at line ").unwrap_or(said.len());
        let place = Some(error.path().to_string()).filter(|place| place != ".");
        let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
        invalid(&format!("{place}{}", expected_first(said.get(..end).unwrap_or(&said))))
    })?;
    json.end().map_err(|error| invalid(&json_in_text(text, &error)))?;
    Ok(read)
}
