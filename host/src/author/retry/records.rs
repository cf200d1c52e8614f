//! What the loop writes down, and what it hands out at the end.

use std::time::{Duration, Instant};

use tracing::info;

use super::attempt::{Attempt, AttemptKind, AttemptRecord};
use super::run::LoopRun;
use super::usage::Tokens;
use super::{Gates, History, LoopError, LoopOutcome, Reason, Rejection};
use crate::diagnostics::problem::Coded as _;

/// How many findings are kept of an attempt. An answer of some megabytes may hold as many faults as it has bytes.
const MAX_FINDINGS: usize = 100;

/// An attempt whose end isn't recorded yet.
pub(super) struct Open {
    pub(super) record: AttemptRecord,
    began: Instant,
}

impl<G: Gates> LoopRun<'_, '_, G> {
    /// Begins the next attempt.
    pub(super) fn open(&self, kind: AttemptKind, response: String) -> Open {
        let number = self.history.attempts.len() + 1;
        let record = AttemptRecord {
            number,
            kind,
            backend: self.phase.language,
            prompt: None,
            response,
            failure: None,
            diagnostic: None,
            findings: Vec::new(),
            findings_left_out: 0,
            cannot_express: Vec::new(),
            patch: None,
            changes: Vec::new(),
            usage: Tokens::default(),
        };
        Open { record, began: Instant::now() }
    }

    pub(super) fn record(
        &mut self,
        open: &Open,
        rejection: Option<&Rejection>,
        diagnostic: Option<String>,
    ) {
        let mut record = AttemptRecord { diagnostic, ..open.record.clone() };
        if let Some(rejection) = rejection {
            record.failure = Some(rejection.record(record.backend));
            record.findings = rejection.findings.iter().take(MAX_FINDINGS).cloned().collect();
            record.findings_left_out = rejection.findings.len() - record.findings.len();
        }
        let attempt = Attempt { record, ms: millis(open.began.elapsed()) };
        let AttemptRecord { number, kind, failure, usage, .. } = &attempt.record;
        let code = failure.as_ref().map(|failure| failure.code.as_str());
        info!(number, ?kind, code, tokens = usage.total(), "attempt");
        if let Some(watch) = &self.config.watch {
            watch(&attempt);
        }
        self.history.attempts.push(attempt);
    }

    /// Ends with an attempt that failed.
    pub(super) fn stop(
        &mut self,
        reason: Reason,
        open: &Open,
        rejection: &Rejection,
    ) -> LoopOutcome<G::Accepted> {
        self.record(open, Some(rejection), None);
        self.last_diagnostic = Some(rejection.diagnostic.clone());
        self.give_up(reason)
    }

    /// Ends without anything that passed, or with the plan that was kept.
    pub(super) fn give_up(&mut self, reason: Reason) -> LoopOutcome<G::Accepted> {
        info!(reason = reason.as_str(), "nothing more passed");
        if let Some(accepted) = self.kept.take() {
            return LoopOutcome::accepted_as(accepted, self.ended());
        }
        LoopOutcome::stopped(reason, self.last_diagnostic.take(), self.ended())
    }

    /// The plan that was kept, where what came after it could not be done.
    pub(super) fn or_kept(
        &mut self,
        ended: Result<LoopOutcome<G::Accepted>, LoopError>,
    ) -> Result<LoopOutcome<G::Accepted>, LoopError> {
        match (ended, self.kept.take()) {
            (Err(error), Some(accepted)) => {
                info!(code = error.code(), "nothing more could be tried");
                Ok(LoopOutcome::accepted_as(accepted, error.history().clone()))
            }
            (ended, _) => ended,
        }
    }

    /// What was done, at the end.
    pub(super) fn ended(&mut self) -> History {
        let mut history = std::mem::take(&mut self.history);
        history.wall_ms = millis(self.budget.elapsed());
        history
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
