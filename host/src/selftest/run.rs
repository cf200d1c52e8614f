//! Sets the cases off, one after the other, and judges them.

use std::any::Any;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::attempt::{CaseAttempt, unsaid};
use super::honest::Honest;
use super::memory::Resident;
use super::setting::Setting;
use super::{Case, CaseKind, CaseReport, Config, CorpusReport, SelftestError, Skipped};
use super::{answer, bundle, event, guest, manifest, plan, result, stopped};
use crate::diagnostics::untrusted::{escaped, is_hidden};
use crate::sandbox::ForeignModules;

/// The stack of the thread that a case runs on: what the standard library gives threads.
const STACK_BYTES: usize = 2 << 20;

/// How long a case may take besides its deadlines: for compiling, and for machines with more to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// What stops a module that is too much for a compiler in a process of its own. In this one, nothing would.
const COMPILER_CODES: [&str; 3] =
    ["compile_deadline_exceeded", "compile_memory_exceeded", "helper_failed"];

/// How many deadlines a case may take: each of its events may run into one.
const PATIENT_DEADLINES: u32 = 20;

/// Runs those of `cases` that `config` selects. `watch` is notified of each when it has been judged.
///
/// Cases run on a thread of their own each, one at a time: the next one is taken when the last one has been judged. A case that
/// doesn't end is given up, and its thread with it.
///
/// # Errors
/// [`SelftestError`], when nothing can be said about the cases: the honest tenant doesn't run as configured, or the
/// system has no thread.
pub fn run<'c>(
    cases: impl IntoIterator<Item = &'c Case>,
    config: &Config,
    mut watch: impl FnMut(&CaseReport),
) -> Result<CorpusReport, SelftestError> {
    let setting = Arc::new(Setting::new(config)?);
    let mut honest = Honest::new(&setting)?;
    let mut resident = config.watch_memory.then(Resident::now).flatten();
    let mut report = CorpusReport::default();
    for case in cases.into_iter().filter(|case| config.selects(case)) {
        if let Some(reason) = lacking(case, config) {
            let reason = reason.to_owned();
            report.skipped.push(Skipped { case: case.name().to_owned(), reason });
            continue;
        }
        let start = Instant::now();
        let ended = alone(&setting, case)?;
        let elapsed = start.elapsed();
        let mut around = honest.fault();
        if around.is_none()
            && !matches!(ended, Ended::Hangs)
            && let Some(resident) = &mut resident
        {
            around = resident.fault(|| alone(&setting, case).map(drop))?;
        }
        let judged = judge(case, config, ended, around, elapsed);
        watch(&judged);
        report.cases.push(judged);
    }
    Ok(report)
}

/// What a case needs and the configuration doesn't have.
fn lacking(case: &Case, config: &Config) -> Option<&'static str> {
    let in_process = config.options.foreign == ForeignModules::InProcess;
    if case.needs_rustc() && config.rustc.is_none() {
        Some("no rustc for wasm32-wasip1 is named")
    } else if case.needs_rustc() && !matches!(config.options.foreign, ForeignModules::Helper(_)) {
        Some("there is no helper to confine the compiler")
    } else if in_process && COMPILER_CODES.contains(&case.expect()) {
        Some("modules are compiled in this process, which it would harm")
    } else {
        None
    }
}

/// How a thread ended.
enum Ended {
    /// By itself.
    Well(CaseAttempt),
    /// By a panic, with this message.
    Panicked(String),
    /// Not yet.
    Hangs,
}

/// Sets one case off on a thread of its own.
fn alone(setting: &Arc<Setting>, case: &Case) -> Result<Ended, SelftestError> {
    let deadline = case.limits(&setting.config().options.limits).deadline();
    let patience = deadline.saturating_mul(PATIENT_DEADLINES).saturating_add(PATIENCE);
    let (done, wait) = sync_channel(1);
    let (setting, case) = (Arc::clone(setting), case.clone());
    let thread = thread::Builder::new()
        .name(format!("case {}", escaped(case.name())))
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let attempt = attempt(&setting, &case);
            // Whoever waits may have given up.
            let _ = done.send(attempt);
        })?;
    Ok(match wait.recv_timeout(patience) {
        Ok(attempt) => {
            // The thread has sent what it had to say, so that it ends now; what it held is free when it has.
            let _ = thread.join();
            Ended::Well(attempt)
        }
        Err(RecvTimeoutError::Disconnected) => Ended::Panicked(match thread.join() {
            Ok(()) => "its thread ended without a result".to_owned(),
            Err(payload) => message(payload.as_ref()),
        }),
        Err(RecvTimeoutError::Timeout) => Ended::Hangs,
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied());
    escaped(text.unwrap_or("a panic without a message"))
}

fn attempt(setting: &Setting, case: &Case) -> CaseAttempt {
    let attempt = match case.kind() {
        CaseKind::Wat => guest::from_text(setting, case),
        CaseKind::Module => guest::from_hexadecimal(setting, case),
        CaseKind::Rust => guest::from_rust(setting, case),
        CaseKind::Source => guest::from_source(setting, case),
        CaseKind::Plan => plan::attempt(setting, case),
        CaseKind::Event => event::attempt(setting, case),
        CaseKind::Result => result::attempt(setting, case),
        CaseKind::Answer => answer::attempt(setting, case),
        CaseKind::Manifest => manifest::attempt(setting, case),
        CaseKind::Bundle => bundle::attempt(setting, case),
    };
    // Both are attempts: one that came to its end, and one that was stopped on the way.
    attempt.unwrap_or_else(|stopped| stopped)
}

fn judge(
    case: &Case,
    config: &Config,
    ended: Ended,
    around: Option<String>,
    elapsed: Duration,
) -> CaseReport {
    let (observed, mut faults, problem) = match ended {
        Ended::Well(attempt) => (attempt.code(), attempt.faults, attempt.problem),
        Ended::Panicked(message) => ("panic", vec![format!("panicked: {message}")], None),
        Ended::Hangs => ("hang", vec![format!("did not end in {} s", elapsed.as_secs())], None),
    };
    let (expect, is_exact) = (case.expect(), config.is_exact());
    let is_stopped = observed == expect || (!is_exact && observed != "ok");
    if !is_stopped && faults.is_empty() {
        let message = problem.as_ref().map(|problem| format!(": {}", problem.message));
        faults.push(format!("expected {expect}, got {observed}{}", message.unwrap_or_default()));
    }
    if let Some(problem) = &problem {
        if problem
            .message
            .chars()
            .chain(problem.path.iter().flat_map(|path| path.chars()))
            .any(is_hidden)
        {
            faults
                .push(format!("what is said isn't one line of plain text: {:?}", problem.message));
        }
        if observed == expect && is_exact {
            faults.extend(unsaid(case, problem));
        }
    }
    faults.extend(around);
    CaseReport {
        case: case.name().to_owned(),
        attack: case.attack().to_owned(),
        isolation: config.options.isolation.as_str(),
        allocator: config.options.allocator.as_str(),
        expected: expect.to_owned(),
        observed: observed.to_owned(),
        limit: problem.as_deref().map(stopped::by),
        used: problem.as_ref().and_then(|problem| problem.used),
        allowed: problem.as_ref().and_then(|problem| problem.allowed),
        ms: elapsed.as_secs_f64() * 1e3,
        ok: faults.is_empty(),
        reason: (!faults.is_empty()).then(|| faults.join("; ")),
    }
}
