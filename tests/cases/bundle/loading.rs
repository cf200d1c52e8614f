//! The contract's bundles that do and do not load.
//!
//! They are written for modules of another language. What stands for what:
//!
//! | there | here |
//! |---|---|
//! | `import_failed`, a syntax error | `module_rejected`: bytes that are no module never reach the sandbox |
//! | `import_failed`, an exit while loading | `load_failed`: the module traps while it is instantiated |
//! | a function that takes two positional arguments | `(i32, i32) -> i64` |
//! | one, or three required parameters | as many of type i32 |
//! | keyword-only parameters | parameters of a type that the host doesn't pass (i64) |
//! | extra files are ignored, since no digest covers them | `digest_mismatch`: a bundle is what was stored, no file more or less |

use libtest_mimic::Trial;
use retort::Coded;
use retort::bundle::{Expect, load};
use retort::internal::codes;
use serde::Deserialize;

use super::recipe::{Recipe, Stored, TestGate, module_of_type};
use crate::trial::of_contract;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    given: Given,
    expect: Expected,
    #[serde(rename = "note")]
    _note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    files: Option<Vec<String>>,
    module: Option<String>,
    signature: Option<String>,
    manifest_fingerprint: Option<String>,
    expected_fingerprint: Option<String>,
    manifest_event_types: Option<Vec<String>>,
    expected_event_types: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    #[serde(default)]
    loaded: bool,
    code: Option<String>,
    #[serde(default)]
    detail_mentions: Vec<String>,
    module_code_executed: Option<bool>,
}

#[derive(Deserialize)]
struct Cases {
    load_cases: Vec<Case>,
}

/// `a*64` is sixty-four times `a`.
fn repeated(text: &str) -> String {
    match text.split_once('*') {
        Some((unit, count)) => unit.repeat(count.parse().unwrap()),
        None => text.to_owned(),
    }
}

/// The function of a module that can be called as `signature` can.
fn function_of(signature: &str) -> String {
    let parameters = signature.trim_matches(['(', ')']).split(", ").filter(|name| !name.is_empty());
    let (mut required, mut most, mut keyword_only) = (0, 0, false);
    for parameter in parameters {
        match parameter {
            "*" => keyword_only = true,
            "/" => {}
            _ if parameter.starts_with("**") => {}
            _ if parameter.starts_with('*') => most = usize::MAX,
            _ if keyword_only => return "(param i64 i64) (result i64) i64.const 0".to_owned(),
            _ => {
                required += usize::from(!parameter.contains('='));
                most += usize::from(most != usize::MAX);
            }
        }
    }
    let count = if required <= 2 && most >= 2 { 2 } else { required };
    format!("(param {}) (result i64) i64.const 0", "i32 ".repeat(count))
}

fn recipe_of(given: &Given) -> Recipe {
    let module = match given.module.as_deref() {
        None | Some("absent") => {
            module_of_type(&function_of(given.signature.as_deref().unwrap_or("(event, spec)")))
        }
        Some("syntax error") => b"def f(:".to_vec(),
        Some("requests process exit" | "fails on import") => {
            wat::parse_str("(module (func $exit unreachable) (start $exit))").unwrap()
        }
        Some(other) => panic!("no module for {other:?}"),
    };
    let event_types = given.manifest_event_types.clone();
    let default = Recipe::default();
    Recipe { module, event_types: event_types.unwrap_or(default.event_types), ..default }
}

fn stored_of(given: &Given) -> Stored {
    let stored = Stored::new(&recipe_of(given));
    if given.module.as_deref() == Some("absent") {
        std::fs::remove_file(stored.path.join("extractor.wasm")).unwrap();
    }
    if let Some(fingerprint) = &given.manifest_fingerprint {
        let mut manifest = stored.read_manifest();
        manifest["fingerprint"] = repeated(fingerprint).into();
        stored.write_manifest(manifest);
    }
    for file in given.files.iter().flatten() {
        match file.as_str() {
            "manifest.json/" => {
                std::fs::remove_file(stored.path.join("manifest.json")).unwrap();
                std::fs::create_dir(stored.path.join("manifest.json")).unwrap();
            }
            "manifest.json" | "extractor.py" => {}
            extra => std::fs::write(stored.path.join(extra), "not ours").unwrap(),
        }
    }
    stored
}

/// What the code and the wording there are here.
fn expected_of(case: &Case) -> (Option<&str>, Vec<String>) {
    let code = match (case.expect.code.as_deref(), case.given.module.as_deref()) {
        _ if case.name == "extra_files_in_bundle_are_ignored" => Some(codes::DIGEST_MISMATCH.name),
        (Some("import_failed"), Some("syntax error")) => Some(codes::MODULE_REJECTED.name),
        (Some("import_failed"), _) => Some(codes::LOAD_FAILED.name),
        (code, _) => code,
    };
    let mentions = case.expect.detail_mentions.iter().flat_map(|text| match text.as_str() {
        "both fingerprints" => [&case.given.manifest_fingerprint, &case.given.expected_fingerprint]
            .map(|text| repeated(text.as_deref().unwrap()))
            .to_vec(),
        "SyntaxError" => vec!["magic header".to_owned()],
        "SystemExit" => vec!["unreachable".to_owned()],
        other => vec![other.to_owned()],
    });
    (code, mentions.collect())
}

pub(super) fn trials() -> Vec<Trial> {
    of_contract("bundle_loader/load", named, check)
}

fn named(text: &str) -> Vec<(String, Case)> {
    let cases: Cases = serde_json::from_str(text).unwrap();
    let named = |case: Case| (case.name.clone(), case);
    cases.load_cases.into_iter().map(named).collect()
}

/// A bundle is judged as the contract says.
fn check(case: Case) {
    let stored = stored_of(&case.given);
    let fingerprint = case.given.expected_fingerprint.as_deref().map(repeated);
    let event_types = case.given.expected_event_types.as_ref();
    let event_types: Option<Vec<&str>> =
        event_types.map(|types| types.iter().map(String::as_str).collect());
    let expect = Expect {
        fingerprint: fingerprint.as_deref(),
        event_types: event_types.as_deref(),
        ..Expect::default()
    };
    let gate = TestGate::default();
    let result = load(&stored.path, &expect, &gate);
    let (code, mentions) = expected_of(&case);
    match result {
        Ok(_) => assert!(case.expect.loaded && code.is_none(), "loaded"),
        Err(error) => {
            assert_eq!(Some(error.code()), code, "{error}");
            for text in mentions {
                assert!(error.detail().contains(&text), "{error}");
            }
        }
    }
    if case.expect.module_code_executed == Some(false) {
        assert_eq!(gate.admissions.get(), 0);
    }
}
