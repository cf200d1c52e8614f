//! Modules and sealed bundles with a section of our own.

use std::fs;
use std::path::Path;

use retort::Store;
use retort::bundle::{Contents, Versions};
use retort::render::compile_text;

/// A module with this section that does nothing.
pub(crate) fn module(section: &str) -> String {
    let section: String = section.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    format!(
        r#"(module
            (memory (export "memory") 80 80)
            (func (export "retort_buffer") (param i32) (result i32) (i32.const 4096))
            (func (export "extract") (param i32 i32) (result i64) (i64.const 0))
            (@custom "retort" "{section}"))"#
    )
}

/// A sealed bundle with this section and this graph spec.
pub(crate) fn bundle(section: &str, types: &[String], graph: &str) -> Vec<(String, Vec<u8>)> {
    let text = module(section);
    let contents = Contents {
        module_name: "extractor",
        name: None,
        function_name: "extract",
        event_types: types,
        plan: Some(b"{}"),
        source: Some(text.as_bytes()),
        rust: None,
        module: &compile_text(&text).expect("it is a module"),
        graph: graph.as_bytes(),
        limits: b"{}",
        event_schema: None,
        rule: None,
        versions: Versions::CURRENT,
    };
    let root = tempfile::tempdir().expect("a directory for temporary files");
    let store = Store::open(root.path()).expect("the directory is there");
    let path = store.put(&contents, jiff::Timestamp::UNIX_EPOCH).expect("a bundle that may be put");
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut files = Vec::new();
    for file in fs::read_dir(&path).into_iter().flatten().flatten() {
        let content = fs::read(file.path()).expect("it was just written");
        files.push((format!("bundles/{}/{}", name(&path), name(&file.path())), content));
    }
    files
}
