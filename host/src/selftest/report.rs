//! What came of the corpus.

use serde::Serialize;

/// What came of one case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseReport {
    /// The case: its folder and its name, `stall/loop`.
    pub case: String,
    /// What it tries, in one line.
    pub attack: String,
    /// `per-event`, `per-batch` or `warm`.
    pub isolation: &'static str,
    /// `on-demand` or `pooling`.
    pub allocator: &'static str,
    /// The code that has to stop it; `ok` for an attack that is to have no effect.
    pub expected: String,
    /// The code that it ended in, or `ok`; `panic`, or `hang` for a case that didn't end in time.
    pub observed: String,
    /// What stopped it: the field of [`Limits`](crate::sandbox::Limits) or
    /// [`StructuralLimits`](crate::gate::inspect::StructuralLimits) where there is one, else the gate and what it looked
    /// at, such as `inspect: imports`. `None` where nothing had to.
    pub limit: Option<String>,
    /// How much of the limit it used, in the limit's unit.
    pub used: Option<u64>,
    /// How much was allowed.
    pub allowed: Option<u64>,
    /// How long it took, all its repetitions included, in milliseconds.
    pub ms: f64,
    /// Whether it was stopped.
    pub ok: bool,
    /// Why not.
    pub reason: Option<String>,
}

/// A case that couldn't be tried on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The case.
    pub case: String,
    /// What is missing.
    pub reason: String,
}

/// What came of all cases that were selected.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CorpusReport {
    /// The cases that were tried, in the corpus's order.
    pub cases: Vec<CaseReport>,
    /// The others.
    pub skipped: Vec<Skipped>,
}

impl CorpusReport {
    /// Whether every case that was tried was stopped, and at least one was tried.
    #[must_use]
    pub fn ok(&self) -> bool {
        !self.cases.is_empty() && self.cases.iter().all(|case| case.ok)
    }

    /// The cases that weren't stopped.
    pub fn failures(&self) -> impl Iterator<Item = &CaseReport> {
        self.cases.iter().filter(|case| !case.ok)
    }
}
