//! That an instance which is put back can't be told from a new one.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use super::Runner;
use crate::gate::inspect::{self, StructuralLimits};
use crate::render::compile_text;
use crate::sandbox::{Allocator, ForeignModules, Isolation, Options, Pool, Sandbox};

const EVENT: &[u8] = br#"{"event_type":"e","v":1}"#;
const LONGER: &[u8] = br#"{"event_type":"e","v":"another value, which is longer"}"#;

/// A guest that counts its calls in a global, in its data, in memory that is zeros at first and in what `_initialize` wrote, and says so: the
/// counts are digits of an id.
fn counting(fields: &str, body: &str) -> String {
    format!(
        r#"(module
            (memory (export "memory") 20 32)
            (global $calls (export "calls") (mut i64) (i64.const 48))
            (global (export "ratio") (mut f64) (f64.const 0.5))
            {fields}
            (data (i32.const 4096) "{{\"nodes\":[{{\"node_id\":\"0000\",\"entity_name\":\"N\",\"labels\":[],\"properties\":[]}}],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}}")
            (func (export "_initialize")
                (i32.store8 (i32.const 9000) (i32.const 48)))
            (func $count (param $at i32)
                (i32.store8 (local.get $at) (i32.add (i32.load8_u (local.get $at)) (i32.const 1))))
            (func (export "retort_buffer") (param i32) (result i32) (i32.const 65536))
            (func (export "f") (param $block i32) (param $size i32) (result i64)
                (i64.store8 (i32.const 4118) (global.get $calls))
                (global.set $calls (i64.add (global.get $calls) (i64.const 1)))
                (call $count (i32.const 4119))
                (i32.store8 (i32.const 4120) (i32.add (i32.const 48) (i32.load8_u (i32.const 700000))))
                (call $count (i32.const 700000))
                (i32.store8 (i32.const 4121) (i32.load8_u (i32.const 9000)))
                (call $count (i32.const 9000))
                {body}
                (i64.const {result}))
            (@custom "retort" "{{\"abi\":1,\"function\":\"f\",\"event_types\":[\"e\"],\"inputs\":[{{\"path\":[\"v\"],\"as\":\"json\"}}]}}"))"#,
        result = (4096_u64 << 32) | 147,
    )
}

fn runner(text: &str, isolation: Isolation, allocator: Allocator) -> Runner {
    let wasm = compile_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let inspected = inspect::inspect(&wasm, &StructuralLimits::default())
        .unwrap_or_else(|refused| panic!("{refused}"));
    let foreign = ForeignModules::InProcess;
    let options = Options { isolation, allocator, foreign, ..Options::default() };
    Sandbox::with_options(options).unwrap().load(&inspected).unwrap().runner()
}

/// For each event of some, what came of it, its fuel, and whether its instance was put back.
fn served(runner: &mut Runner) -> Vec<(String, u64, bool)> {
    let events = [EVENT, EVENT, LONGER, EVENT, LONGER, EVENT];
    let served = events.map(|event| {
        let outcome = runner.run(event).unwrap();
        let (json, fuel) = (String::from_utf8_lossy(outcome.json).into_owned(), outcome.fuel);
        (json, fuel, runner.guest.as_ref().unwrap().was_put_back())
    });
    served.into()
}

fn allocators() -> [Allocator; 2] {
    [Allocator::OnDemand, Allocator::Pooling(Pool::default())]
}

/// Whether this system tells which pages were written.
fn is_told() -> bool {
    let is_told = is_told_here();
    #[cfg(target_os = "linux")]
    {
        let system = rustix::system::uname();
        let release = system.release().to_string_lossy();
        let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
        let release = (numbers.next(), numbers.next());
        assert_eq!(is_told, release >= (Some(6), Some(7)), "Linux {release:?}");
    }
    is_told
}

fn is_told_here() -> bool {
    runner(&counting("", ""), Isolation::Warm, Allocator::OnDemand).extractor().restores_instances()
}

#[test]
fn an_instance_is_put_back_as_it_was() {
    for allocator in allocators() {
        for isolation in Isolation::ALL {
            let mut runner = runner(&counting("", ""), isolation, allocator);
            let served = served(&mut runner);
            assert!(served.iter().all(|(json, ..)| json.contains("\"0100\"")), "{served:?}");
            assert!(served.iter().all(|(_, fuel, _)| *fuel == served[0].1), "{served:?}");
            // Of the first event's instance nothing is known, and in the second one's place an image was made.
            let put_back = served.iter().map(|(.., put_back)| *put_back);
            assert_eq!(
                put_back.collect::<Vec<_>>(),
                [false, false, true, true, true, true].map(|is| is && is_told())
            );
            runner.begin_batch();
            assert_eq!(runner.has_instance(), isolation == Isolation::Warm && is_told());
        }
    }
}

#[test]
fn an_instance_whose_state_is_out_of_reach_is_not_put_back() {
    let hidden = "(global $hidden (mut i32) (i32.const 0))";
    let mut runner = runner(&counting(hidden, ""), Isolation::Warm, Allocator::OnDemand);
    assert!(!runner.extractor().restores_instances());
    let served = served(&mut runner);
    assert!(
        served.iter().all(|(json, _, put_back)| json.contains("\"0100\"") && !put_back),
        "{served:?}"
    );
}

#[test]
fn an_instance_that_has_grown_is_not_put_back() {
    // For a longer event alone.
    let grow = "(if (i32.gt_u (local.get $size) (i32.const 40)) (then (drop (memory.grow (i32.const 1)))))";
    let mut runner = runner(&counting("", grow), Isolation::Warm, Allocator::OnDemand);
    let served = served(&mut runner);
    let put_back: Vec<bool> = served.iter().map(|(.., put_back)| *put_back).collect();
    assert_eq!(
        put_back,
        [false, false, true, false, true, false].map(|is| is && is_told()),
        "{served:?}"
    );
}

#[test]
fn an_instance_that_has_written_much_is_not_put_back() {
    let one = "(memory.fill (i32.const 131072) (i32.const 7) (i32.const 300000))";
    let all = "(memory.fill (i32.const 8192) (i32.const 7) (i32.const 1200000))";
    for (body, put_back) in [(one, true), (all, false)] {
        let zeros = "(i32.store8 (i32.const 4120) (i32.const 48))";
        let mut runner = runner(
            &counting("", &format!("{zeros} {body}")),
            Isolation::PerEvent,
            Allocator::OnDemand,
        );
        let served = served(&mut runner);
        assert_eq!(served[5].2, put_back && is_told(), "{served:?}");
        assert!(served.iter().all(|(json, ..)| json.contains("\"0100\"")), "{served:?}");
    }
}
