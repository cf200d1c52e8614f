//! The figures as data: what `--json` prints and `--baseline` reads.

use std::collections::BTreeMap;

use retort::sandbox::Isolation;
use serde::{Deserialize, Serialize};

use super::baseline::Comparison;
use super::peers;
use super::turns::Spread;

/// The version of the form of the report. It rises with every change that a reader of an earlier form would stumble over.
pub(super) const BENCH_VERSION: u32 = 1;

/// A whole run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BenchReport {
    pub(super) bench_version: u32,
    /// When it was measured, in UTC. Nothing else in here is a time of the clock.
    pub(super) measured_at: String,
    pub(super) retort: String,
    pub(super) wasmtime: String,
    pub(super) build: Build,
    pub(super) machine: Machine,
    pub(super) settings: Settings,
    pub(super) input: InputFigures,
    pub(super) bundles: Vec<BundleFigures>,
    /// Against the baseline, where one was given. A report that is one says nothing of its own.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(super) comparison: Option<Comparison>,
}

impl BenchReport {
    /// What a bundle of this report is called: its function, with the beginning of its fingerprint where others have the same.
    pub(super) fn name_of(&self, bundle: &BundleFigures) -> String {
        let same = self.bundles.iter().filter(|other| other.name == bundle.name).count();
        if same < 2 {
            return bundle.name.clone();
        }
        let digits: String = bundle.fingerprint.chars().take(8).collect();
        format!("{} ({digits})", bundle.name)
    }
}

/// How the program was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Build {
    Release,
    Debug,
}

impl Build {
    pub(super) const THIS: Self = if cfg!(debug_assertions) { Self::Debug } else { Self::Release };

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Debug => "debug",
        }
    }
}

/// What it was measured on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Machine {
    /// The processor's model, where the system tells it.
    pub(super) cpu: Option<String>,
    /// How many threads run at a time.
    pub(super) cores: usize,
    pub(super) os: String,
    pub(super) arch: String,
}

/// How it was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Settings {
    /// Events of each way at least, for each thread.
    pub(super) events: u64,
    /// Events of a batch, where an instance serves for one.
    pub(super) batch: usize,
    pub(super) allocator: String,
    /// Nanoseconds that nothing takes where it is measured as an event is: they are part of each latency.
    pub(super) clock_ns: f64,
}

/// What was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct InputFigures {
    pub(super) origin: String,
    /// Lines that aren't blank.
    pub(super) lines: u64,
    /// Whether all of the input was read, and not only as much as is held in memory or asked for.
    pub(super) complete: bool,
    /// Well-formed events of other types than the bundles declare.
    pub(super) unrouted: u64,
    /// Lines that are no event, by code.
    pub(super) rejected: BTreeMap<String, u64>,
}

/// What was measured of one bundle.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BundleFigures {
    /// The extractor's function.
    pub(super) name: String,
    pub(super) fingerprint: String,
    pub(super) event_types: Vec<String>,
    /// Whether an instance may serve more than one event at all, whatever the mode says.
    pub(super) reset_safe: bool,
    pub(super) events: EventFigures,
    pub(super) fuel: Fuel,
    /// One for each mode of isolation and number of threads.
    pub(super) runs: Vec<RunFigures>,
    /// Other ways to deal with the same events.
    pub(super) peers: Vec<PeerFigures>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) cold_starts: Vec<ColdStart>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) metering: Vec<MeteringFigures>,
}

/// The events that were measured: each once, however often they were run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct EventFigures {
    pub(super) count: u64,
    pub(super) bytes: u64,
    pub(super) result_bytes: u64,
    /// Those that the extractor declined.
    pub(super) empty: u64,
    /// Events of the bundle's types that fail, and aren't measured, by code.
    pub(super) rejected: BTreeMap<String, u64>,
    /// Tells whether two reports are about the same events in the same order.
    pub(super) sha256: String,
}

impl EventFigures {
    /// Bytes of one, on average.
    pub(super) fn mean_bytes(&self) -> f64 {
        self.bytes as f64 / self.count.max(1) as f64
    }
}

/// Fuel is exact: the same module takes the same for the same events.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Fuel {
    /// Of all events, each once.
    pub(super) total: u64,
    /// The event that takes the most.
    pub(super) most: u64,
    pub(super) per_event: f64,
    pub(super) per_byte: f64,
}

