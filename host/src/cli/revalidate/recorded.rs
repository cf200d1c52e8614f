//! Results that `retort run` has written, in the order of their events.

use std::io::Read;
use std::path::{Path, PathBuf};

use retort::graph::Extraction;
use retort::runtime::{Line, Lines};
use serde::Deserialize;

use super::super::error::CliError;
use super::super::files;

/// The longest line that is read, in bytes.
const MAX_LINE_BYTES: usize = 64 << 20;

/// Results that `retort run` has written, read as they are asked for.
pub(super) struct Recorded {
    path: PathBuf,
    lines: Lines<Box<dyn Read + Send>>,
    /// The one that is next, by the line of its record.
    next: Option<(u64, RecordedLine)>,
}

#[derive(Deserialize)]
struct RecordedLine {
    file: Option<String>,
    line: u64,
    result: Extraction,
}

impl Recorded {
    pub(super) fn open(path: &Path) -> Result<Self, CliError> {
        let source = files::open_events(path, "recorded results")?;
        let mut recorded =
            Self { path: path.to_owned(), lines: Lines::new(source, MAX_LINE_BYTES), next: None };
        recorded.advance()?;
        Ok(recorded)
    }

    /// What was recorded of the event of this line; nothing where it has no line. Events are asked for in their order.
    pub(super) fn of(&mut self, file: Option<&str>, line: u64) -> Result<Extraction, CliError> {
        let is_its = |(_, next): &mut (u64, RecordedLine)| {
            next.line == line && (file.is_none() || next.file.as_deref() == file)
        };
        match self.next.take_if(is_its) {
            None => Ok(Extraction::default()),
            Some((_, found)) => {
                self.advance()?;
                Ok(found.result)
            }
        }
    }

    /// Makes sure that nothing is left: it would be of other events.
    pub(super) fn finish(self) -> Result<(), CliError> {
        match &self.next {
            None => Ok(()),
            Some((number, found)) => {
                let file = found.file.as_deref().map(|file| format!(" of {file}"));
                let file = file.unwrap_or_default();
                let message = format!(
                    "expected the results of these events, found that of line {}{file}",
                    found.line
                );
                Err(self.invalid(*number, message))
            }
        }
    }

    fn advance(&mut self) -> Result<(), CliError> {
        let line = self.lines.next_line().map_err(|source| CliError::FileNotReadable {
            path: self.path.clone(),
            expected: "recorded results",
            source,
        })?;
        self.next = match line {
            None => None,
            Some(Line::Whole { number, text }) => match serde_json::from_slice(text) {
                Ok(found) => Some((number, found)),
                Err(error) => {
                    let message = format!("expected a line that `retort run` writes: {error}");
                    return Err(self.invalid(number, message));
                }
            },
            Some(Line::TooLong { number, .. }) => {
                let message = format!("expected a line of at most {MAX_LINE_BYTES} bytes");
                return Err(self.invalid(number, message));
            }
        };
        Ok(())
    }

    fn invalid(&self, line: u64, message: String) -> CliError {
        CliError::RecordedInvalid { origin: format!("{}:{line}", files::name(&self.path)), message }
    }
}
