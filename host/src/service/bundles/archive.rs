//! A bundle as a tar archive, in memory. No name of the archive becomes a name on disk: what is written are the files that a manifest
//! names, and those have the names that bundles give their parts.

use std::collections::BTreeMap;
use std::io::Read as _;

use tar::{Archive, Entry, EntryType};

use super::super::error::Refusal;
use crate::bundle::{Digest, MANIFEST_FILE, MAX_MANIFEST_BYTES, Manifest, Part};
use crate::diagnostics::codes;
use crate::diagnostics::untrusted::sanitize;

/// How many entries an archive may have: the files of a bundle, and some folders.
const MAX_ENTRIES: usize = 32;

/// How much of a name is told, in characters.
const NAME_CHARS: usize = 120;

/// A bundle of which nothing is known but that its manifest is one and which files came with it.
#[derive(Debug)]
pub(super) struct Unpacked {
    pub(super) manifest: Manifest,
    pub(super) version: Digest,
    pub(super) files: BTreeMap<String, Vec<u8>>,
}

/// Takes the files of a bundle out of an archive: all in one folder, whatever that is called.
pub(super) fn unpack(archive: &[u8]) -> Result<Unpacked, Refusal> {
    let mut found: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut folder: Option<String> = None;
    let unreadable = |error: std::io::Error| invalid(format!("a tar archive: {error}"));
    let mut archive = Archive::new(archive);
    let entries = archive.entries().map_err(unreadable)?;
    for (number, entry) in entries.enumerate() {
        let mut entry = entry.map_err(unreadable)?;
        if number == MAX_ENTRIES {
            return Err(invalid(format!("{MAX_ENTRIES} entries at most, found more")));
        }
        let path = path_of(&entry)?;
        match entry.header().entry_type() {
            EntryType::Directory => continue,
            EntryType::Regular => {}
            _ => {
                return Err(invalid(format!(
                    "plain files, found `{path}`, which is something else"
                )));
            }
        }
        let (inside, name) = path.rsplit_once('/').unwrap_or(("", &path));
        if folder.get_or_insert_with(|| inside.to_owned()) != inside {
            return Err(invalid(format!("the files of one folder, found `{path}` in another one")));
        }
        let bytes = read(&mut entry, &path)?;
        if found.insert(name.to_owned(), bytes).is_some() {
            return Err(invalid(format!("each file once, found `{path}` a second time")));
        }
    }
    of_bundle(found)
}

fn invalid(message: String) -> Refusal {
    Refusal::new(codes::UPLOAD_INVALID, format!("expected {message}"))
}

/// The path of an entry, without the folder that it was packed in.
fn path_of(entry: &Entry<'_, &[u8]>) -> Result<String, Refusal> {
    let path = sanitize(&String::from_utf8_lossy(&entry.path_bytes()), NAME_CHARS);
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return Err(invalid(format!("names within the archive, found `{path}`")));
    }
    Ok(path.trim_start_matches("./").to_owned())
}

/// The bytes of a file: as many as its header says, of which none is there that didn't come.
fn read(entry: &mut Entry<'_, &[u8]>, path: &str) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    let read = entry.read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() as u64 == entry.size() => Ok(bytes),
        _ => Err(invalid(format!("`{path}` to its end, found a part of it"))),
    }
}

/// Holds what came to what a manifest may name.
fn of_bundle(files: BTreeMap<String, Vec<u8>>) -> Result<Unpacked, Refusal> {
    let text = files.get(MANIFEST_FILE);
    let text = text.ok_or_else(|| invalid(format!("a bundle, found no {MANIFEST_FILE}")))?;
    if text.len() as u64 > MAX_MANIFEST_BYTES {
        return Err(too_large(MANIFEST_FILE, text.len(), MAX_MANIFEST_BYTES));
    }
    let manifest = Manifest::from_json(text).map_err(|error| {
        Refusal::new(codes::MANIFEST_UNREADABLE, format!("{MANIFEST_FILE}: {error}"))
    })?;
    let version = manifest.fingerprint().parse().map_err(|error| {
        let message = format!("{MANIFEST_FILE}: fingerprint: {error}");
        Refusal::new(codes::MANIFEST_UNREADABLE, message)
    })?;
    for (name, bytes) in files.iter().filter(|(name, _)| *name != MANIFEST_FILE) {
        let part = Part::ALL.into_iter().find(|it| it.file_name(manifest.module_name()) == *name);
        let Some(part) = part else {
            return Err(invalid(format!("files of a bundle, found `{name}`")));
        };
        if bytes.len() as u64 > part.max_bytes() {
            return Err(too_large(name, bytes.len(), part.max_bytes()));
        }
    }
    Ok(Unpacked { manifest, version, files })
}

fn too_large(name: &str, found: usize, allowed: u64) -> Refusal {
    let message = format!("{name}: expected {allowed} bytes at most, found {found}");
    Refusal::new(codes::BUNDLE_TOO_LARGE, message)
}
