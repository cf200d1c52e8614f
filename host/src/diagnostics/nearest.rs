//! "Did you mean": the name of ours that was meant by one that there isn't.

/// How alike two names have to be for one to be offered in place of the other.
const ALIKE: f64 = 0.85;

/// Longer names than this are no misspelt ones of ours, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// The one of these names that is most like what was written, whatever its letter case, if it is like enough to be offered.
///
/// # Example
/// ```
/// use retort::internal::nearest;
///
/// let names = ["deadline_ms", "max_memory_bytes"];
/// assert_eq!(nearest("dedline_ms", names), Some("deadline_ms"));
/// assert_eq!(nearest("nodes", names), None);
/// ```
#[must_use]
pub fn nearest<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if written.len() > MAX_NAME_BYTES {
        return None;
    }
    let written = written.to_ascii_lowercase();
    let scored = names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&written, &name.to_ascii_lowercase()), name));
    let best = scored.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    Some(best).filter(|(alike, _)| *alike >= ALIKE).map(|(_, name)| name)
}
