//! The parts of all tables.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::FilesError;
use super::encode::{Encoder, FileFormat};
use crate::tables::Tables;

/// The most bytes that all files together hold in memory.
const HELD_BYTES: usize = 256 << 20;

/// How large files become.
#[derive(Clone, Copy, Debug)]
pub struct FileOptions {
    /// Their format.
    pub format: FileFormat,
    /// Rows from which on a file is ended.
    pub rows: u64,
    /// Bytes from which on a file is ended.
    pub bytes: u64,
}

impl FileOptions {
    /// Files of four million rows or 256 MiB.
    #[must_use]
    pub fn new(format: FileFormat) -> Self {
        Self { format, rows: 4_000_000, bytes: 256 << 20 }
    }
}

/// How many whole parts each table has, by its name: what a run goes on from.
pub type FileMark = BTreeMap<String, u64>;

/// The files of all tables in a directory.
///
/// Parts have their names once they are whole: at once, or, where a run may have to go on after whatever ends it, with
/// [`publish`](Self::publish), after the [mark](Self::seal) that counts them is on disk. Then a part that has its name is in the mark, and
/// one that the mark counts has its name or gets it with [`resume`](Self::resume).
pub struct FileSet {
    root: PathBuf,
    tables: Arc<Tables>,
    options: FileOptions,
    is_marked: bool,
    parts: Vec<Parts>,
    rows: u64,
    /// Keeps others from writing to the directory, as far as its file system has locks.
    _lock: File,
}

/// The parts of a table.
#[derive(Default)]
struct Parts {
    /// How many are whole.
    whole: u64,
    /// How many of them have their names.
    named: u64,
    open: Option<OpenPart>,
}

struct OpenPart {
    encoder: Encoder,
    path: PathBuf,
    rows: u64,
    /// Bytes that it holds in memory.
    held: usize,
}

impl FileSet {
    /// Files in a directory that is new or empty. They have their names as soon as they are whole.
    ///
    /// # Errors
    /// [`FilesError`].
    pub fn create(
        root: &Path,
        tables: Arc<Tables>,
        options: FileOptions,
    ) -> Result<Self, FilesError> {
        let set = Self::begin(root, tables, options, false)?;
        match first_entry(root).map_err(unwritable(root))? {
            None => Ok(set),
            Some(found) => Err(FilesError::NotEmpty { path: root.to_owned(), found }),
        }
    }

    /// Files that go on from a mark: what it counts has its names then, and what it doesn't is removed. An empty mark is that of a new
    /// run, whose directory is new or empty but for what a run has left there that never came to a mark.
    ///
    /// # Errors
    /// [`FilesError`].
    pub fn resume(
        root: &Path,
        tables: Arc<Tables>,
        options: FileOptions,
        mark: &FileMark,
    ) -> Result<Self, FilesError> {
        let mut set = Self::begin(root, tables, options, true)?;
        for place in 0..set.parts.len() {
            let whole = set.name(place).and_then(|name| mark.get(name)).copied().unwrap_or(0);
            if let Some(parts) = set.parts.get_mut(place) {
                parts.whole = whole;
            }
        }
        set.publish()?;
        set.remove_rest()?;
        Ok(set)
    }

