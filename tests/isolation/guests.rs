//! The guests of `tests/hostile/` and of the examples, with events for each.

use std::fs;
use std::path::{Path, PathBuf};

use retort::gate::inspect::{Inspected, StructuralLimits, inspect};
use retort::plan;
use retort::sandbox::Limits;

use crate::support::{rendered, workspace_root};

/// A module that can be run, whatever it does then.
pub(super) struct Guest {
    pub(super) name: String,
    pub(super) module: Inspected,
    pub(super) limits: Limits,
    /// One that sets it off first, then one that doesn't.
    pub(super) events: Vec<Vec<u8>>,
    /// Carries something from one call to the next if it is let.
    pub(super) leaks: bool,
}

/// All of them that need nothing from the host.
pub(super) fn guests() -> Vec<Guest> {
    let mut paths = Vec::new();
    wat_files(&workspace_root().join("tests/hostile"), &mut paths);
    paths.sort();
    let mut guests: Vec<Guest> = paths.iter().filter_map(|path| hostile(path)).collect();
    assert!(guests.len() >= 50, "{} of {} can be run", guests.len(), paths.len());
    guests.extend(["agent-decision", "cloud-audit", "github-webhook", "shop-orders"].map(example));
    guests
}

fn wat_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            wat_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "wat") {
            found.push(path);
        }
    }
}

/// A hostile case, if it is one that gets as far as being run.
fn hostile(path: &Path) -> Option<Guest> {
    let text = fs::read_to_string(path).unwrap();
    let heads: Vec<&str> =
        text.lines().map_while(|line| line.strip_prefix(";;")).map(str::trim).collect();
    let head = |key: &str| -> Option<&str> {
        heads.iter().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).map(str::trim)
    };
    // What needs other bounds on its structure is an attack on compilers, and is compiled in a process of its own if at all.
    if head("structure").is_some() {
        return None;
    }
    let structure = StructuralLimits::default();
    let module = inspect(&wat::parse_str(repeated(&text)?).ok()?, &structure).ok()?;
    if module.wasm().windows(5).any(|bytes| bytes == b"wasi_") {
        return None;
    }
    let event = |key, default: &str| repeated(head(key).unwrap_or(default)).map(String::into_bytes);
    Some(Guest {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        module,
        limits: serde_json::from_str(head("limits").unwrap_or("{}")).unwrap(),
        events: vec![
            event("event", r#"{"event_type":"e","bad":true}"#)?,
            event("good-event", r#"{"event_type":"e","bad":false}"#)?,
            br#"{"event_type":"other"}"#.to_vec(),
            b"[".to_vec(),
        ],
        leaks: heads.contains(&"leaks"),
    })
}

/// The text with `{{N*TEXT}}` written out. `None` if that is more than a guest that runs has.
fn repeated(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let parts = after.split_once("}}").and_then(|(inner, behind)| {
            let (count, text) = inner.split_once('*')?;
            Some((count.trim().parse::<usize>().ok()?, text, behind))
        });
        let Some((count, text, behind)) = parts else {
            out.push_str("{{");
            rest = after;
            continue;
        };
        if count.saturating_mul(text.len()) > 1 << 22 {
            return None;
        }
        out.push_str(&text.repeat(count));
        rest = behind;
    }
    out.push_str(rest);
    Some(out)
}

/// A rendered extractor, which this host vouches for: one instance may serve event after event.
fn example(name: &str) -> Guest {
    let folder = workspace_root().join("examples").join(name);
    let plan = plan::parse(&fs::read_to_string(folder.join("plan.json")).unwrap()).unwrap();
    let lines = fs::read_to_string(folder.join("events.ndjson")).unwrap();
    let mut events: Vec<Vec<u8>> =
        lines.lines().take(4).map(|line| line.as_bytes().to_vec()).collect();
    events.extend([b"{}".to_vec(), b"{\"event_type\":".to_vec(), lines.into_bytes()]);
    Guest {
        name: name.to_owned(),
        module: rendered(&plan),
        limits: Limits::default(),
        events,
        leaks: false,
    }
}
