//! Reports in JUnit's format, which CI services show.

use std::path::Path;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use retort::diagnostics::visible;

use super::error::CliError;

/// A report of one command.
pub(super) struct Junit(Report);

/// One thing that was tested.
pub(super) struct JunitCase {
    pub(super) name: String,
    pub(super) ms: Option<f64>,
    pub(super) verdict: JunitVerdict,
}

/// What came of it.
pub(super) enum JunitVerdict {
    Passed,
    Failed(JunitFailure),
    /// It couldn't be tried; why.
    Skipped(String),
}

impl From<Option<JunitFailure>> for JunitVerdict {
    fn from(failure: Option<JunitFailure>) -> Self {
        failure.map_or(Self::Passed, Self::Failed)
    }
}

/// Why it failed.
#[derive(Clone)]
pub(super) struct JunitFailure {
    /// The stable code.
    pub(super) code: String,
    /// In a line.
    pub(super) message: String,
    /// Each on a line of its own.
    pub(super) details: Vec<String>,
}

impl Junit {
    /// The report of a command, without a suite yet.
    pub(super) fn new(command: &str) -> Self {
        Self(Report::new(command))
    }

    /// Adds a suite, if it has cases.
    pub(super) fn suite(&mut self, name: &str, cases: impl IntoIterator<Item = JunitCase>) {
        let name = &*visible(name);
        let mut suite = TestSuite::new(name);
        let mut total = 0.0;
        for case in cases {
            total += case.ms.unwrap_or_default();
            suite.add_test_case(case.tested(name));
        }
        if !suite.test_cases.is_empty() {
            suite.set_time(duration(total));
            self.0.add_test_suite(suite);
        }
    }

    /// Writes the report to a file. What doesn't show is spelled out.
    pub(super) fn write(&self, path: &Path) -> Result<(), CliError> {
        let refused = |source| CliError::FileNotWritable { path: path.to_owned(), source };
        let text = self.0.to_string().map_err(|error| refused(std::io::Error::other(error)))?;
        std::fs::write(path, text).map_err(refused)
    }
}

impl JunitCase {
    fn tested(self, class: &str) -> TestCase {
        let status = match self.verdict {
            JunitVerdict::Passed => TestCaseStatus::success(),
            JunitVerdict::Skipped(reason) => {
                let mut status = TestCaseStatus::skipped();
                status.set_message(&*visible(&reason));
                status
            }
            JunitVerdict::Failed(JunitFailure { code, message, details }) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_type(code).set_message(&*visible(&message));
                if !details.is_empty() {
                    status.set_description(&*visible(&details.join("\n")));
                }
                status
            }
        };
        let mut test = TestCase::new(&*visible(&self.name), status);
        test.set_classname(class);
        if let Some(ms) = self.ms {
            test.set_time(duration(ms));
        }
        test
    }
}

/// Milliseconds, which are never negative here, as a duration.
fn duration(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}
