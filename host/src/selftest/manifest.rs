//! Cases that are a change of a good bundle's manifest.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::Case;
use super::attempt::CaseAttempt;
use super::setting::Setting;
use crate::bundle::{Contents, Digest, MANIFEST_FILE, Manifest, Part};

/// The fields that are made to fit what the patch left.
const FINGERPRINT: &str = "fingerprint";
const FILES: &str = "files";

pub(super) fn attempt(setting: &Setting, case: &Case) -> Result<CaseAttempt, CaseAttempt> {
    let patch: Value = serde_json::from_str(&case.body()?)
        .map_err(|error| CaseAttempt::failed(format!("the body isn't a merge patch: {error}")))?;
    let good = setting.good_bundle()?.copy()?;
    let mut value = read(good.path())?;
    json_patch::merge(&mut value, &patch);
    if patch.get(FINGERPRINT).is_none() {
        fit_fingerprint(good.path(), &mut value);
    }
    if patch.get(FILES).is_none_or(|files| files.get(MANIFEST_FILE).is_none()) {
        fit_own_digest(&mut value);
    }
    fs::write(good.path().join(MANIFEST_FILE), text(&value))?;
    good.attempt()
}

/// Makes the manifest of the bundle in `dir` fit its files, as somebody would who has changed them: the digests, then the
/// fingerprint, then its own digest.
pub(super) fn seal(dir: &Path) -> io::Result<()> {
    let mut value = read(dir)?;
    let module = value["module_filename"].as_str().unwrap_or_default();
    let module = module.strip_suffix(".wasm").unwrap_or(module).to_owned();
    for part in Part::ALL {
        let name = part.file_name(&module);
        if let (Ok(bytes), Some(files)) = (fs::read(dir.join(&name)), value[FILES].as_object_mut())
        {
            files.insert(name, Digest::of(&bytes).to_string().into());
        }
    }
    fit_fingerprint(dir, &mut value);
    fit_own_digest(&mut value);
    fs::write(dir.join(MANIFEST_FILE), text(&value))
}

fn read(dir: &Path) -> io::Result<Value> {
    Ok(serde_json::from_slice(&fs::read(dir.join(MANIFEST_FILE))?)?)
}

/// The text of a manifest.
fn text(value: &Value) -> String {
    // A value whose keys are strings always has a text.
    format!("{value:#}\n")
}

/// Gives a manifest the fingerprint of the bundle that it describes, where it describes one.
fn fit_fingerprint(dir: &Path, value: &mut Value) {
    let Ok(manifest) = Manifest::from_json(text(value).as_bytes()) else { return };
    let [plan, source, rust, module, graph, limits, event_schema, rule] =
        Part::ALL.map(|part| fs::read(dir.join(part.file_name(manifest.module_name()))).ok());
    let (Some(module), Some(graph), Some(limits)) = (&module, &graph, &limits) else { return };
    let contents = Contents {
        module_name: manifest.module_name(),
        name: None,
        function_name: manifest.function_name(),
        event_types: manifest.event_types(),
        plan: plan.as_deref(),
        source: source.as_deref(),
        rust: rust.as_deref(),
        module,
        graph,
        limits,
        event_schema: event_schema.as_deref(),
        rule: rule.as_deref(),
        versions: manifest.versions(),
    };
    value[FINGERPRINT] = contents.fingerprint().to_string().into();
}

/// Gives a manifest its own digest, that of its text without it.
fn fit_own_digest(value: &mut Value) {
    let Some(files) = value.get_mut(FILES).and_then(Value::as_object_mut) else { return };
    files.remove(MANIFEST_FILE);
    let digest = Digest::of(text(value).as_bytes()).to_string();
    if let Some(files) = value.get_mut(FILES).and_then(Value::as_object_mut) {
        files.insert(MANIFEST_FILE.to_owned(), digest.into());
    }
}
