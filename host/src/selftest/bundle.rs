//! Cases that are a good bundle with something done to its directory: one step a line.

use super::Case;
use super::attempt::Attempt;
use super::good_bundle::GoodBundle;
use super::setting::Setting;
use super::step::Step;
use crate::bundle::{Expect, discover};
use crate::problem::{Coded as _, Problem, Stage};

/// Takes the steps of a case, then loads the bundle by itself and with the whole directory of bundles. What is refused by
/// itself has to be refused among others; where it isn't, what else is refused there is what the case is about.
pub(super) fn attempt(setting: &Setting, case: &Case) -> Result<Attempt, Attempt> {
    let good = GoodBundle::store(setting)?;
    for line in case.body()?.lines() {
        Step::parse(line)
            .and_then(|step| step.take(&good))
            .map_err(|reason| Attempt::failed(format!("`{}`: {reason}", shown(line))))?;
    }
    let found = discover(good.root(), &Expect::default(), None, good.pipeline());
    let failures = found.failures.iter();
    match good.attempt() {
        Ok(passed) => failures.into_iter().next().map_or(Ok(passed), |failure| {
            Err(Attempt::stopped(Problem::new(Stage::Bundle, failure.code(), failure.to_string())))
        }),
        Err(stopped) if failures.into_iter().any(|failure| failure.code() == stopped.code()) => {
            Err(stopped)
        }
        Err(stopped) => Err(Attempt::failed(format!(
            "{} by itself, but not among the bundles of its directory",
            stopped.code()
        ))),
    }
}

/// As much of a step as fits a line.
fn shown(line: &str) -> String {
    crate::untrusted::escaped(line)
}
