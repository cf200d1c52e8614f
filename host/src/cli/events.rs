//! Events that a command holds in memory or goes through one by one.

use std::path::Path;

use retort::runtime::{Line, Lines};

use super::error::CliError;
use super::files;

/// Calls `each` with the number and the text of every line that isn't blank, until it returns `false`. Lines of more than
/// `limit` bytes are an error.
pub(super) fn for_each(
    path: &Path,
    limit: usize,
    mut each: impl FnMut(u64, &[u8]) -> Result<bool, CliError>,
) -> Result<(), CliError> {
    let mut lines = Lines::new(files::open_events(path)?, limit);
    loop {
        let line = lines.next_line().map_err(|source| CliError::FileNotReadable {
            path: path.to_owned(),
            expected: "a file of events",
            source,
        })?;
        match line {
            None => return Ok(()),
            Some(Line::Whole { number, text }) => {
                if !each(number, text)? {
                    return Ok(());
                }
            }
            Some(Line::TooLong { number, .. }) => {
                let origin = format!("{} line {number}", files::name(path));
                return Err(CliError::FileTooLarge { origin, allowed: limit as u64 });
            }
        }
    }
}
