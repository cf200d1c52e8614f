//! Cases that are events: they go to an extractor that this host rendered and to one that it didn't.

use super::Case;
use super::attempt::CaseAttempt;
use super::expand::unescaped;
use super::guest::serve;
use super::honest::{EVENTS, GUEST};
use super::setting::Setting;
use crate::sandbox::ForeignModules;

/// Both get the event; it has to be stopped by one at least, and by none in another way.
pub(super) fn attempt(setting: &Setting, case: &Case) -> Result<CaseAttempt, CaseAttempt> {
    let bad = unescaped(&case.body()?);
    let good = EVENTS.lines().next().unwrap_or_default().as_bytes();
    let sandbox = setting.sandbox(case)?;
    let rendered = setting.rendered().map_err(|error| CaseAttempt::rejected(&error, case))?;
    let extractor = sandbox.load(&rendered)?;
    let mut attempt = serve(setting, case, &extractor, [&bad, good]);
    if setting.config().options.foreign != ForeignModules::Refuse {
        let inspected = setting.inspected(case, &Setting::compiled(GUEST)?)?;
        let foreign = serve(setting, case, &sandbox.load(&inspected)?, [&bad, good]);
        attempt = attempt.and(foreign);
    }
    Ok(attempt)
}
