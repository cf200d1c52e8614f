//! The lines of a stream as columns.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use retort_columns::arrow_array::RecordBatch;
use retort_columns::{Added, FileSet, FilesError, RowStream, Rows, Tables};

use super::fault_code;
use crate::runtime::{Make, Sink, StreamError, Summary, Taken, WholeLines};

/// Batches, each with the place of its table.
type Batches = Vec<(usize, RecordBatch)>;

/// Files of tables that a stream writes to, and that are looked after from elsewhere.
#[derive(Clone, Debug)]
pub struct SharedFiles {
    set: Arc<Mutex<FileSet>>,
}

impl SharedFiles {
    /// These files.
    #[must_use]
    pub fn new(set: FileSet) -> Self {
        Self { set: Arc::new(Mutex::new(set)) }
    }

    /// The files, which nobody writes to in the meantime.
    pub fn lock(&self) -> MutexGuard<'_, FileSet> {
        // What was left in the middle of a write isn't whole, and is never given a name.
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the lines of a stream as rows of tables. What of a result doesn't fit its column is counted as dropped.
pub struct ColumnSink {
    tables: Arc<Tables>,
    to: To,
}

enum To {
    Files(SharedFiles),
    /// One table alone.
    Table(usize, Box<RowStream<Box<dyn Write + Send>>>),
}

impl ColumnSink {
    /// Rows of all tables, into files.
    #[must_use]
    pub fn files(tables: Arc<Tables>, files: SharedFiles) -> Self {
        Self { tables, to: To::Files(files) }
    }

    /// Rows of the table at a place among all, as a stream of Arrow IPC.
    ///
    /// # Errors
    /// Where the head of the stream can't be written.
    pub fn table(
        tables: Arc<Tables>,
        table: usize,
        out: Box<dyn Write + Send>,
    ) -> io::Result<Self> {
        let schema = tables.list().get(table).map(|table| table.schema());
        let schema = schema.ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { tables, to: To::Table(table, Box::new(RowStream::new(out, &schema)?)) })
    }

    /// Writes the end of a stream of Arrow IPC. Files are ended by those who share them.
    ///
    /// # Errors
    /// Where it can't be written.
    pub fn end(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Files(_) => Ok(()),
            To::Table(_, stream) => stream.finish(),
        }
    }
}

impl std::fmt::Debug for ColumnSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColumnSink")
            .field("tables", &self.tables.list().len())
            .finish_non_exhaustive()
    }
}

impl Sink for ColumnSink {
    type Maker = ColumnMaker;

    fn maker(&self) -> ColumnMaker {
        ColumnMaker { rows: Rows::new(Arc::clone(&self.tables)) }
    }

    fn take(&mut self, _: WholeLines<'_>, made: &mut Batches) -> Result<Taken, StreamError> {
        for (table, batch) in made.drain(..) {
            let written = match &mut self.to {
                To::Files(files) => files.lock().write(table, &batch).map_err(as_io),
                To::Table(wanted, stream) if *wanted == table => stream.write(&batch),
                To::Table(..) => Ok(()),
            };
            written.map_err(StreamError::Results)?;
        }
        Ok(Taken::default())
    }
}

fn as_io(error: FilesError) -> io::Error {
    io::Error::other(error)
}

/// Makes rows of lines.
#[derive(Debug)]
pub struct ColumnMaker {
    rows: Rows,
}

impl Make for ColumnMaker {
    type Made = Batches;

    fn make(
        &mut self,
        lines: WholeLines<'_>,
        summary: &mut Summary,
    ) -> Result<Batches, StreamError> {
        let unread = |error: serde_json::Error| StreamError::Results(error.into());
        self.rows
            .add_lines(lines.results, |added, was_in_part| count(added, was_in_part, summary))
            .map_err(unread)?;
        self.rows.add_reject_lines(lines.rejects).map_err(unread)?;
        self.rows.take().map_err(|error| StreamError::Results(io::Error::other(error)))
    }

    fn bytes(made: &Batches) -> usize {
        made.iter().map(|(_, batch)| batch.get_array_memory_size()).sum()
    }
}

/// Counts what isn't in its tables.
pub(super) fn count(added: &Added, was_in_part: bool, summary: &mut Summary) {
    if added.counts.is_empty() {
        return;
    }
    let counts = if added.is_rejected {
        summary.results -= 1;
        summary.in_part -= u64::from(was_in_part);
        &mut summary.rejects
    } else {
        summary.in_part += u64::from(!was_in_part);
        &mut summary.dropped
    };
    for (kind, count) in added.counts.iter() {
        *counts.entry(fault_code(kind).name).or_default() += count;
    }
}