/// A bundle in one mode, on so many threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RunFigures {
    pub(super) isolation: Isolation,
    pub(super) threads: usize,
    /// Of the wall clock, for each event of all threads together.
    pub(super) ns_per_event: Spread,
    pub(super) events_per_s: f64,
    /// Millions of bytes of events a second.
    pub(super) mb_per_s: f64,
    /// How many times what the bundle's first run took in the same round, the median.
    pub(super) ratio: f64,
    pub(super) latency_ns: Latency,
    /// By step, with the clock looked at between them; of one thread alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) steps: Option<Steps>,
    /// Events that failed while they were measured, which they had not done before.
    pub(super) failed: u64,
}

impl RunFigures {
    /// What distinguishes it from the other runs of its bundle.
    pub(super) fn what(&self) -> String {
        format!("{}, {}", self.isolation.as_str(), threads(self.threads))
    }
}

/// `1 thread`, `2 threads`.
pub(super) fn threads(count: usize) -> String {
    format!("{count} thread{}", if count == 1 { "" } else { "s" })
}

/// How long single events take, in nanoseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Latency {
    pub(super) p50: u64,
    pub(super) p90: u64,
    pub(super) p99: u64,
    pub(super) p999: u64,
    pub(super) max: u64,
    /// How many events took from so long to less than so long.
    pub(super) histogram: Vec<LatencyBin>,
}

/// From, to, and how many events.
pub(super) type LatencyBin = (f64, f64, u64);

/// The steps of a run: nanoseconds of an event, and parts of their sum.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Steps {
    pub(super) ns_per_event: StepValues,
    pub(super) share: StepValues,
}

/// One figure for each step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct StepValues {
    pub(super) project: f64,
    pub(super) copy_in: f64,
    pub(super) instantiate: f64,
    pub(super) guest: f64,
    pub(super) check: f64,
}

impl StepValues {
    /// Each with its name for people, in the order in which they come.
    pub(super) fn named(&self) -> [(&'static str, f64); 5] {
        [
            ("project", self.project),
            ("copy in", self.copy_in),
            ("instantiate", self.instantiate),
            ("guest", self.guest),
            ("check", self.check),
        ]
    }
}

/// Another way to deal with the same events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PeerFigures {
    pub(super) name: String,
    pub(super) ns_per_event: Spread,
    pub(super) events_per_s: f64,
    pub(super) mb_per_s: f64,
    /// How many times what the bundle's first run took in the same round, the median.
    pub(super) ratio: f64,
}

impl PeerFigures {
    pub(super) fn what(&self) -> &str {
        match self.name.as_str() {
            peers::READING => "serde_json::Value, reading alone",
            peers::VALIDATION => "validation alone",
            name => name,
        }
    }
}

/// From a bundle on disk to the result of its first event.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ColdStart {
    /// Whether native code was kept from before.
    pub(super) cached: bool,
    pub(super) load_ns: Spread,
    pub(super) first_event_ns: Spread,
    pub(super) total_ns: Spread,
}

impl ColdStart {
    pub(super) fn what(&self) -> &'static str {
        if self.cached { "cold start, code kept" } else { "cold start, compiled" }
    }
}

/// The call into the guest alone, in an engine that counts this much.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MeteringFigures {
    /// What the engine counts.
    pub(super) fuel: bool,
    pub(super) deadline: bool,
    pub(super) ns_per_event: Spread,
    /// Times what the call without metering took in the same round, the median.
    pub(super) ratio: f64,
}

impl MeteringFigures {
    pub(super) fn what(&self) -> &'static str {
        match (self.fuel, self.deadline) {
            (false, false) => "no metering",
            (true, false) => "fuel",
            (false, true) => "deadline",
            (true, true) => "fuel and deadline",
        }
    }
}

/// A figure as it is written down: further digits would be noise.
pub(super) fn rounded(value: f64) -> f64 {
    if value.is_finite() { (value * 10.0).round() / 10.0 } else { 0.0 }
}

/// A part of a whole, or a ratio, as it is written down.
pub(super) fn fine(value: f64) -> f64 {
    if value.is_finite() { (value * 1e4).round() / 1e4 } else { 0.0 }
}

/// Events and millions of bytes a second, where an event of so many bytes takes so many nanoseconds.
pub(super) fn rates(ns_per_event: f64, mean_bytes: f64) -> (f64, f64) {
    let per_second = if ns_per_event > 0.0 { 1e9 / ns_per_event } else { 0.0 };
    (rounded(per_second), fine(per_second * mean_bytes / 1e6))
}
