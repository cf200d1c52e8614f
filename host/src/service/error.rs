//! Why a service isn't there, and why it refuses a request.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use thiserror::Error;

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
}

impl Refusal {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The same for everybody who may not, whatever there is.
    pub(super) fn unauthorized() -> Self {
        Self::new(codes::UNAUTHORIZED, "expected a token that is good for this")
    }

    fn status(&self) -> StatusCode {
        match self.code {
            codes::UNAUTHORIZED => StatusCode::UNAUTHORIZED,
            codes::CROSS_ORIGIN => StatusCode::FORBIDDEN,
            codes::PATH_UNKNOWN | codes::TENANT_UNKNOWN => StatusCode::NOT_FOUND,
            codes::METHOD_UNKNOWN => StatusCode::METHOD_NOT_ALLOWED,
            codes::REQUEST_TOO_LARGE => StatusCode::PAYLOAD_TOO_LARGE,
            codes::HEADERS_TOO_LARGE => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            codes::ENCODING_UNKNOWN => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            codes::TOO_MANY_REQUESTS => StatusCode::TOO_MANY_REQUESTS,
            codes::SERVICE_ENDING => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status(), Json(&self)).into_response();
        let header = match self.code {
            codes::ENCODING_UNKNOWN => Some((header::ACCEPT_ENCODING, "gzip, zstd")),
            codes::UNAUTHORIZED => Some((header::WWW_AUTHENTICATE, "Bearer")),
            codes::TOO_MANY_REQUESTS => Some((header::RETRY_AFTER, "1")),
            _ => None,
        };
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}
