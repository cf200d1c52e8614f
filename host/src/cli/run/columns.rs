//! Results of a run as columns.

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use std::sync::Arc;

use retort::columns::{FileFormat, FileMark, FileOptions, FileSet, Tables};
use retort::{ColumnSink, Registry, SharedFiles, tables};
use serde::{Deserialize, Serialize};

use crate::cli::error::CliError;

/// What results are written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OutputFormat {
    /// Lines of JSON
    #[default]
    Ndjson,
    /// A directory of files of Parquet for each entity and relationship
    Parquet,
    /// The same as streams of Arrow IPC; on stdout that of one table
    Arrow,
}

impl OutputFormat {
    pub(super) fn is_lines(&self) -> bool {
        *self == Self::Ndjson
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }

    fn of_files(self) -> Option<FileFormat> {
        match self {
            Self::Ndjson => None,
            Self::Parquet => Some(FileFormat::Parquet),
            Self::Arrow => Some(FileFormat::Arrow),
        }
    }
}

/// How results are written as columns.
#[derive(clap::Args)]
pub(super) struct ColumnArgs {
    /// What results are written as: lines; or typed columns, a table for each entity and relationship, whose rejects are a table too
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(super) format: OutputFormat,
    /// With --format arrow and without --out: the table that goes to stdout
    #[arg(long, value_name = "NAME")]
    pub(super) table: Option<String>,
    /// Rows from which on a file of a table is ended [default: 4000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    file_rows: Option<u64>,
    /// Bytes from which on a file of a table is ended [default: 268435456]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    file_bytes: Option<u64>,
    /// The column of events in files of Parquet: JSON text, or a struct
    #[arg(long, value_name = "NAME")]
    pub(super) column: Option<String>,
}

impl ColumnArgs {
    /// Refuses options that mean nothing together.
    pub(super) fn check(&self, out: Option<&Path>, rejects: Option<&Path>) -> Result<(), CliError> {
        let wrong = |expected, found| Err(CliError::OutputOptions { expected, found });
        let is_sized = self.file_rows.is_some() || self.file_bytes.is_some();
        match self.format {
            OutputFormat::Ndjson if self.table.is_some() => {
                wrong("--format arrow, whose stream on stdout is that of --table", "ndjson")
            }
            OutputFormat::Ndjson if is_sized => {
                wrong("--format parquet or arrow, whose files have a size", "ndjson")
            }
            OutputFormat::Ndjson => Ok(()),
            _ if rejects.is_some() => {
                wrong("no --rejects, as rejects are the table retort_rejects", "--rejects")
            }
            OutputFormat::Parquet if out.is_none() => {
                wrong("--out with a directory, as --format parquet writes many files", "none")
            }
            OutputFormat::Arrow if out.is_none() && self.table.is_none() => {
                wrong("--out with a directory, or --table for stdout", "neither")
            }
            _ if out.is_some() && self.table.is_some() => {
                wrong("--out or --table, as a directory has all tables", "both")
            }
            _ if out.is_none() && io::stdout().is_terminal() => {
                wrong("a file or a pipe to write a stream of Arrow to", "a terminal")
            }
            _ => Ok(()),
        }
    }

    /// The tables of what is served.
    pub(super) fn tables(registry: &Registry) -> Result<Arc<Tables>, CliError> {
        let specs = registry.graph_specs().map_err(|error| CliError::Refused {
            code: retort::Coded::entry(error),
            message: error.to_string(),
        })?;
        let specs = specs.iter().map(|spec| &**spec);
        Ok(Arc::new(tables(specs).map_err(CliError::refused)?))
    }

    /// The files of tables in a directory: of a new run, or of one that goes on from a mark.
    pub(super) fn files(
        &self,
        root: &Path,
        tables: &Arc<Tables>,
        mark: Option<&FileMark>,
    ) -> Result<SharedFiles, CliError> {
        let format = self.format.of_files().unwrap_or(FileFormat::Parquet);
        let mut options = FileOptions::new(format);
        options.rows = self.file_rows.unwrap_or(options.rows);
        options.bytes = self.file_bytes.unwrap_or(options.bytes);
        let tables = Arc::clone(tables);
        let set = match mark {
            Some(mark) => FileSet::resume(root, tables, options, mark),
            None => FileSet::create(root, tables, options),
        };
        Ok(SharedFiles::new(set?))
    }

    /// The one table that goes to stdout.
    pub(super) fn stream(&self, tables: Arc<Tables>) -> Result<ColumnSink, CliError> {
        let name = self.table.as_deref().unwrap_or_default();
        let Some(table) = tables.list().iter().position(|table| table.name() == name) else {
            let names: Vec<&str> = tables.list().iter().map(|table| table.name()).collect();
            return Err(CliError::NoTable { name: name.to_owned(), found: names.join(", ") });
        };
        let out: Box<dyn Write + Send> = Box::new(io::BufWriter::new(io::stdout()));
        ColumnSink::table(tables, table, out).map_err(CliError::Output)
    }
}
