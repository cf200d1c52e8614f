//! Cases that are plans: through all gates.

use super::Case;
use super::attempt::CaseAttempt;
use super::setting::Setting;

pub(super) fn attempt(setting: &Setting, case: &Case) -> Result<CaseAttempt, CaseAttempt> {
    let plan = case.body()?;
    let accepted = setting.pipeline(case)?.accept(&plan, setting.task());
    CaseAttempt::ended(accepted.map_err(|error| CaseAttempt::rejected(&error, case)))
}
