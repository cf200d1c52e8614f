//! Honest tenants beside hostile ones and without them, in turns, while versions are switched all the time.
//!
//! Forty honest tenants, one of which has a version that fails in every other half of a turn, and ten hostile ones, four workers. Honest
//! events come when they are due, whatever became of those before; the hostile ones come as fast as they are taken. The latency of an event
//! is the time from its submission to its answer.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use retort::bundle::{Digest, ExtractorName};
use retort::graph::Extraction;
use retort::runtime::{Breaker, By, Happened, Host, Quotas, Tenant, TenantHandle};
use retort::sandbox::{ForeignModules, Options};
use retort::{Pipeline, Store, TenantPolicy, jiff};
use retort_benches::guests::{Attack, hostile_text};
use retort_benches::resident::resident;
use retort_benches::turns::median;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::bundle;

const HONEST: u64 = 40;
const WORKERS: NonZeroUsize = NonZeroUsize::new(4).expect("not zero");

/// How long one turn takes, with or without the hostile tenants.
const TURN: Duration = Duration::from_secs(15);

/// Between two events of an honest tenant.
const PACE: Duration = Duration::from_millis(20);

/// Between two switches of versions.
const SWITCH: Duration = Duration::from_millis(250);

/// What a hostile tenant may use in a second.
const EVENTS: u64 = 200;
const BYTES: u64 = 10_000_000;
const FUEL: u64 = 15_000_000;
const BUSY_MS: u64 = 20;
const REJECTS: u64 = 100;

/// A hostile tenant: how it is called, what it runs, and what its events are.
struct Hostile {
    name: &'static str,
    attack: Option<Attack>,
    bytes: usize,
    /// Whether its versions are set aside, or only its quotas hold it.
    is_set_aside: bool,
    /// How many events it has on their way.
    at_once: usize,
}

const fn attacks(name: &'static str, attack: Attack, is_set_aside: bool) -> Hostile {
    Hostile { name, attack: Some(attack), bytes: 40, is_set_aside, at_once: 8 }
}

const HOSTILE: [Hostile; 10] = [
    attacks("stall", Attack::Stall, true),
    attacks("stall, never set aside", Attack::Stall, false),
    attacks("memory", Attack::Memory, true),
    attacks("memory, never set aside", Attack::Memory, false),
    attacks("large results", Attack::Flood, true),
    attacks("large results, never set aside", Attack::Flood, false),
    attacks("trap", Attack::Trap, false),
    attacks("stack", Attack::Stack, false),
    Hostile {
        name: "giant lines",
        attack: None,
        bytes: 4_000_000,
        is_set_aside: false,
        at_once: 2,
    },
    Hostile { name: "many events", attack: None, bytes: 40, is_set_aside: false, at_once: 256 },
];

/// What all threads share.
struct Load {
    is_over: AtomicBool,
    /// Whether the hostile ones send events.
    is_hostile: AtomicBool,
    /// Whether the moody tenant's events are those that its version fails on.
    is_moody: AtomicBool,
    submitted: AtomicU64,
    wrong: AtomicU64,
    /// Of the turn, in nanoseconds.
    latencies: Mutex<Histogram<u64>>,
}

/// What happened to versions.
#[derive(Default)]
struct Told {
    set_aside: AtomicU64,
    restored: AtomicU64,
    begun: AtomicU64,
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("these are bounds")
}

