//! `retort selftest`: the hostile corpus against this machine and configuration.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use retort::sandbox::tenant::TenantPolicy;
use retort::sandbox::{Allocator, Isolation, Options, Pool};
use retort::selftest::{self, Case, CaseReport, Config, Skipped};
use serde::Serialize;

use super::error::CliError;
use super::files::PolicyArg;
use super::junit::{self, CaseVerdict, Failure, Junit};
use super::overwrite::Inputs;
use super::{CommandResult, Verdict, files, output};

/// Run the hostile corpus against this machine and configuration
///
/// The corpus is built in: modules, plans, events, results, bundles and answers that try to break out, to stall, to fill the
/// memory, to lie, or to see what another tenant has. Each attack has to end in its stable code, with the results of an honest
/// tenant beside it unchanged, byte for byte, and the memory given back. Prints for each what stopped it, how much it used of
/// how much, and how long it took. Exits with 1 if any wasn't stopped.
///
/// Under limits of a policy other than the defaults an attack may run into another limit first; any code stops it then.
/// Attacks in Rust need a rustc for wasm32-wasip1, which $RETORT_RUSTC names; otherwise they are skipped, and that is said.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Run only attacks with this text in their name or description
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// For how long an instance may serve [default: what the policy says, else warm]
    #[arg(long, value_name = "MODE")]
    isolation: Option<IsolationArg>,
    /// Where instances come from [default: what the policy says, else on-demand]
    #[arg(long, value_name = "ALLOCATOR")]
    allocator: Option<AllocatorArg>,
    /// Run in every isolation mode, with both allocators
    #[arg(long, conflicts_with_all = ["isolation", "allocator"])]
    all: bool,
    #[command(flatten)]
    policy: PolicyArg,
    /// Print the attacks and what has to stop them, without running any
    #[arg(long, conflicts_with_all = ["junit", "all"])]
    list: bool,
    /// Write a report in JUnit's format, with a test case for each attack
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print one JSON array instead
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  retort selftest
  retort selftest --all --junit selftest.xml
  retort selftest --policy tenant.yaml --json
  retort selftest --filter bundle/ --isolation per-event --allocator pooling";

/// The code of an attack that wasn't stopped.
pub(super) const NOT_STOPPED: &str = "not_stopped";

/// Names the rustc that attacks in Rust are compiled with.
const RUSTC: &str = "RETORT_RUSTC";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum IsolationArg {
    PerEvent,
    PerBatch,
    Warm,
}

