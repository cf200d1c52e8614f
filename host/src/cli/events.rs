//! Events that a command holds in memory or goes through one by one.

use std::path::Path;

use retort::runtime::{Line, Lines};
use retort::sandbox::EventError;

use super::error::CliError;
use super::files;

/// Calls `each` with the number and the text of every line that isn't blank, until it returns `false`. A line of more
/// than `limit` bytes has an error in place of its text.
pub(super) fn for_each(
    path: &Path,
    limit: usize,
    mut each: impl FnMut(u64, Result<&[u8], EventError>) -> Result<bool, CliError>,
) -> Result<(), CliError> {
    let mut lines = Lines::new(files::open_events(path, "a file of events")?, limit);
    loop {
        let line = lines.next_line().map_err(|source| CliError::FileNotReadable {
            path: path.to_owned(),
            expected: "a file of events",
            source,
        })?;
        let goes_on = match line {
            None => return Ok(()),
            Some(Line::Whole { number, text }) => each(number, Ok(text))?,
            Some(Line::TooLong { number, bytes }) => {
                let used = usize::try_from(bytes).unwrap_or(usize::MAX);
                each(number, Err(EventError::TooLarge { used, allowed: limit }))?
            }
        };
        if !goes_on {
            return Ok(());
        }
    }
}
