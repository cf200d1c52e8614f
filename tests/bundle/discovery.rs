//! Directories of bundles.

use std::path::Path;

use retort::Coded as _;
use retort::bundle::{Discovery, Expect, discover};

use super::recipe::store_as;
use super::{Recipe, Stored, TestGate};

fn discovered(root: &Path, allowlist: Option<&[String]>) -> Discovery<usize> {
    discover(root, &Expect::default(), allowlist, &TestGate::default())
}

fn codes(found: &Discovery<usize>) -> Vec<&str> {
    found.failures.iter().map(|failure| failure.code()).collect()
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
