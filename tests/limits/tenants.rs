//! Several tenants on one engine, each with limits of its own.

use std::sync::atomic::{AtomicBool, Ordering};

use retort::sandbox::Isolation;
use retort::{Coded, Limits};

use super::{NO_INPUTS, doing, figures, module, problem};
use crate::support::sandbox;

const EVENT: &str = r#"{"event_type":"e"}"#;

#[test]
fn each_tenant_has_its_own_memory_and_fuel() {
    let host = sandbox(Limits::default());
    let grows = module(NO_INPUTS, "1 100", &doing("(drop (memory.grow (i32.const 9)))"));
    let tenant = |limits| host.for_tenant(limits, Isolation::PerEvent).unwrap();
    let small = tenant(options!(Limits { memory_bytes: 5 << 16, ..Limits::default() }));
    let poor = tenant(options!(Limits { fuel_base: 1, fuel_per_byte: 0, ..Limits::default() }));
    // Larger than what the host itself has.
    let large = tenant(options!(Limits { memory_bytes: 1 << 30, ..Limits::default() }));
    let found = problem(&mut small.load(&grows).unwrap().runner(), EVENT);
    assert_eq!(figures(&found), ("memory_exceeded", 10 << 16, 5 << 16));
    let found = problem(&mut poor.load(&grows).unwrap().runner(), EVENT);
    assert_eq!(figures(&found), ("out_of_fuel", 2, 1));
    for sandbox in [&host, &large] {
        assert!(sandbox.load(&grows).unwrap().runner().run(EVENT.as_bytes()).is_ok());
    }
    assert_eq!(host.limits(), &Limits::default());
    assert_eq!((small.isolation(), host.isolation()), (Isolation::PerEvent, Isolation::Warm));
}

#[test]
fn the_stack_belongs_to_the_engine() {
    let other = options!(Limits { stack_bytes: 1 << 20, ..Limits::default() });
    let error = sandbox(Limits::default()).for_tenant(other, Isolation::Warm).unwrap_err();
    assert_eq!(error.code(), "engine_failed");
}

#[test]
fn the_deadline_of_one_tenant_does_not_touch_the_others() {
    let limits =
        |deadline_ms| options!(Limits { deadline_ms, fuel_base: u64::MAX, ..Limits::default() });
    let host = sandbox(limits(20_000));
    let hasty = host.for_tenant(limits(30), Isolation::Warm).unwrap();
    let stalls = module(NO_INPUTS, "1 1", &doing("(loop $l (br $l))"));
    // Far longer than the other's deadline, and far shorter than its own.
    let works = module(
        NO_INPUTS,
        "1 1",
        &doing(
            "(local $n i64) (loop $l (br_if $l (i64.lt_u
                (local.tee $n (i64.add (local.get $n) (i64.const 1))) (i64.const 300000000))))",
        ),
    );
    let (stalls, works) = (hasty.load(&stalls).unwrap(), host.load(&works).unwrap());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let staller = scope.spawn(|| {
            let mut ended = 0;
            while ended == 0 || !done.load(Ordering::Relaxed) {
                let found = problem(&mut stalls.runner(), EVENT);
                assert_eq!((found.code.name, found.allowed), ("deadline_exceeded", Some(30)));
                ended += 1;
            }
            ended
        });
        let served = works.runner().run(EVENT.as_bytes()).map(|outcome| outcome.fuel);
        done.store(true, Ordering::Relaxed);
        assert!(served.is_ok(), "{served:?}");
        assert!(staller.join().unwrap() > 0);
    });
}
