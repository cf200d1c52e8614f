//! Cases that are guests: through the static gate, into the sandbox, and over events.

use std::time::{Duration, Instant};

use super::Case;
use super::attempt::CaseAttempt;
use super::setting::Setting;
use crate::diagnostics::problem::{Coded, Problem};
use crate::gate::source::{SourceLimits, vet};
use crate::sandbox::{Extractor, Runner, RustcLimits};

/// How many times its deadline an event may take, besides five seconds: a machine may have more to do.
const DEADLINES: u32 = 4;

/// A guest in the text format.
pub(super) fn from_text(setting: &Setting, case: &Case) -> Result<CaseAttempt, CaseAttempt> {
    from_bytes(setting, case, &Setting::compiled(&case.body()?)?)
}

/// A guest as the digits of its bytes.
pub(super) fn from_hexadecimal(setting: &Setting, case: &Case) -> Result<CaseAttempt, CaseAttempt> {
    from_digits(setting, case, &case.body()?.split_whitespace().collect::<String>())
}

/// A guest in Rust, which was compiled when it was added: so it is the same everywhere, and needs no compiler.
pub(super) fn from_rust(setting: &Setting, case: &Case) -> Result<CaseAttempt, CaseAttempt> {
    let digits = case.digits();
    let digits = digits.ok_or_else(|| CaseAttempt::failed("there is no `.hex` beside it"))?;
    from_digits(setting, case, &digits)
}

fn from_digits(setting: &Setting, case: &Case, digits: &str) -> Result<CaseAttempt, CaseAttempt> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
    let odd = !digits.len().is_multiple_of(2);
    match bytes.filter(|_| !odd) {
        Some(bytes) => from_bytes(setting, case, &bytes),
        None => Err(CaseAttempt::failed("the body isn't pairs of hexadecimal digits")),
    }
}

/// The source of an extractor, through its gate and the compiler.
pub(super) fn from_source(setting: &Setting, case: &Case) -> Result<CaseAttempt, CaseAttempt> {
    let source = vet(&case.body()?, &SourceLimits::default()).map_err(|refused| {
        let problems = refused.problems().iter().map(Coded::problem).collect();
        CaseAttempt::stopped_by_one(problems, case)
    })?;
    if !case.needs_rustc() {
        return Ok(CaseAttempt::passed());
    }
    let toolchain = setting.toolchain()?;
    let mut limits = RustcLimits::default();
    limits.time_ms = case.limits(&setting.config().options.limits).compile_ms;
    let made = toolchain
        .compile_within(&source, &limits)
        .map_err(|error| CaseAttempt::stopped_by_one(error.problems(), case))?;
    from_bytes(setting, case, &made.module)
}

/// A guest as its bytes.
pub(super) fn from_bytes(
    setting: &Setting,
    case: &Case,
    wasm: &[u8],
) -> Result<CaseAttempt, CaseAttempt> {
    let inspected = setting.inspected(case, wasm)?;
    let extractor = setting.sandbox(case)?.load(&inspected)?;
    let events = [case.event()?, case.good_event()?];
    Ok(serve(setting, case, &extractor, events.each_ref().map(|event| event.as_bytes())))
}

/// What an event came to.
type GuestAnswer = Result<Vec<u8>, Problem>;

fn code(answer: &GuestAnswer) -> &'static str {
    answer.as_ref().map_or_else(|problem| problem.code.name, |_| "ok")
}

/// Runs the good event and the bad one in turns, over the end of a batch, and compares what comes of them: each time the
/// same, as if each event were the first.
pub(super) fn serve(
    setting: &Setting,
    case: &Case,
    extractor: &Extractor,
    [bad, good]: [&[u8]; 2],
) -> CaseAttempt {
    let deadline = extractor.sandbox().limits().deadline();
    let mut turns = Turns { deadline, faults: Vec::new() };
    let mut runner = extractor.runner().checking_all();
    let first_good = turns.answer(&mut runner, good);
    let first_bad = turns.answer(&mut runner, bad);
    for is_first_batch in [true, false] {
        if !is_first_batch {
            runner.begin_batch();
        }
        for (event, first) in [(good, &first_good), (bad, &first_bad)] {
            let again = turns.answer(&mut runner, event);
            turns.compare(first, &again);
        }
    }
    if first_bad.is_ok() {
        let alone = turns.answer(&mut extractor.runner().checking_all(), bad);
        turns.compare(&first_bad, &alone);
    }
    let found = code(&first_good);
    if setting.config().is_exact() && found != case.good() {
        turns.faults.push(format!("the good event: expected {}, got {found}", case.good()));
    }
    CaseAttempt { problem: first_bad.err().map(Box::new), faults: turns.faults }
}

/// The events of a case, and what went wrong with them.
struct Turns {
    deadline: Duration,
    faults: Vec<String>,
}

impl Turns {
    fn answer(&mut self, runner: &mut Runner, event: &[u8]) -> GuestAnswer {
        let start = Instant::now();
        let answer = match runner.run(event) {
            Ok(outcome) => Ok(outcome.json.to_vec()),
            Err(error) => Err(error.problem()),
        };
        let (took, deadline) = (start.elapsed(), self.deadline);
        if took > deadline.saturating_mul(DEADLINES).saturating_add(Duration::from_secs(5)) {
            let (took, deadline) = (took.as_millis(), deadline.as_millis());
            self.faults.push(format!("an event took {took} ms, the deadline is {deadline} ms"));
        }
        answer
    }

    fn compare(&mut self, first: &GuestAnswer, again: &GuestAnswer) {
        match (first, again) {
            (Ok(first), Ok(again)) if first == again => {}
            (Err(first), Err(again)) if first.code == again.code => {}
            (Ok(_), Ok(_)) => self.faults.push("the same event got another result".to_owned()),
            _ => {
                let (first, again) = (code(first), code(again));
                self.faults.push(format!("first {first}, then {again} for the same event"));
            }
        }
    }
}
