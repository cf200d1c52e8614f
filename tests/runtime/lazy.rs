//! Bundles that are loaded when their first events come.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use retort::runtime::{Dispatched, Dispatcher, Stream};
use retort::{Coded as _, Limits, Pipeline, Registry, Store};

use super::{run, store_foreign};
use crate::support::sandbox;

fn types(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A directory with a bundle for each of these lists of types.
fn bundles(of: &[&[&str]]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    of.iter().for_each(|names| store_foreign(&store, &types(names)));
    root
}

fn gates() -> Pipeline {
    Pipeline::from(sandbox(Limits::default()))
}

/// The bundle that serves a type.
fn path_of(root: &Path, event_type: &str) -> PathBuf {
    let registry = Registry::open_lazily(root, &gates());
    let (_, fingerprint) = registry.served().find(|(name, _)| *name == event_type).unwrap();
    root.join(fingerprint.to_string())
}

/// Changes a byte of a bundle's module.
fn damage(root: &Path, event_type: &str) -> PathBuf {
    let path = path_of(root, event_type).join("extractor.wasm");
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    path
}

fn codes(registry: &Registry) -> Vec<&'static str> {
    registry.late_failures().iter().map(|failure| failure.code()).collect()
}

#[test]
fn the_same_is_served_as_when_all_are_loaded_at_the_start() {
    let root = bundles(&[&["a", "b"], &["c.*"], &["c.d"], &["same"], &["same", "own"]]);
    let gates = gates();
    let (eager, lazy) =
        (Registry::open(root.path(), &gates), Registry::open_lazily(root.path(), &gates));
    assert_eq!(lazy.served().collect::<Vec<_>>(), eager.served().collect::<Vec<_>>());
    assert_eq!(lazy.failures(), eager.failures());
    assert_eq!(lazy.bundles(), eager.bundles());
    let events: String = ["a", "c.x", "c.d", "same", "own", "b", "none", "a"]
        .map(|name| format!("{{\"event_type\":\"{name}\"}}\n"))
        .concat();
    assert_eq!(run(&lazy, &events), run(&eager, &events));
    assert_eq!(lazy.late_failures(), []);
    assert_eq!(lazy.graph_specs().unwrap().len(), eager.graph_specs().unwrap().len());
}

