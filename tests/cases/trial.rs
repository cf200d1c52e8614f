//! Trials, and what makes one of each case.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use libtest_mimic::{Completion, Trial};
use serde::de::DeserializeOwned;

use crate::support::{MISSING_RUSTC, guest_rustc, shared, workspace_root};

/// A trial that fails by a panic.
pub(crate) fn trial(name: impl Into<String>, run: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, || {
        run();
        Ok(())
    })
}

/// One that is ignored where a file or folder of the shared data isn't there. Cases of the contract have to be there under `CI=true`.
pub(crate) fn on_shared(
    name: impl Into<String>,
    path: &'static str,
    run: impl FnOnce(PathBuf) + Send + 'static,
) -> Trial {
    Trial::ignorable_test(name, move || match shared(path) {
        Some(found) => {
            run(found);
            Ok(Completion::Completed)
        }
        None => missing(path),
    })
}

/// A check over the shared corpora, with its name.
pub(crate) type CorpusCheck = (&'static str, fn(&Path));

/// A trial for each of these checks, named `corpora::<kind>/<check>`.
pub(crate) fn on_corpora(kind: &str, checks: &[CorpusCheck]) -> Vec<Trial> {
    let trial_of = |(name, run): &CorpusCheck| {
        let run = *run;
        on_shared(format!("corpora::{kind}/{name}"), "corpora", move |corpora| run(&corpora))
    };
    checks.iter().map(trial_of).collect()
}

/// One that is ignored where there is no `rustc` for guests, unless there has to be one.
pub(crate) fn with_rustc(
    name: impl Into<String>,
    run: impl FnOnce(&Path) + Send + 'static,
) -> Trial {
    Trial::ignorable_test(name, move || match guest_rustc() {
        Some(rustc) => {
            run(&rustc);
            Ok(Completion::Completed)
        }
        None => Ok(Completion::ignored_with(MISSING_RUSTC)),
    })
}

fn missing(path: &str) -> Result<Completion, libtest_mimic::Failed> {
    let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    if is_ci && path.starts_with("conformance") {
        return Err(
            format!("../shared/{path} is missing, and has to be there under CI=true").into()
        );
    }
    Ok(Completion::ignored_with(format!("no ../shared/{path} beside the checkout")))
}

/// A trial for each case of the contract in `conformance/<file>.json`, or one that says that they aren't there. They are named
/// `<file>/<case>`, or `<file>/<part>/<case>` where this is about a part of the file. `cases` reads the file to cases with their
/// names.
pub(crate) fn of_contract<C: Send + 'static>(
    part: &str,
    cases: impl FnOnce(&str) -> Vec<(String, C)>,
    run: impl Fn(C) + Copy + Send + 'static,
) -> Vec<Trial> {
    let path = format!("conformance/{}.json", part.split('/').next().unwrap_or(part));
    let name = format!("conformance::{part}");
    let Some(found) = shared(&path) else {
        return vec![Trial::ignorable_test(name, move || missing(&path))];
    };
    let cases = cases(&fs::read_to_string(found).unwrap());
    assert!(!cases.is_empty(), "{path}: no cases");
    let trial_of = |(case, it)| trial(format!("{name}/{case}"), move || run(it));
    cases.into_iter().map(trial_of).collect()
}

/// A trial for each file of a folder with this extension, named by it behind `kind`. What is wrong with a file is its own trial's
/// failure.
pub(crate) fn of_files(
    kind: &str,
    folder: &str,
    extension: &str,
    run: impl Fn(&Path) + Copy + Send + 'static,
) -> Vec<Trial> {
    let files = files(folder, extension);
    assert!(!files.is_empty(), "{folder}: no cases");
    let trial_of = |path: PathBuf| trial(format!("{kind}{}", stem(&path)), move || run(&path));
    files.into_iter().map(trial_of).collect()
}

/// The files of a folder with this extension, by name.
pub(crate) fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(workspace_root().join(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    files
}

/// What a file is called, without its extension.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// What a JSON file holds.
pub(crate) fn json_of<T: DeserializeOwned>(path: &Path) -> T {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// Snapshots in a folder beside the tests, named by their cases.
pub(crate) fn snapshots(folder: &str) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("../{folder}"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// Whether what trials have to say is printed: nothing captures it.
pub(crate) fn show_output(is_shown: bool) {
    IS_SHOWN.store(is_shown, Ordering::Relaxed);
}

/// Prints what was measured, under `--nocapture`.
#[allow(clippy::print_stderr, reason = "tests say what they measured")]
pub(crate) fn say(text: &str) {
    if IS_SHOWN.load(Ordering::Relaxed) {
        eprintln!("{text}");
    }
}
