//! Cases that are a good bundle with something done to its directory: one step a line.

use super::Case;
use super::attempt::Attempt;
use super::good_bundle::GoodBundle;
use super::setting::Setting;

pub(super) fn attempt(setting: &Setting, case: &Case) -> Result<Attempt, Attempt> {
    let good = GoodBundle::store(setting)?;
    if let Some(step) = case.body()?.lines().next() {
        return Err(Attempt::failed(format!("there is no step `{step}`")));
    }
    good.attempt()
}
