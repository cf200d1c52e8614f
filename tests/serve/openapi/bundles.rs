//! Bundles that gates refuse, one for each code.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use retort::bundle::{Contents, Manifest};
use retort::{Pipeline, Store};

use super::super::bundles::Uploadable;
use super::super::bundles::archive::{files_of, tar_of, tar_with};
use crate::bundle::sealed;
use crate::cli::project::Project;
use crate::support::workspace_root;

/// A bundle that is refused.
pub(super) struct Made {
    pub(super) version: String,
    pub(super) path: String,
    pub(super) tar: Vec<u8>,
}

impl Made {
    fn at(path: &Path) -> Self {
        let manifest = Manifest::from_json(&fs::read(path.join("manifest.json")).unwrap()).unwrap();
        Self {
            version: manifest.fingerprint().to_owned(),
            path: path.to_str().unwrap().to_owned(),
            tar: tar_of(path, ""),
        }
    }
}

pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for (name, bytes) in files_of(from) {
        fs::write(to.join(name), bytes).unwrap();
    }
}

/// The archive of a bundle with another file in the place of one.
pub(super) fn changed(bundle: &Uploadable, name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut files = files_of(Path::new(&bundle.path));
    files.iter_mut().find(|it| it.0 == name).unwrap().1 = bytes.to_vec();
    tar_with(&files, "")
}

/// A bundle for each code that gates refuse one with, made of a whole one.
pub(super) fn refused(project: &Project, whole: &Path) -> Vec<(&'static str, Made)> {
    let files: BTreeMap<String, Vec<u8>> = files_of(whole).into_iter().collect();
    let bundle = retort::Bundle::open(whole, &Pipeline::builder().build().unwrap()).unwrap();
    let manifest = bundle.manifest();
    let (name, types) = (manifest.name(), manifest.event_types());
    let contents = Contents {
        module_name: "extractor",
        name: Some(&name),
        function_name: manifest.function_name(),
        event_types: types,
        plan: Some(&files["plan.json"]),
        source: Some(&files["extractor.wat"]),
        rust: None,
        module: &files["extractor.wasm"],
        graph: &files["graph.json"],
        limits: &files["limits.json"],
        event_schema: None,
        rule: None,
        versions: manifest.versions(),
    };
    let stored = |contents: Contents<'_>| {
        let store = Store::open(Path::new(&project.path("made"))).unwrap();
        Made::at(&store.put(&contents, jiff::Timestamp::UNIX_EPOCH).unwrap())
    };
    let (other_types, others) = (["other".to_owned()], ["e".to_owned()]);
    let attack = workspace_root().join("tests/hostile/export/function_of_another_type.wat");
    let attack = wat::parse_file(attack).unwrap();
    let text = "(module
      (memory (export \"memory\") 1 1)
      (func (export \"retort_buffer\") (param i32) (result i32) (i32.const 1024))
      (func (export \"extract\") (param i32 i32) (result i64) (i64.const 0))
      (@custom \"retort\" \"{\\\"abi\\\":1,\\\"function\\\":\\\"extract\\\",\\\"event_types\\\":[\\\"e\\\"],\\\"inputs\\\":[]}\"))";
    let foreign = wat::parse_str(text).unwrap();
    let by_hand = Contents {
        plan: None,
        source: None,
        event_types: &others,
        function_name: "extract",
        ..contents
    };
    let altered = |what: &str, alter: &dyn Fn(&Path)| {
        let path = project.path(&format!("altered-{what}"));
        copy(whole, Path::new(&path));
        alter(Path::new(&path));
        Made::at(Path::new(&path))
    };
    vec![
        (
            "digest_mismatch",
            altered("plan", &|path| fs::write(path.join("plan.json"), "{}").unwrap()),
        ),
        (
            "module_not_found",
            altered("module", &|path| fs::remove_file(path.join("extractor.wasm")).unwrap()),
        ),
        (
            "fingerprint_mismatch",
            altered("fingerprint", &|path| {
                let text = fs::read(path.join("manifest.json")).unwrap();
                let mut manifest: serde_json::Value = serde_json::from_slice(&text).unwrap();
                manifest["fingerprint"] = "0".repeat(64).into();
                fs::write(path.join("manifest.json"), sealed(manifest)).unwrap();
            }),
        ),
        ("function_not_found", stored(Contents { function_name: "read_other", ..contents })),
        ("module_rejected", stored(Contents { event_types: &other_types, ..contents })),
        ("function_signature_mismatch", stored(Contents { module: &attack, ..by_hand })),
        (
            "module_not_of_source",
            stored(Contents { module: &foreign, source: Some(b"(module)"), ..by_hand }),
        ),
        (
            "load_failed",
            stored(Contents { module: &foreign, source: Some(text.as_bytes()), ..by_hand }),
        ),
    ]
}
