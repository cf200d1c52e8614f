//! The static gate: what holds for every module. Modules with the codes expected of them are in `cases/inspect.rs`.

use arbitrary::Unstructured;
use proptest::prelude::*;
use retort::diagnostics::Stage;
use retort::gate::{Inspected, Limit, Proof, Rejected, ResetSafety, StructuralLimits, inspect};
use retort::internal::inspect::OPERATOR_COST;
use retort::internal::{inspect::MAX_PROBLEMS, prove, section};
use retort::render::{self, compile};
use retort::{Coded, plan};
use wasmtime::{Config, Engine, Instance, Module, Store};

const SECTION: &str = r#"{"abi":1,"function":"extract","event_types":["e"],"inputs":[]}"#;

/// The text of a guest: the most pages of its memory, the extractor's body, more fields.
fn text(pages: u64, extract: &str, fields: &str) -> String {
    let section = SECTION.replace('"', "\\\"");
    format!(
        r#"(module
            (memory (export "memory") 1 {pages})
            (func (export "retort_buffer") (param i32) (result i32) (i32.const 0))
            (func (export "extract") (param i32 i32) (result i64) {extract})
            {fields}
            (@custom "retort" "{section}"))"#
    )
}

/// The least guest, with more fields.
fn guest(fields: &str) -> Vec<u8> {
    wat::parse_str(text(1, "i64.const 0", fields)).unwrap()
}

/// A guest of the given extractor and other fields.
fn guest_running(extract: &str, fields: &str) -> Vec<u8> {
    wat::parse_str(text(1, extract, fields)).unwrap()
}

fn codes(verdict: &Result<Inspected, Rejected>) -> Vec<&'static str> {
    match verdict {
        Ok(_) => vec!["ok"],
        Err(rejected) => rejected.problems().iter().map(Coded::code).collect(),
    }
}

fn codes_of(wasm: &[u8]) -> Vec<&'static str> {
    codes(&inspect(wasm, &StructuralLimits::default()))
}

#[test]
fn a_problem_is_told_with_stage_path_and_figures() {
    let wasm = wat::parse_str(text(257, "i64.const 0", "")).unwrap();
    let rejected = inspect(&wasm, &StructuralLimits::default()).unwrap_err();
    let problem = rejected.problems()[0].problem();
    assert_eq!(problem.stage, Stage::Inspect);
    assert_eq!(problem.code, "memory_too_large");
    assert_eq!(problem.path.as_deref(), Some("memory[0]"));
    assert_eq!((problem.used, problem.allowed), (Some(257 << 16), Some(256 << 16)));
    assert_eq!(rejected.omitted(), 0);
}

/// A module that uses a resource exactly `n` times.
type Using = fn(u64) -> Vec<u8>;

