//! For how long an instance serves, shown by what is left in its memory.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use super::Runner;
use crate::diagnostics::problem::Coded;
use crate::gate::inspect::{self, Inspected, StructuralLimits};
use crate::plan;
use crate::render::{self, compile};
use crate::sandbox::{Allocator, Isolation, Limits, Options, Pool, Sandbox};

const EVENT: &[u8] = br#"{"event_type":"e","k":"key","v":"value"}"#;

/// A rendered extractor, which this host vouches for.
fn rendered() -> Inspected {
    let plan = plan::parse(
        r#"{"event_type": "e", "target_entity_name": "E", "function_name": "f",
            "key_field": {"property_name": "k", "source_path": ["k"]},
            "property_fields": [{"property_name": "v", "source_path": ["v"]}]}"#,
    );
    let compiled = compile::compile(render::render(&plan.unwrap()).unwrap()).unwrap();
    let inspected = inspect::inspect(compiled.module(), &StructuralLimits::default()).unwrap();
    inspect::prove::by_rendering(inspected, &compiled)
}

fn runner(isolation: Isolation, allocator: Allocator, limits: Limits) -> Runner {
    let options = Options { limits, isolation, allocator, ..Options::default() };
    let extractor = Sandbox::with_options(options).unwrap().load(&rendered()).unwrap();
    assert!(extractor.is_reset_safe());
    extractor.runner()
}

/// Pools that make a place as new in every way that they can.
fn pools() -> Vec<Allocator> {
    let kept = [0, 16 << 10, 1 << 20, 16 << 20];
    let pools = kept.map(|keep_resident| {
        [(1, false), (4, false), (4, true)].map(|(batch, without_swap)| {
            Allocator::Pooling(Pool { instances: 6, keep_resident, batch, without_swap })
        })
    });
    pools.into_iter().flatten().collect()
}

fn allocators() -> Vec<Allocator> {
    [vec![Allocator::OnDemand], pools()].concat()
}

/// Where rendered code writes only for a very large event.
fn mark(runner: &mut Runner) -> &mut u8 {
    runner.guest.as_mut().unwrap().memory().last_mut().unwrap()
}

/// Whether the instance that serves the next event is the one that served the last one.
fn is_kept(runner: &mut Runner, between: impl FnOnce(&mut Runner)) -> bool {
    runner.run(EVENT).unwrap();
    *mark(runner) = 0xa5;
    between(runner);
    runner.run(EVENT).unwrap();
    *mark(runner) == 0xa5
}

#[test]
fn an_instance_serves_as_long_as_its_isolation_says() {
    for allocator in allocators() {
        for isolation in Isolation::ALL {
            let mut runner = runner(isolation, allocator, Limits::default());
            let next_event = is_kept(&mut runner, |_| {});
            let next_batch = is_kept(&mut runner, Runner::begin_batch);
            let expected = match isolation {
                Isolation::PerEvent => (false, false),
                Isolation::PerBatch => (true, false),
                Isolation::Warm => (true, true),
            };
            assert_eq!((next_event, next_batch), expected, "{isolation:?} {allocator:?}");
        }
    }
}

#[test]
fn no_instance_outlives_a_failed_call() {
    let limits = Limits { output_bytes: 300, ..Limits::default() };
    let large = format!(r#"{{"event_type":"e","k":1,"v":"{}"}}"#, "x".repeat(1000));
    for allocator in [Allocator::OnDemand, Allocator::Pooling(Pool::default())] {
        for isolation in Isolation::ALL {
            let mut runner = runner(isolation, allocator, limits.clone());
            let is_kept = is_kept(&mut runner, |runner| {
                let error = runner.run(large.as_bytes()).unwrap_err();
                assert_eq!(error.code(), "output_too_large");
            });
            assert!(!is_kept, "{isolation:?} {allocator:?}");
        }
    }
}

/// What is kept after an event of this value.
fn kept_after(value: &str, code: &str) -> bool {
    let mut runner = runner(Isolation::Warm, Allocator::OnDemand, Limits::default());
    is_kept(&mut runner, |runner| {
        let event = format!(r#"{{"event_type":"e","k":1,"v":{value}}}"#);
        let found = runner.run(event.as_bytes()).map_or_else(|error| error.code(), |_| "ok");
        assert_eq!(found, code);
    })
}

#[test]
fn no_instance_outlives_a_refused_result() {
    assert!(kept_after("[[]]", "ok"));
    // What fits an event is too deep inside a result.
    assert!(!kept_after(&format!("{}{}", "[".repeat(125), "]".repeat(125)), "result_not_json"));
}

#[test]
fn an_instance_is_not_kept_for_what_a_large_event_has_touched() {
    let text = |bytes: usize| format!("\"{}\"", "x".repeat(bytes));
    assert!(kept_after(&text(400 << 10), "ok"));
    assert!(!kept_after(&text(600 << 10), "ok"));
}

#[test]
fn a_place_in_a_pool_is_as_new_for_every_instance() {
    let mut first = runner(Isolation::PerEvent, Allocator::OnDemand, Limits::default());
    let json = first.run(EVENT).unwrap().json.to_vec();
    let expected = first.guest.as_mut().unwrap().memory().to_vec();
    assert!(expected.iter().any(|byte| *byte != 0));
    for pool in pools() {
        let mut runner = runner(Isolation::PerEvent, pool, Limits::default());
        // More than there are places and than are given back at a time.
        for instance in 0..15 {
            assert_eq!(runner.run(EVENT).unwrap().json, json, "{pool:?}");
            let memory = runner.guest.as_mut().unwrap().memory();
            assert!(memory == expected, "instance {instance} of {pool:?}");
            memory.fill(0xa5);
        }
    }
}

#[test]
fn an_instance_that_is_put_back_is_as_new() {
    for allocator in allocators() {
        let mut runner = runner(Isolation::PerEvent, allocator, Limits::default());
        let json = runner.run(EVENT).unwrap().json.to_vec();
        let expected = runner.guest.as_mut().unwrap().memory().to_vec();
        for page in (0..expected.len() / 4096).step_by(7).take(60) {
            assert_eq!(runner.run(EVENT).unwrap().json, json, "{allocator:?}");
            let memory = runner.guest.as_mut().unwrap().memory();
            assert!(memory == expected, "page {page} of {allocator:?}");
            // One page after another, so that those before stay the process's own.
            memory[page * 4096..][..4096].fill(0xa5);
        }
    }
}

#[test]
fn a_full_pool_is_told_and_recovers() {
    let pool = Allocator::Pooling(Pool { instances: 1, ..Pool::default() });
    for isolation in Isolation::ALL {
        let mut one = runner(isolation, pool, Limits::default());
        let mut other = one.extractor().runner();
        let json = one.run(EVENT).unwrap().json.to_vec();
        let error = other.run(EVENT).unwrap_err();
        assert_eq!((error.code(), error.problem().allowed), ("pool_exhausted", Some(1)));
        assert_eq!(one.run(EVENT).unwrap().json, json);
        one.begin_batch();
        let served = other.run(EVENT).map(|outcome| outcome.json.to_vec());
        assert_eq!(served.ok(), (isolation != Isolation::Warm).then(|| json.clone()));
        one.give_up_instance();
        assert_eq!(other.run(EVENT).unwrap().json, json);
    }
}
