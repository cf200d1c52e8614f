//! Bundles as archives.

use std::fs;
use std::path::Path;

use tar::{Builder, EntryType, Header};

/// A file of an archive.
pub(crate) fn header(size: usize, kind: EntryType) -> Header {
    let mut header = Header::new_gnu();
    header.set_size(size as u64);
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_cksum();
    header
}

/// The files of a directory, by their names.
pub(crate) fn files_of(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|it| (it.file_name().into_string().unwrap(), fs::read(it.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// An archive of these files, in a folder or in none.
pub(crate) fn tar_with(files: &[(String, Vec<u8>)], folder: &str) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    let folder = if folder.is_empty() { "./".to_owned() } else { format!("{folder}/") };
    let mut root = header(0, EntryType::Directory);
    builder.append_data(&mut root, &folder, &[][..]).unwrap();
    for (name, bytes) in files {
        let mut header = header(bytes.len(), EntryType::Regular);
        builder.append_data(&mut header, format!("{folder}{name}"), bytes.as_slice()).unwrap();
    }
    builder.into_inner().unwrap()
}

/// An archive of a directory's files, as tar writes it.
pub(crate) fn tar_of(path: &Path, folder: &str) -> Vec<u8> {
    tar_with(&files_of(path), folder)
}
