//! `retort selftest`: the hostile corpus against this machine and configuration.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use retort::TenantPolicy;
use retort::sandbox::{Allocator, Isolation, Options, Pool};
use retort::selftest::{self, Case, CaseReport, Config, CorpusReport, SelftestError, Skipped};
use serde::Serialize;

use super::args::{PolicyArg, host_options, isolation_modes};
use super::error::CliError;
use super::junit::{Junit, JunitCase, JunitFailure, JunitVerdict};
use super::overwrite::Inputs;
use super::{CommandResult, CommandVerdict, output};

/// Run the hostile corpus against this machine and configuration
///
/// The corpus is built in: modules, plans, events, results, bundles and answers that try to break out, to stall, to fill the
/// memory, to lie, or to see what another tenant has. Each attack has to end in its stable code, with the results of an honest
/// tenant beside it unchanged, byte for byte, and the memory given back. Prints for each what stopped it, how much it used of
/// how much, and how long it took. Exits with 1 if any wasn't stopped.
///
/// Under limits of a policy other than the defaults an attack may run into another limit first; any code stops it then.
/// Sources in Rust that a compiler has to stop, or that are run, need a rustc for wasm32-wasip1, which $RETORT_RUSTC names; otherwise
/// they are skipped, and that is said.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SelftestArgs {
    /// Run only attacks with this text in their name or description
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// For how long an instance may serve [default: what the policy says, else warm]
    #[arg(long, value_name = "MODE", value_parser = isolation_modes())]
    isolation: Option<Isolation>,
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
enum AllocatorArg {
    OnDemand,
    Pooling,
}

/// A case in a list.
#[derive(Serialize)]
struct ListedCase<'a> {
    case: &'a str,
    kind: &'static str,
    attack: &'a str,
    expected: &'a str,
}

/// What came of the corpus in one configuration.
struct Ran {
    name: String,
    report: CorpusReport,
    elapsed: Duration,
}

pub(super) fn main(args: &SelftestArgs) -> CommandResult {
    if let Some(junit) = &args.junit {
        let policy = args.policy.policy.as_deref();
        Inputs::default().files(policy).guard(junit, "--junit")?;
    }
    let corpus = selftest::corpus().map_err(SelftestError::from).map_err(CliError::refused)?;
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
    let run = |config| run(&corpus, config, width(&selected), args.json);
    let runs = configs.iter().map(run).collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = &args.junit {
        report(&runs).write(path)?;
    }
    if args.json {
        let cases: Vec<&CaseReport> = runs.iter().flat_map(|run| &run.report.cases).collect();
        output::print_json(&cases)?;
    }
    for Skipped { case, reason } in runs.first().map_or(&[][..], |run| &run.report.skipped) {
        output::note(format_args!("{case} was skipped: {reason} (${RUSTC})"));
    }
    Ok(CommandVerdict::from_ok(runs.iter().all(|run| run.report.ok())))
}

impl SelftestArgs {
    /// Each configuration that the corpus is run in.
    fn configs(&self, policy: &TenantPolicy) -> Result<Vec<Config>, CliError> {
        let mut options = policy.options(host_options()?);
        options.isolation = self.isolation.unwrap_or(options.isolation);
        let pooling = match options.allocator {
            Allocator::OnDemand => Allocator::Pooling(Pool::default()),
            pooling => pooling,
        };
        options.allocator = match self.allocator {
            Some(AllocatorArg::OnDemand) => Allocator::OnDemand,
            Some(AllocatorArg::Pooling) => pooling,
            None => options.allocator,
        };
        let mut base = Config::default();
        base.structure = policy.structure(&base.structure);
        base.filter = self.filter.clone();
        base.rustc = std::env::var_os(RUSTC).map(PathBuf::from);
        base.watch_memory = true;
        base.options = options;
        if !self.all {
            return Ok(vec![base]);
        }
        let allocators = [Allocator::OnDemand, pooling];
        let pairs = Isolation::ALL
            .into_iter()
            .flat_map(|isolation| allocators.map(|allocator| (isolation, allocator)));
        let config = |(isolation, allocator)| {
            let mut config = base.clone();
            config.options.isolation = isolation;
            config.options.allocator = allocator;
            config
        };
        Ok(pairs.map(config).collect())
    }
}

/// As many columns as the longest name of these cases takes.
fn width(cases: &[&Case]) -> usize {
    cases.iter().map(|case| case.name().len()).max().unwrap_or(0)
}

fn list(cases: &[&Case], json: bool) -> CommandResult {
    let listed = cases.iter().map(|case| ListedCase {
        case: case.name(),
        kind: case.kind().as_str(),
        attack: case.attack(),
        expected: case.expect(),
    });
    let listed: Vec<ListedCase<'_>> = listed.collect();
    let width = width(cases);
    output::print_as(json, &listed, || {
        let row = |ListedCase { case, attack, expected, .. }: &ListedCase<'_>| {
            format!("{case:<width$}  {expected:<26}  {attack}\n")
        };
        listed.iter().map(row).collect()
    })?;
    Ok(CommandVerdict::Pass)
}

/// Runs the corpus in one configuration, and prints each case when it has been judged.
fn run(corpus: &[Case], config: &Config, width: usize, json: bool) -> Result<Ran, CliError> {
    let Options { isolation, allocator, .. } = &config.options;
    let name = format!("{}, {}", isolation.as_str(), allocator.as_str());
    let start = Instant::now();
    let mut unprinted = None;
    let mut print = |text: &str| {
        if !json && unprinted.is_none() {
            unprinted = output::print(text).err();
        }
    };
    print(&format!("{}\n", head(&name, width)));
    let report = selftest::run(corpus, config, |case| {
        print(&format!("{}\n", row(case, width)));
        if let Some(reason) = &case.reason {
            output::coded(NOT_STOPPED, format_args!("{} ({name}): {reason}", case.case));
        }
    });
    let report = report.map_err(CliError::refused)?;
    let ran = Ran { name, report, elapsed: start.elapsed() };
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
    fn summary(&self) -> String {
        let CorpusReport { cases, skipped } = &self.report;
        let failed = self.report.failures().count();
        let (stopped, skipped) = (cases.len() - failed, skipped.len());
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
        let tried = run.report.cases.iter().map(|case| JunitCase {
            name: case.case.clone(),
            ms: Some(case.ms),
            verdict: case.reason.as_ref().map(|reason| failure(case, reason)).into(),
        });
        let skipped = run.report.skipped.iter().map(|skipped| JunitCase {
            name: skipped.case.clone(),
            ms: None,
            verdict: JunitVerdict::Skipped(skipped.reason.clone()),
        });
        junit.suite(&run.name, tried.chain(skipped));
    }
    junit
}

fn failure(case: &CaseReport, reason: &str) -> JunitFailure {
    let CaseReport { attack, expected, observed, .. } = case;
    JunitFailure {
        code: NOT_STOPPED.to_owned(),
        message: reason.to_owned(),
        details: vec![
            format!("attack: {attack}"),
            format!("expected: {expected}"),
            format!("observed: {observed}"),
        ],
    }
}
