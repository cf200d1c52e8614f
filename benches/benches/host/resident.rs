//! Many bundles of many tenants in one process: what they take of memory, and how long an event takes against one of a single bundle.

use std::time::Instant;

use retort::Pipeline;
use retort::runtime::{Host, Tenant, TenantHandle};
use retort::sandbox::{Cache, Options};
use retort_benches::beside::{Times, times};
use retort_benches::bundles;
use retort_benches::resident::resident;

/// Room for the native code of all bundles.
const CACHE_BYTES: u64 = 4 << 30;

/// How many events each bundle has before any is measured: its first results are read in full, before their form is worked out.
const BEFORE: usize = 70;

/// How often each bundle has an event that is measured.
const ROUNDS: usize = 5;

pub(super) fn run(tenants: usize, each: usize) {
    let root = tempfile::tempdir().expect("a directory");
    let mut cache = Cache::new(root.path().join("cache"));
    cache.max_bytes = CACHE_BYTES;
    let mut options = Options::default();
    options.cache = Some(cache);
    let gates = Pipeline::builder().options(options).build().expect("an engine");
    let host = Host::builder().pipeline(gates).build().expect("a host");
    let before = resident();
    let started = Instant::now();
    let handles: Vec<TenantHandle> = (0..tenants)
        .map(|number| {
            let directory = root.path().join(format!("tenant-{number}"));
            bundles::make(&directory, number * each..(number + 1) * each);
            let tenant = Tenant::default().directory(directory);
            host.add(&format!("tenant-{number}"), tenant).expect("a tenant")
        })
        .collect();
    let bundles = tenants * each;
    println!(
        "\n{bundles} bundles of {tenants} tenants, made in {:.0} s",
        started.elapsed().as_secs_f64()
    );
    let events = bundles::events(0..bundles);
    let started = Instant::now();
    for (number, event) in events.iter().enumerate() {
        serve(&handles[number / each], event);
    }
    println!(
        "first events: {:.2} ms each, compiled; {:.1} KiB a bundle, of which the host counts {:.1}",
        1e3 * started.elapsed().as_secs_f64() / bundles as f64,
        resident().saturating_sub(before) as f64 / 1024.0 / bundles as f64,
        host.resident_bytes() as f64 / 1024.0 / bundles as f64,
    );
    for _ in 0..BEFORE {
        events.iter().enumerate().for_each(|(number, event)| serve(&handles[number / each], event));
    }
    // The examples come in turns of four: those of one bundle each, and those of all.
    let kinds = 4.min(bundles);
    let mut one = times();
    for round in 0..ROUNDS * bundles {
        let number = round % kinds;
        record(&mut one, || serve(&handles[number / each], &events[number]));
    }
    let mut all = times();
    for _ in 0..ROUNDS {
        for (number, event) in events.iter().enumerate() {
            record(&mut all, || serve(&handles[number / each], event));
        }
    }
    for (name, histogram) in [("of one bundle of each kind", &one), ("of all bundles", &all)] {
        let us = |share: f64| histogram.value_at_quantile(share) as f64 / 1e3;
        println!("events {name:28} p50 {:.1} us, p99 {:.1} us", us(0.5), us(0.99));
    }
    let ratio = |share| all.value_at_quantile(share) as f64 / one.value_at_quantile(share) as f64;
    println!("of all, times those of one: p50 {:.2}, p99 {:.2}", ratio(0.5), ratio(0.99));
}

fn serve(tenant: &TenantHandle, event: &str) {
    let answer = tenant.run(event.as_bytes());
    assert!(answer.as_ref().is_ok_and(|it| it.version().is_some()), "{event}: {answer:?}");
}

fn record(histogram: &mut Times, serve: impl FnOnce()) {
    let started = Instant::now();
    serve();
    histogram.saturating_record(started.elapsed().as_nanos() as u64);
}
