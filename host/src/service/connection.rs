//! Connections: as many as may be, each within its limits.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
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
use tokio::task::{JoinSet, yield_now};
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
            // The system may have a request of it that wasn't read yet: after others have had their turn, it shows.
            yield_now().await;
            let has_ended = poll_fn(|cx| Poll::Ready(serving.as_mut().poll(cx).is_ready())).await;
            if has_ended || !seat.has_asked() {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use std::future::pending;
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    use super::*;
    use crate::bundle::pipeline::Pipeline;
    use crate::service::{Source, router};

    #[test]
    fn who_has_sent_a_request_before_giving_way_is_answered() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("service.toml");
        let text = "listen = \"127.0.0.1:0\"\n[limits]\nconnections = 1\n[tenants.acme]\nbundles = [\"bundles\"]\n";
        std::fs::write(&path, text).unwrap();
        let gates = Pipeline::builder().build().unwrap();
        let source = Source::File { path, listen: None };
        let state = Arc::new(State::new(source, gates).unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            // All of them are there before the first one is looked at.
            let clients = [(); 3].map(|()| {
                let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                let request =
                    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
                client.write_all(request).unwrap();
                client
            });
            let answered = tokio::task::spawn_blocking(|| {
                clients.map(|mut client| {
                    let mut answer = String::new();
                    client.read_to_string(&mut answer).map(|_| answer)
                })
            });
            let mut connections = Connections::new(&state, router(&state));
            let answers = tokio::select! {
                () = connections.accept(listener, pending()) => unreachable!("it doesn't end"),
                answers = answered => answers.unwrap(),
            };
            for answer in answers {
                assert!(
                    answer.as_ref().is_ok_and(|it| it.starts_with("HTTP/1.1 200")),
                    "{answer:?}"
                );
            }
        });
    }
}
