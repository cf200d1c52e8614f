//! The contract's manifests.
//!
//! They are written for modules of another language. What changes here:
//!
//! | there | here |
//! |---|---|
//! | eight fields | the same, `abi_version` and `files`, which every case is given |
//! | `<name>.py` | `<name>.wasm` |
//! | a keyword (`class`) | a keyword of Rust (`fn`) |
//! | a contextual keyword, which is a good name (`match`) | a contextual keyword of Rust (`union`) |
//!
//! A case that loads says what the *manifest* may hold: its fingerprint is made up, so the
//! manifest is checked by itself, and then a bundle with the same names and types is loaded.

use libtest_mimic::Trial;
use retort::Coded;
use retort::bundle::{Digest, Expect, Manifest, Part, load};
use retort::internal::codes;
use serde::Deserialize;
use serde_json::{Value, json};

use super::recipe::{Recipe, Stored, TestGate, module_of_type, sealed};
use crate::trial::of_contract;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    manifest: Option<Value>,
    manifest_raw: Option<String>,
    expected_fingerprint: Option<String>,
    #[serde(rename = "module_file")]
    _module_file: Option<String>,
    #[serde(rename = "note")]
    _note: Option<String>,
    expect: Expected,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    #[serde(default)]
    loaded: bool,
    code: Option<String>,
}

#[derive(Deserialize)]
struct Cases {
    manifest_cases: Vec<Case>,
}

const KEYWORDS_THERE: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];
const CONTEXTUAL_THERE: &[&str] = &["_", "case", "match", "type"];

fn name_here(name: &str) -> String {
    match name {
        keyword if KEYWORDS_THERE.contains(&keyword) => "fn".to_owned(),
        contextual if CONTEXTUAL_THERE.contains(&contextual) => "union".to_owned(),
        other => other.to_owned(),
    }
}

/// The text of a case's manifest.
fn text_of(case: &Case) -> String {
    let Some(manifest) = &case.manifest else { return case.manifest_raw.clone().unwrap() };
    let mut manifest = manifest.clone();
    let mut module_name = "extractor".to_owned();
    let stem = manifest["module_filename"].as_str().and_then(|name| name.strip_suffix(".py"));
    if let Some(stem) = stem {
        module_name = name_here(stem);
        manifest["module_filename"] = format!("{module_name}.wasm").into();
    }
    if let Some(name) = manifest["function_name"].as_str() {
        manifest["function_name"] = name_here(name).into();
    }
    let some_digest = Value::from(Digest::of(b"").to_string());
    let parts = Part::ALL.into_iter().filter(|part| *part != Part::Rust);
    let files = parts.map(|part| (part.file_name(&module_name), &some_digest));
    manifest["abi_version"] = 1.into();
    manifest["files"] = json!(files.collect::<std::collections::BTreeMap<_, _>>());
    sealed(manifest)
}

pub(super) fn trials() -> Vec<Trial> {
    of_contract("bundle_loader/manifest", named, |case| {
        let text = text_of(&case);
        if case.expect.loaded {
            accepted(&case, &text);
        } else {
            refused(&case, &text);
        }
    })
}

fn named(text: &str) -> Vec<(String, Case)> {
    let cases: Cases = serde_json::from_str(text).unwrap();
    let named = |case: Case| (case.name.clone(), case);
    cases.manifest_cases.into_iter().map(named).collect()
}

fn accepted(case: &Case, text: &str) {
    let manifest = Manifest::from_json(text.as_bytes());
    let manifest = manifest.unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let claimed = case.manifest.as_ref().unwrap()["fingerprint"].as_str().unwrap();
    let expected = case.expected_fingerprint.as_deref().unwrap_or(claimed);
    let expect = Expect { fingerprint: Some(expected), ..Expect::default() };
    assert_eq!(expect.check(&manifest), Ok(()), "{}", case.name);

    let function = manifest.function_name();
    let recipe = Recipe {
        module_name: manifest.module_name().to_owned(),
        function_name: function.to_owned(),
        event_types: manifest.event_types().to_vec(),
        module: wat::parse_str(format!(
            "(module (func (export {function:?}) (param i32 i32) (result i64) i64.const 0))"
        ))
        .unwrap(),
    };
    let stored = Stored::new(&recipe);
    let loaded = stored.load().unwrap_or_else(|error| panic!("{}: {error}", case.name));
    assert_eq!(loaded.manifest().module_filename(), manifest.module_filename());

    // The made-up fingerprint is not that of the content, which a later gate finds.
    let mut forged = stored.read_manifest();
    forged["fingerprint"] = claimed.into();
    stored.write_manifest(forged);
    let gate = TestGate::default();
    let error = load(&stored.path, &expect, &gate).unwrap_err();
    assert_eq!(error.entry(), codes::FINGERPRINT_MISMATCH, "{}: {error}", case.name);
    assert!(error.detail().contains("the content has"), "{}: {error}", case.name);
    assert_eq!(gate.admissions.get(), 0);
}

fn refused(case: &Case, text: &str) {
    let recipe = Recipe { module: module_of_type(""), ..Recipe::default() };
    let stored = Stored::new(&recipe);
    std::fs::write(stored.path.join("manifest.json"), text).unwrap();
    let error = stored.load().unwrap_err();
    assert_eq!(Some(error.code()), case.expect.code.as_deref(), "{}", case.name);
    assert!(error.path().ends_with("manifest.json"), "{}: {error}", case.name);
}
