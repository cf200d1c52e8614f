//! Bundles that were edited after they were made.

use std::os::unix::fs::symlink;
use std::path::Path;

use retort::bundle::{Contents, Expect, Manifest, Part, load};
use retort::diagnostics::Code;
use retort::internal::codes::{
    DIGEST_MISMATCH, FINGERPRINT_MISMATCH, LOAD_FAILED, MANIFEST_MISSING, MANIFEST_UNREADABLE,
    MODULE_NOT_FOUND,
};
use retort::{Coded, Store};
use serde_json::json;

use super::{Recipe, Stored, TestGate};

const FILES: [&str; 6] =
    ["plan.json", "extractor.wat", "extractor.wasm", "graph.json", "limits.json", "rule.md"];

/// The code after an edit to a fresh bundle, in which no file but the named one is blamed.
fn code_after(blamed: &str, edit: impl FnOnce(&Path)) -> Code {
    let stored = Stored::new(&Recipe::default());
    edit(&stored.path);
    let error = stored.load().unwrap_err();
    assert_eq!(error.path(), stored.path.join(blamed), "{error}");
    error.entry()
}

#[test]
fn no_byte_of_a_manifest_can_change() {
    let stored = Stored::new(&Recipe::default());
    let path = stored.path.join("manifest.json");
    let good = std::fs::read(&path).unwrap();
    for at in 0..good.len() {
        for mask in [0x01, 0x20, 0x80] {
            let mut bad = good.clone();
            bad[at] ^= mask;
            std::fs::write(&path, &bad).unwrap();
            let shown = String::from_utf8_lossy(&bad);
            let error = stored.load().err().unwrap_or_else(|| panic!("byte {at}: {shown}"));
            assert!(
                matches!(error.entry(), MANIFEST_UNREADABLE | MODULE_NOT_FOUND | DIGEST_MISMATCH),
                "byte {at}: {error}"
            );
        }
    }
    std::fs::write(&path, &good).unwrap();
    stored.load().unwrap();
}

#[test]
fn no_byte_of_another_file_can_change() {
    for name in FILES {
        let length = std::fs::read(Stored::new(&Recipe::default()).path.join(name)).unwrap().len();
        for at in [0, length / 2, length - 1] {
            let code = code_after(name, |path| {
                let mut bytes = std::fs::read(path.join(name)).unwrap();
                bytes[at] ^= 1;
                std::fs::write(path.join(name), bytes).unwrap();
            });
            assert_eq!(code, DIGEST_MISMATCH, "{name} at {at}");
        }
    }
}

#[test]
fn a_truncated_or_longer_file_is_noticed() {
    for name in FILES {
        let edits: [fn(&mut Vec<u8>); 3] =
            [|bytes| bytes.truncate(bytes.len() - 1), Vec::clear, |bytes| bytes.push(b' ')];
        for edit in edits {
            let code = code_after(name, |path| {
                let mut bytes = std::fs::read(path.join(name)).unwrap();
                edit(&mut bytes);
                std::fs::write(path.join(name), bytes).unwrap();
            });
            assert_eq!(code, DIGEST_MISMATCH, "{name}");
        }
    }
    let code = code_after("manifest.json", |path| {
        let text = std::fs::read_to_string(path.join("manifest.json")).unwrap();
        std::fs::write(path.join("manifest.json"), &text[..text.len() / 2]).unwrap();
    });
    assert_eq!(code, MANIFEST_UNREADABLE);
}

#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    for name in FILES.into_iter().chain(["manifest.json"]) {
        let code = code_after(name, |path| {
            // Sparse: it takes no room on disk.
            std::fs::File::create(path.join(name)).unwrap().set_len(1 << 40).unwrap();
        });
        let expected = if name == "manifest.json" { MANIFEST_UNREADABLE } else { LOAD_FAILED };
        assert_eq!(code, expected, "{name}");
    }
}

/// What a file that isn't a regular one, or isn't there, is reported as.
fn code_of_absent(name: &str) -> Code {
    match name {
        "manifest.json" => MANIFEST_MISSING,
        "extractor.wasm" => MODULE_NOT_FOUND,
        _ => DIGEST_MISMATCH,
    }
}

#[test]
fn every_file_must_be_there_as_a_regular_file() {
    for name in FILES.into_iter().chain(["manifest.json"]) {
        let removed = |path: &Path| std::fs::remove_file(path.join(name)).unwrap();
        assert_eq!(code_after(name, removed), code_of_absent(name), "{name}");
        let directory = |path: &Path| {
            removed(path);
            std::fs::create_dir(path.join(name)).unwrap();
        };
        assert_eq!(code_after(name, directory), code_of_absent(name), "{name}");
    }
}

