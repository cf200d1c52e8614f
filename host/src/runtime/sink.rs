//! Where the lines of a stream go.

use std::io::{self, Write};

use super::error::StreamError;
use super::summary::Summary;

/// Takes what a stream gives: lines of results and of rejects, or what was made of them.
pub trait Sink: Send {
    /// What threads make of lines.
    type Maker: Make + Send;

    /// What a thread makes of its lines with.
    fn maker(&self) -> Self::Maker;

    /// Takes what lines came to, whose turn it is. What is returned is how many bytes it took of the one kind and of the other.
    ///
    /// # Errors
    /// [`StreamError::Results`] and [`StreamError::Rejects`], which end the stream.
    fn take(
        &mut self,
        lines: WholeLines<'_>,
        made: &mut <Self::Maker as Make>::Made,
    ) -> Result<Taken, StreamError>;
}

/// Makes something of lines on the thread that has served them, before it is their turn.
pub trait Make {
    /// What it makes.
    type Made: Default + Send;

    /// Makes it of whole lines. The summary is that of these lines, and may be corrected.
    ///
    /// # Errors
    /// As of [`Sink::take`].
    fn make(
        &mut self,
        lines: WholeLines<'_>,
        summary: &mut Summary,
    ) -> Result<Self::Made, StreamError>;

    /// How many bytes of memory that takes, beside the lines.
    fn bytes(made: &Self::Made) -> usize;
}

/// Whole lines of a stream, each with its end.
#[derive(Clone, Copy, Debug)]
pub struct WholeLines<'a> {
    /// Those of events that gave something.
    pub results: &'a [u8],
    /// Those of events that failed.
    pub rejects: &'a [u8],
}

/// How much a [`Sink`] has taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Bytes of results.
    pub out_bytes: u64,
    /// Bytes of rejects.
    pub rejects_bytes: u64,
}

/// Two writers, of which each gets what lines came to at once, and is flushed then.
#[derive(Debug)]
pub struct LineWriters<O, J> {
    pub(super) out: O,
    pub(super) rejects: J,
}

impl<O: Write + Send, J: Write + Send> Sink for LineWriters<O, J> {
    type Maker = AsLines;

    fn maker(&self) -> AsLines {
        AsLines
    }

    fn take(&mut self, lines: WholeLines<'_>, _: &mut ()) -> Result<Taken, StreamError> {
        write(&mut self.out, lines.results).map_err(StreamError::Results)?;
        write(&mut self.rejects, lines.rejects).map_err(StreamError::Rejects)?;
        Ok(Taken {
            out_bytes: lines.results.len() as u64,
            rejects_bytes: lines.rejects.len() as u64,
        })
    }
}

/// Leaves lines as they are.
#[derive(Clone, Copy, Debug)]
pub struct AsLines;

impl Make for AsLines {
    type Made = ();

    fn make(&mut self, _: WholeLines<'_>, _: &mut Summary) -> Result<(), StreamError> {
        Ok(())
    }

    fn bytes((): &()) -> usize {
        0
    }
}

fn write(writer: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    writer.write_all(bytes)?;
    writer.flush()
}
