//! Guests in Rust: what the crates they are written with make of them.

mod build;
mod corpora;
mod examples;
mod rendering;

use std::path::Path;

use libtest_mimic::Trial;
use retort::gate::{StructuralLimits, inspect};
use retort::{Limits, RunError};
use retort_guest_template::RUST_TEMPLATE;
use wasmparser::{ExternalKind, Parser, Payload};
use wasmtime::{Config, Engine, Instance, Memory, Module, Store, TypedFunc, Val};

use crate::support::sandbox;
use crate::trial::{CorpusCheck, with_rustc};
use build::build;

pub(crate) fn trials() -> Vec<Trial> {
    let checks: [CorpusCheck; 5] = [
        ("what_is_exported", what_is_exported),
        ("it_runs_in_the_sandbox", it_runs_in_the_sandbox),
        ("calls_cost_the_same_however_many_there_were", calls_cost_the_same),
        ("a_panic_leaves_its_message", a_panic_leaves_its_message),
        ("what_is_refused_before_it_is_a_module", what_is_refused_before_it_is_a_module),
    ];
    let named = checks.into_iter().map(|(name, check)| with_rustc(format!("guest::{name}"), check));
    named.chain(examples::trials()).chain(corpora::trials()).chain(rendering::trials()).collect()
}

const EVENT: &str = r#"{"event_type": "order.placed", "session_id": "s\u00401", "span_id": "p",
    "content": {"id": 7, "total": "12.50", "paid": [0], "lines": [{"sku": "a", "quantity": 2}, {"sku": "\n"}, 3]}}"#;
const RESULT: &str = concat!(
    r#"{"nodes":[{"node_id":"s@1:Order:order_id=7","entity_name":"Order","labels":["Order"],"#,
    r#""properties":[{"name":"order_id","value":7},{"name":"total","value":12.50},{"name":"paid","value":true},"#,
    r#"{"name":"pieces","value":2}]},"#,
    r#"{"node_id":"s@1:Line:order_id=7,sku=a","entity_name":"Line","labels":["Line"],"#,
    r#""properties":[{"name":"order_id","value":7},{"name":"sku","value":"a"},{"name":"quantity","value":2}]},"#,
    r#"{"node_id":"s@1:Line:order_id=7,sku=\n","entity_name":"Line","labels":["Line"],"#,
    r#""properties":[{"name":"order_id","value":7},{"name":"sku","value":"\n"}]}],"#,
    r#""edges":[{"edge_id":"s@1:Order:order_id=7:HAS_LINE:s@1:Line:order_id=7,sku=a","relationship_name":"HAS_LINE","#,
    r#""from_node_id":"s@1:Order:order_id=7","to_node_id":"s@1:Line:order_id=7,sku=a","properties":[]},"#,
    r#"{"edge_id":"s@1:Order:order_id=7:HAS_LINE:s@1:Line:order_id=7,sku=\n","relationship_name":"HAS_LINE","#,
    r#""from_node_id":"s@1:Order:order_id=7","to_node_id":"s@1:Line:order_id=7,sku=\n","properties":[]}],"#,
    r#""fully_handled_span_ids":["p"],"partially_handled_span_ids":[]}"#,
);

fn template(rustc: &Path) -> Vec<u8> {
    build(rustc, RUST_TEMPLATE).unwrap()
}

/// Nothing is imported, and no export is wrapped: what is exported is what was written.
fn what_is_exported(rustc: &Path) {
    let wasm = template(rustc);
    let mut exports = Vec::new();
    for payload in Parser::new(0).parse_all(&wasm) {
        match payload.unwrap() {
            Payload::ImportSection(_) => panic!("there are imports"),
            Payload::ExportSection(section) => {
                exports.extend(section.into_iter().map(|export| {
                    let export = export.unwrap();
                    (export.name.to_owned(), export.kind)
                }));
            }
            Payload::CustomSection(section) if section.name() == "name" => {
                let names = String::from_utf8_lossy(section.data());
                assert!(!names.contains("command_export"), "exports are wrapped");
            }
            _ => {}
        }
    }
    exports.sort_by(|a, b| a.0.cmp(&b.0));
    let expected = [
        // The host puts it back with the memory.
        ("__stack_pointer", ExternalKind::Global),
        ("_initialize", ExternalKind::Func),
        // What the compiler calls, and a C library would have.
        ("bcmp", ExternalKind::Func),
        ("memcmp", ExternalKind::Func),
        ("memory", ExternalKind::Memory),
        ("read_order", ExternalKind::Func),
        ("retort_buffer", ExternalKind::Func),
        ("retort_message", ExternalKind::Global),
    ];
    assert_eq!(exports, expected.map(|(name, kind)| (name.to_owned(), kind)));
}

