//! What a plan makes of the samples, for whoever compiles or checks it.

use retort::bundle::Coverage;
use retort::diagnostics::Problem;

use super::output;

/// What looks wrong is an error.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(super) struct StrictArg {
    /// Take what looks wrong in what came out of the samples for an error
    #[arg(long)]
    pub(super) strict: bool,
}

impl StrictArg {
    /// The warnings that are errors.
    pub(super) fn errors(self, coverage: &Coverage) -> Vec<Problem> {
        if self.strict { coverage.warnings.clone() } else { Vec::new() }
    }

    /// Shows the coverage on stderr: as a table where nobody has said what to expect, and in any case what looks wrong, unless that is
    /// reported as errors.
    pub(super) fn say(self, origin: &str, coverage: &Coverage, is_expected: bool) {
        if !is_expected {
            output::say(coverage);
        }
        if !self.strict {
            coverage.warnings.iter().for_each(|warning| output::suspect(origin, warning));
        }
    }

    /// Why a plan that passed all gates is turned down all the same; without any value of an event, since a model is told.
    pub(super) fn reason(self, coverage: &Coverage) -> Result<(), String> {
        let errors = self.errors(coverage);
        if errors.is_empty() {
            return Ok(());
        }
        let told = errors.iter().map(|it| {
            let place = it.path.as_deref().map(|path| format!("{path}: ")).unwrap_or_default();
            format!("{}: {place}{}", it.code, it.message)
        });
        Err(format!(
            "what came out of the samples looks wrong: {}",
            told.collect::<Vec<_>>().join("; ")
        ))
    }
}