impl From<IsolationArg> for Isolation {
    fn from(arg: IsolationArg) -> Self {
        match arg {
            IsolationArg::PerEvent => Self::PerEvent,
            IsolationArg::PerBatch => Self::PerBatch,
            IsolationArg::Warm => Self::Warm,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AllocatorArg {
    OnDemand,
    Pooling,
}

/// A case in a list.
#[derive(Serialize)]
struct Listed<'a> {
    case: &'a str,
    kind: &'static str,
    attack: &'a str,
    expected: &'a str,
}

/// What came of the corpus in one configuration.
struct Ran {
    name: String,
    cases: Vec<CaseReport>,
    skipped: Vec<Skipped>,
    elapsed: Duration,
}

pub(super) fn main(args: &Args) -> CommandResult {
    if let Some(junit) = &args.junit {
        let policy = args.policy.policy.as_deref();
        Inputs::default().files(policy).guard(junit, "--junit")?;
    }
    let corpus = selftest::corpus().map_err(selftest::SelftestError::from)?;
    let policy = args.policy.read()?;
    let configs = args.configs(policy)?;
    let selected: Vec<&Case> = corpus
        .iter()
        .filter(|case| configs.first().is_some_and(|config| config.selects(case)))
        .collect();
    if selected.is_empty() {
        return Err(CliError::NoCases { filter: args.filter.clone().unwrap_or_default() });
    }
    if args.list {
        return list(&selected, args.json);
    }
    let width = selected.iter().map(|case| case.name().len()).max().unwrap_or(0);
    let mut runs = Vec::new();
    for config in &configs {
        runs.push(run(&corpus, config, width, args.json)?);
    }
    if let Some(path) = &args.junit {
        report(&runs).write(path)?;
    }
    if args.json {
        let cases: Vec<&CaseReport> = runs.iter().flat_map(|run| &run.cases).collect();
        output::print_json(&cases)?;
    }
    for Skipped { case, reason } in runs.first().map_or(&[][..], |run| &run.skipped) {
        output::note(format_args!("{case} was skipped: {reason} (${RUSTC})"));
    }
    Ok(Verdict::from_ok(runs.iter().all(Ran::ok)))
}

impl Args {
    /// Each configuration that the corpus is run in.
    fn configs(&self, policy: &TenantPolicy) -> Result<Vec<Config>, CliError> {
        let mut options = policy.options(files::options()?);
        if let Some(isolation) = self.isolation {
            options.isolation = isolation.into();
        }
        let pool = match options.allocator {
            Allocator::Pooling(pool) => pool,
            Allocator::OnDemand => Pool::default(),
        };
        match self.allocator {
            Some(AllocatorArg::OnDemand) => options.allocator = Allocator::OnDemand,
            Some(AllocatorArg::Pooling) => options.allocator = Allocator::Pooling(pool),
            None => {}
        }
        let base = Config {
            structure: policy.structure(&Config::default().structure),
            filter: self.filter.clone(),
            rustc: std::env::var_os(RUSTC).map(PathBuf::from),
            watch_memory: true,
            options,
        };
        if !self.all {
            return Ok(vec![base]);
        }
        let allocators = [Allocator::OnDemand, Allocator::Pooling(pool)];
        let pairs = Isolation::ALL
            .into_iter()
            .flat_map(|isolation| allocators.map(|allocator| (isolation, allocator)));
        Ok(pairs
            .map(|(isolation, allocator)| {
                let options = Options { isolation, allocator, ..base.options.clone() };
                Config { options, ..base.clone() }
            })
            .collect())
    }
}

fn list(cases: &[&Case], json: bool) -> CommandResult {
    let listed = cases.iter().map(|case| Listed {
        case: case.name(),
        kind: case.kind().as_str(),
        attack: case.attack(),
        expected: case.expect(),
    });
    if json {
        output::print_json(&listed.collect::<Vec<_>>())?;
    } else {
        let width = cases.iter().map(|case| case.name().len()).max().unwrap_or(0);
        let mut text = String::new();
        for Listed { case, attack, expected, .. } in listed {
            // Writing to a string can't fail.
            let _ = writeln!(text, "{case:<width$}  {expected:<26}  {attack}");
        }
        output::print(&text)?;
    }
    Ok(Verdict::Pass)
}

/// Runs the corpus in one configuration, and prints each case when it has been judged.
fn run(corpus: &[Case], config: &Config, width: usize, json: bool) -> Result<Ran, CliError> {
    let allocator = match config.options.allocator {
        Allocator::OnDemand => "on-demand",
        Allocator::Pooling(_) => "pooling",
    };
    let name = format!("{}, {allocator}", config.options.isolation.as_str());
    let start = Instant::now();
    let mut unprinted = None;
    let mut print = |text: &str| {
        if !json && unprinted.is_none() {
            unprinted = output::print(text).err();
        }
    };
    print(&format!("{}\n", head(&name, width)));
    let report = selftest::run(corpus, config, &mut |case| {
        print(&format!("{}\n", row(case, width)));
        if let Some(reason) = &case.reason {
            output::coded(NOT_STOPPED, format_args!("{} ({name}): {reason}", case.case));
        }
    })?;
    let ran = Ran { name, cases: report.cases, skipped: report.skipped, elapsed: start.elapsed() };
    print(&format!("{}\n", ran.summary()));
    match unprinted {
        None => Ok(ran),
        Some(error) => Err(error),
    }
}

fn head(name: &str, width: usize) -> String {
    format!(
        "      {:<width$}  {:<26}  {:<22}  {:>23}  {:>9}",
        name, "code", "stopped by", "used / allowed", "ms"
    )
}

fn row(case: &CaseReport, width: usize) -> String {
    let word = if case.ok { "ok" } else { "FAIL" };
    let limit = case.limit.as_deref().unwrap_or("-");
    let figures = match (case.used, case.allowed) {
        (Some(used), Some(allowed)) => format!("{used} / {allowed}"),
        _ => String::new(),
    };
    let CaseReport { case: name, observed, ms, .. } = case;
    format!("{word:<4}  {name:<width$}  {observed:<26}  {limit:<22}  {figures:>23}  {ms:>9.1}")
}

impl Ran {
    /// Whether all that was tried was stopped, and anything was. A case that needs what this machine doesn't have says
    /// nothing.
    fn ok(&self) -> bool {
        !self.cases.is_empty() && self.cases.iter().all(|case| case.ok)
    }

    fn summary(&self) -> String {
        let failed = self.cases.iter().filter(|case| !case.ok).count();
        let (stopped, skipped) = (self.cases.len() - failed, self.skipped.len());
        let seconds = self.elapsed.as_secs_f64();
        format!(
            "{stopped} attacks stopped, {failed} not stopped, {skipped} skipped ({}; {seconds:.1} s)",
            self.name
        )
    }
}

/// A suite for each configuration.
fn report(runs: &[Ran]) -> Junit {
    let mut junit = Junit::new("retort selftest");
    for run in runs {
        let tried = run.cases.iter().map(|case| junit::Case {
            name: case.case.clone(),
            ms: Some(case.ms),
            verdict: case.reason.as_ref().map(|reason| failure(case, reason)).into(),
        });
        let skipped = run.skipped.iter().map(|skipped| junit::Case {
            name: skipped.case.clone(),
            ms: None,
            verdict: CaseVerdict::Skipped(skipped.reason.clone()),
        });
        junit.suite(&run.name, tried.chain(skipped));
    }
    junit
}

fn failure(case: &CaseReport, reason: &str) -> Failure {
    let CaseReport { attack, expected, observed, .. } = case;
    Failure {
        code: NOT_STOPPED.to_owned(),
        message: reason.to_owned(),
        details: vec![
            format!("attack: {attack}"),
            format!("expected: {expected}"),
            format!("observed: {observed}"),
        ],
    }
}
