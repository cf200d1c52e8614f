//! `retort new`: a project to begin with.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use retort::author::PROJECT_FILE;
use retort::bundle::ExtractorName;
use retort_guest_template::{PROJECT, PROJECT_MANIFEST, PROJECT_NAME, SDK};

use super::error::CliError;
use super::{CommandResult, CommandVerdict, output};

/// The folder of the SDK's crate among its sources.
const SDK_FOLDER: &str = "sdk/";

/// Make a folder with an extractor to begin with
///
/// Writes retort.toml, src/lib.rs with its tests, a graph spec, samples and events into a new folder, and beside them what
/// `cargo test` needs to run the tests natively, with no other crate. `retort compile` takes it as it is. Where such a folder is
/// there already, it stays as it is.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct NewArgs {
    /// An extractor in Rust; rules that plans can say need none
    #[arg(long, required = true)]
    rust: bool,
    /// The folder
    #[arg(value_name = "NAME")]
    path: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  retort new --rust my-extractor
  cargo test --manifest-path my-extractor/Cargo.toml
  retort compile my-extractor
  retort run --bundles my-extractor/bundles my-extractor/events.ndjson";

pub(super) fn main(args: &NewArgs) -> CommandResult {
    let path = &args.path;
    let refused = |reason| CliError::NotNew { path: path.clone(), reason };
    let name = path.file_name().and_then(|name| name.to_str()).filter(|name| is_name(name));
    let name = name.ok_or_else(|| {
        refused("its name has letters, digits, hyphens and underscores, and begins with a letter")
    })?;
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|source| unwritten(parent, source))?;
    }
    match fs::create_dir(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if !PROJECT.iter().all(|(file, _)| path.join(file).is_file()) {
                return Err(refused("there is something already"));
            }
            output::note("the project was there already: nothing was written");
            output::print_line(format_args!("{}", path.display()))?;
            return Ok(CommandVerdict::Pass);
        }
        Err(source) => return Err(unwritten(path, source)),
    }
    for (file, text) in PROJECT {
        match *file {
            PROJECT_MANIFEST | PROJECT_FILE => {
                write(&path.join(file), &text.replace(PROJECT_NAME, name))?
            }
            _ => write(&path.join(file), text)?,
        }
    }
    let is_source = |file: &str| file.starts_with(SDK_FOLDER) && file.ends_with(".rs");
    for (file, text) in SDK.iter().filter(|(file, _)| is_source(file)) {
        write(&path.join(file), text)?;
    }
    let shown = path.display();
    output::say(format_args!(
        "retort compile {shown}, then retort run --bundles {shown}/bundles {shown}/events.ndjson"
    ));
    output::print_line(format_args!("{shown}"))?;
    Ok(CommandVerdict::Pass)
}

/// Whether a package of cargo may be named so, and an extractor.
fn is_name(name: &str) -> bool {
    name.parse::<ExtractorName>().is_ok()
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let parent = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(path, text))
        .map_err(|source| unwritten(path, source))
}

fn unwritten(path: &Path, source: io::Error) -> CliError {
    CliError::FileNotWritable { path: path.to_owned(), source }
}