/// For each limit, a module that uses the figure allowed by default, and no more, passes; one more is refused
/// with that limit's code alone.
#[test]
fn defaults_are_inclusive() {
    fn repeat(n: u64, text: &str) -> String {
        text.repeat(usize::try_from(n).unwrap())
    }
    let uses: [(Limit, Using); 19] = [
        (Limit::CustomSections, |n| guest(&repeat(n - 1, r#"(@custom "x" "")"#))),
        (Limit::CustomSectionBytes, |n| guest(&format!(r#"(@custom "x" "{}")"#, repeat(n, "x")))),
        (Limit::Types, |n| guest(&repeat(n - 2, "(type (func))"))),
        (Limit::Params, |n| guest(&format!("(type (func (param {})))", repeat(n, "i32 ")))),
        (Limit::Results, |n| guest(&format!("(type (func (result {})))", repeat(n, "i32 ")))),
        (Limit::Imports, |n| {
            let import = r#"(import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))"#;
            let imports = format!("(module {}", repeat(n, import));
            wat::parse_str(text(1, "i64.const 0", "").replacen("(module", &imports, 1)).unwrap()
        }),
        (Limit::Functions, |n| guest(&repeat(n - 2, "(func)"))),
        (Limit::TableEntries, |n| guest(&format!("(table {n} funcref)"))),
        (Limit::Globals, |n| guest(&repeat(n, "(global i32 (i32.const 0))"))),
        (Limit::Exports, |n| {
            let exports = (3..n).map(|index| format!(r#"(export "f{index}" (func 0))"#));
            guest(&exports.collect::<String>())
        }),
        (Limit::ElementSegments, |n| guest(&repeat(n, "(elem func 0)"))),
        (Limit::Elements, |n| guest(&format!("(elem func {})", repeat(n, "0 ")))),
        (Limit::DataSegments, |n| guest(&repeat(n, r#"(data "")"#))),
        // The count of local declarations and the end take a byte each.
        (Limit::BodyBytes, |n| guest(&format!("(func {})", repeat(n - 2, "nop ")))),
        (Limit::Locals, |n| guest(&format!("(func (local {}))", repeat(n, "i32 ")))),
        (Limit::Nesting, |n| {
            guest(&format!("(func {} {})", repeat(n, "block "), repeat(n, "end ")))
        }),
        (Limit::NestedLoops, |n| {
            guest(&format!("(func {} {})", repeat(n, "loop "), repeat(n, "end ")))
        }),
        (Limit::BrTableTargets, |n| {
            guest(&format!("(func (br_table 0 {} (i32.const 0)))", repeat(n, "0 ")))
        }),
        (Limit::LoopLocals, |n| {
            let wide =
                format!("(func (local {}) {})", repeat(128, "i32 "), repeat(n / 128, "(loop)"),);
            guest(&format!("{wide}(func (param i32) {})", repeat(n % 128, "(loop)")))
        }),
    ];
    let limits = StructuralLimits::default();
    for (limit, using) in uses {
        let allowed = limit.of(&limits);
        assert_eq!(codes_of(&using(allowed)), ["ok"], "{limit:?}");
        let rejected = inspect(&using(allowed + 1), &limits).unwrap_err();
        assert_eq!(rejected.problems().len(), 1, "{rejected}");
        let problem = &rejected.problems()[0];
        assert_eq!(problem.code(), limit.code());
        assert_eq!((problem.used(), problem.allowed()), (Some(allowed + 1), Some(allowed)));
    }
    let mebibyte = vec![0; 1 << 20];
    assert_eq!(codes_of(&mebibyte), ["not_a_module"]);
    assert_eq!(codes_of(&[mebibyte, vec![0]].concat()), ["module_too_large"]);
}

#[test]
fn branches_are_weighed_with_what_lives_across_them() {
    // 64 values: the locals, and the operand of `br_if`.
    let function = |branches: usize| {
        let branches = "(br_if 0 (i32.const 0))".repeat(branches);
        format!("(func (local {}) {branches})", "i32 ".repeat(63))
    };
    let full = function(2048);
    assert_eq!(codes_of(&guest(&full)), ["ok"]);
    assert_eq!(codes_of(&guest(&function(2049))), ["too_many_branch_values"]);
    assert_eq!(codes_of(&guest(&full.repeat(8))), ["ok"]);
    let one_more = format!("{}(func (br_if 0 (i32.const 0)))", full.repeat(8));
    assert_eq!(codes_of(&guest(&one_more)), ["too_many_module_branch_values"]);
}

#[test]
fn the_list_of_problems_is_bounded() {
    let fields = r#"(func (i32.add))"#.repeat(MAX_PROBLEMS + 7);
    let rejected = inspect(&guest(&fields), &StructuralLimits::default()).unwrap_err();
    assert_eq!((rejected.problems().len(), rejected.omitted()), (MAX_PROBLEMS, 7));
    assert!(rejected.to_string().ends_with("; and 7 more"));
}

#[test]
fn names_of_a_hostile_module_are_escaped_and_bounded() {
    let long = "x".repeat(5000);
    let rejected = inspect(
        &guest(&format!(r#"(func $"a\nb" (i32.add)) (export "retort_{long}" (func 0))"#)),
        &StructuralLimits::default(),
    )
    .unwrap_err();
    let paths: Vec<_> = rejected.problems().iter().map(|problem| problem.path()).collect();
    assert_eq!(paths[0], r"func[2] $a\nb");
    assert!(paths[1].starts_with(r#"export "retort_xxx"#) && paths[1].len() < 150);
}

#[test]
fn facts_say_what_is_in_the_module() {
    let plain = inspect(&guest(""), &StructuralLimits::default()).unwrap();
    assert_eq!(plain.section().function(), "extract");
    assert_eq!(plain.wasm()[..], guest("")[..]);
    assert_eq!(plain.reset_safety(), ResetSafety::Unproven);
    let facts = serde_json::to_value(plain.facts()).unwrap();
    for flag in ["grows_memory", "has_table", "calls_indirectly", "recursive", "uses_floats"] {
        assert_eq!(facts[flag], false, "{flag}");
    }
    assert_eq!(facts["exports"][2]["signature"], "(i32, i32) -> i64");
    assert_eq!(
        facts["fuel_bound"],
        serde_json::json!({"base":4,"per_block_byte":0,"per_bulk_byte":0})
    );

    let busy = guest(
        r#"(table 3 funcref)
           (type $none (func))
           (func $even (call $odd))
           (func $odd (local i64 i64 f32) (loop (block (loop)))
             (call $even) (call_indirect (type $none) (i32.const 0))
             (drop (memory.grow (i32.const 1))))
           (data (i32.const 0) "abc") (data "de")"#,
    );
    let facts = inspect(&busy, &StructuralLimits::default()).unwrap().facts().clone();
    assert!(facts.grows_memory && facts.has_table && facts.calls_indirectly);
    assert!(facts.recursive && facts.uses_floats);
    assert_eq!((facts.functions, facts.table_entries, facts.loops), (4, 3, 2));
    assert_eq!((facts.max_locals, facts.max_nesting, facts.max_nested_loops), (3, 3, 2));
    assert_eq!((facts.loop_locals, facts.data_segments, facts.data_bytes), (6, 2, 5));
    assert_eq!((facts.memory_min_pages, facts.memory_max_pages), (1, 1));
    let sections: Vec<_> = facts.sections.iter().map(|section| section.name.as_str()).collect();
    assert_eq!(
        sections,
        ["type", "function", "table", "memory", "export", "code", "data", "retort", "name"]
    );
    let custom: Vec<_> = facts.sections.iter().filter(|section| section.custom).collect();
    assert_eq!(custom[0].bytes, SECTION.len() as u64);
    // The loops and the recursion can't be reached from what serves an event.
    assert!(facts.fuel_bound.is_some());
}

#[test]
fn rendering_again_proves_reset_safety_only_for_the_same_bytes() {
    let compiled = |name: &str| {
        let plan = format!(
            r#"{{"event_type": "e", "target_entity_name": "E", "function_name": "{name}",
                "key_field": {{"property_name": "k", "source_path": ["k"]}}}}"#
        );
        compile(render::render(&plan::parse(&plan).unwrap()).unwrap()).unwrap()
    };
    let rendered = compiled("read");
    let inspected = inspect(rendered.module(), &StructuralLimits::default()).unwrap();
    assert_eq!(inspected.reset_safety(), ResetSafety::Unproven);
    let other = prove::by_rendering(inspected.clone(), &compiled("other"));
    assert_eq!(other.reset_safety(), ResetSafety::Unproven);
    let foreign = inspect(&guest(""), &StructuralLimits::default()).unwrap();
    assert_eq!(prove::by_rendering(foreign, &rendered).reset_safety(), ResetSafety::Unproven);
    let same = prove::by_rendering(inspected, &rendered);
    assert_eq!(same.reset_safety(), ResetSafety::Proven { how: Proof::Rendered });
}

#[test]
fn no_truncation_passes_and_each_breaks_off_without_follow_on_problems() {
    let wasm = guest(r#"(table 1 funcref) (elem (i32.const 0) func 0) (data (i32.const 0) "abc")"#);
    for length in 0..wasm.len() {
        let codes = codes_of(&wasm[..length]);
        assert!(!codes.contains(&"ok"), "{length}");
        if codes.contains(&"malformed_module") {
            assert_eq!(codes, ["malformed_module"], "{length}");
        }
    }
}

/// An engine with the features of a guest and fuel, as the gate's bound assumes it.
fn engine() -> Engine {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .operator_cost(OPERATOR_COST)
        .wasm_reference_types(false)
        .wasm_function_references(false)
        .wasm_gc(false)
        .wasm_multi_memory(false)
        .wasm_memory64(false)
        .wasm_multi_value(false)
        .wasm_tail_call(false)
        .wasm_threads(false)
        .wasm_relaxed_simd(false)
        .wasm_extended_const(false);
    Engine::new(&config).unwrap()
}

/// Fuel of serving one event: a call of `retort_buffer` and, unless it traps, one of `extract`.
fn fuel_of_an_event(engine: &Engine, wasm: &[u8]) -> u64 {
    const FUEL: u64 = 1 << 40;
    let module = Module::new(engine, wasm).unwrap();
    let mut store = Store::new(engine, ());
    store.set_fuel(FUEL).unwrap();
    let Ok(instance) = Instance::new(&mut store, &module, &[]) else { return 0 };
    store.set_fuel(FUEL).unwrap();
    let buffer = instance.get_typed_func::<i32, i32>(&mut store, "retort_buffer").unwrap();
    let extract = instance.get_typed_func::<(i32, i32), i64>(&mut store, "extract").unwrap();
    if buffer.call(&mut store, 64).is_ok() {
        extract.call(&mut store, (64, 64)).ok();
    }
    FUEL - store.get_fuel().unwrap()
}

#[test]
fn the_fuel_bound_is_exact_without_branches_and_holds_with_them() {
    let engine = engine();
    // (the extractor's body, other functions, whether the bound is reached exactly,
    // bytes of bulk operations of non-constant length)
    let cases = [
        ("i64.const 0", "", true, 0),
        ("nop i32.const 1 drop i64.const 5", "", true, 0),
        ("call 2 call 2 i64.const 5", "(func call 3 call 3) (func nop)", true, 0),
        ("i32.const 0 i32.const 8 i32.const 500 memory.copy i64.const 0", "", true, 0),
        ("i32.const 0 i32.const 8 local.get 1 memory.copy i64.const 0", "", true, 64),
        ("i32.const 0 i32.const 8 local.get 1 memory.fill i64.const 0", "", true, 64),
        (
            "i32.const 0 i32.const 0 i32.const 3 memory.init 0 i64.const 0",
            r#"(data "abc")"#,
            true,
            0,
        ),
        ("local.get 0 if call 2 else end i64.const 0", "(func)", true, 0),
        ("local.get 0 if else call 2 call 2 end i64.const 0", "(func)", false, 0),
        ("block br 0 call 2 end i64.const 0", "(func)", false, 0),
        ("unreachable call 2 i64.const 0", "(func)", false, 0),
    ];
    for (extract, helpers, exact, bulk_bytes) in cases {
        let wasm = guest_running(extract, helpers);
        let inspected = inspect(&wasm, &StructuralLimits::default()).unwrap();
        let bound = inspected.facts().fuel_bound.unwrap().of_event(0, bulk_bytes);
        let used = fuel_of_an_event(&engine, &wasm);
        if exact {
            assert_eq!(used, bound, "{extract}");
        } else {
            assert!(used < bound, "{extract}: {used} < {bound}");
        }
    }
}

/// A loop of the form of rendered extractors, over what the slot at `offset` says: `extract` calls it.
fn row_loop(offset: u32, stride: u32) -> (String, String) {
    let (first, count) = (offset + 4, offset + 8);
    let helpers = format!(
        "(func (param i32 i32) (result i32) (local i32 i32)
           local.get 0 local.get 0 i32.load offset={first} i32.add local.set 2
           local.get 0 i32.load offset={count} local.set 3
           block loop
             local.get 3 i32.eqz br_if 1
             local.get 0 local.get 2 local.get 1 call 3 local.set 1
             local.get 1 i32.const 0 i32.lt_s br_if 1
             local.get 2 i32.const {stride} i32.add local.set 2
             local.get 3 i32.const 1 i32.sub local.set 3
             br 0
           end end
           local.get 1)
         (func (param i32 i32 i32) (result i32) local.get 2)"
    );
    ("local.get 0 i32.const 0 call 2 drop i64.const 0".to_owned(), helpers)
}

#[test]
fn a_loop_over_rows_has_a_bound_only_in_a_module_that_is_proven_to_be_rendered() {
    let (extract, helpers) = row_loop(8, 12);
    let wasm = guest_running(&extract, &helpers);
    let inspected = inspect(&wasm, &StructuralLimits::default()).unwrap();
    // The form is that of rendered code, but whoever wrote it may count to anything.
    assert_eq!((inspected.facts().loops, inspected.facts().fuel_bound), (1, None));

    let plan = r#"{"event_type": "e", "function_name": "f", "nodes": [
        {"entity_name": "E", "for_each": {"array": ["a"]}, "key_fields": [{"property_name": "k", "source_path": ["k"]}]}]}"#;
    let compiled = compile(render::render(&plan::parse(plan).unwrap()).unwrap()).unwrap();
    let inspected = inspect(compiled.module(), &StructuralLimits::default()).unwrap();
    assert_eq!((inspected.facts().loops, inspected.facts().fuel_bound), (1, None));
    let proven = prove::by_rendering(inspected, &compiled);
    let bound = proven.facts().fuel_bound.unwrap();
    assert!(bound.base() > 0 && bound.per_block_byte() > 0 && bound.per_bulk_byte() > 0);
    let [none, one, two] = [0, 1, 2].map(|bytes| bound.of_event(bytes, 0));
    assert_eq!(
        (none, one - none, two - one),
        (bound.base(), bound.per_block_byte(), bound.per_block_byte())
    );
    let json = serde_json::to_value(proven.facts()).unwrap();
    assert_eq!(json["fuel_bound"]["per_block_byte"], bound.per_block_byte());
}

#[test]
fn no_fuel_bound_is_stated_where_there_is_none() {
    let cases = [
        ("loop end i64.const 0", ""),
        ("call 2 i64.const 0", "(func loop end)"),
        ("call 2 i64.const 0", "(func call 3) (func call 2)"),
        ("local.get 0 local.get 1 call 1", ""),
        (
            "i32.const 0 call_indirect (type $none) i64.const 0",
            "(type $none (func)) (table 1 funcref)",
        ),
    ];
    for (extract, helpers) in cases {
        let wasm = guest_running(extract, helpers);
        let inspected = inspect(&wasm, &StructuralLimits::default()).unwrap();
        assert_eq!(inspected.facts().fuel_bound, None, "{extract}");
    }
}

#[test]
fn a_fuel_bound_that_is_astronomical_saturates() {
    // Each function calls the next twice: 2^100 calls.
    let chain: String =
        (3..103).map(|callee| format!("(func call {callee} call {callee})")).collect();
    let wasm = guest_running("call 2 i64.const 0", &format!("{chain}(func)"));
    let inspected = inspect(&wasm, &StructuralLimits::default()).unwrap();
    assert_eq!(inspected.facts().fuel_bound.unwrap().base(), u64::MAX);
}

#[test]
fn flipped_bits_never_panic_and_what_passes_compiles() {
    let engine = engine();
    let wasm = guest_running(
        "local.get 0 local.get 1 local.get 1 memory.copy i64.const 0",
        r#"(table 2 funcref) (elem (i32.const 0) func 0) (data (i32.const 0) "abc")
           (func (local i32 f64) (block (loop (br_table 0 1 (i32.const 1)))))"#,
    );
    let mut passed = 0;
    for bit in 0..wasm.len() * 8 {
        let mut flipped = wasm.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if inspect(&flipped, &StructuralLimits::default()).is_ok() {
            passed += 1;
            assert!(Module::validate(&engine, &flipped).is_ok(), "bit {bit}");
        }
    }
    assert!(passed > 0);
}

/// A module generated from `seed`: with a guest's exports and features, or with anything at all.
pub(crate) fn generated(seed: &[u8], like_a_guest: bool) -> Option<Vec<u8>> {
    let mut unstructured = Unstructured::new(seed);
    let config = if like_a_guest {
        wasm_smith::Config {
            exports: Some(guest("")),
            max_imports: 0,
            // The memory that is exported comes on top.
            max_memories: 0,
            max_tables: 1,
            max_type_size: 100,
            max_instructions: 30,
            allow_start_export: false,
            reference_types_enabled: false,
            gc_enabled: false,
            exceptions_enabled: false,
            memory64_enabled: false,
            multi_value_enabled: false,
            relaxed_simd_enabled: false,
            tail_call_enabled: false,
            threads_enabled: false,
            extended_const_enabled: false,
            max_table_elements: 100,
            memory_max_size_required: true,
            ..wasm_smith::Config::default()
        }
    } else {
        wasm_smith::Config { generate_custom_sections: true, ..wasm_smith::Config::default() }
    };
    let mut wasm = wasm_smith::Module::new(config, &mut unstructured).ok()?.to_bytes();
    let section = wasm_encoder::CustomSection {
        name: section::SECTION_NAME.into(),
        data: SECTION.as_bytes().into(),
    };
    wasm.push(wasm_encoder::Section::id(&section));
    wasm_encoder::Encode::encode(&section, &mut wasm);
    Some(wasm)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(inspect(&bytes, &StructuralLimits::default()).is_err());
        let module = [&b"\0asm\x01\0\0\0"[..], &bytes].concat();
        prop_assert!(inspect(&module, &StructuralLimits::default()).is_err());
    }

    #[test]
    fn arbitrary_sections_never_panic(
        sections in prop::collection::vec((0_u8..14, prop::collection::vec(any::<u8>(), 0..60)), 0..8)
    ) {
        let mut module = b"\0asm\x01\0\0\0".to_vec();
        for (id, contents) in sections {
            module.push(id);
            module.push(u8::try_from(contents.len()).unwrap());
            module.extend(contents);
        }
        prop_assert!(inspect(&module, &StructuralLimits::default()).is_err());
    }

    #[test]
    fn arbitrary_declarations_never_panic(json in any::<Vec<u8>>()) {
        prop_assert!(section::Section::parse(&json).is_err());
    }

    #[test]
    fn generated_modules_never_panic(seed in prop::collection::vec(any::<u8>(), 0..4000)) {
        if let Some(wasm) = generated(&seed, false) {
            // A random module doesn't have the exports of a guest.
            prop_assert!(inspect(&wasm, &StructuralLimits::default()).is_err());
        }
    }

    #[test]
    fn generated_guests_pass_compile_and_keep_to_their_fuel_bound(
        seed in prop::collection::vec(any::<u8>(), 0..4000)
    ) {
        let Some(wasm) = generated(&seed, true) else { return Ok(()) };
        let inspected = match inspect(&wasm, &StructuralLimits::default()) {
            Ok(inspected) => inspected,
            Err(rejected) => {
                return Err(TestCaseError::fail(rejected.to_string()));
            }
        };
        let Some(bound) = inspected.facts().fuel_bound else { return Ok(()) };
        let used = fuel_of_an_event(&engine(), &wasm);
        prop_assert!(bound.per_bulk_byte() > 0 || used <= bound.base(), "{used} > {bound:?}");
    }
}
