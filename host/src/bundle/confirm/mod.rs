//! The gate behind the sample run: whether samples give what is expected of them.
//!
//! The extractor is run once more over the samples of which a person has said what they give, and each result is compared with that.
//! What differs is told with its place in the plan, where it can be worked out which of its rules made it.

mod compare;
mod difference;

use serde::Serialize;
use thiserror::Error;

pub use difference::{Difference, Told};

use crate::bundle::smoke::Smoked;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::finding::describe;
use crate::diagnostics::problem::{Coded, Problem, Stage};
use crate::evidence::effort::Cancel;
use crate::evidence::{Expected, ExpectedSample, Sample, Samples};
use crate::graph::spec::GraphSpec;
use crate::plan::Plan;
use crate::sandbox::{RunError, Runner};
use compare::Comparison;

/// What a text about them begins with.
pub(crate) const DIFFERENCES: &str =
    "Results that differ from what the samples are expected to give";

/// Differences that are kept of all samples together.
const MAX_DIFFERENCES: usize = 1_000;

/// An extractor that gives what is expected of the samples, as far as anything is. Made by this gate alone.
#[derive(Clone, Debug)]
pub struct Confirmed {
    smoked: Smoked,
    runs: Vec<ExpectedRun>,
}

impl Confirmed {
    /// The extractor with the report of the sample run.
    #[must_use]
    pub fn smoked(&self) -> &Smoked {
        &self.smoked
    }

    /// The samples that something was expected of; none where nobody has said.
    #[must_use]
    pub fn runs(&self) -> &[ExpectedRun] {
        &self.runs
    }
}

/// How a sample went that something was expected of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExpectedRun {
    /// The line that the sample is on, from 1.
    pub line: usize,
    /// Its event type.
    pub event_type: String,
    /// In what it differs; empty where it gives what was expected.
    pub problems: Vec<Problem>,
}

/// Results that aren't what was expected.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{} of {} samples give something else than is expected", .runs.iter().filter(|run| !run.problems.is_empty()).count(), .runs.len())]
pub struct Unconfirmed {
    runs: Vec<ExpectedRun>,
    differences: Vec<Difference>,
}

impl Unconfirmed {
    /// The samples that something was expected of.
    #[must_use]
    pub fn runs(&self) -> &[ExpectedRun] {
        &self.runs
    }

    /// What differs, sample by sample; at most 1,000 differences, and at least one.
    #[must_use]
    pub fn differences(&self) -> &[Difference] {
        &self.differences
    }

    /// All of it as a model is shown, the values by the rules by which samples are.
    #[must_use]
    pub fn diagnostic(&self) -> String {
        let findings: Vec<_> = self.differences.iter().map(Difference::shown).collect();
        describe(DIFFERENCES, &findings)
    }
}

impl Coded for Unconfirmed {
    fn entry(&self) -> Code {
        let first = self.runs.iter().find_map(|run| run.problems.first());
        first.map_or(codes::MISSING_NODE, |problem| problem.code)
    }
}

/// Why there is no [`Confirmed`].
#[derive(Debug)]
pub(crate) enum ConfirmError {
    /// The results are others.
    Unconfirmed(Unconfirmed),
    /// The host could not run a sample: nothing is known about the extractor.
    Host(RunError),
}

/// Runs what was expected of samples against what they give. Without a plan nothing is known of where a value is from; without a
/// graph spec each name has to be written as the result has it.
pub(crate) fn confirm(
    smoked: Smoked,
    plan: Option<&Plan>,
    samples: &Samples,
    graph: Option<&GraphSpec>,
    expected: Option<&Expected>,
    cancel: &Cancel,
) -> Result<Confirmed, ConfirmError> {
    let entries = expected.map(Expected::entries).unwrap_or_default();
    let mut gate = Gate {
        runner: smoked.extractor().runner().checking_all(),
        plan,
        graph,
        runs: Vec::new(),
        differences: Vec::new(),
    };
    for entry in entries.iter().take_while(|_| !cancel.is_cancelled()) {
        // The entries name samples; those of another file have none to be held against.
        if let Some(sample) = samples.iter().find(|it| it.line() == entry.sample_line()) {
            gate.sample(sample, entry).map_err(ConfirmError::Host)?;
        }
    }
    let Gate { runs, differences, .. } = gate;
    if runs.iter().all(|run| run.problems.is_empty()) {
        Ok(Confirmed { smoked, runs })
    } else {
        Err(ConfirmError::Unconfirmed(Unconfirmed { runs, differences }))
    }
}

struct Gate<'a> {
    runner: Runner,
    plan: Option<&'a Plan>,
    graph: Option<&'a GraphSpec>,
    runs: Vec<ExpectedRun>,
    differences: Vec<Difference>,
}

impl Gate<'_> {
    fn sample(&mut self, sample: &Sample, entry: &ExpectedSample) -> Result<(), RunError> {
        let found = match self.runner.run(sample.text().as_bytes()) {
            Ok(outcome) => outcome.extraction(Stage::Expected),
            Err(error) if error.is_of_host() => return Err(error),
            Err(error) => Err(error.problem()),
        };
        let problems = match found {
            Ok(result) => {
                let found = Comparison::new(self.plan, self.graph, sample, &result).with(entry);
                let left = MAX_DIFFERENCES.saturating_sub(self.differences.len());
                let problems = found.iter().take(left.max(1)).map(Problem::from).collect();
                self.differences.extend(found.into_iter().take(left));
                problems
            }
            // It went well in the sample run.
            Err(problem) => vec![problem],
        };
        let (line, event_type) = (sample.line(), sample.event_type().to_owned());
        self.runs.push(ExpectedRun { line, event_type, problems });
        Ok(())
    }
}