#[test]
fn no_link_is_followed_even_to_the_right_bytes() {
    for name in FILES.into_iter().chain(["manifest.json"]) {
        let outside = tempfile::tempdir().unwrap();
        for target in [outside.path().join("copy"), Path::new("copy").to_owned()] {
            let code = code_after(name, |path| {
                std::fs::rename(path.join(name), path.join("copy")).unwrap();
                std::fs::copy(path.join("copy"), outside.path().join("copy")).unwrap();
                symlink(&target, path.join(name)).unwrap();
            });
            // A module outside of its bundle is the manifest's fault by the contract.
            let is_module = name == "extractor.wasm";
            let expected = if is_module { MANIFEST_UNREADABLE } else { code_of_absent(name) };
            assert_eq!(code, expected, "{name} -> {}", target.display());
        }
    }
}

#[test]
fn swapped_files_are_noticed() {
    let code = code_after("plan.json", |path| {
        let (plan, graph) = (path.join("plan.json"), path.join("graph.json"));
        let [was_plan, was_graph] = [&plan, &graph].map(|file| std::fs::read(file).unwrap());
        std::fs::write(plan, was_graph).unwrap();
        std::fs::write(graph, was_plan).unwrap();
    });
    assert_eq!(code, DIGEST_MISMATCH);
}

#[test]
fn a_forger_who_sets_the_digests_right_is_found_by_the_fingerprint() {
    for name in FILES {
        let stored = Stored::new(&Recipe::default());
        stored.forge(name, b"forged");
        let error = stored.load().unwrap_err();
        assert_eq!(error.entry(), FINGERPRINT_MISMATCH, "{name}: {error}");
    }
    for (field, value) in [
        ("event_types", json!(["refund"])),
        ("function_name", json!("other")),
        ("abi_version", json!(2)),
        ("compiler_package_version", json!("9")),
        ("template_version", json!("9")),
        ("transcript_builder_version", json!("9")),
    ] {
        let stored = Stored::new(&Recipe::default());
        let mut manifest = stored.read_manifest();
        manifest[field] = value;
        stored.write_manifest(manifest);
        let error = stored.load().unwrap_err();
        assert_eq!(error.entry(), FINGERPRINT_MISMATCH, "{field}: {error}");
    }
}

#[test]
fn a_part_can_neither_be_dropped_nor_slipped_in() {
    let stored = Stored::new(&Recipe::default());
    let mut manifest = stored.read_manifest();
    manifest["files"].as_object_mut().unwrap().remove("rule.md");
    stored.write_manifest(manifest);
    assert_eq!(stored.load().unwrap_err().entry(), FINGERPRINT_MISMATCH);

    let stored = Stored::new(&Recipe::default());
    stored.forge("event_schema.json", b"{}");
    assert_eq!(stored.load().unwrap_err().entry(), FINGERPRINT_MISMATCH);

    let stored = Stored::new(&Recipe::default());
    stored.forge("extra.txt", b"x");
    assert_eq!(stored.load().unwrap_err().entry(), MANIFEST_UNREADABLE);
}

#[test]
fn nothing_lies_beside_the_files_of_a_bundle() {
    type Edit = fn(&Path);
    let edits: [(&str, Edit); 7] = [
        ("a regular file", |path| std::fs::write(path, "x").unwrap()),
        ("a regular file", |path| std::fs::write(path, "").unwrap()),
        ("a directory", |path| std::fs::create_dir(path).unwrap()),
        ("a symbolic link", |path| symlink("plan.json", path).unwrap()),
        ("a symbolic link", |path| symlink("nothing", path).unwrap()),
        ("a special file", |path| {
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, path, kind, rustix::fs::Mode::RUSR, 0).unwrap();
        }),
        ("a regular file", |path| {
            std::fs::hard_link(path.with_file_name("plan.json"), path).unwrap();
        }),
    ];
    for (kind, edit) in edits {
        for name in [".hidden", "zzz", "Plan.json", "event_schema.json", "caf\u{e9}\u{1b}[2J"] {
            let stored = Stored::new(&Recipe::default());
            edit(&stored.path.join(name));
            let error = stored.load().unwrap_err();
            assert_eq!(error.entry(), DIGEST_MISMATCH, "{name}: {error}");
            assert_eq!(error.path(), stored.path.join(name), "{error}");
            assert!(error.detail().contains(kind), "{error}");
            assert!(!error.to_string().contains('\u{1b}'), "{error}");
        }
    }
}

