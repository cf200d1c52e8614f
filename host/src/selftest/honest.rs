//! The honest tenant, whose results must never change: a rendered extractor and one that this host did not render, both
//! on the engine that hostile guests run in.

use super::SelftestError;
use super::setting::Setting;
use crate::bundle::pipeline::{Pipeline, PipelineError};
use crate::gate::inspect::{StructuralLimits, inspect};
use crate::render::compile::compile_text;
use crate::sandbox::{ForeignModules, Runner};

/// The extractor that this host did not render: it answers with the number `k`.
pub(super) const GUEST: &str = include_str!("honest/guest.wat");
/// The events.
pub(super) const EVENTS: &str = include_str!("honest/events.ndjson");

/// The honest tenant's runners, and what they gave when nobody had done any harm.
#[derive(Debug)]
pub(super) struct Honest {
    tenants: Vec<Tenant>,
}

#[derive(Debug)]
struct Tenant {
    name: &'static str,
    runner: Runner,
    expected: Vec<Vec<u8>>,
}

impl Honest {
    pub(super) fn new(setting: &Setting) -> Result<Self, SelftestError> {
        let pipeline = Pipeline::from(setting.engine().clone());
        let accepted = setting.accept(&pipeline)?;
        let mut tenants = vec![Tenant::new("rendered", accepted.smoked().extractor().runner())?];
        if setting.config().options.foreign != ForeignModules::Refuse {
            let wasm = compile_text(GUEST).map_err(PipelineError::from)?;
            let inspected =
                inspect(&wasm, &StructuralLimits::default()).map_err(PipelineError::from)?;
            let extractor = setting.engine().load(&inspected)?;
            tenants.push(Tenant::new("foreign", extractor.runner())?);
        }
        Ok(Self { tenants })
    }

    /// What has changed for the honest tenant, if anything.
    pub(super) fn fault(&mut self) -> Option<String> {
        self.tenants.iter_mut().find_map(Tenant::fault)
    }
}

impl Tenant {
    fn new(name: &'static str, mut runner: Runner) -> Result<Self, SelftestError> {
        let result =
            |event: &str| Ok::<_, SelftestError>(runner.run(event.as_bytes())?.json.to_vec());
        let expected = EVENTS.lines().map(result).collect::<Result<_, _>>()?;
        Ok(Self { name, runner, expected })
    }

    fn fault(&mut self) -> Option<String> {
        let Self { name, runner, expected } = self;
        runner.begin_batch();
        EVENTS.lines().zip(expected).enumerate().find_map(|(index, (event, expected))| match runner
            .run(event.as_bytes())
        {
            Ok(outcome) if outcome.json == expected.as_slice() => None,
            Ok(_) => Some(format!("the honest {name} extractor: event {index}: another result")),
            Err(error) => Some(format!("the honest {name} extractor: event {index}: {error}")),
        })
    }
}
