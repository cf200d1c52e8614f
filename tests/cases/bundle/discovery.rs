//! The contract's directories of bundles.
//!
//! A broken bundle's module is no module, for which the contract's `import_failed` is `module_rejected` here. A directory that
//! can't be listed is a file: permissions don't bind every user that runs tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;
use retort::Coded as _;
use retort::bundle::{Expect, discover};
use retort::internal::codes;
use serde::Deserialize;

use super::recipe::{Recipe, TestGate, store_as};
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
    parent: Option<String>,
    #[serde(default)]
    children: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    broken: Vec<String>,
    allowlist: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    registry: Option<Vec<String>>,
    loaded: Option<usize>,
    failures: Option<Vec<String>>,
    failures_order: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Cases {
    discovery_cases: Vec<Case>,
}

fn broken(recipe: Recipe) -> Recipe {
    Recipe { module: b"no module".to_vec(), ..recipe }
}

fn root_of(given: &Given, root: &Path) -> PathBuf {
    match given.parent.as_deref() {
        None => {}
        Some("absent") => return root.join("absent"),
        Some("listing denied") => {
            std::fs::write(root.join("file"), "").unwrap();
            return root.join("file");
        }
        Some(other) => panic!("no parent for {other:?}"),
    }
    for (name, event_types) in &given.children {
        let recipe = Recipe { event_types: event_types.clone(), ..Recipe::default() };
        let recipe = if given.broken.contains(name) { broken(recipe) } else { recipe };
        store_as(root, name, &recipe);
    }
    for name in given.broken.iter().filter(|name| !given.children.contains_key(*name)) {
        store_as(root, name, &broken(Recipe::default()));
    }
    root.to_owned()
}

pub(super) fn trials() -> Vec<Trial> {
    of_contract("bundle_loader/discovery", named, check)
}

fn named(text: &str) -> Vec<(String, Case)> {
    let cases: Cases = serde_json::from_str(text).unwrap();
    let named = |case: Case| (case.name.clone(), case);
    cases.discovery_cases.into_iter().map(named).collect()
}

/// A directory gives what the contract says.
fn check(case: Case) {
    let temporary = tempfile::tempdir().unwrap();
    let root = root_of(&case.given, temporary.path());
    let allowlist = case.given.allowlist.as_deref();
    let found = discover(&root, &Expect::default(), allowlist, &TestGate::default());
    let expected = case.expect.failures.as_ref().or(case.expect.failures_order.as_ref());
    let expected = expected.unwrap().iter().map(|code| match code.as_str() {
        "import_failed" => codes::MODULE_REJECTED.name,
        code => code,
    });
    let codes: Vec<&str> = found.failures.iter().map(|failure| failure.code()).collect();
    assert_eq!(codes, expected.collect::<Vec<_>>());
    if let Some(registry) = &case.expect.registry {
        assert!(found.registry.keys().eq(registry), "{:?}", found.registry);
    }
    if let Some(loaded) = case.expect.loaded {
        assert_eq!(found.loaded.len(), loaded);
    }
}
