//! Honest tenants without hostile ones and beside them, in turns: how long their events take, and what the hostile ones use.

use std::fmt::{self, Write as _};
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::turns::median;

/// How long one turn takes, with or without the hostile tenants.
pub const TURN: Duration = Duration::from_secs(15);

/// What a hostile tenant may use in a second.
pub const EVENTS: u64 = 200;
/// The same of bytes.
pub const BYTES: u64 = 10_000_000;
/// The same of fuel.
pub const FUEL: u64 = 15_000_000;
/// The same of the threads' milliseconds.
pub const BUSY_MS: u64 = 20;
/// The same of rejects.
pub const REJECTS: u64 = 100;

/// Times of events in nanoseconds.
pub type Times = Histogram<u64>;

/// Of nothing so far.
///
/// # Panics
/// Never: these are bounds.
#[must_use]
pub fn times() -> Times {
    Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("these are bounds")
}

fn ms(times: &Times, share: f64) -> f64 {
    times.value_at_quantile(share) as f64 / 1e6
}

/// The times of honest events in all turns.
#[derive(Debug)]
pub struct Beside {
    /// Without hostile tenants, and beside them.
    all: [Times; 2],
    ratios: Vec<f64>,
}

impl Default for Beside {
    fn default() -> Self {
        Self { all: [times(), times()], ratios: Vec::new() }
    }
}

impl Beside {
    /// What stands over the lines of turns.
    #[must_use]
    pub fn head() -> String {
        let (without, beside) = ("without", "beside");
        format!(
            "{:>14}{:>14}{:>16}{:>16}{:>10}",
            format!("p50 {without}"),
            format!("p50 {beside}"),
            format!("p99 {without}"),
            format!("p99 {beside}"),
            "ratio"
        )
    }

    /// Adds a turn without hostile tenants and one beside them, and gives a line for both.
    ///
    /// # Panics
    /// Never: all times have the same bounds.
    pub fn add(&mut self, turns: &[Times; 2]) -> String {
        let of = |share| turns.each_ref().map(|it| ms(it, share));
        let ([without50, beside50], [without, beside]) = (of(0.5), of(0.99));
        self.ratios.push(beside / without);
        for (all, turn) in self.all.iter_mut().zip(turns) {
            all.add(turn).expect("they have the same bounds");
        }
        format!(
            "{without50:>11.3} ms{beside50:>11.3} ms{without:>13.3} ms{beside:>13.3} ms{:>10.2}",
            beside / without
        )
    }

    /// How many times as long the 99th percentile is beside hostile tenants, over all turns.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        let [without, beside] = self.all.each_ref().map(|it| ms(it, 0.99));
        beside / without
    }
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, all) in ["without hostile tenants", "beside them"].iter().zip(&self.all) {
            writeln!(
                f,
                "  {name:26}{:>10} events, p50 {:.3} ms, p99 {:.3} ms, p99.9 {:.3} ms, at most {:.1} ms",
                all.len(),
                ms(all, 0.5),
                ms(all, 0.99),
                ms(all, 0.999),
                all.max() as f64 / 1e6
            )?;
        }
        write!(
            f,
            "  p99 beside them, times that without: {:.2} over all, {:.2} in the median of {} turns",
            self.ratio(),
            median(self.ratios.clone()),
            self.ratios.len()
        )
    }
}

/// What a tenant has used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// Events that were begun.
    pub events: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many of them were rejected.
    pub rejects: u64,
    /// For how long threads were busy with them.
    pub time: Duration,
}

impl Used {
    /// Adds what was used from one time to another.
    pub fn add_since(&mut self, now: Self, before: Self) {
        self.events += now.events - before.events;
        self.bytes += now.bytes - before.bytes;
        self.rejects += now.rejects - before.rejects;
        self.time += now.time.saturating_sub(before.time);
    }

    /// Shares of the quotas of so much time: of events, bytes, rejects and the threads' time.
    #[must_use]
    pub fn shares(&self, time: Duration) -> [f64; 4] {
        let share = |amount: f64, quota: u64| amount / time.as_secs_f64() / quota as f64;
        [
            share(self.events as f64, EVENTS),
            share(self.bytes as f64, BYTES),
            share(self.rejects as f64, REJECTS),
            share(1e3 * self.time.as_secs_f64(), BUSY_MS),
        ]
    }
}

/// What hostile tenants have used of their quotas in so much time.
#[must_use]
pub fn quotas<'a>(used: impl Iterator<Item = (&'a str, Used)>, time: Duration) -> String {
    let mut table = format!(
        "{:34}{:>10}{:>12}{:>12}{:>12}",
        "of its quota, used a second", "events", "bytes", "rejects", "time"
    );
    for (name, used) in used {
        let [events, bytes, rejects, time] = used.shares(time).map(|it| 100.0 * it);
        // A string takes all that is written to it.
        let _ = write!(
            table,
            "\n{name:34}{events:>8.1} %{bytes:>10.1} %{rejects:>10.1} %{time:>10.1} %"
        );
    }
    table
}

/// Memory in MiB, from one turn to the next.
#[derive(Debug, Default)]
pub struct Memory(Vec<f64>);

impl Memory {
    /// Notes so many bytes, and gives them in MiB.
    pub fn note(&mut self, bytes: u64) -> f64 {
        let mebibytes = bytes as f64 / f64::from(1 << 20);
        self.0.push(mebibytes);
        mebibytes
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "memory: {:.1} MiB after the first turn, {:.1} after the last, at most {:.1}",
            self.0.first().copied().unwrap_or_default(),
            self.0.last().copied().unwrap_or_default(),
            self.0.iter().copied().fold(0.0, f64::max)
        )
    }
}
