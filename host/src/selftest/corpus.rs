//! The files of the corpus, built in.

use include_dir::{Dir, DirEntry, include_dir};

use super::{Case, CaseError};

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../tests/hostile");

/// All cases, by folder and name.
///
/// # Errors
/// [`CaseError`], when a file isn't a case; never of a released build, whose tests have read them all.
pub fn corpus() -> Result<Vec<Case>, CaseError> {
    let mut cases = Vec::new();
    // Folders lie in folders no deeper than whoever built the library put them.
    let mut waiting = vec![&FILES];
    while let Some(folder) = waiting.pop() {
        for entry in folder.entries() {
            match entry {
                DirEntry::Dir(inner) => waiting.push(inner),
                DirEntry::File(file) => cases.extend(read(file)?),
            }
        }
    }
    cases.sort_by(|a, b| a.name().cmp(b.name()));
    Ok(cases)
}

fn read(file: &include_dir::File<'_>) -> Result<Option<Case>, CaseError> {
    let path = file.path();
    let is_case = |extension| extension == "wat" || extension == "rs" || extension == "case";
    if !path.extension().is_some_and(is_case) {
        return Ok(None);
    }
    let name = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let text = file
        .contents_utf8()
        .ok_or_else(|| CaseError { file: name.clone(), message: "expected UTF-8".to_owned() })?;
    let case = Case::parse(&name, text)?;
    let compiled = FILES.get_file(path.with_extension("hex")).and_then(|it| it.contents_utf8());
    Ok(Some(match compiled {
        Some(compiled) => case.compiled(compiled),
        None => case,
    }))
}
