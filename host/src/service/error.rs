//! Why a service isn't there, and why it refuses a request.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use thiserror::Error;
use tracing::error;

use crate::bundle::{BundleError, BundleLoadError, VersionError};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::runtime::HostError;

/// Why there is no service.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The system doesn't give the address.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Which address.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// Anybody who reaches the address could use it.
    #[error(
        "expected a loopback address, as a service without tokens takes, found {address}: give it a configuration with tokens"
    )]
    Open {
        /// Which address.
        address: SocketAddr,
    },
    /// The configuration, or a policy that it names, can't be read.
    #[error("{}: cannot read the configuration: {source}", path.display())]
    ConfigUnreadable {
        /// Which file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The configuration isn't one.
    #[error("{origin}: {message}")]
    ConfigInvalid {
        /// The file, with line and column where they are known.
        origin: String,
        /// The path to what is wrong, what was expected and what was found.
        message: String,
    },
    /// The host can't be built.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl Coded for ServiceError {
    fn entry(&self) -> Code {
        match self {
            Self::Listen { .. } => codes::LISTEN_FAILED,
            Self::Open { .. } => codes::LISTEN_OPEN,
            Self::ConfigUnreadable { .. } => codes::FILE_NOT_READABLE,
            Self::ConfigInvalid { .. } => codes::CONFIG_INVALID,
            Self::Host(error) => error.entry(),
        }
    }
}

/// Why a request is refused: an answer of its own, `{"code", "message"}`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Refusal {
    pub(super) code: Code,
    pub(super) message: String,
    /// When to ask again.
    #[serde(skip)]
    retry_after: Option<Duration>,
}

impl Refusal {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retry_after: None }
    }

    /// That more is asked than may be, for so long yet.
    pub(super) fn too_many(what: &str, retry_after: Duration) -> Self {
        let message = format!("there are too many {what}");
        Self { retry_after: Some(retry_after), ..Self::new(codes::TOO_MANY_REQUESTS, message) }
    }

    /// The same for everybody who may not, whatever there is.
    pub(super) fn unauthorized() -> Self {
        Self::new(codes::UNAUTHORIZED, "expected a token that is good for this")
    }

    /// The header that goes with a status.
    pub(super) fn header_of(status: StatusCode) -> Option<HeaderName> {
        match status {
            StatusCode::UNAUTHORIZED => Some(header::WWW_AUTHENTICATE),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Some(header::ACCEPT_ENCODING),
            StatusCode::TOO_MANY_REQUESTS => Some(header::RETRY_AFTER),
            _ => None,
        }
    }

    /// The status that goes with a code.
    pub(super) fn status_of(code: Code) -> StatusCode {
        match code {
            codes::REQUEST_CORRUPT
            | codes::REQUEST_CUT_OFF
            | codes::REQUEST_INVALID
            | codes::UPLOAD_INVALID => StatusCode::BAD_REQUEST,
            codes::UNAUTHORIZED => StatusCode::UNAUTHORIZED,
            codes::CROSS_ORIGIN | codes::MANAGEMENT_OFF => StatusCode::FORBIDDEN,
            codes::PATH_UNKNOWN
            | codes::TENANT_UNKNOWN
            | codes::NAME_UNKNOWN
            | codes::VERSION_UNKNOWN
            | codes::NOT_SERVED => StatusCode::NOT_FOUND,
            codes::METHOD_UNKNOWN => StatusCode::METHOD_NOT_ALLOWED,
            codes::CLIENT_TOO_SLOW => StatusCode::REQUEST_TIMEOUT,
            codes::EVENT_TYPE_TAKEN
            | codes::NO_EARLIER_VERSION
            | codes::VERSION_MISSING
            | codes::VERSION_NOT_PROMOTED => StatusCode::CONFLICT,
            codes::REQUEST_TOO_LARGE => StatusCode::PAYLOAD_TOO_LARGE,
            codes::ENCODING_UNKNOWN => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            code if UPLOAD_REFUSALS.contains(&code) || GATE_REFUSALS.contains(&code) => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            codes::TOO_MANY_REQUESTS => StatusCode::TOO_MANY_REQUESTS,
            codes::HEADERS_TOO_LARGE => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            codes::SERVICE_ENDING => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// Why what was uploaded isn't looked at further.
pub(super) const UPLOAD_REFUSALS: &[Code] = &[codes::BUNDLE_TOO_LARGE, codes::MANIFEST_UNREADABLE];

/// What gates say of a bundle that isn't taken, or not run.
pub(super) const GATE_REFUSALS: &[Code] = &[
    codes::DIGEST_MISMATCH,
    codes::FINGERPRINT_MISMATCH,
    codes::FUNCTION_NOT_FOUND,
    codes::FUNCTION_SIGNATURE_MISMATCH,
    codes::LOAD_FAILED,
    codes::MODULE_NOT_FOUND,
    codes::MODULE_NOT_OF_SOURCE,
    codes::MODULE_REJECTED,
];

impl From<VersionError> for Refusal {
    fn from(error: VersionError) -> Self {
        Self::new(error.entry(), error.detail())
    }
}

/// What is wrong with a bundle, without where it lies on the host.
impl From<BundleLoadError> for Refusal {
    fn from(error: BundleLoadError) -> Self {
        let file = error.path().file_name().and_then(|name| name.to_str());
        // The bundle's own directory may be the one where it is looked at.
        let file = file.filter(|name| !name.starts_with('.')).map(|name| format!("{name}: "));
        Self::new(error.entry(), format!("{}{}", file.unwrap_or_default(), error.detail()))
    }
}

/// Where the host's directory is at fault, its log says how: a client isn't to know the host's files.
impl From<BundleError> for Refusal {
    fn from(error: BundleError) -> Self {
        match error {
            BundleError::Version(error) => error.into(),
            error => {
                error!(code = error.code(), "{error}");
                Self::new(
                    error.entry(),
                    "the tenant's directory can't be used; the service's log says why",
                )
            }
        }
    }
}

impl From<HostError> for Refusal {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Bundles(error) => error.into(),
            HostError::Load(error) => error.into(),
            error => Self::new(error.entry(), error.to_string()),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = Self::status_of(self.code);
        let mut response = (status, Json(&self)).into_response();
        let value = match status {
            StatusCode::UNAUTHORIZED => Some(HeaderValue::from_static("Bearer")),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Some(HeaderValue::from_static("gzip, zstd")),
            // Whole seconds, of which none is too few.
            _ => self.retry_after.map(|wait| {
                let seconds = wait.as_millis().div_ceil(1_000).clamp(1, 3_600);
                HeaderValue::from(seconds as u32)
            }),
        };
        if let (Some(name), Some(value)) = (Self::header_of(status), value) {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
