//! The sample run: an extractor over sample events, in the sandbox, with its results checked.
//!
//! Each event counts by itself, as it will when the bundle serves. What an event gives must be a result of the ABI, must
//! be what the plan means (the native evaluator says what that is) and must fit the graph spec.

mod report;

use std::collections::BTreeSet;

use serde_json::Value;
use thiserror::Error;

pub use crate::diagnostics::diagnose::{SmokeReport, ValidationFailure};
pub use crate::evidence::{Sample, Samples, SamplesError};
pub use report::{SampleFailure, SampleRun};

use crate::abi::block::{BlockError, FuelUse};
use crate::abi::result::ResultError;
use crate::abi::section::{InputKind, Section};
use crate::bundle::coverage::Given;
use crate::diagnostics::codes;
use crate::diagnostics::problem::{Coded, Problem, Stage};
use crate::diagnostics::untrusted::escaped;
use crate::evidence::effort::Cancel;
use crate::graph::extraction::Extraction;
use crate::graph::spec::GraphSpec;
use crate::graph::validate::{ValidateOptions, validate};
use crate::plan::{EVENT_TYPE, EventPattern, Plan, Role, oracle};
use crate::sandbox::{Extractor, Limits, RunError, Runner};

/// Problems that are kept as data; the report counts all of them.
const MAX_PROBLEMS: usize = 100;

/// Fuel that the samples of a run may have taken together when another one is run: 2,000,000,000, a second or two with the native
/// evaluation beside it. The last one may go beyond it by what one event may take. A thousand samples of the largest plans that
/// are known to us take a tenth of it.
pub const MAX_FUEL: u64 = 2_000_000_000;

/// Failing samples of which is found out where they fail: the others will fail in the same places.
const MAX_TRACED: usize = 10;

/// What the sample run asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SmokeOptions {
    /// How many events have to give a node, an edge or a handled span. Default 1.
    pub min_nonempty_results: u64,
    /// Whether edges may lead to nodes of other events. Default no.
    pub allow_external_endpoints: bool,
}

impl Default for SmokeOptions {
    fn default() -> Self {
        Self { min_nonempty_results: 1, allow_external_endpoints: false }
    }
}

/// An extractor that passed the sample run. Made by [`smoke`] alone.
#[derive(Clone, Debug)]
pub struct Smoked {
    extractor: Extractor,
    report: SmokeReport,
    samples: Vec<SampleRun>,
    skipped: usize,
    max_fuel: u64,
    given: Given,
}

impl Smoked {
    /// The extractor.
    #[must_use]
    pub fn extractor(&self) -> &Extractor {
        &self.extractor
    }

    /// What happened.
    #[must_use]
    pub fn report(&self) -> &SmokeReport {
        &self.report
    }

    /// How each sample went that was run, in their order.
    #[must_use]
    pub fn samples(&self) -> &[SampleRun] {
        &self.samples
    }

    /// How many samples weren't run, because they are of event types that the extractor doesn't declare. None of them where there is a
    /// plan: it says itself which events it is for, and is held to it.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// What the samples gave, as far as it was noted.
    pub(in crate::bundle) fn given(&self) -> &Given {
        &self.given
    }

    /// The most fuel that a sample took.
    #[must_use]
    pub fn max_fuel(&self) -> u64 {
        self.max_fuel
    }
}

/// A sample run that failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the sample run failed: {} of {} events failed, {} gave something, {} validation failures",
    .report.events_with_exception + .report.events_with_wrong_return_type,
    .report.events_processed, .report.events_with_nonempty_result, .report.validation_failures.len())]
pub struct SmokeFailed {
    report: Box<SmokeReport>,
    samples: Vec<SampleRun>,
    problems: Vec<Problem>,
    lines: Vec<Option<usize>>,
}

impl SmokeFailed {
    /// What happened.
    #[must_use]
    pub fn report(&self) -> &SmokeReport {
        &self.report
    }

    /// How each sample went that was run, in their order.
    #[must_use]
    pub fn samples(&self) -> &[SampleRun] {
        &self.samples
    }

    /// The same as data, in the order of the events; at most 100.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The line of the sample that each of these problems is of; `None` where it is of none by itself.
    #[must_use]
    pub fn lines(&self) -> &[Option<usize>] {
        &self.lines
    }
}

