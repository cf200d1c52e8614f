//! Fifty tenants of one service, of them ten hostile, in turns with and without these.
//!
//! Honest events come when they are due, whatever became of those before; their time is that from when they are due to their answer, the
//! client's own included. Hostile clients are on threads of their own.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use retort_benches::beside::{self, Beside, Memory, TURN, Used};
use retort_benches::resident::resident_of;
use retort_benches::versions::{self, FIELDS};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::changes;
use super::client::Client;
use super::configuration::{self, Form, HONEST, honest_name};
use super::honest::{self, Load};
use super::hostile::{self, HOSTILE, Packed, Target};
use super::metrics::Metrics;
use super::pauses::Pauses;
use super::service::Service;

/// How much more of a quota may be used, and how many times as long honest events may take beside hostile ones.
const QUOTA_SLACK: f64 = 1.05;
const MOST_RATIO: f64 = 2.0;

fn runtime(threads: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads).enable_all().build().expect("a runtime")
}

/// Whether every answer was right. Where there are names, only those tenants are hostile.
pub(super) fn run(time: Duration, names: &[&str]) -> bool {
    let root = tempfile::tempdir().expect("a directory");
    let root = root.path();
    let mut digests = None;
    for number in 0..HONEST {
        let directory = root.join(honest_name(number));
        digests = Some(FIELDS.map(|field| versions::rendered(&directory, field)));
    }
    let digests = digests.expect("there are tenants");
    (0..HOSTILE.len()).for_each(|number| hostile::make(root, number));
    std::fs::write(root.join("hostile.yaml"), hostile::POLICY).expect("it is written");
    configuration::write(root, Form::Plain);
    let service = Service::start(&root.join("service.toml"));
    let load = Arc::new(Load::new(digests));
    let (want, wanted) = watch::channel(false);
    let (honest, attackers) = (runtime(1), runtime(1));
    let tasks: Vec<_> = (0..HONEST)
        .map(|number| {
            let client = Client::new(service.address, &honest_name(number));
            honest.spawn(honest::send(Arc::clone(&load), client, number))
        })
        .collect();
    let target = Target { address: service.address, packed: Arc::new(Packed::new()), wanted };
    {
        let _entered = attackers.enter();
        let wanted = HOSTILE.iter().filter(|of| names.is_empty() || names.contains(&of.name));
        wanted.for_each(|of| hostile::attack(&target, of));
    }
    std::thread::sleep(honest::STAGGER);
    let mut found = Found::default();
    let pauses = Pauses::new();
    let started = Instant::now();
    let changed = std::thread::scope(|scope| {
        scope.spawn(|| pauses.watch(&load.is_over));
        let changing = scope.spawn(|| changes::change(root, &service, digests, &load));
        println!("{}{:>10}{:>12}", Beside::head(), "MiB", "processors");
        while started.elapsed() < time {
            found.turns(&service, &load, &want);
        }
        want.send_replace(false);
        load.is_over.store(true, Ordering::Relaxed);
        changing.join().expect("it doesn't panic")
    });
    attackers.shutdown_background();
    honest.block_on(async {
        for task in tasks {
            task.await.expect("no task panics");
        }
    });
    // What hostile clients have left is cut off.
    std::thread::sleep(Duration::from_secs(2));
    let metrics = Metrics::of(&service);
    let mut mistakes = load.mistakes();
    mistakes.extend(changed.mistakes.iter().cloned());
    let begun = metrics.sum("retort_events_total{", "tenant=\"honest-") as u64;
    let sent = load.sent.load(Ordering::Relaxed);
    if begun != sent {
        mistakes.push(format!("{sent} honest events were sent, and {begun} were served"));
    }
    let taken_up = service.said("the configuration was taken up");
    if !service.end() {
        mistakes.push("the service has ended badly".to_owned());
    }

    let mut report = format!(
        "over {:.1} minutes\n\nhonest events that are sent as they come:\n{}\n\nin batches:\n{}\n\n{pauses}\n",
        started.elapsed().as_secs_f64() / 60.0,
        found.streamed,
        found.batches
    );
    let right = load.right.load(Ordering::Relaxed);
    let requests = load.requests.load(Ordering::Relaxed);
    let _ = write!(
        report,
        "\n{sent} events in {requests} requests, {right} answered rightly, {} not\n\
         {} switches of versions; {} reloads of the configuration and {} broken ones, which changed nothing (told {taken_up} times)\n\n",
        sent - right,
        changed.switches,
        changed.reloads,
        changed.refused
    );
    let _ = writeln!(report, "{}\n", found.memory);
    let used = || HOSTILE.iter().zip(&found.used).map(|(of, used)| (of.name, *used));
    let _ = writeln!(report, "{}\n", beside::quotas(used(), found.hostile_time));
    for (name, what) in
        [("retort_answers_total{", "answers"), ("retort_requests_total{", "requests")]
    {
        let _ = writeln!(report, "{what}:");
        for (labels, count) in metrics.all(name) {
            let _ = writeln!(report, "  {count:>10} {}", labels.trim_end_matches('}'));
        }
    }
    let shares = used().flat_map(|(_, used)| used.shares(found.hostile_time));
    let most = shares.fold(0.0, f64::max);
    let slowest = found.streamed.ratio().max(found.batches.ratio());
    for (is_met, aim) in [
        (slowest <= MOST_RATIO, "honest p99 beside hostile tenants within twice"),
        (most <= QUOTA_SLACK, "quotas within 5 %"),
        (
            mistakes.is_empty() && right == sent,
            "each honest event answered once, rightly, in order",
        ),
    ] {
        let _ = writeln!(report, "{}: {aim}", if is_met { "met" } else { "NOT met" });
    }
    for mistake in &mistakes {
        let _ = writeln!(report, "mistake: {mistake}");
    }
    println!("\n{report}");
    found.write(&report);
    mistakes.is_empty() && right == sent
}

