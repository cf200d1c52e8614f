//! The inputs of a run: files, patterns of names, pipes and stdin.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use glob::MatchOptions;
use retort::columns::{ParquetEvents, is_parquet};
use retort::internal::packing::Packing;
use rustix::fs::OFlags;

use super::stop::{Awaited, Stop};
use crate::cli::error::CliError;
use crate::cli::{files, output};

/// The files that are named, with those that fit a pattern in the place of the pattern, in the order of their names. What is there
/// by the name of a pattern is no pattern.
pub(in crate::cli) fn expand(named: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut found = Vec::with_capacity(named.len());
    for path in named {
        let pattern = path.to_str().filter(|text| text.contains(['*', '?', '[']));
        match pattern.filter(|_| path.symlink_metadata().is_err()) {
            Some(pattern) => fitting(path, pattern, &mut found)?,
            None => found.push(path.clone()),
        }
    }
    Ok(found)
}

fn fitting(path: &Path, pattern: &str, found: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let expected = "files of events that fit the pattern";
    let none = || CliError::FileNotFound { path: path.to_owned(), expected };
    // As a shell has it.
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    let before = found.len();
    for fits in glob::glob_with(pattern, options).map_err(|_| none())? {
        let fits = fits.map_err(|error| CliError::FileNotReadable {
            path: error.path().to_owned(),
            expected,
            source: error.into(),
        })?;
        if !fits.is_dir() {
            found.push(fits);
        }
    }
    if found.len() == before { Err(none()) } else { Ok(()) }
}

/// Looks at files of Parquet before anything is written: whether their column is there. One is among them if a column was named.
pub(super) fn probe_column(events: &[PathBuf], column: Option<&str>) -> Result<(), CliError> {
    let mut is_needed = false;
    for path in events {
        if !path.metadata().is_ok_and(|found| found.is_file()) {
            continue;
        }
        let expected = "a file of events";
        let refused = |source| CliError::FileNotReadable { path: path.clone(), expected, source };
        let mut file = File::open(path).map_err(refused)?;
        let mut head = Vec::new();
        Read::by_ref(&mut file).take(4).read_to_end(&mut head).map_err(refused)?;
        if !is_parquet(&head) {
            continue;
        }
        let origin = files::name(path);
        let Some(column) = column else { return Err(CliError::ColumnNeeded { origin }) };
        is_needed = true;
        ParquetEvents::open(file, column).map_err(|error| CliError::Events { origin, error })?;
    }
    if column.is_some() && !is_needed { Err(CliError::ColumnUnneeded) } else { Ok(()) }
}

/// How many bytes the inputs have, where all of them are files.
pub(super) fn total_bytes(events: &[PathBuf]) -> Option<u64> {
    let bytes = |path: &PathBuf| Some(path.metadata().ok().filter(|it| it.is_file())?.len());
    events.iter().map(bytes).sum()
}

/// How many bytes of inputs have been read, as they lie in their files.
#[derive(Clone, Default)]
pub(super) struct BytesRead(Arc<AtomicU64>);

impl BytesRead {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// The events of an input, unpacked. It is opened when it is first read.
pub(super) struct EventReader {
    path: PathBuf,
    state: ReaderState,
    /// Bytes of events that were served before.
    served: u64,
    /// Where the events of a file of Parquet are.
    column: Option<String>,
    stop: Stop,
    bytes_read: BytesRead,
}

enum ReaderState {
    /// Not opened yet, unless it can be opened only once.
    New(Option<File>),
    Open(Box<dyn Read + Send>),
}

impl EventReader {
    /// Of a file, or of stdin, which nobody else may have taken.
    pub(super) fn new(path: &Path, stop: &Stop, bytes_read: &BytesRead) -> Result<Self, CliError> {
        let stdin = files::is_stdin(path).then(|| files::take_stdin("a file of events"));
        Ok(Self {
            path: path.to_owned(),
            state: ReaderState::New(stdin.transpose()?),
            served: 0,
            column: None,
            stop: stop.clone(),
            bytes_read: bytes_read.clone(),
        })
    }

    /// The same, where a file of Parquet has its events in this column.
    pub(super) fn of_column(mut self, column: Option<&str>) -> Self {
        self.column = column.map(str::to_owned);
        self
    }

    /// The same without its first bytes of events.
    pub(super) fn after(mut self, served: u64) -> Self {
        self.served = served;
        self
    }

    fn open(&self, file: File) -> io::Result<Box<dyn Read + Send>> {
        let is_file = file.metadata()?.is_file();
        let mut seekable = file.try_clone()?;
        if let Some(column) = self.column.as_deref().filter(|_| is_file) {
            let mut head = Vec::new();
            Read::by_ref(&mut seekable).take(4).read_to_end(&mut head)?;
            if is_parquet(&head) {
                let events = ParquetEvents::open(seekable, column);
                let events =
                    events.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
                self.bytes_read.add(file.metadata()?.len());
                return self.without_served(Stopped { source: events, stop: self.stop.clone() });
            }
            seekable.rewind()?;
        }
        let source: Box<dyn Read + Send> = match is_file {
            true => Box::new(file),
            false => Box::new(Awaited { file, stop: self.stop.clone() }),
        };
        let (stop, bytes_read) = (self.stop.clone(), self.bytes_read.clone());
        let mut source = Counted { source, stop, bytes_read };
        let mut head = Vec::new();
        let packing = Packing::of(&mut source, &mut head)?;
        let by_name = Packing::by_name(&self.path.to_string_lossy());
        if by_name != Packing::None && by_name != packing && !head.is_empty() {
            let (name, by_name) = (self.path.display(), by_name.name());
            let (it, is) = (format!("{name}: it is called {by_name}"), packing.name());
            output::note(format_args!("{it}, and what it holds isn't: it is read as {is}"));
        }
        if packing == Packing::None && is_file && self.served > 0 {
            seekable.seek(SeekFrom::Start(self.served))?;
            self.bytes_read.add(self.served);
            return Ok(Box::new(source));
        }
        self.without_served(packing.unpack(head, source))
    }

    fn without_served(
        &self,
        mut events: impl Read + Send + 'static,
    ) -> io::Result<Box<dyn Read + Send>> {
        let skipped = io::copy(&mut (&mut events).take(self.served), &mut io::sink())?;
        if skipped < self.served {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Box::new(events))
    }
}

impl Read for EventReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let ReaderState::New(opened) = &mut self.state {
            let file = match opened.take() {
                Some(file) => file,
                None => open(&self.path)?,
            };
            self.state = ReaderState::Open(self.open(file)?);
        }
        match &mut self.state {
            ReaderState::Open(events) => events.read(buffer),
            ReaderState::New(_) => Ok(0),
        }
    }
}

/// Opens a file. A named pipe that nobody writes to yet is opened without waiting for who will, so that a signal may come first.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    if path.metadata()?.file_type().is_fifo() {
        options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}

/// Reads until a signal comes.
struct Stopped<R> {
    source: R,
    stop: Stop,
}

impl<R: Read> Read for Stopped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stop.check()?;
        self.source.read(buffer)
    }
}

/// Counts what is read, until a signal comes: a line may be so long, or so much of an archive be done already, that many reads go by
/// before the stream asks by itself.
struct Counted {
    source: Box<dyn Read + Send>,
    stop: Stop,
    bytes_read: BytesRead,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stop.check()?;
        let read = self.source.read(buffer)?;
        self.bytes_read.add(read as u64);
        Ok(read)
    }
}
