//! Directories of bundles.
//!
//! In the contract's cases a broken bundle's module is no module, for which the contract's
//! `import_failed` is `module_rejected` here. A directory that can't be listed is a file:
//! permissions don't bind every user that runs tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use retort::bundle::{Discovery, Expect, discover};
use retort::diagnostics::codes;
use retort::diagnostics::problem::Coded as _;
use serde::Deserialize;

use super::{Recipe, Stored, TestGate};
use crate::support::shared;

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

/// Stores a bundle and gives its directory another name.
fn store_as(root: &Path, name: &str, recipe: &Recipe) {
    std::fs::rename(recipe.store(root), root.join(name)).unwrap();
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

fn discovered(root: &Path, allowlist: Option<&[String]>) -> Discovery<usize> {
    discover(root, &Expect::default(), allowlist, &TestGate::default())
}

fn codes(found: &Discovery<usize>) -> Vec<&str> {
    found.failures.iter().map(|failure| failure.code()).collect()
}

#[test]
fn every_directory_gives_what_the_contract_says() {
    let Some(path) = shared("conformance/bundle_loader.json") else { return };
    let cases: Cases = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(!cases.discovery_cases.is_empty());
    for case in &cases.discovery_cases {
        let temporary = tempfile::tempdir().unwrap();
        let root = root_of(&case.given, temporary.path());
        let found = discovered(&root, case.given.allowlist.as_deref());
        let expected = case.expect.failures.as_ref().or(case.expect.failures_order.as_ref());
        let expected = expected.unwrap().iter().map(|code| match code.as_str() {
            "import_failed" => codes::MODULE_REJECTED.name,
            code => code,
        });
        assert_eq!(codes(&found), expected.collect::<Vec<_>>(), "{}", case.name);
        if let Some(registry) = &case.expect.registry {
            assert!(found.registry.keys().eq(registry), "{}: {:?}", case.name, found.registry);
        }
        if let Some(loaded) = case.expect.loaded {
            assert_eq!(found.loaded.len(), loaded, "{}", case.name);
        }
    }
}

#[test]
fn collisions_name_the_type_and_each_claimant_in_order() {
    let root = tempfile::tempdir().unwrap();
    for (name, event_types) in [("b", ["t", "s"]), ("a", ["s", "t"])] {
        store_as(root.path(), name, &Recipe::of_types(&event_types));
    }
    let found = discovered(root.path(), None);
    let claims: Vec<_> = found
        .failures
        .iter()
        .map(|failure| (failure.event_type.as_deref().unwrap(), failure.error.path().to_owned()))
        .collect();
    let path = |name| root.path().join(name);
    assert_eq!(claims, [("s", path("a")), ("s", path("b")), ("t", path("a")), ("t", path("b"))]);
}

#[test]
fn types_that_are_not_served_do_not_collide() {
    let root = tempfile::tempdir().unwrap();
    store_as(root.path(), "a", &Recipe::of_types(&["s", "x"]));
    store_as(root.path(), "b", &Recipe::of_types(&["s", "y"]));
    let allowlist = ["x".to_owned(), "y".to_owned()];
    let found = discovered(root.path(), Some(&allowlist));
    assert!(found.registry.keys().eq(&allowlist));
    assert_eq!(codes(&found), [""; 0]);
}

#[test]
fn files_and_hidden_names_are_skipped_and_links_are_reported() {
    let stored = Stored::new(&Recipe::default());
    let elsewhere = Stored::new(&Recipe::of_types(&["linked"]));
    let root = stored.root.path();
    std::fs::write(root.join("README"), "about").unwrap();
    std::fs::create_dir(root.join(".git")).unwrap();
    std::fs::create_dir(root.join(".staging-abc")).unwrap();
    std::os::unix::fs::symlink(&elsewhere.path, root.join("outside")).unwrap();
    std::os::unix::fs::symlink(&stored.path, root.join("inside")).unwrap();
    std::fs::create_dir(root.join("empty")).unwrap();
    let found = discovered(root, None);
    assert!(found.registry.keys().eq(["order"]));
    assert_eq!(codes(&found), ["manifest_missing"; 3]);
    assert!(found.failures.iter().all(|failure| failure.error.path().starts_with(root)));
    assert!(found.failures[1].to_string().contains("found a symbolic link"));
}

#[test]
fn one_damaged_bundle_does_not_touch_the_others() {
    let root = tempfile::tempdir().unwrap();
    store_as(root.path(), "a", &Recipe::of_types(&["a"]));
    store_as(root.path(), "b", &Recipe::of_types(&["b"]));
    std::fs::write(root.path().join("a/plan.json"), "{}").unwrap();
    let found = discovered(root.path(), None);
    assert!(found.registry.keys().eq(["b"]));
    assert_eq!(codes(&found), ["digest_mismatch"]);
    assert_eq!(found.failures[0].error.path(), root.path().join("a/plan.json"));
}
