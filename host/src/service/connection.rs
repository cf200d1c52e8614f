//! Connections: as many as may be, each within its limits.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

use super::access::Peer;
use super::guarded::Guarded;
use super::seats::{Answered, Seat, Seats};
use super::state::{Phase, State, reached};

/// How long it is waited where the system gives no connection: most likely it has no file left for one.
const BREATH: Duration = Duration::from_millis(100);

/// By how many bytes the head of a request may be too large and is told so with a code.
const TOLD_BYTES: usize = 8 << 10;

/// The connections of a service.
pub(super) struct Connections {
    state: Arc<State>,
    router: Router,
    seats: Arc<Seats>,
    open: JoinSet<()>,
}

impl Connections {
    pub(super) fn new(state: &Arc<State>, router: Router) -> Self {
        let seats = Arc::new(Seats::new(state.config().limits.connections));
        Self { state: Arc::clone(state), router, seats, open: JoinSet::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Takes connections until `ending` is over. Where there are as many as may be, one that waits for a request gives way; where all have
    /// one, others wait at the system's door.
    pub(super) async fn accept(&mut self, listener: TcpListener, ending: impl Future<Output = ()>) {
        let mut ending = pin!(ending);
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut ending => return,
                Some(_) = self.open.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            let (stream, peer) = match accepted {
                Ok((stream, address)) => (stream, Peer(address.ip())),
                Err(error) => {
                    warn!("no connection is accepted: {error}");
                    tokio::time::sleep(BREATH).await;
                    continue;
                }
            };
            let seat = tokio::select! {
                biased;
                () = &mut ending => return,
                seat = self.seats.sit() => seat,
            };
            let (state, router) = (Arc::clone(&self.state), self.router.clone());
            self.open.spawn(async move {
                state.meters.connections.fetch_add(1, Ordering::Relaxed);
                connection(&state, stream, peer, router, &seat).await;
                state.meters.connections.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }

    /// Waits until all have ended.
    pub(super) async fn ended(&mut self) {
        while self.open.join_next().await.is_some() {}
    }
}

async fn connection(
    state: &State,
    stream: TcpStream,
    peer: Peer,
    router: Router,
    seat: &Arc<Seat>,
) {
    // Parts of answers aren't held back for further ones.
    let _ = stream.set_nodelay(true);
    let config = state.config();
    let Some(tls) = &config.tls else { return serve(state, stream, peer, router, seat).await };
    let handshake = TlsAcceptor::from(Arc::clone(&tls.config)).accept(stream);
    let shaken = tokio::select! {
        shaken = timeout(config.limits.headers(), handshake) => shaken,
        () = seat.told() => return,
    };
    match shaken {
        Ok(Ok(stream)) => serve(state, stream, peer, router, seat).await,
        Ok(Err(error)) => debug!("a connection wasn't encrypted: {error}"),
        Err(_) => debug!("a connection wasn't encrypted in time"),
    }
}

async fn serve<S>(state: &State, stream: S, peer: Peer, router: Router, seat: &Arc<Seat>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let limits = state.config().limits.clone();
    let stream = TokioIo::new(Guarded::new(stream, limits.idle()));
    let routes = TowerToHyperService::new(router);
    let service = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        let (asking, answered) = (seat.asks(), routes.call(request));
        async { answered.await.map(|answer| answer.map(|body| Answered::new(body, asking))) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.headers())
        // What is somewhat too large is told so, where it is looked at.
        .max_buf_size(limits.header_bytes.saturating_add(TOLD_BYTES))
        // Who has sent everything may say so before the answer is there.
        .half_close(true)
        .serve_connection(stream, service);
    let mut serving = pin!(serving);
    let mut phases = state.phases();
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = reached(&mut phases, Phase::Ending) => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
        () = seat.told() => {
            debug!("a connection gives way to another one");
            if !seat.has_asked() {
                return;
            }
            // What has come in the meantime is answered.
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        debug!("a connection has failed: {error}");
    }
}