#[test]
fn of_many_files_beside_a_bundle_the_same_one_is_blamed() {
    let with_others = |names: &mut dyn Iterator<Item = usize>| {
        let stored = Stored::new(&Recipe::default());
        names.for_each(|n| std::fs::write(stored.path.join(format!("x{n:04}")), "").unwrap());
        let error = stored.load().unwrap_err();
        assert_eq!(error.entry(), DIGEST_MISMATCH);
        (error.path().strip_prefix(&stored.path).unwrap().to_owned(), error.detail().to_owned())
    };
    assert_eq!(with_others(&mut (0..64).rev()).0, Path::new("x0000"));
    assert_eq!(with_others(&mut (0..64)).0, Path::new("x0000"));
    let (place, detail) = with_others(&mut (0..3_000));
    assert_eq!(place, Path::new(""));
    assert!(detail.contains("more than 64 others"), "{detail}");
}

#[test]
fn a_manifest_in_another_form_is_refused() {
    let stored = Stored::new(&Recipe::default());
    let path = stored.path.join("manifest.json");
    let good = std::fs::read_to_string(&path).unwrap();
    let (first, second) = (good.find("\"abi").unwrap(), good.find("\"compiler").unwrap());
    let third = good.find("\"created").unwrap();
    let forms = [
        stored.read_manifest().to_string(),
        format!("{good}\n"),
        good.trim_end().to_owned(),
        good.replace("\n", "\r\n"),
        good.replace("  ", "\t"),
        good.replace("\"order\"", "\"\\u006frder\""),
        // The first two fields have changed places.
        [&good[..first], &good[second..third], &good[first..second], &good[third..]].concat(),
        // A digest twice: the last one counts, and is right.
        good.replacen("\"files\": {", "\"files\": {\"plan.json\": \"\",", 1),
    ];
    for form in forms {
        assert_eq!(Manifest::from_json(form.as_bytes()), Manifest::from_json(good.as_bytes()));
        std::fs::write(&path, &form).unwrap();
        let error = stored.load().unwrap_err();
        assert_eq!(error.entry(), DIGEST_MISMATCH, "{form}");
        assert_eq!(error.path(), path);
    }
    std::fs::write(&path, &good).unwrap();
    stored.load().unwrap();
}

#[test]
fn a_part_that_is_read_again_is_the_one_that_was_checked() {
    let stored = Stored::new(&Recipe::default());
    let loaded = stored.load().unwrap();
    let graph = loaded.read(Part::Graph).unwrap();
    assert_eq!(graph, Some(std::fs::read(stored.path.join("graph.json")).unwrap()));
    assert_eq!(loaded.read(Part::EventSchema).unwrap(), None);
    std::fs::write(stored.path.join("graph.json"), "{}").unwrap();
    assert_eq!(loaded.read(Part::Graph).unwrap_err().entry(), DIGEST_MISMATCH);
    std::fs::remove_file(stored.path.join("graph.json")).unwrap();
    assert_eq!(loaded.read(Part::Graph).unwrap_err().entry(), DIGEST_MISMATCH);
}

#[test]
fn what_a_manifest_says_cannot_disguise_a_message() {
    let stored = Stored::new(&Recipe::default());
    let mut manifest = stored.read_manifest();
    manifest["fingerprint"] = format!("\u{1b}[2J\n{}", "x".repeat(100_000)).into();
    stored.write_manifest(manifest);
    let message = stored.load().unwrap_err().to_string();
    assert!(!message.contains(['\u{1b}', '\n']), "{message}");
    assert!(message.chars().count() < 1000, "{}", message.len());
}

#[test]
fn text_that_no_plan_was_rendered_to_is_that_of_the_module() {
    let recipe = Recipe::default();
    let text = "(module (func (export \"extract\") (param i32 i32) (result i64) i64.const 0))";
    let other = text.replace("i64.const 0", "i64.const 1");
    for (text, code) in [
        (text, None),
        (other.as_str(), Some("module_not_of_source")),
        ("(module", Some("module_not_of_source")),
        ("\u{0}", Some("module_not_of_source")),
    ] {
        let contents = Contents { plan: None, source: Some(text.as_bytes()), ..recipe.contents() };
        let root = tempfile::tempdir().unwrap();
        let stored = Store::open(root.path()).unwrap().put(&contents, jiff::Timestamp::UNIX_EPOCH);
        let gate = TestGate::default();
        let loaded = load(&stored.unwrap(), &Expect::default(), &gate);
        assert_eq!(loaded.as_ref().err().map(Coded::code), code, "{text}");
        assert_eq!(gate.admissions.get(), usize::from(code.is_none()));
        if let Err(error) = loaded {
            assert!(error.path().ends_with("extractor.wat"), "{error}");
        }
    }
}
