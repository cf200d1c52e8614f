//! Batches as bytes of a file.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// How files of tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileFormat {
    /// Parquet, packed by zstd.
    Parquet,
    /// Streams of Arrow IPC.
    Arrow,
}

/// The most rows of a row group.
const GROUP_ROWS: usize = 128 << 10;

/// The most bytes of a row group, which is held in memory until it is written.
const GROUP_BYTES: usize = 64 << 20;

impl FileFormat {
    /// What names of files end in.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow => "arrows",
        }
    }
}

/// A stream of Arrow IPC, which is written as rows come.
pub struct RowStream<W: Write> {
    writer: StreamWriter<W>,
}

impl<W: Write> RowStream<W> {
    /// Writes the head of a stream.
    ///
    /// # Errors
    /// Where it can't be written.
    pub fn new(out: W, schema: &Schema) -> io::Result<Self> {
        Ok(Self { writer: StreamWriter::try_new(out, schema).map_err(arrow_io)? })
    }

    /// Writes rows, and has them on their way.
    ///
    /// # Errors
    /// Where they can't be written.
    pub fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.writer.write(batch).and_then(|()| self.writer.flush()).map_err(arrow_io)
    }

    /// Writes the end.
    ///
    /// # Errors
    /// Where it can't be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.writer.finish().map_err(arrow_io)
    }
}

impl<W: Write> std::fmt::Debug for RowStream<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowStream").finish_non_exhaustive()
    }
}

/// The system's answer, where it is one.
fn arrow_io(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, source) => source,
        error => io::Error::other(error),
    }
}

/// A file that is written.
pub(super) enum Encoder {
    Parquet(Box<ArrowWriter<File>>),
    Arrow(Box<StreamWriter<BufWriter<File>>>),
}

impl Encoder {
    pub(super) fn new(format: FileFormat, file: File, schema: &Schema) -> io::Result<Self> {
        Ok(match format {
            FileFormat::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .set_max_row_group_row_count(Some(GROUP_ROWS))
                    .set_created_by(format!("retort {}", env!("CARGO_PKG_VERSION")))
                    .build();
                let writer = ArrowWriter::try_new(file, schema.clone().into(), Some(properties));
                Self::Parquet(Box::new(writer.map_err(io::Error::from)?))
            }
            FileFormat::Arrow => {
                let writer = StreamWriter::try_new(BufWriter::new(file), schema);
                Self::Arrow(Box::new(writer.map_err(arrow_io)?))
            }
        })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        match self {
            Self::Parquet(writer) => {
                writer.write(batch).map_err(io::Error::from)?;
                if writer.in_progress_size() > GROUP_BYTES { self.flush() } else { Ok(()) }
            }
            Self::Arrow(writer) => writer.write(batch).map_err(arrow_io),
        }
    }

    /// Bytes that are held until a row group is written.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Parquet(writer) => writer.memory_size(),
            Self::Arrow(_) => 0,
        }
    }

    /// Writes what is held.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Parquet(writer) => writer.flush().map_err(io::Error::from),
            Self::Arrow(writer) => writer.flush().map_err(arrow_io),
        }
    }

    /// About how many bytes the file has, with those that are held.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        Ok(match self {
            Self::Parquet(writer) => (writer.bytes_written() + writer.in_progress_size()) as u64,
            Self::Arrow(writer) => writer.get_ref().get_ref().metadata()?.len(),
        })
    }

    /// Ends the file, and has it on disk.
    pub(super) fn finish(self) -> io::Result<()> {
        let file = match self {
            Self::Parquet(writer) => (*writer).into_inner().map_err(io::Error::from)?,
            Self::Arrow(mut writer) => {
                writer.finish().map_err(arrow_io)?;
                let file = writer.into_inner().map_err(arrow_io)?;
                file.into_inner().map_err(io::IntoInnerError::into_error)?
            }
        };
        file.sync_all()
    }
}
