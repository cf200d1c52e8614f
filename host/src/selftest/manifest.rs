//! Cases that are a change of a good bundle's manifest.

use std::fs;

use serde_json::Value;

use super::Case;
use super::attempt::Attempt;
use super::good_bundle::GoodBundle;
use super::setting::Setting;
use crate::bundle::{Contents, Digest, MANIFEST_FILE, Manifest};

/// The fields that are made to fit what the patch left.
const FINGERPRINT: &str = "fingerprint";
const FILES: &str = "files";

pub(super) fn attempt(setting: &Setting, case: &Case) -> Result<Attempt, Attempt> {
    let patch: Value = serde_json::from_str(&case.body()?)
        .map_err(|error| Attempt::failed(format!("the body isn't a merge patch: {error}")))?;
    let good = GoodBundle::store(setting)?;
    let manifest = good.path().join(MANIFEST_FILE);
    let mut value: Value = serde_json::from_slice(&fs::read(&manifest)?)
        .map_err(|error| Attempt::failed(format!("the good manifest: {error}")))?;
    json_patch::merge(&mut value, &patch);
    if patch.get(FINGERPRINT).is_none() {
        fit_fingerprint(&good, &mut value)?;
    }
    if patch.get(FILES).is_none_or(|files| files.get(MANIFEST_FILE).is_none()) {
        fit_own_digest(&mut value);
    }
    fs::write(&manifest, text(&value))?;
    good.attempt()
}

/// The text of a manifest.
fn text(value: &Value) -> String {
    // A value whose keys are strings always has a text.
    format!("{value:#}\n")
}

/// Gives a manifest the fingerprint of the bundle that it describes, where it describes one.
fn fit_fingerprint(good: &GoodBundle, value: &mut Value) -> Result<(), Attempt> {
    let Ok(manifest) = Manifest::from_json(text(value).as_bytes()) else { return Ok(()) };
    let loaded = good.load().map_err(|error| Attempt::failed(format!("a good bundle: {error}")))?;
    let contents = Contents {
        module_name: manifest.module_name(),
        function_name: manifest.function_name(),
        event_types: manifest.event_types(),
        versions: manifest.versions(),
        ..loaded.contents()
    };
    value[FINGERPRINT] = contents.fingerprint().to_string().into();
    Ok(())
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
