//! Cases that are a good bundle with something done to its directory: one step a line.

use super::Case;
use super::attempt::CaseAttempt;
use super::setting::Setting;
use super::step::CaseStep;
use crate::bundle::{Expect, discover};
use crate::diagnostics::problem::{Coded as _, Problem, Stage};
use crate::diagnostics::untrusted::escaped;

/// Takes the steps of a case, then loads the bundle by itself; and where that goes well, with the whole directory of bundles:
/// what is refused then is what the case is about.
pub(super) fn attempt(setting: &Setting, case: &Case) -> Result<CaseAttempt, CaseAttempt> {
    let good = setting.good_bundle()?.copy()?;
    for line in case.body()?.lines() {
        CaseStep::parse(line)
            .and_then(|step| step.take(&good))
            .map_err(|reason| CaseAttempt::failed(format!("`{}`: {reason}", escaped(line))))?;
    }
    let attempt = good.attempt()?;
    let found = discover(good.root(), &Expect::default(), None, good.pipeline());
    match found.failures.first() {
        None => Ok(attempt),
        Some(failure) => Err(CaseAttempt::stopped(Problem::new(
            Stage::Bundle,
            failure.entry(),
            failure.to_string(),
        ))),
    }
}
