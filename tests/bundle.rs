//! Bundles on disk: what is stored is loaded, and nothing else is. The contract's cases are in `cases/bundle.rs`.

mod discovery;
mod loading;
mod recipe;
mod tampering;

use std::collections::BTreeSet;

pub(crate) use self::recipe::sealed;
use self::recipe::{Recipe, Stored, TestGate};

#[test]
fn what_is_loaded_is_what_was_stored() {
    let recipe = Recipe::of_types(&["order", "refund"]);
    let stored = Stored::new(&recipe);
    let loaded = stored.load().unwrap();
    let expected = recipe.contents();
    for part in retort::bundle::Part::ALL {
        assert_eq!(loaded.read(part).unwrap().as_deref(), expected.part(part), "{part:?}");
    }
    assert_eq!(loaded.manifest().versions(), expected.versions);
    assert_eq!(loaded.fingerprint(), expected.fingerprint());
    assert_eq!(loaded.manifest().event_types(), recipe.event_types);
    assert_eq!(*loaded.module(), recipe.module.len());
    assert_eq!(stored.path.file_name().unwrap(), &*expected.fingerprint().to_string());
    let names: BTreeSet<_> = std::fs::read_dir(&stored.path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, loaded.manifest().files().keys().cloned().collect());
}

#[test]
fn the_same_contents_at_the_same_time_are_the_same_bytes() {
    let (a, b) = (Stored::new(&Recipe::default()), Stored::new(&Recipe::default()));
    for name in a.load().unwrap().manifest().files().keys() {
        let read = |stored: &Stored| std::fs::read(stored.path.join(name)).unwrap();
        assert_eq!(read(&a), read(&b), "{name}");
    }
}

#[test]
fn storing_again_replaces_what_was_there_whatever_it_was() {
    let recipe = Recipe::default();
    let stored = Stored::new(&recipe);
    std::fs::write(stored.path.join("plan.json"), "half").unwrap();
    std::fs::write(stored.path.join("notes.txt"), "mine").unwrap();
    assert!(stored.load().is_err());
    recipe.store(stored.root.path());
    stored.load().unwrap();
    assert!(!stored.path.join("notes.txt").exists());
    let visible = std::fs::read_dir(stored.root.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name() != ".lock");
    assert_eq!(visible.count(), 1);
}
