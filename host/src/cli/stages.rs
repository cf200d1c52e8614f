//! The stages of a report, with what each took.

use retort::bundle::StageTime;
use retort::diagnostics::Stage;
use serde::Serialize;

use super::output;

/// One stage in a report.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct StageReport {
    pub(super) stage: Stage,
    pub(super) ok: bool,
    pub(super) ms: f64,
}

impl From<StageTime> for StageReport {
    fn from(time: StageTime) -> Self {
        Self { stage: time.stage, ok: time.ok, ms: output::milliseconds(time.elapsed) }
    }
}

impl StageReport {
    /// This stage on stderr.
    pub(super) fn say(self) {
        let Self { stage, ok, ms } = self;
        let word = if ok { "ok" } else { "failed" };
        output::say(format_args!("{stage:<8} {word:<6} {ms:>9.3} ms", stage = stage.as_str()));
    }
}
