//! A client as it should be: over HTTP/1.1, on one connection for some requests, reading while it sends.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::stream::{Stream, unfold};
use http_body_util::{BodyExt as _, Either, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_ENCODING, HOST};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// What a request brings.
pub(super) type Body = Either<Full<Bytes>, StreamBody<Pieces>>;

/// Pieces of a body, as they are sent.
type Pieces = Pin<Box<dyn Stream<Item = Result<Frame<Bytes>, Infallible>> + Send>>;

/// Why a request wasn't answered.
pub(super) type Failed = Box<dyn std::error::Error + Send + Sync>;

/// A client of one tenant.
pub(super) struct Client {
    address: SocketAddr,
    tenant: String,
    connection: Option<SendRequest<Body>>,
}

/// A body that is sent from one time to the next.
pub(super) fn streamed() -> (Sender<Bytes>, Body) {
    let (sender, pieces) = channel(8);
    let pieces = unfold(pieces, |mut pieces: Receiver<Bytes>| async {
        let piece = pieces.recv().await?;
        Some((Ok(Frame::data(piece)), pieces))
    });
    (sender, Either::Right(StreamBody::new(Box::pin(pieces))))
}

/// A body that is there.
pub(super) fn whole(bytes: impl Into<Bytes>) -> Body {
    Either::Left(Full::new(bytes.into()))
}

impl Client {
    pub(super) fn new(address: SocketAddr, tenant: &str) -> Self {
        Self { address, tenant: tenant.to_owned(), connection: None }
    }

    /// Has the next request on a connection of its own.
    pub(super) fn disconnect(&mut self) {
        self.connection = None;
    }

    /// Sends events.
    pub(super) async fn post(
        &mut self,
        body: Body,
        packing: Option<&str>,
    ) -> Result<Lines, Failed> {
        let connection = match self.connection.take() {
            Some(connection) if !connection.is_closed() => connection,
            _ => {
                let stream = TcpStream::connect(self.address).await?;
                stream.set_nodelay(true)?;
                let (sender, connection) = handshake(TokioIo::new(stream)).await?;
                tokio::spawn(connection);
                sender
            }
        };
        let connection = self.connection.insert(connection);
        let mut request = Request::post(format!("/v1/tenants/{}/events", self.tenant))
            .header(HOST, "localhost")
            .header(AUTHORIZATION, format!("Bearer {}", self.tenant));
        if let Some(packing) = packing {
            request = request.header(CONTENT_ENCODING, packing);
        }
        connection.ready().await?;
        let response = connection.send_request(request.body(body)?).await?;
        if response.status() != 200 {
            return Err(format!("status {}", response.status()).into());
        }
        Ok(Lines { response, piece: Bytes::new(), begun: Vec::new() })
    }
}

/// The lines of an answer, as they come.
pub(super) struct Lines {
    response: Response<Incoming>,
    piece: Bytes,
    begun: Vec<u8>,
}

impl Lines {
    /// The next one; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, Failed> {
        loop {
            if let Some(end) = self.piece.iter().position(|it| *it == b'\n') {
                self.begun.extend_from_slice(&self.piece.split_to(end + 1));
                return Ok(Some(std::mem::take(&mut self.begun)));
            }
            self.begun.extend_from_slice(&self.piece);
            self.piece = match self.response.frame().await {
                Some(frame) => frame?.into_data().unwrap_or_default(),
                None if self.begun.is_empty() => return Ok(None),
                None => return Err("the answer ends in the middle of a line".into()),
            };
        }
    }

    /// All that is left, as it comes.
    pub(super) async fn whole(&mut self) -> Result<Vec<u8>, Failed> {
        let mut bytes = std::mem::take(&mut self.begun);
        bytes.extend_from_slice(&std::mem::take(&mut self.piece));
        while let Some(frame) = self.response.frame().await {
            bytes.extend_from_slice(&frame?.into_data().unwrap_or_default());
        }
        Ok(bytes)
    }
}
