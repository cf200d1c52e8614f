//! A [`Host`](crate::runtime::Host) over HTTP: events in, results out, one line each.
//!
//! A request's lines are cut where they come in, submitted to the host a bounded number at a time, and answered in their order. What
//! each route takes and gives is in docs/serve.md.

mod access;
mod answer;
mod body;
mod bundles;
mod config;
mod connection;
mod cut;
mod error;
mod events;
mod file;
mod guarded;
mod line;
mod meters;
mod openapi;
pub(crate) mod packing;
mod rates;
mod seats;
mod state;
mod status;
mod tls;
mod token;
mod underway;
mod watch;
mod whole;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::{Extension, Router};
use tokio::net::{TcpListener, TcpSocket};
use tokio::time::timeout;
use tracing::{info, warn};
use utoipa_axum::routes;

pub use config::{Config, Limits};
pub use error::ServiceError;
pub use file::{DEFAULT_LISTEN, Source};

use self::connection::Connections;
use self::error::Refusal;
use self::openapi::Description;
use self::state::{Phase, State};
use crate::bundle::pipeline::Pipeline;
use crate::diagnostics::codes;

/// Connections that the system holds until they are accepted: a flood of them comes faster for a moment than it is seen to, and who finds no room
/// tries again after a second. The system may have less.
const BACKLOG: u32 = 4_096;

/// A service that is ready to be asked.
#[derive(Debug)]
pub struct Service {
    state: Arc<State>,
}

impl Service {
    /// Looks over the tenants' bundles. Those that can't be served are told of, and stop nothing.
    ///
    /// # Errors
    /// [`ServiceError`]: for a configuration that isn't one, for an address that others can reach, where there are no tokens, and where the
    /// host can't be built.
    pub fn new(source: Source, gates: Pipeline) -> Result<Self, ServiceError> {
        Ok(Self { state: Arc::new(State::new(source, gates)?) })
    }

    /// Whether it is to be asked by TLS.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.state.config().tls.is_some()
    }

    /// What takes up the configuration and the bundles as they are on disk, as often as it is called. It reads files.
    pub fn reloader(&self) -> impl Fn() + Clone + Send + 'static {
        let state = Arc::clone(&self.state);
        move || state.reload()
    }

    /// Takes the address that the configuration says.
    ///
    /// # Errors
    /// [`ServiceError::Listen`].
    pub async fn listen(&self) -> Result<(TcpListener, SocketAddr), ServiceError> {
        let wanted = self.state.config().listen;
        let refused = |source| ServiceError::Listen { address: wanted, source };
        let socket = match wanted {
            SocketAddr::V4(_) => TcpSocket::new_v4(),
            SocketAddr::V6(_) => TcpSocket::new_v6(),
        };
        let listen = |socket: TcpSocket| {
            // Another one may have ended on it a moment ago.
            socket.set_reuseaddr(true)?;
            socket.bind(wanted)?;
            socket.listen(BACKLOG)
        };
        let listener = socket.and_then(listen).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok((listener, address))
    }

    /// Serves until `ending` is over, and then what has been accepted: requests that are under way have some seconds to send the rest,
    /// and as many again to read their answers.
    pub async fn serve(self, listener: TcpListener, ending: impl Future<Output = ()>) {
        let Self { state } = self;
        let watching = tokio::spawn(watch::watch(Arc::clone(&state)));
        let mut connections = Connections::new(&state, router(&state));
        connections.accept(listener, ending).await;
        state.enter(Phase::Ending);
        info!(connections = connections.len(), "ending");
        let grace = state.config().limits.grace();
        if timeout(grace, connections.ended()).await.is_err() {
            // From here on no body is read further.
            state.enter(Phase::Stopping);
            if timeout(grace, connections.ended()).await.is_err() {
                warn!(connections = connections.len(), "cut off");
            }
        }
        watching.abort();
    }
}

fn router(state: &Arc<State>) -> Router {
    let (routes, description) = routes();
    routes
        .layer(Extension(description))
        .fallback(|| async { Refusal::new(codes::PATH_UNKNOWN, "there is no such path") })
        .method_not_allowed_fallback(|| async {
            Refusal::new(codes::METHOD_UNKNOWN, "this path has no such method")
        })
        .layer(axum::middleware::from_fn_with_state(Arc::clone(state), status::note))
        .with_state(Arc::clone(state))
}

/// The routes, and what they are described as.
fn routes() -> (Router<Arc<State>>, Description) {
    let routes = openapi::begin()
        .routes(routes!(events::events))
        .merge(bundles::routes())
        .routes(routes!(status::health))
        .routes(routes!(status::ready))
        .routes(routes!(status::metrics))
        .routes(routes!(openapi::serve));
    let (routes, description) = routes.split_for_parts();
    (routes, Description::of(description))
}
