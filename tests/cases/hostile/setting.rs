//! A setting of the corpus, and the process that cases are run in.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use serde_json::Value;

use crate::support::rustc;

/// An isolation mode with an allocator.
pub(super) struct Setting {
    argument: &'static str,
    isolation: &'static str,
    allocator: &'static str,
    worker: Mutex<Option<Worker>>,
}

struct Worker {
    process: Child,
    cases: ChildStdin,
    reports: BufReader<ChildStdout>,
}

impl Setting {
    /// `argument` makes a worker of this program.
    pub(super) fn new(
        argument: &'static str,
        isolation: &'static str,
        allocator: &'static str,
    ) -> Self {
        Self { argument, isolation, allocator, worker: Mutex::new(None) }
    }

    /// Whether no case is running.
    pub(super) fn is_free(&self) -> bool {
        !matches!(self.worker.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// Runs a case and gives its report; or what became of the worker, in whose place the next case gets another one.
    pub(super) fn run(&self, case: &str) -> Result<Value, String> {
        let mut worker = self.worker();
        let mut running = match worker.take() {
            Some(running) => running,
            None => self.start().map_err(|error| format!("no worker: {error}"))?,
        };
        match running.run(case) {
            Ok(report) => {
                *worker = Some(running);
                Ok(report)
            }
            Err(error) => {
                let _ = running.process.kill();
                Err(format!("the worker: {error}; {:?}", running.process.wait()))
            }
        }
    }

    fn worker(&self) -> MutexGuard<'_, Option<Worker>> {
        self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self) -> std::io::Result<Worker> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([self.argument, self.isolation, self.allocator]);
        if let Some(rustc) = rustc() {
            command.env("RETORT_RUSTC", rustc);
            // Where the compiled SDK is kept: not among what this user keeps.
            command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
        }
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let piped = "both ends are piped";
        let cases = process.stdin.take().expect(piped);
        let reports = BufReader::new(process.stdout.take().expect(piped));
        Ok(Worker { process, cases, reports })
    }
}

impl Worker {
    fn run(&mut self, case: &str) -> std::io::Result<Value> {
        writeln!(self.cases, "{case}")?;
        let mut report = String::new();
        self.reports.read_line(&mut report)?;
        Ok(serde_json::from_str(&report)?)
    }
}

impl Drop for Setting {
    /// Ends the worker: it has no more to read.
    fn drop(&mut self) {
        if let Some(Worker { mut process, cases, .. }) = self.worker().take() {
            drop(cases);
            let _ = process.wait();
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.isolation, self.allocator)
    }
}
