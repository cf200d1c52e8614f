//! Events as they lie in files and come over the network: as they are, or packed by gzip or zstd. Of files their first bytes say so.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Bytes that are read at once of what is packed.
const READ_BUFFER: usize = 64 << 10;

/// The most memory that a zstd frame may ask for what it refers back to: what `zstd` itself takes without being told.
const MAX_WINDOW_BYTES: u64 = 128 << 20;

/// How events are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// As they are.
    None,
    /// Members of gzip.
    Gzip,
    /// Frames of zstd.
    Zstd,
}

/// What first bytes say. The masks leave out what differs between skippable frames of zstd.
const MAGIC: [(Packing, &[u8], u8); 3] = [
    (Packing::Gzip, &[0x1f, 0x8b], 0xff),
    (Packing::Zstd, &[0x28, 0xb5, 0x2f, 0xfd], 0xff),
    (Packing::Zstd, &[0x50, 0x2a, 0x4d, 0x18], 0xf0),
];

impl Packing {
    /// Reads as many first bytes as it takes to tell, and leaves them in `head`. Events begin otherwise, so that of them one byte is
    /// read.
    ///
    /// # Errors
    /// Those of the source.
    pub fn of(source: &mut impl Read, head: &mut Vec<u8>) -> io::Result<Self> {
        loop {
            let begins = |(_, magic, mask): &&(Self, &[u8], u8)| {
                let pairs = head.iter().zip(*magic).enumerate();
                pairs.into_iter().all(|(at, (found, wanted))| {
                    let mask = if at == 0 { *mask } else { 0xff };
                    found & mask == *wanted
                })
            };
            let Some((packing, magic, _)) = MAGIC.iter().find(begins) else {
                return Ok(Self::None);
            };
            if head.len() >= magic.len() {
                return Ok(*packing);
            }
            let mut byte = [0];
            match source.read(&mut byte) {
                Ok(0) => return Ok(Self::None),
                Ok(_) => head.extend_from_slice(&byte),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// What a file's name says of it, by its ending.
    #[must_use]
    pub fn by_name(name: &str) -> Self {
        let (_, ending) = name.rsplit_once('.').unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "gz" | "gzip" | "tgz" => Self::Gzip,
            "zst" | "zstd" => Self::Zstd,
            _ => Self::None,
        }
    }

    /// What messages call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "text",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// Unpacks what follows on `head`.
    #[must_use]
    pub fn unpack(self, head: Vec<u8>, source: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        let source = Cursor::new(head).chain(source);
        match self {
            Self::None => Box::new(source),
            Self::Gzip => Box::new(Gzip(MultiGzDecoder::new(buffered(source)))),
            Self::Zstd => Box::new(Zstd::new(buffered(source))),
        }
    }

    fn cut_off(self) -> io::Error {
        let message = format!("the {} data ends in the middle", self.name());
        io::Error::new(io::ErrorKind::UnexpectedEof, message)
    }

    fn corrupt(self, found: impl std::fmt::Display) -> io::Error {
        let message = format!("the {} data is corrupt: {found}", self.name());
        io::Error::new(io::ErrorKind::InvalidData, message)
    }
}

fn buffered<R: Read>(source: R) -> BufReader<R> {
    BufReader::with_capacity(READ_BUFFER, source)
}

/// Members of gzip, one after the other.
struct Gzip<R>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Packing::Gzip.cut_off(),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                Packing::Gzip.corrupt(error)
            }
            _ => error,
        })
    }
}

/// Frames of zstd, one after the other.
struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    state: ZstdState,
}

enum ZstdState {
    BetweenFrames,
    InFrame,
    /// What was read of the frame before it failed is still to be handed out.
    Failing(io::Error),
    Failed,
}

/// A block with nothing in it that is the last one of its frame, and a checksum after it.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

impl<R: BufRead> Zstd<R> {
    fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW_BYTES);
        Self { source, decoder, state: ZstdState::BetweenFrames }
    }

    /// Goes to the next frame that holds something. `false` at the end.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut (&mut self.source).take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(Packing::Zstd.cut_off());
                    }
                }
                Err(error) => return Err(told(error)),
            }
        }
    }

    /// Unpacks some of a frame. `false` at its end.
    fn next_block(&mut self) -> io::Result<bool> {
        if !self.decoder.is_finished() {
            let strategy = BlockDecodingStrategy::UptoBlocks(1);
            let decoded = self.decoder.decode_blocks(&mut self.source, strategy);
            return decoded.map(|_| true).map_err(told);
        }
        match self.decoder.get_checksum_from_data() {
            Some(sum) if Some(sum) != self.decoder.get_calculated_checksum() => {
                Err(Packing::Zstd.corrupt("its checksum is another one"))
            }
            _ => Ok(false),
        }
    }

    /// Has the decoder hand out what it holds back for what might refer to it: nothing will.
    fn close_frame(&mut self) {
        if !self.decoder.is_finished() {
            let strategy = BlockDecodingStrategy::UptoBlocks(1);
            // Where the decoder is past helping, what it holds is lost.
            let _ = self.decoder.decode_blocks(&mut &LAST_BLOCK[..], strategy);
        }
    }
}

/// What the decoder says, in our words: of its source, or of the data.
fn told(error: FrameDecoderError) -> io::Error {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(found) = cause {
        if let Some(source) = found.downcast_ref::<io::Error>() {
            return match source.kind() {
                io::ErrorKind::UnexpectedEof => Packing::Zstd.cut_off(),
                kind => io::Error::new(kind, source.to_string()),
            };
        }
        cause = found.source();
    }
    Packing::Zstd.corrupt(error)
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            let (step, next) = match std::mem::replace(&mut self.state, ZstdState::Failed) {
                ZstdState::BetweenFrames => (self.next_frame(), ZstdState::BetweenFrames),
                ZstdState::InFrame => (self.next_block(), ZstdState::InFrame),
                ZstdState::Failing(error) => return Err(error),
                ZstdState::Failed => return Err(Packing::Zstd.corrupt("it was so before")),
            };
            self.state = match (step, next) {
                (Ok(true), _) => ZstdState::InFrame,
                (Ok(false), ZstdState::InFrame) => ZstdState::BetweenFrames,
                (Ok(false), _) => {
                    self.state = ZstdState::BetweenFrames;
                    return Ok(0);
                }
                (Err(error), ZstdState::InFrame) => {
                    self.close_frame();
                    ZstdState::Failing(error)
                }
                (Err(error), _) => return Err(error),
            };
        }
    }
}
