//! The events of a file of Parquet, as lines.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_schema::Schema;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::ParquetMetaData;

use super::texts::{EventTexts, check};
use super::{EventsError, depth};

/// What a file begins and ends with.
const MAGIC: &[u8; 4] = b"PAR1";

/// The most bytes of what a file says of itself.
const MAX_METADATA_BYTES: u64 = 64 << 20;

/// The most bytes of one column of a row group, unpacked: a row group is held in memory.
const MAX_CHUNK_BYTES: u64 = 1 << 30;

/// Rows that are unpacked at a time.
const BATCH_ROWS: usize = 1024;

/// How deep the schema of a file may nest: it is read by recursion.
const MAX_DEPTH: usize = 256;

/// Whether a file begins as one of Parquet does.
#[must_use]
pub fn is_parquet(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Reads the events of a column, one a line, as a file of lines would be read: line numbers are those of rows. A row that is null is a
/// blank line. Line ends in an event, which can only be white space there, are spaces.
///
/// A row group is held in memory, of the one column alone.
pub struct ParquetEvents {
    reader: ParquetRecordBatchReader,
    column: String,
    /// Lines that are rendered, and how far they are read.
    lines: Vec<u8>,
    read: usize,
    buffer: Vec<u8>,
    is_done: bool,
}

impl ParquetEvents {
    /// The events of `column` of a file.
    ///
    /// # Errors
    /// [`EventsError`], for a file that isn't one, or is larger than what is read, or has no such column.
    pub fn open(file: File, column: &str) -> Result<Self, EventsError> {
        let built = catch_unwind(AssertUnwindSafe(|| build(file, column)));
        let reader = built.unwrap_or_else(|_| invalid("it contradicts itself"))?;
        Ok(Self {
            reader,
            column: column.to_owned(),
            lines: Vec::new(),
            read: 0,
            buffer: Vec::new(),
            is_done: false,
        })
    }

    fn fill(&mut self) -> Result<(), EventsError> {
        self.lines.clear();
        self.read = 0;
        // What the file says of its pages may be anything.
        let next = catch_unwind(AssertUnwindSafe(|| self.reader.next()));
        let batch = match next
            .map_err(|_| EventsError::Invalid("its pages contradict themselves".to_owned()))?
        {
            None => {
                self.is_done = true;
                return Ok(());
            }
            Some(batch) => batch.map_err(|error| EventsError::Invalid(error.to_string()))?,
        };
        let Some(array) = batch.columns().first() else { return Ok(()) };
        let texts = EventTexts::new(std::sync::Arc::clone(array), &self.column)?;
        for row in 0..texts.len() {
            if let Some(text) = texts.get(row, &mut self.buffer) {
                let ends = |byte: &u8| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte };
                self.lines.extend(text.iter().map(ends));
            }
            self.lines.push(b'\n');
        }
        Ok(())
    }
}

impl std::fmt::Debug for ParquetEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetEvents").field("column", &self.column).finish_non_exhaustive()
    }
}

impl Read for ParquetEvents {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.lines.len() && !self.is_done {
            if let Err(error) = self.fill() {
                self.is_done = true;
                return Err(io::Error::new(io::ErrorKind::InvalidData, error));
            }
        }
        let rest = self.lines.get(self.read..).unwrap_or_default();
        let read = rest.len().min(buffer.len());
        let (rest, buffer) = (rest.get(..read), buffer.get_mut(..read));
        if let (Some(rest), Some(buffer)) = (rest, buffer) {
            buffer.copy_from_slice(rest);
        }
        self.read += read;
        Ok(read)
    }
}

fn invalid<T>(what: &str) -> Result<T, EventsError> {
    Err(EventsError::Invalid(what.to_owned()))
}

fn build(mut file: File, column: &str) -> Result<ParquetRecordBatchReader, EventsError> {
    check_metadata(&mut file)?;
    let unread = |error: parquet::errors::ParquetError| EventsError::Invalid(error.to_string());
    let bytes = file.metadata()?.len();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(unread)?;
    let place = column_place(builder.schema(), column)?;
    check(builder.schema().field(place).data_type(), column)?;
    let mask = ProjectionMask::roots(builder.parquet_schema(), [place]);
    check_chunks(builder.metadata(), &mask, bytes)?;
    builder.with_projection(mask).with_batch_size(BATCH_ROWS).build().map_err(unread)
}

/// Looks at how long what the file says of itself is, and at how deep its schema nests, before that is read.
fn check_metadata(file: &mut File) -> Result<(), EventsError> {
    let mut footer = [0; 8];
    if file.seek(SeekFrom::End(-8)).and_then(|_| file.read_exact(&mut footer)).is_err() {
        return invalid("it has no end");
    }
    let [a, b, c, d, magic @ ..] = footer;
    if magic != *MAGIC {
        return invalid("it doesn't end as one");
    }
    let length = u32::from_le_bytes([a, b, c, d]);
    let used = u64::from(length);
    if used > MAX_METADATA_BYTES {
        let what = "metadata of a file";
        return Err(EventsError::TooLarge { what, used, allowed: MAX_METADATA_BYTES });
    }
    let mut metadata = Vec::new();
    if file.seek(SeekFrom::End(-8 - i64::from(length))).is_err() {
        return invalid("it is shorter than what it says of itself");
    }
    Read::by_ref(file).take(used).read_to_end(&mut metadata)?;
    match depth::of_schema(&metadata) {
        None => invalid("its schema can't be read"),
        Some(depth) if depth > MAX_DEPTH => invalid("its schema nests deeper than 256 levels"),
        Some(_) => Ok(()),
    }
}

fn column_place(schema: &Schema, column: &str) -> Result<usize, EventsError> {
    schema.fields().iter().position(|field| field.name() == column).ok_or_else(|| {
        let names = schema.fields().iter().take(20).map(|field| format!("{:?}", field.name()));
        EventsError::NoColumn {
            name: column.to_owned(),
            found: names.collect::<Vec<_>>().join(", ").chars().take(1_000).collect(),
        }
    })
}

fn check_chunks(
    metadata: &ParquetMetaData,
    mask: &ProjectionMask,
    bytes: u64,
) -> Result<(), EventsError> {
    for group in metadata.row_groups() {
        let mut unpacked = 0_u64;
        for (leaf, chunk) in group.columns().iter().enumerate() {
            if !mask.leaf_included(leaf) {
                continue;
            }
            let size = |size: i64| u64::try_from(size).ok();
            let (Some(packed), Some(size)) =
                (size(chunk.compressed_size()), size(chunk.uncompressed_size()))
            else {
                return invalid("a column has less than no bytes");
            };
            if packed > bytes {
                return invalid("a column is larger than the file");
            }
            unpacked = unpacked.saturating_add(size);
        }
        if unpacked > MAX_CHUNK_BYTES {
            let what = "a column in a row group";
            return Err(EventsError::TooLarge { what, used: unpacked, allowed: MAX_CHUNK_BYTES });
        }
    }
    Ok(())
}