/// Why a sample run gave no [`Smoked`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SmokeError {
    /// The extractor failed.
    #[error(transparent)]
    Failed(#[from] SmokeFailed),
    /// The host could not run a sample, for lack of memory or of a place in its pool: nothing is known about the extractor.
    #[error(transparent)]
    Host(RunError),
}

/// Runs `extractor` over `samples`. With a plan, every result is compared with what the plan means; with a graph spec,
/// every result is validated. Without a plan, samples of event types that the extractor doesn't declare aren't run: it is given no such
/// event, and need not look at what it is given.
///
/// # Errors
/// [`SmokeFailed`], when a sample failed, a result didn't fit, too few samples (or, of a declared event type, no sample) gave
/// anything, or those before another one took more than [`MAX_FUEL`] together; [`SmokeError::Host`], when the host could not run one.
pub fn smoke(
    extractor: &Extractor,
    plan: Option<&Plan>,
    samples: &Samples,
    spec: Option<&GraphSpec>,
    options: SmokeOptions,
) -> Result<Smoked, SmokeError> {
    smoke_until(extractor, plan, samples, spec, options, &Cancel::default())
}

/// The same, as long as nobody cancels it: what comes of the rest is of no use.
pub(crate) fn smoke_until(
    extractor: &Extractor,
    plan: Option<&Plan>,
    samples: &Samples,
    spec: Option<&GraphSpec>,
    options: SmokeOptions,
    cancel: &Cancel,
) -> Result<Smoked, SmokeError> {
    let mut run = SmokeRun {
        plan,
        spec,
        options,
        report: SmokeReport {
            min_nonempty_results: options.min_nonempty_results,
            ..SmokeReport::default()
        },
        samples: Vec::new(),
        skipped: 0,
        problems: Vec::new(),
        lines: Vec::new(),
        nonempty: BTreeSet::new(),
        max_fuel: 0,
        given: Given::default(),
        fuel: 0,
        traced: 0,
    };
    let mut runner = extractor.runner().checking_all();
    let declared: Vec<EventPattern> =
        extractor.section().event_types().iter().map(|it| EventPattern::new(it)).collect();
    let is_served = |sample: &Sample| {
        plan.is_some() || declared.iter().any(|it| it.matches(sample.event_type()))
    };
    for sample in samples.iter().take_while(|_| !cancel.is_cancelled()) {
        if !is_served(sample) {
            run.skipped += 1;
            continue;
        }
        if run.fuel > MAX_FUEL {
            run.out_of_fuel(sample, samples.iter().len());
            break;
        }
        run.sample(&mut runner, sample).map_err(SmokeError::Host)?;
    }
    Ok(run.verdict(extractor)?)
}

struct SmokeRun<'a> {
    plan: Option<&'a Plan>,
    spec: Option<&'a GraphSpec>,
    options: SmokeOptions,
    report: SmokeReport,
    samples: Vec<SampleRun>,
    skipped: usize,
    problems: Vec<Problem>,
    /// The lines of the samples that they are of.
    lines: Vec<Option<usize>>,
    nonempty: BTreeSet<&'a str>,
    max_fuel: u64,
    given: Given,
    /// What all samples so far have taken, or may have where they failed.
    fuel: u64,
    /// For how many samples it was asked where the extractor fails.
    traced: usize,
}