fn it_runs_in_the_sandbox(rustc: &Path) {
    let inspected = inspect(&template(rustc), &StructuralLimits::default()).unwrap();
    let extractor = sandbox(Limits::default()).load(&inspected).unwrap();
    let mut runner = extractor.runner();
    for _ in 0..2 {
        let outcome = runner.run(EVENT.as_bytes()).unwrap();
        assert_eq!(std::str::from_utf8(outcome.json).unwrap(), RESULT);
    }
    let outcome = runner.run(br#"{"event_type": "order.placed"}"#).unwrap();
    let empty =
        r#"{"nodes":[],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#;
    assert_eq!(outcome.json, empty.as_bytes());
}

/// A guest without the host around it.
struct Bare {
    store: Store<()>,
    instance: Instance,
    memory: Memory,
    buffer: TypedFunc<u32, u32>,
    call: TypedFunc<(u32, u32), u64>,
}

impl Bare {
    fn new(wasm: &[u8], function: &str) -> Self {
        let mut config = Config::new();
        config.consume_fuel(true);
        let engine = Engine::new(&config).unwrap();
        let module = Module::new(&engine, wasm).unwrap();
        let mut store = Store::new(&engine, ());
        store.set_fuel(u64::MAX).unwrap();
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let initialize = instance.get_typed_func::<(), ()>(&mut store, "_initialize").unwrap();
        initialize.call(&mut store, ()).unwrap();
        Self {
            memory: instance.get_memory(&mut store, "memory").unwrap(),
            buffer: instance.get_typed_func(&mut store, "retort_buffer").unwrap(),
            call: instance.get_typed_func(&mut store, function).unwrap(),
            store,
            instance,
        }
    }

    /// The fuel of a call, and its result.
    fn run(&mut self, block: &[u8]) -> wasmtime::Result<(u64, Vec<u8>)> {
        self.store.set_fuel(1 << 40)?;
        let length = block.len() as u32;
        let at = self.buffer.call(&mut self.store, length)?;
        self.memory.write(&mut self.store, at as usize, block)?;
        let packed = self.call.call(&mut self.store, (at, length))?;
        let fuel = (1 << 40) - self.store.get_fuel()?;
        let mut result = vec![0; packed as u32 as usize];
        self.memory.read(&self.store, (packed >> 32) as usize, &mut result)?;
        Ok((fuel, result))
    }

    fn message(&mut self) -> String {
        let global = self.instance.get_global(&mut self.store, "retort_message").unwrap();
        let Val::I32(at) = global.get(&mut self.store) else { panic!("an address") };
        let data = self.memory.data(&self.store);
        let word = |at: usize| u32::from_le_bytes(data[at..at + 4].try_into().unwrap()) as usize;
        let (address, length) = (word(at as usize), word(at as usize + 4));
        String::from_utf8(data[address..address + length].to_vec()).unwrap()
    }
}

/// A block of slots alone.
fn block(texts: &[(u32, &str)]) -> Vec<u8> {
    let mut at = 8 + 12 * texts.len() as u32;
    let mut words = vec![1, texts.len() as u32];
    for (kind, text) in texts {
        words.extend([*kind, at, text.len() as u32]);
        at += text.len() as u32;
    }
    let mut block: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    texts.iter().for_each(|(_, text)| block.extend(text.as_bytes()));
    block
}

const BUSY: &str = r#"use retort_guest::prelude::*;
use std::collections::BTreeMap;

extractor! { function: busy, event_types: ["a"], inputs: { text: ["text"], fail: ["fail"] } }

fn busy(event: &Event<'_>, graph: &mut Graph) {
    let text = event.text.str().unwrap_or_default();
    let mut words: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, word) in text.split(' ').enumerate() {
        words.entry(word.to_uppercase()).or_default().push(at);
    }
    for (word, places) in &words {
        if let Some(mut node) = graph.node("Word").key("word", word).add() {
            node.set("places", places).set("text", format!("{word}{:?}", places));
        }
    }
    if let Some(at) = event.fail.u64() {
        let bytes = text.as_bytes();
        graph.fully_handled(bytes[at as usize]);
    }
}
"#;

