//! Bundles and a host for the tests of hosts.

use super::*;
use std::path::Path;

use retort::bundle::{Contents, RECORD_FILE, Versions};
use retort::plan;
use retort::render::{self, compile, compile_text};
use retort::runtime::{Answer, Breaker, Notice};

/// What the nodes of results are.
const GRAPH: &[u8] = br#"{"entities": [{"name": "Order", "key_columns": ["key"],
    "properties": [{"column": "key", "logical_name": "key", "sdk_type": "int64"}]}]}"#;

/// What was told.
#[derive(Clone, Default)]
pub(super) struct Notices(Arc<Mutex<Vec<Notice>>>);

impl Notices {
    pub(super) fn told(&self, tenant: &str) -> Vec<(&'static str, Digest)> {
        let notices = self.0.lock().unwrap();
        let of_tenant = notices.iter().filter(|notice| &*notice.tenant == tenant);
        of_tenant.map(|notice| (notice.what.as_str(), notice.version)).collect()
    }
}

/// A host with two workers that takes any module.
pub(super) fn host() -> (Host, Notices) {
    let notices = Notices::default();
    let told = notices.clone();
    let host = Host::builder()
        .pipeline(Pipeline::from(sandbox(Limits::default())))
        .workers(NonZeroUsize::new(2).unwrap())
        .on_notice(move |notice| told.0.lock().unwrap().push(notice.clone()))
        .build()
        .unwrap();
    (host, notices)
}

pub(super) fn breaker(failures: u32, of: u32, set_aside_ms: u64) -> Breaker {
    serde_json::from_value(json!({"failures": failures, "of": of, "set_aside_ms": set_aside_ms}))
        .unwrap()
}

pub(super) fn order(id: u64) -> Vec<u8> {
    let order = json!({"event_type": "order", "session_id": "s", "id": id, "other": id + 1});
    order.to_string().into_bytes()
}

/// The ids of an answer's nodes.
pub(super) fn nodes(answer: &Answer) -> Vec<String> {
    assert!(!answer.json.is_empty(), "{answer:?}");
    let value: Value = serde_json::from_slice(&answer.json).unwrap();
    let nodes = value["nodes"].as_array().unwrap();
    nodes.iter().map(|node| node["node_id"].as_str().unwrap().to_owned()).collect()
}

/// Stores a version of the extractor `read` that takes the key from this field, and activates it.
pub(super) fn reading(root: &Path, event_type: &str, field: &str) -> Digest {
    stored(root, event_type, field, "read", true)
}

/// The same of an extractor of this name; what isn't to be active has other limits written beside it.
pub(super) fn stored(
    root: &Path,
    event_type: &str,
    field: &str,
    function: &str,
    is_active: bool,
) -> Digest {
    let text = json!({
        "event_type": event_type, "target_entity_name": "Order", "function_name": function,
        "key_field": {"property_name": "key", "source_path": [field]},
    })
    .to_string();
    let compiled = compile(render::render(&plan::parse(&text).unwrap()).unwrap()).unwrap();
    let source = compiled.source().text().as_bytes();
    let types = [event_type.to_owned()];
    let contents = Contents {
        limits: if is_active { b"{}" } else { b"{} " },
        plan: Some(text.as_bytes()),
        ..contents(&types, function, source, compiled.module())
    };
    put(root, &contents, is_active)
}

/// Stores a version of the extractor `read` that traps, unless its event has `fine` for its text, and activates it.
pub(super) fn failing(root: &Path, event_type: &str) -> Digest {
    let result =
        r#"{"nodes":[],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#;
    let section = json!({"abi": 1, "function": "read", "event_types": [event_type],
        "inputs": [{"path": ["fine"], "as": "json"}]})
    .to_string();
    let text = format!(
        r#"(module
            (memory (export "memory") 1 1)
            (func (export "retort_buffer") (param i32) (result i32) (i32.const 8192))
            (func (export "read") (param i32 i32) (result i64)
                (if (i32.eqz (i32.load8_u (i32.add (local.get 0) (i32.const 8)))) (then (unreachable)))
                (i64.const {packed}))
            (data (i32.const 4096) {result:?})
            (@custom "retort" {section:?}))"#,
        packed = 4096_u64 << 32 | result.len() as u64,
    );
    let types = [event_type.to_owned()];
    let module = compile_text(&text).unwrap();
    let contents = contents(&types, "read", text.as_bytes(), &module);
    put(root, &contents, true)
}

/// Stores a bundle as a version of its extractor, in a directory that has a record.
fn put(root: &Path, contents: &Contents<'_>, is_active: bool) -> Digest {
    let (store, at) = (Store::open(root).unwrap(), jiff::Timestamp::UNIX_EPOCH);
    let (name, version) = (contents.function_name.parse().unwrap(), contents.fingerprint());
    store.put(contents, at).unwrap();
    if !root.join(RECORD_FILE).exists() {
        store.retire(&name, at, "test").unwrap();
    }
    if is_active {
        store.activate(&name, &version.to_string(), at, "test").unwrap();
    }
    version
}

/// An event that the failing version does well on.
pub(super) fn fine() -> Vec<u8> {
    br#"{"event_type": "order", "session_id": "s", "fine": true}"#.to_vec()
}

fn contents<'a>(
    event_types: &'a [String],
    function_name: &'a str,
    source: &'a [u8],
    module: &'a [u8],
) -> Contents<'a> {
    Contents {
        module_name: "extractor",
        name: None,
        function_name,
        event_types,
        plan: Some(b"{}"),
        source: Some(source),
        rust: None,
        module,
        graph: GRAPH,
        limits: b"{}",
        event_schema: None,
        rule: None,
        versions: Versions::CURRENT,
    }
}