#[test]
fn events_of_a_bundle_that_cannot_be_loaded_are_rejected_by_its_code() {
    let root = bundles(&[&["a"], &["b", "c"]]);
    let damaged = damage(root.path(), "b");
    let registry = Registry::open_lazily(root.path(), &gates());
    assert_eq!(registry.failures(), []);
    let (results, _, counts) = run(&registry, "{\"event_type\":\"a\"}\n");
    assert_eq!((results.len(), counts), (1, [1, 1, 0, 0]));
    assert_eq!(registry.late_failures(), [], "nobody asked for it");

    let events = "{\"event_type\":\"b\"}\n{\"event_type\":\"a\"}\n{\"event_type\":\"\\u0063\"}\n{\"event_type\":\"b\"\n{\"event_type\":\"b\",\"event_type\":\"a\"}\n";
    let (results, rejects, counts) = run(&registry, events);
    assert_eq!(counts, [5, 2, 0, 3]);
    let lines: Vec<_> = results.iter().map(|line| line["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [2, 5]);
    let codes_of: Vec<_> = rejects.iter().map(|line| line["code"].as_str().unwrap()).collect();
    assert_eq!(codes_of, ["digest_mismatch", "digest_mismatch", "event_not_json"]);
    assert!(rejects[0]["message"].as_str().unwrap().contains("the manifest says digest"));
    let late = registry.late_failures();
    assert_eq!((late.len(), late[0].error.path()), (1, damaged.as_path()));
}

#[test]
fn a_bundle_is_tried_once_whoever_asks() {
    let root = bundles(&[&["a"], &["b"]]);
    let damaged = damage(root.path(), "b");
    let registry = Registry::open_lazily(root.path(), &gates());
    let mut first = Dispatcher::new(&registry);
    let refused = first.dispatch(br#"{"event_type":"b"}"#).unwrap();
    let Dispatched::Refused { event_type, error } = refused else { panic!("{refused:?}") };
    assert_eq!(event_type, "b");
    assert_eq!((error.code(), error.path()), ("digest_mismatch", damaged.as_path()));
    // Right by now, and not looked at again.
    let mut bytes = fs::read(&damaged).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&damaged, bytes).unwrap();
    for dispatcher in [&mut first, &mut Dispatcher::new(&registry)] {
        let again = dispatcher.dispatch(br#"{"event_type":"b"}"#).unwrap();
        assert!(matches!(again, Dispatched::Refused { .. }), "{again:?}");
    }
    assert_eq!(codes(&registry), ["digest_mismatch"]);
    let again = Registry::open_lazily(root.path(), &gates());
    let mut dispatcher = Dispatcher::new(&again);
    let served = dispatcher.dispatch(br#"{"event_type":"b"}"#).unwrap();
    assert!(matches!(served, Dispatched::Served(_)));
}

#[test]
fn threads_share_what_one_of_them_loads() {
    let names: Vec<String> = (0..8).map(|number| format!("t{number}")).collect();
    let lists: Vec<[&str; 1]> = names.iter().map(|name| [name.as_str()]).collect();
    let lists: Vec<&[&str]> = lists.iter().map(|list| &list[..]).collect();
    let root = bundles(&lists);
    damage(root.path(), "t3");
    let events: String =
        (0..400).map(|number| format!("{{\"event_type\":\"t{}\"}}\n", number % 8)).collect();
    let mut outputs = Vec::new();
    for threads in [1, 4] {
        let registry = Registry::open_lazily(root.path(), &gates());
        let (mut out, mut rejects) = (Vec::new(), Vec::new());
        let mut stream = Stream::new(&registry, &mut out, &mut rejects)
            .with_threads(NonZeroUsize::new(threads).unwrap())
            .with_chunk_bytes(NonZeroUsize::new(64).unwrap());
        stream.run(events.as_bytes(), None).unwrap();
        assert_eq!((stream.summary().results, stream.summary().rejected()), (350, 50));
        drop(stream);
        assert_eq!(codes(&registry), ["digest_mismatch"]);
        outputs.push((out, rejects));
    }
    assert_eq!(outputs[0], outputs[1]);
}

#[test]
fn what_its_manifest_shows_is_known_at_the_start() {
    let root = bundles(&[&["a"], &["b"]]);
    fs::write(path_of(root.path(), "b").join("manifest.json"), "{}").unwrap();
    fs::create_dir(root.path().join("other")).unwrap();
    let registry = Registry::open_lazily(root.path(), &gates());
    let codes: Vec<_> = registry.failures().iter().map(|failure| failure.code()).collect();
    assert_eq!(codes.len(), 2);
    assert!(codes.contains(&"manifest_missing") && codes.contains(&"manifest_unreadable"));
    assert_eq!(registry.event_types().collect::<Vec<_>>(), ["a"]);
    assert!(Registry::open_lazily(&root.path().join("nowhere"), &gates()).is_empty());
}

#[test]
fn a_bundle_that_cannot_be_loaded_takes_no_type_from_one_that_can() {
    let root = bundles(&[&["a", "b"], &["c"]]);
    // Its types are claimed by another one from here on.
    let path = path_of(root.path(), "a").join("limits.json");
    fs::write(path, b"[]").unwrap();
    store_foreign(&Store::open(root.path()).unwrap(), &types(&["b", "d"]));
    let gates = gates();
    let eager = Registry::open(root.path(), &gates);
    let lazy = Registry::open_lazily(root.path(), &gates);
    assert_eq!(lazy.failures(), eager.failures());
    assert_eq!(lazy.failures().len(), 1);
    assert_eq!(eager.event_types().collect::<Vec<_>>(), ["b", "c", "d"]);
    // It would be asked for an event of this type, as nobody else claims it.
    assert_eq!(lazy.event_types().collect::<Vec<_>>(), ["b", "c", "d"]);
    assert_eq!(lazy.late_failures(), []);
}

#[test]
fn a_bundle_that_was_exchanged_is_not_served_in_the_place_of_the_other() {
    let root = bundles(&[&["a"], &["b"]]);
    let registry = Registry::open_lazily(root.path(), &gates());
    let (one, other) = (path_of(root.path(), "a"), path_of(root.path(), "b"));
    fs::remove_dir_all(&one).unwrap();
    fs::rename(other, one).unwrap();
    let (_, rejects, counts) = run(&registry, "{\"event_type\":\"a\"}\n{\"event_type\":\"b\"}\n");
    assert_eq!(counts, [2, 0, 0, 2]);
    let codes: Vec<_> = rejects.iter().map(|line| line["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["fingerprint_mismatch", "manifest_missing"]);
}
