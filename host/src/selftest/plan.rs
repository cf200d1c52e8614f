//! Cases that are plans: through all gates.

use super::Case;
use super::attempt::Attempt;
use super::setting::Setting;
use crate::bundle::pipeline::Request;
use crate::bundle::smoke::SmokeOptions;

pub(super) fn attempt(setting: &Setting, case: &Case) -> Result<Attempt, Attempt> {
    let plan = case.body()?;
    let request = Request { plan: &plan, task: setting.task(), smoke: SmokeOptions::default() };
    match setting.pipeline(case)?.accept(&request, &mut |_| {}) {
        Ok(_) => Ok(Attempt::passed()),
        Err(error) => Err(Attempt::rejected(&error, case)),
    }
}
