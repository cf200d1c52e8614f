//! Cases that are plans: through all gates.

use super::Case;
use super::attempt::CaseAttempt;
use super::setting::Setting;
use crate::bundle::pipeline::Request;
use crate::bundle::smoke::SmokeOptions;

pub(super) fn attempt(setting: &Setting, case: &Case) -> Result<CaseAttempt, CaseAttempt> {
    let plan = case.body()?;
    let request = Request { plan: &plan, task: setting.task(), smoke: SmokeOptions::default() };
    let accepted = setting.pipeline(case)?.accept(&request, &mut |_| {});
    CaseAttempt::ended(accepted.map_err(|error| CaseAttempt::rejected(&error, case)))
}