/// What was found in all turns.
#[derive(Default)]
struct Found {
    streamed: Beside,
    batches: Beside,
    memory: Memory,
    used: [Used; HOSTILE.len()],
    hostile_time: Duration,
    lines: Vec<String>,
}

impl Found {
    /// A turn without hostile tenants, and one beside them.
    fn turns(&mut self, service: &Service, load: &Load, want: &watch::Sender<bool>) {
        let mut processors = [0.0; 2];
        let turns = [false, true].map(|is_hostile| {
            want.send_replace(is_hostile);
            // What the turn before has left goes first.
            std::thread::sleep(Duration::from_secs(1));
            let before = Metrics::of(service);
            let _ = load.taken();
            let (begun, used) = (Instant::now(), busy(service.process()));
            std::thread::sleep(TURN);
            let times = load.taken();
            let took = begun.elapsed();
            processors[usize::from(is_hostile)] =
                (busy(service.process()) - used) / took.as_secs_f64();
            if is_hostile {
                let after = Metrics::of(service);
                self.hostile_time += begun.elapsed();
                for (used, of) in self.used.iter_mut().zip(&HOSTILE) {
                    used.add_since(after.used(of.name), before.used(of.name));
                }
            }
            times
        });
        let [without, beside] = turns;
        let mebibytes = self.memory.note(resident_of(service.process()));
        let [[streamed, batches], [streamed_beside, batches_beside]] = [without, beside];
        let [alone, together] = processors;
        for (kind, line) in [
            ("one by one", self.streamed.add(&[streamed, streamed_beside])),
            ("in batches", self.batches.add(&[batches, batches_beside])),
        ] {
            let line = format!("{line}{mebibytes:>10.1}{alone:>6.2}{together:>6.2}  {kind}");
            println!("{line}");
            self.lines.push(line);
        }
    }

    /// Leaves all of it in a file, beside what was built.
    fn write(&self, report: &str) {
        let program = std::env::current_exe().expect("this program");
        let folder = program.ancestors().nth(3).expect("the folder of what was built");
        let path = folder.join("serve-load.txt");
        let text = format!("{report}\n{}\n{}\n", Beside::head(), self.lines.join("\n"));
        std::fs::write(&path, text).expect("it is written");
        println!("written to {}", path.display());
    }
}

/// Seconds of processors that a process has used, where the system tells.
fn busy(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let (_, fields) = stat.rsplit_once(") ").unwrap_or_default();
    let ticks = |number: usize| -> f64 {
        fields.split(' ').nth(number).and_then(|it| it.parse().ok()).unwrap_or_default()
    };
    // In hundredths of seconds, of the process and of the kernel for it.
    (ticks(11) + ticks(12)) / 100.0
}