fn calls_cost_the_same(rustc: &Path) {
    let wasm = build(rustc, BUSY).unwrap();
    let mut guest = Bare::new(&wasm, "busy");
    let text = format!("\"{}\"", "one two three one ".repeat(20));
    let (small, large) = (block(&[(4, "\"a\""), (0, "")]), block(&[(4, &text), (0, "")]));
    let first = guest.run(&large).unwrap();
    let (fuel, result) = guest.run(&large).unwrap();
    assert_eq!(first.1, result);
    let small_fuel = guest.run(&small).unwrap().0;
    for _ in 0..5_000 {
        assert_eq!(guest.run(&large).unwrap().0, fuel);
        assert_eq!(guest.run(&small).unwrap().0, small_fuel);
    }
    assert_eq!(guest.run(&large).unwrap(), (fuel, result));
    assert!(first.0.abs_diff(fuel) < 1_000, "{} at first, then {fuel}", first.0);
    assert!(guest.memory.data_size(&guest.store) < 4 << 20);
}

fn a_panic_leaves_its_message(rustc: &Path) {
    let wasm = build(rustc, BUSY).unwrap();
    let mut guest = Bare::new(&wasm, "busy");
    assert_eq!(guest.message(), "");
    guest.run(&block(&[(4, "\"abc\""), (3, "7")])).unwrap_err();
    let expected =
        "panicked at src/lib.rs:19:29: index out of bounds: the len is 3 but the index is 7";
    assert_eq!(guest.message(), expected);

    let inspected = inspect(&wasm, &StructuralLimits::default()).unwrap();
    let extractor = sandbox(Limits::default()).load(&inspected).unwrap();
    let error = extractor.runner().run(br#"{"event_type": "a", "fail": 0}"#).unwrap_err();
    assert!(matches!(error.cause(), RunError::Guest(_)), "{error}");
}

fn what_is_refused_before_it_is_a_module(rustc: &Path) {
    let of = |inputs: &str, rest: &str| {
        let source = format!(
            "use retort_guest::prelude::*;\nextractor! {{ function: f, event_types: [\"a\"], inputs: {{ {inputs} }} }}\n\
             fn f(event: &Event<'_>, graph: &mut Graph) {{}}\n{rest}\n"
        );
        build(rustc, &source).map(|_| ())
    };
    assert_eq!(of("x: [\"x\"]", ""), Ok(()));
    let twice = "mod again { use retort_guest::prelude::*;
        extractor! { function: g, event_types: [\"b\"], inputs: {} }
        fn g(_: &Event<'_>, _: &mut Graph) {} }";
    for (inputs, rest, expected) in [
        ("x: [\"x\"]", twice, "` is already defined"),
        ("x: [\"x\"] if y", "", "input `x`: no earlier input is `y`"),
        ("x: when \"[]\"", "", "`x`: expected a JSON object"),
        ("x: path", "", "input `x`: expected `event`"),
        ("x: [1]", "", "mismatched types"),
        ("x: [\"x\"], x: [\"y\"]", "", "field `x` is already declared"),
        ("", "use std::fs::File;", "source_import"),
        ("", "use std::collections::HashMap;", "source_import"),
        ("", "fn g() { println!(); }", "source_macro"),
        ("", "fn g() { unsafe { core::hint::unreachable_unchecked() } }", "source_unsafe"),
    ] {
        let found = of(inputs, rest).unwrap_err();
        assert!(found.contains(expected), "{expected}: {found}");
    }
}
