//! What a candidate is judged by, and who is told how it goes.

use std::fmt;
use std::time::{Duration, Instant};

use tracing::debug;

use super::PipelineError;
use crate::bundle::smoke::SmokeOptions;
use crate::diagnostics::problem::{Coded, Stage};
use crate::evidence::Task;
use crate::evidence::effort::Cancel;

/// What a candidate is judged by. A [`Task`] alone is one, with the defaults for all else.
pub struct Request<'a> {
    pub(super) task: &'a Task,
    pub(super) smoke: SmokeOptions,
    pub(super) cancel: Cancel,
    watch: Option<&'a mut dyn FnMut(StageTime)>,
}

impl<'a> Request<'a> {
    /// A plan for this task, with the defaults for the sample run; nobody is told, and nobody cancels it.
    #[must_use]
    pub fn new(task: &'a Task) -> Self {
        Self { task, smoke: SmokeOptions::default(), cancel: Cancel::default(), watch: None }
    }

    /// What the sample run asks for.
    #[must_use]
    pub fn smoke(mut self, options: SmokeOptions) -> Self {
        self.smoke = options;
        self
    }

    /// Called for each stage when it has ended.
    #[must_use]
    pub fn watch(mut self, watch: &'a mut dyn FnMut(StageTime)) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Who may cancel it: then no further stage is begun, no further sample run, and nothing more searched for.
    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Goes through a stage, unless it was cancelled before.
    pub(super) fn stage<T>(
        &mut self,
        stage: Stage,
        work: impl FnOnce() -> Result<T, PipelineError>,
    ) -> Result<T, PipelineError> {
        unless_cancelled(&self.cancel, stage)?;
        let (outcome, time) = StageTime::of(stage, work);
        let elapsed_us = time.elapsed.as_micros();
        match &outcome {
            Ok(_) => debug!(stage = stage.as_str(), elapsed_us, "passed"),
            Err(error) => {
                debug!(stage = stage.as_str(), elapsed_us, code = error.code(), "rejected")
            }
        }
        if let Some(watch) = &mut self.watch {
            watch(time);
        }
        outcome
    }
}

/// An error if the stage isn't to be begun, or what came of it counts for nothing.
pub(super) fn unless_cancelled(cancel: &Cancel, stage: Stage) -> Result<(), PipelineError> {
    match cancel.is_cancelled() {
        true => Err(PipelineError::Cancelled { stage }),
        false => Ok(()),
    }
}

impl<'a> From<&'a Task> for Request<'a> {
    fn from(task: &'a Task) -> Self {
        Self::new(task)
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, smoke, cancel, watch: _ } = self;
        let mut debug = f.debug_struct("Request");
        debug.field("task", task).field("smoke", smoke).field("cancel", cancel);
        debug.finish_non_exhaustive()
    }
}

/// How one stage went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StageTime {
    /// The stage.
    pub stage: Stage,
    /// Whether it passed.
    pub ok: bool,
    /// How long it took.
    pub elapsed: Duration,
}

impl StageTime {
    /// What comes of a stage, and how it went.
    pub fn of<T, E>(stage: Stage, work: impl FnOnce() -> Result<T, E>) -> (Result<T, E>, Self) {
        let start = Instant::now();
        let outcome = work();
        let time = Self { stage, ok: outcome.is_ok(), elapsed: start.elapsed() };
        (outcome, time)
    }
}
