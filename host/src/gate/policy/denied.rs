//! A refusal.

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::finding::Finding;
use crate::diagnostics::listing::push_list;
use crate::diagnostics::problem::{Coded, Problem};

/// What a plan or a module reads and may not: at least one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Denied {
    findings: Vec<Finding>,
}

impl Denied {
    pub(super) fn unless_empty(findings: Vec<Finding>) -> Result<(), Self> {
        if findings.is_empty() { Ok(()) } else { Err(Self { findings }) }
    }

    /// All of it, in the order of what was checked.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// All of it as problems, for a report.
    pub fn problems(&self) -> impl Iterator<Item = Problem> {
        self.findings.iter().map(Problem::from)
    }

    /// What a model gets: each place with the reason, ten at most, the rest counted.
    #[must_use]
    pub fn diagnostic(&self) -> String {
        let total = self.findings.len();
        let plural = if total == 1 { "" } else { "s" };
        let mut text = format!("Field policy failed ({total} issue{plural}):");
        let entries = self.findings.iter().map(|finding| {
            let Finding { code, pointer, observed, .. } = finding;
            let mut entry = format!("{pointer}: {code}: {observed}");
            let removed = finding.patch().into_iter().flat_map(|patch| patch.0.iter());
            for operation in removed {
                entry.push_str(&format!("\n    Suggested: remove {}.", operation.path()));
            }
            entry
        });
        push_list(&mut text, "  ", "", total, entries);
        text
    }
}

impl std::fmt::Display for Denied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, Finding { pointer, observed, .. }) in self.findings.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{pointer}: {observed}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Denied {}

impl Coded for Denied {
    fn entry(&self) -> Code {
        self.findings.first().map_or(codes::PATH_DENIED, |finding| finding.code)
    }
}
