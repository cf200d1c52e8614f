//! `SECURITY.md`: each promise names the tests that hold it, and those are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::support::workspace_root;

fn read(path: &str) -> String {
    fs::read_to_string(workspace_root().join(path)).unwrap()
}

/// The files that a module of the tests, or of the library's unit tests, may stand in.
fn files(module: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for root in ["tests", "host/src", "columns/tests"] {
        let folder = workspace_root().join(root);
        let whole = module.join("/");
        // Unit tests stand in a module `tests`, in a file of its own or not.
        let inner = module.strip_suffix(&["tests"]).map(|outer| outer.join("/"));
        for path in [Some(whole), inner].into_iter().flatten() {
            files.push(folder.join(format!("{path}.rs")));
            files.push(folder.join(&path).join("mod.rs"));
        }
    }
    files
}

/// Whether a file has a test of this name: a function right below an attribute that makes it one.
fn has_test(text: &str, name: &str) -> bool {
    let mut is_test = false;
    for line in text.lines().map(str::trim_start) {
        if line == "#[test]" {
            is_test = true;
        } else if let Some(rest) = line.strip_prefix("fn ") {
            if is_test && rest.strip_prefix(name).is_some_and(|rest| rest.starts_with('(')) {
                return true;
            }
            is_test = false;
        }
    }
    false
}

/// Whether there is a test of cases by this name, or with `*` at its end, tests whose names begin so.
fn is_of_cases(path: &str) -> bool {
    let written = match path.strip_suffix('*') {
        Some(start) => format!("\"{start}"),
        None => format!("\"{path}\""),
    };
    let sources = fs::read_dir(workspace_root().join("tests/cases")).unwrap();
    let sources = sources.filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok());
    sources.into_iter().any(|source| source.contains(&written))
}

/// Whether `module::name` is a test, as `cargo test` names it.
fn is_test(path: &str) -> bool {
    if is_of_cases(path) {
        return true;
    }
    let parts: Vec<&str> = path.split("::").collect();
    let Some((name, module)) = parts.split_last() else { return false };
    files(module)
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok())
        .any(|text| has_test(&text, name))
}

/// The texts in backticks that look like paths of tests: in lower case, in a module.
fn named(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_path = |it: &&str| it.contains("::") && *it == it.to_lowercase();
    quoted.filter(is_path).collect()
}

#[test]
fn every_promise_names_tests_that_are_there() {
    let document = read("SECURITY.md");
    let (_, promises) = document.split_once("| promise | held by |").unwrap();
    let (promises, _) = promises.split_once("\n\n").unwrap();
    let rows: Vec<&str> = promises.lines().filter(|row| row.starts_with("| ")).collect();
    assert!(rows.len() > 10, "{rows:#?}");
    let mut tests = BTreeSet::new();
    for row in rows {
        let held_by = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let named = named(held_by);
        assert!(!named.is_empty(), "nothing holds: {row}");
        tests.extend(named);
    }
    tests.extend(named(&document));
    for test in tests {
        assert!(is_test(test), "there is no test `{test}`");
    }
}

#[test]
fn a_test_that_is_not_there_is_noticed() {
    assert!(is_test("security::a_test_that_is_not_there_is_noticed"));
    assert!(is_test("sandbox::tests::the_version_named_is_the_version_locked"));
    assert!(is_test("inspect::*") && is_test("faults::right_plans_pass_and_are_not_altered"));
    for missing in [
        "inspected::*",
        "faults::right_plans_pass",
        "security::has_test",
        "security::no_such_test_is_here",
        "nowhere::every_promise_names_tests_that_are_there",
        "sandbox::the_version_named",
    ] {
        assert!(!is_test(missing), "{missing}");
    }
}

#[test]
fn what_is_said_of_the_versions_is_so() {
    let document = read("SECURITY.md");
    let (_, named) = document.split_once("pinned in `Cargo.lock`: wasmtime ").unwrap();
    assert_eq!(named.split(',').next(), Some(retort::sandbox::WASMTIME_VERSION));
    let manifest = read("Cargo.toml");
    let wasmtime = manifest.lines().find(|line| line.starts_with("wasmtime = ")).unwrap();
    assert!(wasmtime.contains("\"gc\"") && wasmtime.contains("\"threads\""), "{wasmtime}");
    let policy: toml::Table = read("deny.toml").parse().unwrap();
    for (table, key) in [("advisories", "yanked"), ("sources", "unknown-registry")] {
        assert_eq!(policy[table][key].as_str(), Some("deny"), "{table}.{key}");
    }
}
