//! The bundles at work: every mode and number of threads, and what else deals with the same events, in turns.

use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

use retort::Runner;
use retort::sandbox::{Extractor, Isolation};

use super::latency::Latencies;
use super::peers::Peer;
use super::report::{PeerFigures, RunFigures, StepValues, rates, rounded};
use super::steps::{StepClock, medians};
use super::subject::{Subject, Warm};
use super::threads::together;
use super::turns::{MIN_ROUNDS, ROUNDS, Spread, ratio};

/// How long the turns of one way may take together.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// How long it is tried how long an event takes.
const TRIAL: Duration = Duration::from_millis(20);

/// How much is measured of each bundle.
pub(super) struct Extent<'a> {
    /// Events of each way at least, for each thread.
    pub(super) events: u64,
    pub(super) threads: &'a [usize],
    pub(super) batch: usize,
}

/// A bundle's figures.
pub(super) struct Measured {
    pub(super) runs: Vec<RunFigures>,
    pub(super) peers: Vec<PeerFigures>,
}

/// Lets all ways of all bundles take turns.
pub(super) fn measure(
    subjects: &[(&Subject, &Warm<'_>)],
    extent: &Extent<'_>,
) -> io::Result<Vec<Measured>> {
    let mut lanes: Vec<Lane<'_>> =
        subjects.iter().map(|(subject, warm)| Lane::new(subject, warm, extent)).collect();
    let ways: usize = lanes.iter().map(Lane::ways).sum();
    let limit = TIME_LIMIT.saturating_mul(u32::try_from(ways).unwrap_or(u32::MAX));
    // The first turn of each is to warm up, and isn't counted.
    lanes.iter_mut().try_for_each(Lane::round)?;
    lanes.iter_mut().for_each(Lane::forget);
    let start = Instant::now();
    for round in 0..ROUNDS {
        if round >= MIN_ROUNDS && start.elapsed() >= limit {
            break;
        }
        lanes.iter_mut().try_for_each(Lane::round)?;
    }
    Ok(lanes.into_iter().map(Lane::figures).collect())
}

/// All that is measured with the events of one bundle.
struct Lane<'a> {
    turns: Turns<'a>,
    mean_bytes: f64,
    runs: Vec<Run>,
    peers: Vec<Peer<'a>>,
}

impl<'a> Lane<'a> {
    fn new(subject: &'a Subject, warm: &'a Warm<'_>, extent: &Extent<'_>) -> Self {
        let slowest = subject.modes.iter().map(|(_, mode)| trial(mode, &warm.events)).max();
        let per_turn =
            (TIME_LIMIT / ROUNDS as u32).as_nanos() / slowest.unwrap_or_default().as_nanos().max(1);
        let asked = extent.events.div_ceil(ROUNDS as u64);
        let quota = usize::try_from(per_turn.min(u128::from(asked))).unwrap_or(usize::MAX);
        let mut runs = Vec::new();
        for (isolation, extractor) in &subject.modes {
            for (index, threads) in extent.threads.iter().enumerate() {
                runs.push(Run::new(*isolation, *threads, extractor, extent.batch, index == 0));
            }
        }
        Self {
            turns: Turns::new(&warm.events, quota),
            mean_bytes: warm.mean_bytes(),
            runs,
            peers: Peer::all(subject.plan()),
        }
    }

    fn ways(&self) -> usize {
        // Each run measures throughput, latencies and steps.
        3 * self.runs.len() + self.peers.len()
    }

    fn round(&mut self) -> io::Result<()> {
        let events = self.turns.next();
        for run in &mut self.runs {
            run.turn(&events)?;
        }
        self.peers.iter_mut().for_each(|peer| peer.turn(&events));
        Ok(())
    }

    fn forget(&mut self) {
        self.runs.iter_mut().for_each(Run::forget);
        self.peers.iter_mut().for_each(Peer::forget);
    }

    fn figures(self) -> Measured {
        let mean_bytes = self.mean_bytes;
        let first = self.runs.first().map(|run| run.times.clone()).unwrap_or_default();
        Measured {
            runs: self.runs.into_iter().map(|run| run.figures(mean_bytes, &first)).collect(),
            peers: self.peers.into_iter().map(|peer| peer.figures(mean_bytes, &first)).collect(),
        }
    }
}

/// How long an event takes, roughly.
fn trial(extractor: &Extractor, events: &[&[u8]]) -> Duration {
    let mut runner = extractor.runner();
    let start = Instant::now();
    let mut count = 0;
    for event in events.iter().cycle() {
        let _ = black_box(runner.run(event));
        count += 1;
        if start.elapsed() >= TRIAL {
            break;
        }
    }
    start.elapsed() / count.max(1)
}

/// Deals events out by the turn.
struct Turns<'e> {
    events: Vec<&'e [u8]>,
    quota: usize,
    next: usize,
}