    fn begin(
        root: &Path,
        tables: Arc<Tables>,
        options: FileOptions,
        is_marked: bool,
    ) -> Result<Self, FilesError> {
        fs::create_dir_all(root).map_err(unwritable(root))?;
        let lock = File::open(root).map_err(unwritable(root))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(FilesError::InUse { path: root.to_owned() });
            }
            // Not every file system has locks.
            Err(TryLockError::Error(_)) => {}
        }
        let parts = tables.list().iter().map(|_| Parts::default()).collect();
        Ok(Self { root: root.to_owned(), tables, options, is_marked, parts, rows: 0, _lock: lock })
    }

    /// Adds rows to the table at a place in [`Tables::list`].
    ///
    /// # Errors
    /// [`FilesError`].
    pub fn write(&mut self, table: usize, batch: &RecordBatch) -> Result<(), FilesError> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        // Whatever becomes of them.
        self.rows += batch.num_rows() as u64;
        let part = self.open(table)?;
        let Some(part) = part else { return Ok(()) };
        part.encoder.write(batch).map_err(unwritable(&part.path))?;
        part.rows += batch.num_rows() as u64;
        part.held = part.encoder.held();
        let bytes = part.encoder.bytes().map_err(unwritable(&part.path))?;
        let rows = part.rows;
        if rows >= self.options.rows || bytes >= self.options.bytes {
            self.end(table)?;
            if !self.is_marked {
                self.publish()?;
            }
        }
        self.hold_less()
    }

    /// How many rows came since these files were opened, those that couldn't be written included.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Ends all files that are open, and says how many there are then. They have their names with [`publish`](Self::publish).
    ///
    /// # Errors
    /// [`FilesError`].
    pub fn seal(&mut self) -> Result<FileMark, FilesError> {
        (0..self.parts.len()).try_for_each(|table| self.end(table))?;
        let named = self.tables.list().iter().zip(&self.parts);
        Ok(named.map(|(table, parts)| (table.name().to_owned(), parts.whole)).collect())
    }

    /// Ends all files, once there is nothing more to come: tables without a row have a file without a row.
    ///
    /// # Errors
    /// [`FilesError`].
    pub fn finish(&mut self) -> Result<FileMark, FilesError> {
        for table in 0..self.parts.len() {
            if self.parts.get(table).is_some_and(|parts| parts.whole == 0) {
                self.open(table)?;
                self.end(table)?;
            }
        }
        self.seal()
    }

    /// Gives whole files their names.
    ///
    /// # Errors
    /// [`FilesError`].
    pub fn publish(&mut self) -> Result<(), FilesError> {
        for table in 0..self.parts.len() {
            let Some(Parts { whole, named, .. }) = self.parts.get(table) else { continue };
            let (whole, named) = (*whole, *named);
            if named == whole {
                continue;
            }
            let directory = self.directory(table);
            for number in named..whole {
                let (hidden, path) = (self.hidden(table, number), self.path(table, number));
                match fs::rename(&hidden, &path) {
                    Ok(()) => {}
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        if !path.is_file() {
                            return Err(FilesError::Lost { path });
                        }
                    }
                    Err(source) => return Err(FilesError::Write { path, source }),
                }
            }
            sync(&directory)?;
            if let Some(parts) = self.parts.get_mut(table) {
                parts.named = whole;
            }
        }
        Ok(())
    }

    fn open(&mut self, table: usize) -> Result<Option<&mut OpenPart>, FilesError> {
        let Some(number) = self.parts.get(table).map(|parts| parts.whole) else { return Ok(None) };
        if self.parts.get(table).is_some_and(|parts| parts.open.is_none()) {
            let directory = self.directory(table);
            let path = self.hidden(table, number);
            if number == 0 {
                fs::create_dir_all(&directory).map_err(unwritable(&directory))?;
                sync(&self.root)?;
            }
            let file = File::create(&path).map_err(unwritable(&path))?;
            let Some(found) = self.tables.list().get(table) else { return Ok(None) };
            let encoder = Encoder::new(self.options.format, file, &found.schema());
            let encoder = encoder.map_err(unwritable(&path))?;
            if let Some(parts) = self.parts.get_mut(table) {
                parts.open = Some(OpenPart { encoder, path, rows: 0, held: 0 });
            }
        }
        Ok(self.parts.get_mut(table).and_then(|parts| parts.open.as_mut()))
    }

    fn end(&mut self, table: usize) -> Result<(), FilesError> {
        let Some(parts) = self.parts.get_mut(table) else { return Ok(()) };
        let Some(open) = parts.open.take() else { return Ok(()) };
        open.encoder.finish().map_err(unwritable(&open.path))?;
        parts.whole += 1;
        // Before a mark counts it.
        sync(&self.directory(table))
    }

    /// Writes row groups until no more is held than is allowed, the largest first.
    fn hold_less(&mut self) -> Result<(), FilesError> {
        loop {
            let open = || self.parts.iter().filter_map(|parts| parts.open.as_ref());
            let held: usize = open().map(|part| part.held).sum();
            if held <= HELD_BYTES {
                return Ok(());
            }
            let open = self.parts.iter_mut().filter_map(|parts| parts.open.as_mut());
            let Some(largest) = open.max_by_key(|part| part.held) else { return Ok(()) };
            let before = largest.held;
            largest.encoder.flush().map_err(unwritable(&largest.path))?;
            largest.held = largest.encoder.held();
            if largest.held >= before {
                return Ok(());
            }
        }
    }

    /// Removes hidden files, of parts that no mark counts.
    fn remove_rest(&self) -> Result<(), FilesError> {
        for entry in fs::read_dir(&self.root).map_err(unwritable(&self.root))? {
            let entry = entry.map_err(unwritable(&self.root))?;
            let name = entry.file_name();
            let path = entry.path();
            let not_empty = |found: &OsStr| FilesError::NotEmpty {
                path: self.root.clone(),
                found: found.to_string_lossy().into_owned(),
            };
            let table = name
                .to_str()
                .and_then(|name| self.tables.list().iter().position(|table| table.name() == name));
            let Some(table) = table.filter(|_| path.is_dir()) else {
                return Err(not_empty(&name));
            };
            let whole = self.parts.get(table).map_or(0, |parts| parts.whole);
            for file in fs::read_dir(&path).map_err(unwritable(&path))? {
                let file = file.map_err(unwritable(&path))?.path();
                let known = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
                if known.starts_with('.') {
                    fs::remove_file(&file).map_err(unwritable(&file))?;
                } else if self.number(known).is_none_or(|number| number >= whole) {
                    return Err(not_empty(file.as_os_str()));
                }
            }
        }
        Ok(())
    }

    fn name(&self, table: usize) -> Option<&str> {
        self.tables.list().get(table).map(|table| table.name())
    }

    fn directory(&self, table: usize) -> PathBuf {
        self.root.join(self.name(table).unwrap_or_default())
    }

    /// Which part a file is, by its name.
    fn number(&self, name: &str) -> Option<u64> {
        let number = name.strip_prefix("part-")?.strip_suffix(self.options.format.extension())?;
        number.strip_suffix('.')?.parse().ok()
    }

    fn path(&self, table: usize, number: u64) -> PathBuf {
        let extension = self.options.format.extension();
        self.directory(table).join(format!("part-{number:06}.{extension}"))
    }

    fn hidden(&self, table: usize, number: u64) -> PathBuf {
        let extension = self.options.format.extension();
        self.directory(table).join(format!(".part-{number:06}.{extension}.new"))
    }
}

impl std::fmt::Debug for FileSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileSet").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Something in a directory.
fn first_entry(root: &Path) -> io::Result<Option<String>> {
    let entry = fs::read_dir(root)?.next().transpose()?;
    Ok(entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
}

/// Has the names in a directory on disk.
fn sync(directory: &Path) -> Result<(), FilesError> {
    File::open(directory).and_then(|it| it.sync_all()).map_err(unwritable(directory))
}

fn unwritable(path: &Path) -> impl Fn(io::Error) -> FilesError {
    let path = path.to_owned();
    move |source| FilesError::Write { path: path.clone(), source }
}
