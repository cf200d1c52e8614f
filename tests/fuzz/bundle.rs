//! Loading bundles that were edited: what is loaded is what the manifest says, byte for byte, and a bundle whose digests were
//! not made to fit again is loaded only where nothing that it says has changed.
//!
//! The input is choices: whether digests are made to fit, then edits of files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::LazyLock;

use retort::bundle::{
    self, Admitted, Contents, Digest, Expect, Manifest, ModuleGate, ModuleRefusal, Part, Versions,
};
use retort::diagnostics::Stage;
use retort::{Coded, Limits, Pipeline, plan};
use serde_json::{Value, json};

use super::text::assert_one_line;
use crate::bundle::sealed;
use crate::property::choices::Choices;
use crate::support::sandbox;

const PLAN: &str = r#"{"event_type":"order","function_name":"extract","target_entity_name":"Order",
    "key_field":{"property_name":"id","source_path":["id"]}}"#;

const MANIFEST: &str = "manifest.json";

/// A good bundle's files, and the pipeline that made it.
struct Good {
    pipeline: Pipeline,
    files: BTreeMap<String, Vec<u8>>,
}

static GOOD: LazyLock<Good> = LazyLock::new(|| {
    let pipeline = Pipeline::from(sandbox(Limits::default()));
    let compiled = pipeline.build(&plan::parse(PLAN).unwrap()).unwrap();
    let contents = Contents {
        module_name: "extractor",
        name: None,
        function_name: "extract",
        event_types: &["order".to_owned()],
        plan: Some(PLAN.as_bytes()),
        source: Some(compiled.source().text().as_bytes()),
        rust: None,
        module: compiled.module(),
        graph: b"{}",
        limits: b"{}",
        event_schema: None,
        rule: Some(b"Every order is a node.\n"),
        versions: Versions::CURRENT,
    };
    let manifest = Manifest::new(&contents, jiff::Timestamp::UNIX_EPOCH).unwrap();
    let mut files = BTreeMap::from([(MANIFEST.to_owned(), manifest.to_json().into_bytes())]);
    for part in Part::ALL {
        if let Some(bytes) = contents.part(part) {
            files.insert(part.file_name(contents.module_name), bytes.to_vec());
        }
    }
    Good { pipeline, files }
});

/// The pipeline; it isn't asked again about the good bundle's own module.
struct Gate;

impl ModuleGate for Gate {
    type Module = Option<Admitted>;

    fn admit(
        &self,
        module: &[u8],
        plan: Option<&[u8]>,
        manifest: &Manifest,
    ) -> Result<Option<Admitted>, ModuleRefusal> {
        let is_good = module == GOOD.files["extractor.wasm"]
            && plan == GOOD.files.get("plan.json").map(Vec::as_slice)
            && manifest.function_name() == "extract"
            && manifest.event_types() == ["order"];
        if is_good { Ok(None) } else { GOOD.pipeline.admit(module, plan, manifest).map(Some) }
    }
}

/// What lies in the place of a file.
enum Entry {
    File(Vec<u8>),
    Folder,
    Link(String),
}

/// Values that a field of a manifest is set to.
fn values() -> [Value; 14] {
    [
        json!("order"),
        json!(""),
        json!("../x"),
        json!("x.wasm"),
        json!("../../etc/passwd.wasm"),
        json!(null),
        json!([]),
        json!(["order"]),
        json!(["order", "order"]),
        json!(["refund\u{1b}[2J"]),
        json!(0),
        json!(2),
        json!({}),
        json!("0".repeat(64)),
    ]
}

pub(crate) fn target(data: &[u8]) -> bool {
    let mut choices = Choices::new(data);
    let fits = choices.chance(160);
    let mut bundle: BTreeMap<String, Entry> =
        GOOD.files.iter().map(|(name, bytes)| (name.clone(), Entry::File(bytes.clone()))).collect();
    for _ in 0..choices.below(4) {
        edit(&mut bundle, &mut choices);
    }
    if fits {
        make_fit(&mut bundle);
    }
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("bundle");
    write(&bundle, &path);
    judge(&bundle, &path, fits)
}

fn edit(bundle: &mut BTreeMap<String, Entry>, choices: &mut Choices<'_>) {
    let names: Vec<String> = GOOD.files.keys().cloned().collect();
    let name = choices.pick(&names);
    if let Some(Entry::File(bytes)) = bundle.get_mut(name) {
        let place = choices.below(256) * 256 + choices.below(256);
        let at = place % (bytes.len() + 1);
        match choices.below(10) {
            0 => bytes.truncate(at),
            1 => bytes.extend((0..choices.below(8)).map(|_| b' ')),
            2 | 3 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << choices.below(8);
                }
            }
            4 => drop(bytes.splice(at..at, [choices.below(256) as u8])),
            5 => drop(bundle.insert(name.clone(), Entry::Folder)),
            6 => drop(bundle.insert(name.clone(), Entry::Link(choices.pick(&names).clone()))),
            7 => drop(bundle.remove(name)),
            _ => set_field(bundle, choices),
        }
    }
}