impl<'e> Turns<'e> {
    /// Turns of `quota` events. Where there are no more than that, each turn has all of them, equally often; otherwise each has some
    /// of the whole range, so that one turn is much like another.
    fn new(events: &[&'e [u8]], quota: usize) -> Self {
        let count = events.len().max(1);
        let quota = quota.max(1);
        if quota >= count {
            return Self { events: events.to_vec(), quota: quota.div_ceil(count) * count, next: 0 };
        }
        let spread = (0..ROUNDS).flat_map(|first| events.iter().skip(first).step_by(ROUNDS));
        Self { events: spread.copied().collect(), quota, next: 0 }
    }

    fn next(&mut self) -> Vec<&'e [u8]> {
        let turn = self.events.iter().cycle().skip(self.next).take(self.quota).copied().collect();
        self.next = (self.next + self.quota) % self.events.len().max(1);
        turn
    }
}

/// One bundle in one mode on so many threads.
struct Run {
    isolation: Isolation,
    batch: usize,
    workers: Vec<Worker>,
    times: Vec<f64>,
    /// By turn, where steps are measured.
    steps: Option<Vec<StepValues>>,
}

/// What one thread has.
struct Worker {
    runner: Runner,
    latencies: Latencies,
    failed: u64,
}

impl Run {
    fn new(
        isolation: Isolation,
        threads: usize,
        extractor: &Extractor,
        batch: usize,
        has_steps: bool,
    ) -> Self {
        let worker =
            || Worker { runner: extractor.runner(), latencies: Latencies::default(), failed: 0 };
        Self {
            isolation,
            batch: if isolation == Isolation::PerBatch { batch } else { usize::MAX },
            workers: std::iter::repeat_with(worker).take(threads).collect(),
            times: Vec::new(),
            steps: has_steps.then(Vec::new),
        }
    }

    /// Throughput, latencies and steps, each by itself: looking at the clock disturbs none of the others.
    fn turn(&mut self, events: &[&[u8]]) -> io::Result<()> {
        let batch = self.batch;
        let elapsed = together(&mut self.workers, |worker| worker.run(events, batch))?;
        let count = events.len() * self.workers.len();
        self.times.push(elapsed.as_nanos() as f64 / count.max(1) as f64);
        together(&mut self.workers, |worker| worker.time(events, batch))?;
        if let (Some(steps), [worker, ..]) = (&mut self.steps, self.workers.as_mut_slice()) {
            steps.push(worker.steps(events, batch));
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.times.clear();
        self.steps.iter_mut().for_each(Vec::clear);
        self.workers.iter_mut().for_each(|worker| worker.latencies = Latencies::default());
    }

    fn figures(self, mean_bytes: f64, first: &[f64]) -> RunFigures {
        let mut latencies = Latencies::default();
        self.workers.iter().for_each(|worker| latencies.add(&worker.latencies));
        let ratio = ratio(&self.times, first);
        let ns_per_event = Spread::of(self.times);
        let (events_per_s, mb_per_s) = rates(ns_per_event.median, mean_bytes);
        RunFigures {
            isolation: self.isolation,
            threads: self.workers.len(),
            ns_per_event,
            events_per_s,
            mb_per_s,
            ratio,
            latency_ns: latencies.figures(),
            steps: self.steps.map(|turns| medians(&turns)),
            failed: self.workers.iter().map(|worker| worker.failed).sum(),
        }
    }
}

impl Worker {
    fn run(&mut self, events: &[&[u8]], batch: usize) {
        for events in events.chunks(batch) {
            self.runner.begin_batch();
            for event in events {
                self.failed += u64::from(black_box(self.runner.run(black_box(event))).is_err());
            }
        }
    }

    fn time(&mut self, events: &[&[u8]], batch: usize) {
        for events in events.chunks(batch) {
            self.runner.begin_batch();
            for event in events {
                let start = Instant::now();
                let failed = black_box(self.runner.run(event)).is_err();
                let elapsed = start.elapsed().as_nanos();
                self.failed += u64::from(failed);
                self.latencies.record(u64::try_from(elapsed).unwrap_or(u64::MAX));
            }
        }
    }

    /// Nanoseconds of each step for an event of this turn.
    fn steps(&mut self, events: &[&[u8]], batch: usize) -> StepValues {
        let mut clock = StepClock::default();
        for events in events.chunks(batch) {
            self.runner.begin_batch();
            for event in events {
                clock.begin();
                let outcome = self.runner.run_observed(event, &mut clock);
                self.failed += u64::from(black_box(outcome).is_err());
            }
        }
        clock.of_each(events.len())
    }
}

/// How long nothing takes where it is measured as an event is, in nanoseconds.
pub(super) fn clock_ns() -> f64 {
    const LOOKS: u32 = 10_000;
    let look = |_| black_box(Instant::now()).elapsed();
    let all: Duration = (0..LOOKS).map(look).sum();
    rounded(all.as_nanos() as f64 / f64::from(LOOKS))
}

#[cfg(test)]
mod tests {
    use super::Turns;

    #[test]
    fn every_event_has_its_turn() {
        let texts: Vec<[u8; 1]> = (0..100).map(|number| [number]).collect();
        let events: Vec<&[u8]> = texts.iter().map(<[u8; 1]>::as_slice).collect();
        let mut all = Turns::new(&events, 130);
        assert_eq!((all.next().len(), all.next().len()), (200, 200));
        let mut some = Turns::new(&events, 20);
        let mut seen: Vec<&[u8]> = (0..5).flat_map(|_| some.next()).collect();
        seen.sort();
        assert_eq!(seen, events);
        // Of the whole range, not 20 that are side by side.
        assert!(some.next().iter().any(|event| event[0] > 80));
    }
}
