//! What this host found of a bundle, noted so that it needn't be found again.
//!
//! A verdict is one byte. All that it depends on is in its name, which is a digest, and its authentication code is over both: an entry
//! under another name is none.

use super::directory::UnfitDirectory;
use super::entry::EntryName;
use super::key::{CacheKey, TAG_BYTES};

/// What the names of verdicts end in.
pub(super) const EXTENSION: &str = ".verdict";

/// What an entry begins with. The code follows, then the verdict.
const MAGIC: &[u8] = b"retort verdict 1\n";

/// Bytes of an entry.
pub(super) const BYTES: usize = MAGIC.len() + TAG_BYTES + 1;

/// The name of what was found of `subject`.
pub(super) fn name(subject: &[u8; 32]) -> EntryName {
    EntryName::of(subject, EXTENSION)
}

/// The bytes of an entry.
pub(super) fn entry(key: &CacheKey, subject: &[u8; 32], verdict: u8) -> Vec<u8> {
    let mut entry = MAGIC.to_vec();
    entry.extend(key.tag(&[MAGIC, subject, &[verdict]]));
    entry.push(verdict);
    entry
}

/// The verdict of an entry's bytes, if it was this key that vouched for it, of this subject.
pub(super) fn opened(
    bytes: &[u8],
    key: &CacheKey,
    subject: &[u8; 32],
) -> Result<u8, UnfitDirectory> {
    let unfit = |reason: &str| UnfitDirectory::Content(reason.to_owned());
    let Some((verdict, tag)) =
        bytes.strip_prefix(MAGIC).and_then(<[u8]>::split_last).filter(|_| bytes.len() == BYTES)
    else {
        return Err(unfit("it hasn't the form of a verdict"));
    };
    if !key.verifies(&[MAGIC, subject, &[*verdict]], tag) {
        return Err(unfit("its authentication code is not that of this host and bundle"));
    }
    Ok(*verdict)
}
