//! What inputs are mutated from: the repository's own cases.

use std::fs;
use std::path::{Path, PathBuf};

use retort::internal::section;
use retort::plan::{self, eval};
use retort::render::{self, compile};
use retort::selftest::{CaseKind, corpus};
use serde_json::Value;

use super::mutate::{Kind, Mutator};
use crate::support::{from_hex, workspace_root};

/// The files of a folder and all below it, by path, that have an extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Each value of the tests' and the examples' JSON files for which `wanted` gives a seed, those inside others too.
fn within(wanted: impl Fn(&Value) -> Option<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for folder in ["tests", "examples"] {
        for path in files(&workspace_root().join(folder), "json") {
            let Ok(whole) = serde_json::from_slice(&fs::read(path).unwrap()) else { continue };
            let mut values: Vec<Value> = vec![whole];
            while let Some(value) = values.pop() {
                found.extend(wanted(&value));
                match value {
                    Value::Array(items) => values.extend(items),
                    Value::Object(fields) => values.extend(fields.into_iter().map(|it| it.1)),
                    _ => {}
                }
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The bodies of the hostile cases of a kind; long ones would cost as much as all others.
fn hostile(kind: CaseKind) -> Vec<String> {
    const MOST_BYTES: usize = 32 << 10;
    let cases = corpus().unwrap().into_iter().filter(|case| case.kind() == kind);
    cases.filter_map(|case| case.body().ok()).filter(|body| body.len() <= MOST_BYTES).collect()
}

fn hostile_bytes(kind: CaseKind) -> impl Iterator<Item = Vec<u8>> {
    hostile(kind).into_iter().map(String::into_bytes)
}

fn is_plan(value: &Value) -> bool {
    value.get("function_name").is_some() && value.get("event_type").is_some()
}

/// Plans, and what nearly is one.
pub(super) fn plans() -> Vec<Vec<u8>> {
    let mut seeds = within(|value| is_plan(value).then(|| value.to_string().into_bytes()));
    seeds.extend(hostile_bytes(CaseKind::Plan));
    seeds
}

/// Answers of models.
pub(super) fn answers() -> Vec<Vec<u8>> {
    let mut seeds = within(|value| {
        let text = value.get("text").filter(|_| value.get("expect").is_some())?;
        Some(text.as_str()?.as_bytes().to_vec())
    });
    seeds.extend(hostile_bytes(CaseKind::Answer));
    let fenced = plans().into_iter().step_by(8);
    seeds.extend(fenced.map(|plan| [b"The plan:\n```json\n", &*plan, b"\n```\n"].concat()));
    seeds
}

/// Events, as they were written.
pub(super) fn events() -> Vec<Vec<u8>> {
    let mut seeds = within(|value| match value.get("event") {
        Some(Value::String(text)) => Some(text.clone().into_bytes()),
        Some(event @ Value::Object(_)) => Some(event.to_string().into_bytes()),
        _ => None,
    });
    for path in files(&workspace_root().join("examples"), "ndjson") {
        let text = fs::read_to_string(path).unwrap();
        seeds.extend(text.lines().take(5).map(|line| line.as_bytes().to_vec()));
    }
    seeds.extend(hostile_bytes(CaseKind::Event));
    seeds.extend(crate::event::OWN.iter().map(|event| event.as_bytes().to_vec()));
    seeds
}

/// Results: what plans make of events, and what the cases of results hold.
pub(super) fn results() -> Vec<Vec<u8>> {
    let mut seeds = within(|value| {
        let plan = plan::from_value(value.get("plan")?).ok()?;
        let event = value.get("event")?;
        let event = event.as_str().map_or_else(|| event.to_string(), str::to_owned);
        Some(serde_json::to_vec(&eval(&plan, &event).ok()?).unwrap())
    });
    seeds.extend(hostile_bytes(CaseKind::Result));
    seeds.push(crate::property::result::RESULT.as_bytes().to_vec());
    seeds.push(
        br#"{"nodes":[{"node_id":"a","entity_name":"E","labels":[],"properties":[]},
            {"node_id":"\u0061","entity_name":"E","labels":[],"properties":[]}],"edges":[],
            "fully_handled_span_ids":["s","t","s"],"partially_handled_span_ids":["t","t"]}"#
            .to_vec(),
    );
    seeds
}

/// Modules: the cases of the gate, hostile guests, and rendered plans.
pub(super) fn modules() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for path in files(&workspace_root().join("tests/inspect"), "wat") {
        seeds.push(wat::parse_file(path).unwrap());
    }
    seeds.extend(hostile(CaseKind::Wat).iter().filter_map(|text| wat::parse_str(text).ok()));
    seeds.extend(hostile(CaseKind::Module).iter().filter_map(|text| from_hex(text)));
    for plan in plans() {
        let plan = std::str::from_utf8(&plan).ok().and_then(|text| plan::parse(text).ok());
        let source = plan.and_then(|plan| render::render(&plan).ok());
        if let Some(compiled) = source.and_then(|source| compile(source).ok()) {
            seeds.push(compiled.module().to_vec());
        }
    }
    // A large one costs as much to try as many small ones.
    seeds.retain(|wasm| wasm.len() < 16 << 10);
    assert!(seeds.iter().any(|wasm| contains(wasm, section::SECTION_NAME.as_bytes())));
    seeds
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Bytes of which choices are made.
pub(super) fn choices() -> Vec<Vec<u8>> {
    let mut source = Mutator::new(1, Kind::Bytes);
    let lengths = (0..96).map(|index| 40 * index);
    lengths.map(|length| source.bytes(length)).collect()
}

/// Bytes of which edits of a bundle are made: few, so that most of it is left.
pub(super) fn edits() -> Vec<Vec<u8>> {
    let mut source = Mutator::new(2, Kind::Bytes);
    (0..96).map(|index| source.bytes(index % 24)).collect()
}

/// Expressions with what they are evaluated on.
pub(super) fn expressions() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for path in files(&workspace_root().join("tests/expression"), "json") {
        let groups: Vec<Value> = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        for group in groups {
            for case in group["cases"].as_array().into_iter().flatten() {
                let expression = case["expression"].as_str().unwrap_or_default();
                found.push(format!("{expression}\n{}", group["given"]).into_bytes());
            }
        }
    }
    found
}
