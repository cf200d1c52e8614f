//! What a request's body holds, unpacked, in pieces.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::{HeaderMap, header};
use futures_util::StreamExt as _;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;

use super::error::Refusal;
use super::packing::Packing;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::sanitize;
use crate::runtime::TenantHandle;

/// Bytes that are unpacked at once.
const UNPACKED_BYTES: usize = 64 << 10;

/// Pieces that wait between the connection, the thread that unpacks, and who reads.
const PIECES: usize = 4;

/// Why a body is read no further.
#[derive(Debug, thiserror::Error)]
pub(super) enum BodyError {
    #[error("the body ended before its end: {0}")]
    CutOff(String),
    #[error("{0}")]
    Corrupt(String),
    #[error("the body is larger than {allowed} bytes")]
    TooLarge { allowed: u64 },
}

impl Coded for BodyError {
    fn entry(&self) -> Code {
        match self {
            Self::CutOff(_) => codes::REQUEST_CUT_OFF,
            Self::Corrupt(_) => codes::REQUEST_CORRUPT,
            Self::TooLarge { .. } => codes::REQUEST_TOO_LARGE,
        }
    }
}

/// How a body is packed, by the headers of its request.
pub(super) fn packing(headers: &HeaderMap) -> Result<Packing, Refusal> {
    let mut encodings = headers.get_all(header::CONTENT_ENCODING).iter();
    let (Some(encoding), None) = (encodings.next(), encodings.next()) else {
        return match headers.contains_key(header::CONTENT_ENCODING) {
            false => Ok(Packing::None),
            true => Err(unknown("several")),
        };
    };
    let encoding = String::from_utf8_lossy(encoding.as_bytes()).trim().to_ascii_lowercase();
    match &*encoding {
        "identity" => Ok(Packing::None),
        "gzip" | "x-gzip" => Ok(Packing::Gzip),
        "zstd" => Ok(Packing::Zstd),
        _ => Err(unknown(&encoding)),
    }
}

fn unknown(found: &str) -> Refusal {
    let message = format!("expected Content-Encoding gzip or zstd, found {}", sanitize(found, 40));
    Refusal::new(codes::ENCODING_UNKNOWN, message)
}

/// The pieces of a body.
pub(super) struct Pieces {
    source: Source,
    /// Bytes that may follow.
    left: u64,
    allowed: u64,
}

enum Source {
    Plain(BodyDataStream),
    Packed(Unpacking),
}

impl Pieces {
    /// Of a body of `allowed` bytes at most, unpacked, for which the tenant pays; `unpacking` has a place for each thread that it may
    /// have for that.
    pub(super) fn new(
        body: Body,
        packing: Packing,
        allowed: u64,
        tenant: &TenantHandle,
        unpacking: &Arc<Semaphore>,
    ) -> Self {
        let body = body.into_data_stream();
        let source = match packing {
            Packing::None => Source::Plain(body),
            packing => {
                let turns = UnpackingTurns {
                    places: Arc::clone(unpacking),
                    tenant: tenant.clone(),
                    begun: Mutex::default(),
                };
                Source::Packed(Unpacking::begin(body, packing, turns))
            }
        };
        Self { source, left: allowed, allowed }
    }

    /// The next piece; `None` at the end. It loses nothing where it is given up.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        let piece = match &mut self.source {
            Source::Plain(body) => {
                body.next().await?.map_err(|error| BodyError::CutOff(told(&error)))
            }
            Source::Packed(unpacking) => unpacking.pieces.recv().await?.map_err(of_unpacking),
        };
        Some(piece.and_then(|piece| {
            let allowed = self.allowed;
            let left = self.left.checked_sub(piece.len() as u64);
            self.left = left.ok_or(BodyError::TooLarge { allowed })?;
            Ok(piece)
        }))
    }
}

/// What others say of a connection, which may quote what the client has sent.
fn told(error: &dyn std::error::Error) -> String {
    sanitize(&error.to_string(), 200)
}

fn of_unpacking(error: io::Error) -> BodyError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionAborted => {
            BodyError::CutOff(told(&error))
        }
        _ => BodyError::Corrupt(told(&error)),
    }
}

/// A body that a thread unpacks: what unpacks is written to be pulled.
struct Unpacking {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    feeding: JoinHandle<()>,
}

impl Unpacking {
    fn begin(mut body: BodyDataStream, packing: Packing, turns: UnpackingTurns) -> Self {
        let (feed, packed) = mpsc::channel(PIECES);
        let (give, pieces) = mpsc::channel(PIECES);
        let feeding = tokio::spawn(async move {
            while let Some(piece) = body.next().await {
                let cut_off = |error: axum::Error| {
                    io::Error::new(io::ErrorKind::ConnectionAborted, told(&error))
                };
                if feed.send(piece.map_err(cut_off)).await.is_err() {
                    return;
                }
            }
        });
        let turns = Arc::new(turns);
        let source = Packed { pieces: packed, piece: Bytes::new(), turns: Arc::clone(&turns) };
        tokio::task::spawn_blocking(move || {
            let mut source = packing.unpack(Vec::new(), source);
            let mut buffer = vec![0; UNPACKED_BYTES];
            loop {
                turns.begin();
                let read = source.read(&mut buffer);
                turns.end();
                let piece = match read {
                    Ok(0) => return,
                    Ok(read) => Ok(Bytes::copy_from_slice(buffer.get(..read).unwrap_or_default())),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let is_last = piece.is_err();
                // Whoever read it may be gone.
                if give.blocking_send(piece).is_err() || is_last {
                    return;
                }
            }
        });
        Self { pieces, feeding }
    }
}

impl Drop for Unpacking {
    fn drop(&mut self) {
        // The thread waits for what comes no more, and ends.
        self.feeding.abort();
    }
}

/// Turns that the bodies of a tenant have to be unpacked, and pay for.
struct UnpackingTurns {
    places: Arc<Semaphore>,
    tenant: TenantHandle,
    /// The turn that this one has, and since when.
    begun: Mutex<Option<(OwnedSemaphorePermit, Instant)>>,
}

impl UnpackingTurns {
    fn begun(&self) -> MutexGuard<'_, Option<(OwnedSemaphorePermit, Instant)>> {
        // Nothing panics while it is locked.
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn, unless there is one already: what unpacks reads as soon as it is made. Nobody closes the places.
    fn begin(&self) {
        if self.begun().is_some() {
            return;
        }
        let turn = Handle::current().block_on(Arc::clone(&self.places).acquire_owned());
        *self.begun() = turn.ok().map(|turn| (turn, Instant::now()));
    }

    fn end(&self) {
        if let Some((_turn, begun)) = self.begun().take() {
            self.tenant.pay_spare(0, begun.elapsed());
        }
    }
}

/// Pieces of a connection, as a reader.
struct Packed {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    piece: Bytes,
    turns: Arc<UnpackingTurns>,
}

impl Read for Packed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            // Others have their turns while nothing comes.
            self.turns.end();
            let piece = self.pieces.blocking_recv();
            self.turns.begin();
            match piece {
                Some(piece) => self.piece = piece?,
                None => return Ok(0),
            }
        }
        let read = self.piece.len().min(buffer.len());
        let given = self.piece.split_to(read);
        buffer.iter_mut().zip(&given).for_each(|(to, from)| *to = *from);
        Ok(read)
    }
}
