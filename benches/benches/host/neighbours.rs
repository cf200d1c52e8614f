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

use retort::bundle::Digest;
use retort::graph::Extraction;
use retort::runtime::{Breaker, By, Happened, Host, Quotas, Tenant, TenantHandle};
use retort::sandbox::{ForeignModules, Options};
use retort::{Pipeline, TenantPolicy};
use retort_benches::beside::{
    self, BUSY_MS, BYTES, Beside, EVENTS, FUEL, Memory, REJECTS, TURN, Times, Used, times,
};
use retort_benches::guests::{Attack, hostile_text};
use retort_benches::resident::resident;
use retort_benches::versions::{self, FIELDS};
use serde_json::{Value, json};
use tokio::sync::Mutex;

const HONEST: u64 = 40;
const WORKERS: NonZeroUsize = NonZeroUsize::new(4).expect("not zero");

/// Between two events of an honest tenant.
const PACE: Duration = Duration::from_millis(20);

/// Between two switches of versions.
const SWITCH: Duration = Duration::from_millis(250);

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
    latencies: Mutex<Times>,
}

/// What happened to versions.
#[derive(Default)]
struct Told {
    set_aside: AtomicU64,
    restored: AtomicU64,
    begun: AtomicU64,
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
        latencies: Mutex::new(times()),
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

    let (mut found, mut memory) = (Beside::default(), Memory::default());
    let mut used = vec![Used::default(); HOSTILE.len()];
    let mut hostile_time = Duration::ZERO;
    let started = Instant::now();
    println!("{}{:>10}", Beside::head(), "MiB");
    while started.elapsed() < time {
        let turns = [false, true].map(|is_hostile| {
            load.is_hostile.store(is_hostile, Ordering::Relaxed);
            // What the turn before has left goes first.
            std::thread::sleep(Duration::from_secs(1));
            drop(load.taken());
            let begun = Instant::now();
            let before: Vec<Used> = hostile.iter().map(used_by).collect();
            load.is_moody.store(true, Ordering::Relaxed);
            std::thread::sleep(TURN / 2);
            load.is_moody.store(false, Ordering::Relaxed);
            std::thread::sleep(TURN / 2);
            if is_hostile {
                hostile_time += begun.elapsed();
                for ((used, tenant), before) in used.iter_mut().zip(&hostile).zip(&before) {
                    used.add_since(used_by(tenant), *before);
                }
            }
            load.taken()
        });
        let line = found.add(&turns);
        println!("{line}{:>10.1}", memory.note(resident()));
    }
    load.is_hostile.store(false, Ordering::Relaxed);
    load.is_over.store(true, Ordering::Relaxed);
    runtime.block_on(async {
        for task in tasks {
            task.await.expect("no task panics");
        }
    });
    let switched = switches.join().expect("it switches");
    println!("\nover {:.1} minutes, honest events:", started.elapsed().as_secs_f64() / 60.0);
    println!("{found}\n{memory}");
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
    let used = HOSTILE.iter().map(|it| it.name).zip(used);
    println!("\n{}", beside::quotas(used, hostile_time));
}

/// What a tenant has used.
fn used_by(tenant: &TenantHandle) -> Used {
    let account = tenant.account();
    let summary = &account.summary;
    let (rejects, time) = (summary.rejected(), account.time);
    Used { events: summary.events, bytes: summary.bytes, rejects, time }
}

impl Load {
    /// The latencies so far, from which on others are counted.
    fn taken(&self) -> Times {
        std::mem::replace(&mut *self.latencies.blocking_lock(), times())
    }
}

/// The two versions that each honest tenant has.
fn versions(root: &Path) -> [Digest; 2] {
    let root = root.join("versions");
    FIELDS.map(|field| versions::rendered(&root, field))
}

fn honest(host: &Host, root: &Path, number: u64) -> TenantHandle {
    let root = root.join(format!("honest-{number}"));
    for field in FIELDS {
        versions::rendered(&root, field);
    }
    host.add(&format!("honest-{number}"), Tenant::default().directory(root)).expect("a tenant")
}

fn moody(host: &Host, root: &Path) -> TenantHandle {
    let root = root.join("moody");
    versions::written(&root, &hostile_text(Attack::Moody));
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
        Some(attack) => versions::written(&root, &hostile_text(attack)),
        None => versions::rendered(&root, "id"),
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
    let mut switched = 0;
    for (number, tenant) in honest.iter().enumerate().cycle() {
        if load.is_over.load(Ordering::Relaxed) {
            break;
        }
        versions::switch(&root.join(format!("honest-{number}")), &versions);
        tenant.refresh().expect("there is a host");
        switched += 1;
        std::thread::sleep(SWITCH);
    }
    switched
}
