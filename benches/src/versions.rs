//! Versions of one small extractor.

use std::path::Path;

use retort::bundle::{Contents, Digest, ExtractorName, RECORD_FILE, Versions};
use retort::render::{self, compile, compile_text};
use retort::{Store, jiff, plan};
use serde_json::json;

/// What the nodes of results are.
const GRAPH: &[u8] = br#"{"entities": [{"name": "Order", "key_columns": ["key"],
    "properties": [{"column": "key", "logical_name": "key", "sdk_type": "int64"},
        {"column": "note", "logical_name": "note", "sdk_type": "string"}]}]}"#;

/// What the key of a node is taken from by the first version of an extractor that is switched, and by the second one.
pub const FIELDS: [&str; 2] = ["id", "other"];

/// Stores a version of the extractor `f` for events of the type `e`, which takes the key of its node from this field, and serves it.
///
/// # Panics
/// Where the directory can't be written.
pub fn rendered(root: &Path, field: &str) -> Digest {
    let plan = json!({
        "event_type": "e", "target_entity_name": "Order", "function_name": "f",
        "key_field": {"property_name": "key", "source_path": [field]},
        "property_fields": [{"property_name": "note", "source_path": ["note"]}],
    })
    .to_string();
    let source = render::render(&plan::parse(&plan).expect("a plan")).expect("it renders");
    let compiled = compile(source).expect("it compiles");
    put(root, Some(plan.as_bytes()), compiled.source().text(), compiled.module())
}

/// Stores a version of the same extractor that is written as text, and serves it.
///
/// # Panics
/// Where it isn't written well, or the directory can't be written.
pub fn written(root: &Path, text: &str) -> Digest {
    put(root, Some(b"{}"), text, &compile_text(text).expect("it is written well"))
}

/// Goes back to the version that was active before, or, where there is none, activates all of these, one after the other.
///
/// # Panics
/// Where the directory can't be read.
pub fn switch(root: &Path, versions: &[Digest]) {
    let name: ExtractorName = "f".parse().expect("a name");
    let store = Store::open(root).expect("a directory");
    let now = jiff::Timestamp::now();
    if store.roll_back(&name, now, "bench").is_err() {
        for version in versions {
            store.activate(&name, &version.to_string(), now, "bench").expect("it is recorded");
        }
    }
}

fn put(root: &Path, plan: Option<&[u8]>, source: &str, module: &[u8]) -> Digest {
    let contents = Contents {
        module_name: "extractor",
        name: None,
        function_name: "f",
        event_types: &["e".to_owned()],
        plan,
        source: Some(source.as_bytes()),
        rust: None,
        module,
        graph: GRAPH,
        limits: b"{}",
        event_schema: None,
        rule: None,
        versions: Versions::CURRENT,
    };
    let (store, at) = (Store::open(root).expect("a directory"), jiff::Timestamp::UNIX_EPOCH);
    store.put(&contents, at).expect("it is stored");
    let (name, version): (ExtractorName, _) =
        ("f".parse().expect("a name"), contents.fingerprint());
    if !root.join(RECORD_FILE).exists() {
        store.retire(&name, at, "bench").expect("it is recorded");
    }
    store.activate(&name, &version.to_string(), at, "bench").expect("it is recorded");
    version
}