impl<'a> SmokeRun<'a> {
    /// Runs a sample and notes how it went.
    ///
    /// # Errors
    /// What the host could not do.
    fn sample(&mut self, runner: &mut Runner, sample: &'a Sample) -> Result<(), RunError> {
        self.report.events_processed += 1;
        self.begin(sample);
        match runner.run(sample.text().as_bytes()) {
            Ok(outcome) => {
                self.max_fuel = self.max_fuel.max(outcome.fuel);
                self.fuel = self.fuel.saturating_add(outcome.fuel);
                let (failed, dropped) = (outcome.failed_conversions, outcome.dropped_duplicates);
                match outcome.extraction(Stage::Smoke) {
                    Ok(extraction) => {
                        self.given.note(self.plan, sample, &extraction, failed, dropped);
                        self.result(sample, &extraction);
                    }
                    Err(problem) => self.exception(sample, problem),
                }
            }
            Err(error) if error.is_of_host() => return Err(error),
            Err(error) => {
                // How much it took isn't known: as much as its event had, or would have where nobody gives more than usual.
                let allowed = |limits: &Limits| limits.fuel(sample.text().len());
                let own = allowed(runner.extractor().sandbox().limits());
                self.fuel = self.fuel.saturating_add(own.min(allowed(&Limits::default())));
                match error.cause() {
                    RunError::Result(error) => self.wrong_return_type(sample, error),
                    RunError::Input(error) => {
                        let problem = self.of_inputs(runner.extractor(), error);
                        self.exception(sample, problem);
                    }
                    RunError::Guest(_) if self.traced < MAX_TRACED => {
                        self.traced += 1;
                        let trace = runner.extractor().trace(sample.text().as_bytes());
                        self.exception(sample, error.with_trace(trace).problem());
                    }
                    _ => self.exception(sample, error.problem()),
                }
            }
        }
        Ok(())
    }

    /// Why the inputs of a sample couldn't be worked out; what took the fuel is named by its place in the plan.
    fn of_inputs(&self, extractor: &Extractor, error: &BlockError) -> Problem {
        let (Some(plan), BlockError::OutOfFuel { used, allowed, costliest }) = (self.plan, error)
        else {
            return error.problem();
        };
        let costliest = costliest.clone().placed(|part| place(plan, extractor.section(), part));
        let first = costliest.parts().first().map(|part| part.place.clone());
        let problem = BlockError::OutOfFuel { used: *used, allowed: *allowed, costliest }.problem();
        match first {
            Some(place) => problem.at(place),
            None => problem,
        }
    }

    fn begin(&mut self, sample: &Sample) {
        self.samples.push(SampleRun {
            line: sample.line(),
            event_type: sample.event_type().to_owned(),
            failure: None,
        });
    }

    /// Notes that this sample and those after it aren't run.
    fn out_of_fuel(&mut self, sample: &Sample, samples: usize) {
        self.begin(sample);
        let message = format!(
            "{} of {samples} samples were run, which took {} of fuel; together they may take {MAX_FUEL}",
            self.report.events_processed, self.fuel,
        );
        let problem = Problem::new(Stage::Smoke, codes::SAMPLES_OUT_OF_FUEL, message);
        self.exception(sample, problem.limit(self.fuel, MAX_FUEL));
    }

    fn result(&mut self, sample: &'a Sample, extraction: &Extraction) {
        if let Some(difference) =
            self.plan.and_then(|plan| mismatch(plan, sample.text(), extraction))
        {
            return self
                .exception(sample, Problem::new(Stage::Smoke, codes::ORACLE_MISMATCH, difference));
        }
        if !extraction.is_empty() {
            self.report.events_with_nonempty_result += 1;
            self.nonempty.insert(sample.event_type());
        }
        let Some(spec) = self.spec else { return };
        let options =
            ValidateOptions { allow_external_endpoints: self.options.allow_external_endpoints };
        for failure in validate(spec, extraction, options).into_failures() {
            let detail = failure.detail.clone();
            let problem = Problem::new(Stage::Graph, failure.code, detail).at(failure.path.clone());
            self.note(sample, problem);
            self.report.validation_failures.push(ValidationFailure {
                scope: failure.scope.as_str().to_owned(),
                code: failure.code.name.to_owned(),
                path: failure.path,
                detail: failure.detail,
            });
        }
    }

    fn exception(&mut self, sample: &Sample, problem: Problem) {
        self.report.events_with_exception += 1;
        self.report.exceptions.push(format!("{}: {}", problem.code, problem.message));
        self.note(sample, problem);
    }

    fn wrong_return_type(&mut self, sample: &Sample, error: &ResultError) {
        self.report.events_with_wrong_return_type += 1;
        self.report.wrong_return_types.push(format!("malformed result: {error}"));
        self.note(
            sample,
            Problem::new(Stage::Smoke, error.entry(), error.to_string()).at(error.path()),
        );
    }