pub(super) fn run(time: Duration) {
    let root = tempfile::tempdir().expect("a directory");
    let told: Arc<Told> = Arc::default();
    let mut options = Options::default();
    options.foreign = ForeignModules::InProcess;
    let gates = Pipeline::builder().options(options).build().expect("an engine");
    let tell = Arc::clone(&told);
    let host = Host::builder()
        .pipeline(gates)
        .workers(WORKERS)
        .on_notice(move |notice| {
            let count = match notice.what {
                Happened::SetAside { .. } => &tell.set_aside,
                Happened::Restored => &tell.restored,
                Happened::Begun => &tell.begun,
                _ => return,
            };
            count.fetch_add(1, Ordering::Relaxed);
        })
        .build()
        .expect("a host");
    let load = Arc::new(Load {
        is_over: AtomicBool::new(false),
        is_hostile: AtomicBool::new(false),
        is_moody: AtomicBool::new(false),
        submitted: AtomicU64::new(0),
        wrong: AtomicU64::new(0),
        latencies: Mutex::new(histogram()),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .expect("a runtime");
    let honest: Vec<TenantHandle> = (0..HONEST).map(|it| honest(&host, root.path(), it)).collect();
    let moody = moody(&host, root.path());
    let hostile: Vec<TenantHandle> =
        HOSTILE.iter().map(|it| hostile(&host, root.path(), it)).collect();
    let mut tasks = Vec::new();
    let versions = versions(root.path());
    for (tenant, number) in honest.iter().zip(0..) {
        tasks.push(runtime.spawn(send(tenant.clone(), versions, Arc::clone(&load), number)));
    }
    tasks.push(runtime.spawn(send_moody(moody.clone(), Arc::clone(&load))));
    for (tenant, of) in hostile.iter().zip(&HOSTILE) {
        for _ in 0..of.at_once {
            tasks.push(runtime.spawn(attack(tenant.clone(), of.bytes, Arc::clone(&load))));
        }
    }
    let switches = std::thread::spawn({
        let (load, honest, root) = (Arc::clone(&load), honest.clone(), root.path().to_owned());
        move || switch(&root, &honest, versions, &load)
    });

    let (mut all, mut ratios) = ([histogram(), histogram()], Vec::new());
    let (mut memory, mut used) = (Vec::new(), vec![Used::default(); HOSTILE.len()]);
    let mut hostile_time = Duration::ZERO;
    let started = Instant::now();
    println!(
        "{:>6}{:>14}{:>14}{:>16}{:>16}{:>10}{:>10}",
        "turn", "p50 without", "p50 beside", "p99 without", "p99 beside", "ratio", "MiB"
    );
    while started.elapsed() < time {
        let turns = [false, true].map(|is_hostile| {
            load.is_hostile.store(is_hostile, Ordering::Relaxed);
            // What the turn before has left goes first.
            std::thread::sleep(Duration::from_secs(1));
            drop(load.taken());
            let begun = Instant::now();
            let before: Vec<Used> = hostile.iter().map(Used::by).collect();
            load.is_moody.store(true, Ordering::Relaxed);
            std::thread::sleep(TURN / 2);
            load.is_moody.store(false, Ordering::Relaxed);
            std::thread::sleep(TURN / 2);
            if is_hostile {
                hostile_time += begun.elapsed();
                for ((used, tenant), before) in used.iter_mut().zip(&hostile).zip(&before) {
                    used.add_since(Used::by(tenant), *before);
                }
            }
            load.taken()
        });
        let of = |share: f64| turns.each_ref().map(|it| it.value_at_quantile(share) as f64 / 1e6);
        let ([without50, beside50], [without, beside]) = (of(0.5), of(0.99));
        ratios.push(beside / without);
        memory.push(resident() as f64 / f64::from(1 << 20));
        for (all, turn) in all.iter_mut().zip(&turns) {
            all.add(turn).expect("they have the same bounds");
        }
        println!(
            "{:>6}{without50:>11.3} ms{beside50:>11.3} ms{without:>13.3} ms{beside:>13.3} ms{:>10.2}{:>10.1}",
            ratios.len(),
            beside / without,
            memory.last().copied().unwrap_or_default(),
        );
    }
    load.is_hostile.store(false, Ordering::Relaxed);
    load.is_over.store(true, Ordering::Relaxed);
    runtime.block_on(async {
        for task in tasks {
            task.await.expect("no task panics");
        }
    });
    let switched = switches.join().expect("it switches");
    report(&all, &ratios, &memory, started.elapsed());
    let answered: u64 = honest.iter().map(|it| it.account().summary.results).sum();
    let rejected: u64 = honest.iter().map(|it| it.account().summary.rejected()).sum();
    println!(
        "honest events: {} submitted, {answered} answered, {rejected} rejected, {} answered wrongly",
        load.submitted.load(Ordering::Relaxed),
        load.wrong.load(Ordering::Relaxed)
    );
    println!("versions: {switched} switches, {} told as begun", told.begun.load(Ordering::Relaxed));
    let account = moody.account();
    println!(
        "the moody version: {} events, {} answered by its fallback, {} rejected",
        account.summary.events,
        account.fallbacks,
        account.summary.rejected(),
    );
    println!(
        "breakers: {} times set aside, {} times restored",
        told.set_aside.load(Ordering::Relaxed),
        told.restored.load(Ordering::Relaxed)
    );
    quotas(&used, hostile_time);
}

fn report(all: &[Histogram<u64>; 2], ratios: &[f64], memory: &[f64], time: Duration) {
    println!("\nover {:.1} minutes, honest events:", time.as_secs_f64() / 60.0);
    for (name, all) in ["without hostile tenants", "beside them"].iter().zip(all) {
        let ms = |share: f64| all.value_at_quantile(share) as f64 / 1e6;
        println!(
            "  {name:26}{:>10} events, p50 {:.3} ms, p99 {:.3} ms, p99.9 {:.3} ms, at most {:.1} ms",
            all.len(),
            ms(0.5),
            ms(0.99),
            ms(0.999),
            all.max() as f64 / 1e6
        );
    }
    let [without, beside] = all.each_ref().map(|it| it.value_at_quantile(0.99) as f64);
    println!(
        "  p99 beside them, times that without: {:.2} over all, {:.2} in the median of {} turns",
        beside / without,
        median(ratios.to_vec()),
        ratios.len()
    );
    let (first, last) = (memory.first().copied(), memory.last().copied());
    println!(
        "memory: {:.1} MiB after the first turn, {:.1} after the last, at most {:.1}",
        first.unwrap_or_default(),
        last.unwrap_or_default(),
        memory.iter().copied().fold(0.0, f64::max)
    );
}

/// What the hostile tenants have used of their quotas while they sent events.
fn quotas(used: &[Used], time: Duration) {
    println!(
        "\n{:34}{:>10}{:>12}{:>12}{:>12}{:>12}",
        "of its quota, used a second", "events", "bytes", "rejects", "time", "set aside"
    );
    for (used, of) in used.iter().zip(&HOSTILE) {
        let share = |amount: f64, quota: u64| 100.0 * amount / time.as_secs_f64() / quota as f64;
        println!(
            "{:34}{:>8.1} %{:>10.1} %{:>10.1} %{:>10.1} %{:>12}",
            of.name,
            share(used.events as f64, EVENTS),
            share(used.bytes as f64, BYTES),
            share(used.rejects as f64, REJECTS),
            share(1e3 * used.time.as_secs_f64(), BUSY_MS),
            if of.is_set_aside { "yes" } else { "" },
        );
    }
}

/// What a tenant has used.
#[derive(Clone, Copy, Default)]
struct Used {
    events: u64,
    bytes: u64,
    rejects: u64,
    time: Duration,
}

impl Used {
    fn by(tenant: &TenantHandle) -> Self {
        let account = tenant.account();
        let summary = &account.summary;
        let (rejects, time) = (summary.rejected(), account.time);
        Self { events: summary.events, bytes: summary.bytes, rejects, time }
    }

    fn add_since(&mut self, now: Self, before: Self) {
        self.events += now.events - before.events;
        self.bytes += now.bytes - before.bytes;
        self.rejects += now.rejects - before.rejects;
        self.time += now.time - before.time;
    }
}

impl Load {
    /// The latencies so far, from which on others are counted.
    fn taken(&self) -> Histogram<u64> {
        std::mem::replace(&mut *self.latencies.blocking_lock(), histogram())
    }
}

/// What the key of a node is taken from by the first version of each honest tenant, and by the second one.
const FIELDS: [&str; 2] = ["id", "other"];

/// The two versions that each honest tenant has.
fn versions(root: &Path) -> [Digest; 2] {
    let root = root.join("versions");
    FIELDS.map(|field| bundle::rendered(&root, field))
}

fn honest(host: &Host, root: &Path, number: u64) -> TenantHandle {
    let root = root.join(format!("honest-{number}"));
    for field in FIELDS {
        bundle::rendered(&root, field);
    }
    host.add(&format!("honest-{number}"), Tenant::default().directory(root)).expect("a tenant")
}

fn moody(host: &Host, root: &Path) -> TenantHandle {
    let root = root.join("moody");
    bundle::written(&root, &hostile_text(Attack::Moody));
    let breaker = json!({"failures": 5, "of": 20, "set_aside_ms": 500});
    let tenant = Tenant::default()
        .directory(root)
        .breaker(serde_json::from_value(breaker).expect("a breaker"))
        .fallback("e", |_| Ok(Extraction::default()));
    host.add("moody", tenant).expect("a tenant")
}

fn hostile(host: &Host, root: &Path, of: &Hostile) -> TenantHandle {
    let root = root.join(of.name);
    match of.attack {
        Some(attack) => bundle::written(&root, &hostile_text(attack)),
        None => bundle::rendered(&root, "id"),
    };
    let mut quotas = Quotas::default();
    quotas.events = NonZeroU64::new(EVENTS);
    quotas.bytes = NonZeroU64::new(BYTES);
    quotas.fuel = NonZeroU64::new(FUEL);
    quotas.busy_ms = NonZeroU64::new(BUSY_MS);
    quotas.rejects = NonZeroU64::new(REJECTS);
    quotas.concurrent = NonZeroUsize::new(1);
    let policy = TenantPolicy::parse("limits: {deadline_ms: 100}", "hostile.yaml");
    let mut breaker = Breaker::default();
    if !of.is_set_aside {
        breaker.failures = u32::MAX;
    }
    let tenant = Tenant::default()
        .directory(root)
        .quotas(quotas)
        .breaker(breaker)
        .policy(policy.expect("a policy"))
        .queue_bytes(32 << 20);
    host.add(of.name, tenant).expect("a tenant")
}

/// An honest tenant: events when they are due.
async fn send(tenant: TenantHandle, versions: [Digest; 2], load: Arc<Load>, number: u32) {
    let mut due = tokio::time::interval(PACE);
    due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    tokio::time::sleep(PACE * number / HONEST as u32).await;
    let mut id = 0_u64;
    let mut last: Option<tokio::task::JoinHandle<()>> = None;
    while !load.is_over.load(Ordering::Relaxed) {
        due.tick().await;
        id += 1;
        let (tenant, load) = (tenant.clone(), Arc::clone(&load));
        last = Some(tokio::spawn(async move {
            let event = json!({"event_type": "e", "session_id": "s", "id": id, "other": id + 1,
                "note": "a note of some length, as notes are, and not of interest"});
            let event = event.to_string();
            load.submitted.fetch_add(1, Ordering::Relaxed);
            let begun = Instant::now();
            let answer = tenant.submit(event).await;
            let nanoseconds = begun.elapsed().as_nanos() as u64;
            let is_right = answer.is_ok_and(|answer| {
                let place = versions.iter().position(|it| Some(*it) == answer.version());
                let value: Value = serde_json::from_slice(&answer.json).unwrap_or_default();
                let key = place.map(|place| json!(format!("s:Order:key={}", id + place as u64)));
                key.is_some_and(|key| value["nodes"][0]["node_id"] == key)
            });
            if !is_right {
                load.wrong.fetch_add(1, Ordering::Relaxed);
            }
            load.latencies.lock().await.saturating_record(nanoseconds);
        }));
    }
    if let Some(last) = last {
        last.await.expect("no task panics");
    }
}

/// One whose version fails on half of its events, in turns.
async fn send_moody(tenant: TenantHandle, load: Arc<Load>) {
    let mut due = tokio::time::interval(PACE);
    while !load.is_over.load(Ordering::Relaxed) {
        due.tick().await;
        let event = match load.is_moody.load(Ordering::Relaxed) {
            true => r#"{"event_type": "e"}"#,
            false => r#"{"event_type": "e", "text": "fine"}"#,
        };
        let answer = tenant.submit(event).await;
        let is_served = answer.is_ok_and(|answer| answer.by != By::Nobody);
        if !is_served {
            load.wrong.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A hostile one: as fast as its events are taken.
async fn attack(tenant: TenantHandle, bytes: usize, load: Arc<Load>) {
    let head = r#"{"event_type": "e", "session_id": "s", "id": 1, "pad": ""#;
    let pad = bytes.saturating_sub(head.len() + 2);
    while !load.is_over.load(Ordering::Relaxed) {
        if load.is_hostile.load(Ordering::Relaxed) {
            // What becomes of it is its own affair.
            let _ = tenant.submit(format!("{head}{}\"}}", "x".repeat(pad))).await;
        } else {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Activates one version or goes back to the other, of one honest tenant after the other.
fn switch(root: &Path, honest: &[TenantHandle], versions: [Digest; 2], load: &Load) -> u64 {
    let name: ExtractorName = "f".parse().expect("a name");
    let mut switched = 0;
    for (number, tenant) in honest.iter().enumerate().cycle() {
        if load.is_over.load(Ordering::Relaxed) {
            break;
        }
        let store = Store::open(&root.join(format!("honest-{number}"))).expect("a directory");
        let now = jiff::Timestamp::now();
        if store.roll_back(&name, now, "bench").is_err() {
            for version in versions {
                let _ = store.activate(&name, &version.to_string(), now, "bench");
            }
        }
        tenant.refresh().expect("there is a host");
        switched += 1;
        std::thread::sleep(SWITCH);
    }
    switched
}
