//! Cold starts: from a bundle on disk to the result of its first event.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use retort::bundle::{self, Expect};
use retort::sandbox::Cache;
use retort::{Bundle, Pipeline};

use super::report::ColdStart;
use super::turns::{MIN_ROUNDS, ROUNDS, Spread};
use crate::cli::args::{CacheArg, PolicyArg};
use crate::cli::error::CliError;

/// How long all of it may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The gates without a cache of native code and with one, which lies where the user says, or is thrown away at the end.
pub(super) struct ColdStarts {
    gates: [(bool, Pipeline); 2],
    _directory: Option<tempfile::TempDir>,
}

/// What the turns of one bundle took.
#[derive(Default)]
struct Times {
    load: Vec<f64>,
    first_event: Vec<f64>,
    total: Vec<f64>,
}

impl ColdStarts {
    pub(super) fn new(cache: &CacheArg, policy: &PolicyArg) -> Result<Self, CliError> {
        let (directory, kept) = match cache.directory() {
            Some(named) => (None, Cache::new(named)),
            None => {
                let directory = tempfile::tempdir().map_err(|source| {
                    CliError::FileNotWritable { path: std::env::temp_dir(), source }
                })?;
                let kept = Cache::new(directory.path().join("native"));
                (Some(directory), kept)
            }
        };
        let gates = [
            (false, CacheArg::pipeline_with(None, policy)?),
            (true, CacheArg::pipeline_with(Some(kept), policy)?),
        ];
        Ok(Self { gates, _directory: directory })
    }

    /// For each bundle, given with an event of its own: cold starts without the cache, and with it.
    pub(super) fn measure(
        &self,
        bundles: &[(&Path, &[u8])],
    ) -> Result<Vec<Vec<ColdStart>>, CliError> {
        let mut times: Vec<[Times; 2]> = bundles.iter().map(|_| Default::default()).collect();
        // The first round fills the cache, and isn't counted.
        for (path, event) in bundles {
            for (_, gates) in &self.gates {
                start(path, event, gates)?;
            }
        }
        let begun = Instant::now();
        for round in 0..ROUNDS {
            if round >= MIN_ROUNDS && begun.elapsed() >= TIME_LIMIT {
                break;
            }
            for ((path, event), times) in bundles.iter().zip(&mut times) {
                for ((_, gates), times) in self.gates.iter().zip(times) {
                    let (load, first_event) = start(path, event, gates)?;
                    times.load.push(load.as_nanos() as f64);
                    times.first_event.push(first_event.as_nanos() as f64);
                    times.total.push((load + first_event).as_nanos() as f64);
                }
            }
        }
        let figures = |(times, (cached, gates)): (Times, &(bool, Pipeline))| {
            // A directory that can't be used keeps nothing, and there is nothing to tell of what it would have kept.
            let is_kept = gates.sandbox().cache_report().hits > 0;
            (*cached == is_kept).then(|| ColdStart {
                cached: *cached,
                load_ns: Spread::of(times.load),
                first_event_ns: Spread::of(times.first_event),
                total_ns: Spread::of(times.total),
            })
        };
        Ok(times
            .into_iter()
            .map(|times| times.into_iter().zip(&self.gates).filter_map(figures).collect())
            .collect())
    }
}

/// How long loading took, and the first event.
fn start(path: &Path, event: &[u8], gates: &Pipeline) -> Result<(Duration, Duration), CliError> {
    let begun = Instant::now();
    let bundle: Bundle =
        bundle::load(path, &Expect::default(), gates).map_err(CliError::refused)?;
    let loaded = begun.elapsed();
    let mut runner = bundle.runner();
    // It has given a result before.
    let _ = black_box(runner.run(black_box(event)));
    Ok((loaded, begun.elapsed().saturating_sub(loaded)))
}