/// Sets a field of the manifest, or one of its files.
fn set_field(bundle: &mut BTreeMap<String, Entry>, choices: &mut Choices<'_>) {
    let Some(Entry::File(bytes)) = bundle.get_mut(MANIFEST) else { return };
    let Ok(Value::Object(mut manifest)) = serde_json::from_slice(bytes) else { return };
    let mut keys: Vec<String> = manifest.keys().cloned().collect();
    keys.push("another".to_owned());
    let key = choices.pick(&keys).clone();
    let value = choices.pick(&values()).clone();
    match manifest.get_mut("files") {
        Some(Value::Object(files)) if key == "files" => {
            let names: Vec<String> = files.keys().cloned().chain(["other".to_owned()]).collect();
            files.insert(choices.pick(&names).clone(), value);
        }
        _ => drop(manifest.insert(key, value)),
    }
    *bytes = Value::Object(manifest).to_string().into_bytes();
}

/// Gives a bundle the digests and the fingerprint that its content has, as far as it has any.
fn make_fit(bundle: &mut BTreeMap<String, Entry>) {
    let read = |name: &str| match bundle.get(name) {
        Some(Entry::File(bytes)) => Some(bytes.as_slice()),
        _ => None,
    };
    let manifest = read(MANIFEST).and_then(|bytes| serde_json::from_slice::<Value>(bytes).ok());
    let Some(mut manifest) = manifest else { return };
    if let Some(Value::Object(files)) = manifest.get_mut("files") {
        for (name, digest) in files {
            if let Some(bytes) = read(name) {
                *digest = Digest::of(bytes).to_string().into();
            }
        }
    }
    // The fields have to be good ones for that, all but the fingerprint and the digest of the manifest itself.
    if let Ok(claimed) = Manifest::from_json(sealed(manifest.clone()).as_bytes()) {
        let part = |part: Part| {
            let name = part.file_name(claimed.module_name());
            claimed.files().contains_key(&name).then(|| read(&name)).flatten()
        };
        let contents = Contents {
            module_name: claimed.module_name(),
            name: None,
            function_name: claimed.function_name(),
            event_types: claimed.event_types(),
            plan: part(Part::Plan),
            source: part(Part::Source),
            rust: part(Part::Rust),
            module: part(Part::Module).unwrap_or_default(),
            graph: part(Part::Graph).unwrap_or_default(),
            limits: part(Part::Limits).unwrap_or_default(),
            event_schema: part(Part::EventSchema),
            rule: part(Part::Rule),
            versions: claimed.versions(),
        };
        manifest["fingerprint"] = contents.fingerprint().to_string().into();
    }
    bundle.insert(MANIFEST.to_owned(), Entry::File(sealed(manifest).into_bytes()));
}

fn write(bundle: &BTreeMap<String, Entry>, path: &Path) {
    fs::create_dir(path).unwrap();
    for (name, entry) in bundle {
        let path = path.join(name);
        match entry {
            Entry::File(bytes) => fs::write(path, bytes).unwrap(),
            Entry::Folder => fs::create_dir(path).unwrap(),
            Entry::Link(to) => symlink(to, path).unwrap(),
        }
    }
}

fn judge(bundle: &BTreeMap<String, Entry>, path: &Path, fits: bool) -> bool {
    if let Some(Entry::File(bytes)) = bundle.get(MANIFEST) {
        match Manifest::from_json(bytes) {
            Ok(manifest) => {
                let again = Manifest::from_json(manifest.to_json().as_bytes());
                assert_eq!(again.as_ref(), Ok(&manifest));
            }
            Err(error) => assert_one_line(&error.to_string()),
        }
    }
    let verdict = bundle::load(path, &Expect::default(), &Gate);
    let found = bundle::discover(path.parent().unwrap(), &Expect::default(), None, &Gate);
    assert_eq!(
        (found.loaded.len(), found.failures.len()),
        (usize::from(verdict.is_ok()), usize::from(verdict.is_err()),)
    );
    let loaded = match verdict {
        Ok(loaded) => loaded,
        Err(error) => {
            assert_eq!(found.failures[0].entry(), error.entry());
            assert!(error.entry().stage == Stage::Bundle && error.path().starts_with(path));
            assert_one_line(error.detail());
            return false;
        }
    };
    let manifest = loaded.manifest();
    assert_eq!(manifest.fingerprint(), loaded.fingerprint().to_string());
    assert!(bundle.keys().eq(manifest.files().keys()), "served with a file more or less");
    for (name, digest) in manifest.files() {
        let Some(Entry::File(bytes)) = bundle.get(name) else { panic!("{name} is no file") };
        let good = &GOOD.files[name];
        if name == MANIFEST {
            assert_eq!(manifest.to_json().as_bytes(), bytes, "there is one form of a manifest");
        } else {
            assert_eq!(*digest, Digest::of(bytes), "{name}");
        }
        assert!(fits || bytes == good, "{name} has changed");
    }
    for part in Part::ALL {
        let name = part.file_name(manifest.module_name());
        match loaded.read(part).unwrap() {
            Some(bytes) => assert!(matches!(&bundle[&name], Entry::File(found) if *found == bytes)),
            None => assert!(!bundle.contains_key(&name), "{name}"),
        }
    }
    if let Some(admitted) = loaded.module() {
        let section = admitted.inspected().section();
        assert_eq!(section.function(), manifest.function_name());
        assert_eq!(section.event_types(), manifest.event_types());
    }
    true
}
