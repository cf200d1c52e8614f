//! A bundle that is measured, with the events that it serves.

use std::path::PathBuf;

use retort::bundle::{self, Expect};
use retort::plan::Plan;
use retort::sandbox::{Extractor, Isolation};
use retort::{Bundle, Pipeline};
use sha2::{Digest as _, Sha256};

use super::input::{Event, Events, Rejects};
use super::report::{EventFigures, Fuel, fine};
use crate::cli::error::CliError;

/// A bundle, loaded.
pub(super) struct Subject {
    pub(super) path: PathBuf,
    pub(super) bundle: Bundle,
    /// Its extractor in each mode that is measured.
    pub(super) modes: Vec<(Isolation, Extractor)>,
}

impl Subject {
    pub(super) fn load(
        path: PathBuf,
        pipeline: &Pipeline,
        isolations: &[Isolation],
    ) -> Result<Self, CliError> {
        let bundle =
            bundle::load(&path, &Expect::default(), pipeline).map_err(CliError::refused)?;
        let mode = |isolation: &Isolation| {
            extractor(&bundle, pipeline, *isolation).map(|extractor| (*isolation, extractor))
        };
        let modes = isolations.iter().map(mode).collect::<Result<_, _>>()?;
        Ok(Self { path, bundle, modes })
    }

    pub(super) fn name(&self) -> &str {
        self.bundle.manifest().function_name()
    }

    pub(super) fn event_types(&self) -> &[String] {
        self.bundle.manifest().event_types()
    }

    /// Whether an instance of it may serve more than one event.
    pub(super) fn is_reset_safe(&self) -> bool {
        self.bundle.module().extractor().is_reset_safe()
    }

    pub(super) fn plan(&self) -> Option<&Plan> {
        self.bundle.module().plan()
    }

    /// Runs every event once. Those that fail are not measured.
    pub(super) fn warm_up<'e>(&self, events: &'e Events, of: &[usize]) -> Warm<'e> {
        let mut runner = self.bundle.runner();
        let mut warm = Warm::default();
        let mut digest = Sha256::new();
        for event in of.iter().filter_map(|index| events.held.get(*index)) {
            let Event { line, text } = event;
            match runner.run(text) {
                Err(error) => warm.rejects.add(*line, &error),
                Ok(outcome) => {
                    warm.events.push(text);
                    warm.bytes += text.len() as u64;
                    warm.result_bytes += outcome.json.len() as u64;
                    warm.empty += u64::from(outcome.shape.is_empty());
                    warm.fuel += outcome.fuel;
                    warm.most_fuel = warm.most_fuel.max(outcome.fuel);
                    digest.update((text.len() as u64).to_le_bytes());
                    digest.update(text);
                }
            }
        }
        warm.sha256 = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        warm
    }
}

/// The extractor of a bundle in a mode, in the same engine.
fn extractor(
    bundle: &Bundle,
    pipeline: &Pipeline,
    isolation: Isolation,
) -> Result<Extractor, CliError> {
    let (admitted, sandbox) = (bundle.module(), pipeline.sandbox());
    if isolation == sandbox.isolation() {
        return Ok(admitted.extractor().clone());
    }
    let sandbox = sandbox
        .for_tenant(sandbox.limits().clone(), isolation)
        .and_then(|found| found.with_wasi(sandbox.wasi().clone()))
        .map_err(CliError::refused)?;
    let withheld = pipeline.policy().withheld(admitted.inspected().section());
    let extractor = sandbox.load(admitted.inspected()).map_err(CliError::refused)?;
    Ok(extractor.withholding(withheld))
}

/// The events of a bundle that are measured, and what became of all of them.
#[derive(Default)]
pub(super) struct Warm<'e> {
    pub(super) events: Vec<&'e [u8]>,
    pub(super) rejects: Rejects,
    bytes: u64,
    result_bytes: u64,
    empty: u64,
    fuel: u64,
    most_fuel: u64,
    sha256: String,
}

impl Warm<'_> {
    pub(super) fn mean_bytes(&self) -> f64 {
        self.bytes as f64 / self.events.len().max(1) as f64
    }

    /// Whether the extractor declined every event.
    pub(super) fn is_all_declined(&self) -> bool {
        self.empty == self.events.len() as u64
    }

    pub(super) fn figures(&self) -> EventFigures {
        EventFigures {
            count: self.events.len() as u64,
            bytes: self.bytes,
            result_bytes: self.result_bytes,
            empty: self.empty,
            rejected: self.rejects.counts(),
            sha256: self.sha256.clone(),
        }
    }

    pub(super) fn fuel(&self) -> Fuel {
        Fuel {
            total: self.fuel,
            most: self.most_fuel,
            per_event: fine(self.fuel as f64 / self.events.len().max(1) as f64),
            per_byte: fine(self.fuel as f64 / self.bytes.max(1) as f64),
        }
    }
}