    fn note(&mut self, sample: &Sample, mut problem: Problem) {
        let is_kept = self.problems.len() < MAX_PROBLEMS;
        if let Some(SampleRun { failure, .. }) = self.samples.last_mut() {
            failure.get_or_insert_with(|| SampleFailure {
                code: problem.code.name,
                message: is_kept.then(|| problem.message.clone()),
                used: problem.used,
                allowed: problem.allowed,
            });
        }
        if is_kept {
            problem.message = format!("sample on line {}: {}", sample.line(), problem.message);
            self.problems.push(problem);
            self.lines.push(Some(sample.line()));
        }
    }

    fn verdict(mut self, extractor: &Extractor) -> Result<Smoked, SmokeFailed> {
        self.report.nonempty_event_types =
            self.nonempty.iter().map(|name| (*name).to_owned()).collect();
        let floor = self.options.min_nonempty_results;
        let found = self.report.events_with_nonempty_result;
        if found < floor {
            let message = format!(
                "{found} of {} samples gave something, at least {floor} must",
                self.report.events_processed
            );
            self.problems.push(Problem::new(Stage::Smoke, codes::NONEMPTY_FLOOR, message));
        } else if floor > 0 {
            let declared = extractor.section().event_types();
            let is_silent = |pattern: &&String| {
                let pattern = EventPattern::new(pattern);
                let gave = self.nonempty.iter().any(|event_type| pattern.matches(event_type));
                !gave && !self.plan.is_some_and(|plan| plan.is_unseen_type(&pattern))
            };
            if let Some(silent) = declared.iter().find(is_silent) {
                let message = format!(
                    "no sample of the declared event type \"{}\" gave anything",
                    escaped(silent)
                );
                self.problems.push(Problem::new(
                    Stage::Smoke,
                    codes::EVENT_TYPE_WITHOUT_RESULT,
                    message,
                ));
            }
        }
        if self.problems.is_empty() {
            Ok(Smoked {
                extractor: extractor.clone(),
                report: self.report,
                samples: self.samples,
                skipped: self.skipped,
                max_fuel: self.max_fuel,
                given: self.given,
            })
        } else {
            let Self { report, samples, problems, mut lines, .. } = self;
            lines.resize(problems.len(), None);
            Err(SmokeFailed { report: Box::new(report), samples, problems, lines })
        }
    }
}

/// JSON Pointer to what a part of a section was made of, where the plan has it.
fn place(plan: &Plan, section: &Section, part: FuelUse) -> Option<String> {
    match part {
        FuelUse::Input(index) => match &section.inputs().get(index)?.what {
            InputKind::Value(value) => at(plan.values(), value),
            InputKind::When(condition) => at(plan.conditions(), condition).or_else(|| {
                let of_type = condition.references().iter().all(|it| it.path == [EVENT_TYPE]);
                of_type.then(|| format!("/{EVENT_TYPE}"))
            }),
            InputKind::Truthy(reference) => {
                let mut reads = plan.reads().into_iter();
                reads.find(|read| read.reference == *reference).map(|read| read.pointer)
            }
        },
        FuelUse::Rows(index) => {
            let iteration = &section.rows().get(index)?.iteration;
            if let Some(query) = iteration.query() {
                let mut queries = plan.expressions().into_iter();
                return queries.find(|(_, it)| *it == query).map(|(pointer, _)| pointer);
            }
            let mut reads = plan.reads().into_iter().filter(|read| read.role == Role::ForEach);
            reads
                .find(|read| iteration.paths().contains(&read.reference.path))
                .map(|read| read.pointer)
        }
    }
}

/// Where the first of these is that is `wanted`.
fn at<T: PartialEq>(all: Vec<(String, &T)>, wanted: &T) -> Option<String> {
    all.into_iter().find(|(_, one)| *one == wanted).map(|(pointer, _)| pointer)
}

/// How what the guest gave differs from what the plan means, if it does. Both are compared as canonical JSON.
fn mismatch(plan: &Plan, event: &str, found: &Extraction) -> Option<String> {
    let canonical = |extraction: &Extraction| {
        serde_json::to_value(extraction).map(|value| Value::to_string(&value)).ok()
    };
    let expected = match oracle::eval(plan, event) {
        Ok(expected) => canonical(&expected)?,
        Err(error) => {
            return Some(format!("the plan has no meaning for an event that was run: {error}"));
        }
    };
    let found = canonical(found)?;
    (found != expected).then(|| {
        format!("the plan means {}, the module gave {}", escaped(&expected), escaped(&found))
    })
}
