//! The hostile corpus (`tests/hostile/`, see its README): each file is set off in every isolation mode, with both allocators.
//!
//! What a case does to the memory of its process can be told only where nothing else happens in it. So each setting has a worker:
//! this program once more, which runs the cases that it is asked for one after the other, beside one honest tenant, as
//! `retort selftest` does. Six cases run at once at most, each in another setting.

mod setting;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use libtest_mimic::Trial;
use retort::sandbox::{Allocator, ForeignModules, Isolation, Options, Pool};
use retort::selftest::{self, Case, CaseError, Config};

use serde_json::Value;

use self::setting::Setting;
use crate::support::{rustc, workspace_root};
use crate::trial::{trial, with_rustc};

/// The first argument of a worker; then its isolation and its allocator.
const WORKER: &str = "--hostile-worker";

const ALLOCATORS: [&str; 2] = ["on-demand", "pooling"];

pub(crate) fn trials() -> Vec<Trial> {
    let files = files();
    let corpus = Arc::new(Corpus {
        settings: Isolation::ALL
            .iter()
            .flat_map(|isolation| ALLOCATORS.map(|allocator| (isolation.as_str(), allocator)))
            .map(|(isolation, allocator)| Setting::new(WORKER, isolation, allocator))
            .collect(),
        outcomes: files.keys().map(|name| (name.clone(), OnceLock::new())).collect(),
    });
    let mut trials: Vec<Trial> = Vec::new();
    let mut in_table = Vec::new();
    for (name, (file, text)) in files {
        let (title, corpus) = (format!("hostile::{name}"), Arc::clone(&corpus));
        match parsed(&file, &text).map(|case| case.needs_rustc()) {
            Ok(true) => trials.push(with_rustc(title, move |_| drop(corpus.ran(&name)))),
            Ok(false) => {
                in_table.push(name.clone());
                trials.push(trial(title, move || drop(corpus.ran(&name))));
            }
            Err(error) => trials.push(trial(title, move || panic!("{error}"))),
        }
    }
    trials.push(trial(
        "hostile_table::attacks_are_stopped_by_the_limits_that_it_names",
        move || {
            assert!(in_table.len() >= 100);
            let table: Vec<String> = in_table.iter().map(|name| corpus.ran(name)).collect();
            insta::assert_snapshot!("attacks", table.join("\n"));
        },
    ));
    trials
}

/// The files of the corpus by the names of their cases, each as its name with its extension and its text.
fn files() -> BTreeMap<String, (String, String)> {
    let root = workspace_root().join("tests/hostile");
    let mut found = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_case =
                path.extension().is_some_and(|it| it == "wat" || it == "rs" || it == "case");
            if path.is_dir() {
                folders.push(path);
            } else if is_case {
                let name = |path: &Path| {
                    let name = path.strip_prefix(&root).unwrap();
                    name.to_str().unwrap().replace(std::path::MAIN_SEPARATOR, "/")
                };
                let text = fs::read_to_string(&path).unwrap();
                found.insert(name(&path.with_extension("")), (name(&path), text));
            }
        }
    }
    found
}

/// A case, with the module that a guest in Rust was compiled to.
fn parsed(file: &str, text: &str) -> Result<Case, CaseError> {
    let case = Case::parse(file, text)?;
    let beside = workspace_root().join("tests/hostile").join(file).with_extension("hex");
    Ok(match fs::read_to_string(beside) {
        Ok(compiled) => case.compiled(&compiled),
        Err(_) => case,
    })
}

/// The corpus in all settings, and what came of the cases that have been run.
struct Corpus {
    settings: Vec<Setting>,
    outcomes: BTreeMap<String, OnceLock<Result<String, String>>>,
}

impl Corpus {
    /// Sets a case off in every setting, unless that was done before: its line in the table.
    ///
    /// # Panics
    /// Where it isn't stopped in each of them, or not by the same.
    fn ran(&self, name: &str) -> String {
        let outcome = self.outcomes[name].get_or_init(|| self.run(name));
        outcome.clone().unwrap_or_else(|fault| panic!("{fault}"))
    }

    fn run(&self, name: &str) -> Result<String, String> {
        let mut waiting: Vec<&Setting> = self.settings.iter().collect();
        let mut lines = BTreeMap::new();
        while !waiting.is_empty() {
            // Another one's case may be in a setting: those that are free come first.
            let free = waiting.iter().position(|setting| setting.is_free()).unwrap_or(0);
            let setting = waiting.remove(free);
            let report = setting.run(name).map_err(|fault| format!("{setting}: {fault}"))?;
            if report["ok"] != true {
                return Err(format!("{setting}: {report:#}"));
            }
            lines.entry(line(&report)).or_insert_with(Vec::new).push(setting.to_string());
        }
        match lines.len() {
            1 => Ok(lines.into_keys().collect()),
            _ => Err(format!("not stopped by the same everywhere: {lines:#?}")),
        }
    }
}

/// What a report says that doesn't depend on the machine.
fn line(report: &Value) -> String {
    let text = |key: &str| report[key].as_str().unwrap_or("-");
    let mut line = format!("{}: {} by {}", text("case"), text("observed"), text("limit"));
    // How late a deadline was noticed isn't the same twice.
    if report["used"].is_u64() && !text("limit").ends_with("_ms") {
        line += &format!(", {} of {}", report["used"], report["allowed"]);
    }
    line
}

/// Where this program is a worker: runs the cases that are named on its input, and writes what came of each, a line each. Its
/// memory is watched from the first to the last.
pub(crate) fn worker() -> Option<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [WORKER, isolation, allocator] =
        arguments.iter().map(String::as_str).collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let case =
        |(name, (file, text)): (String, (String, String))| Some((name, parsed(&file, &text).ok()?));
    let cases: BTreeMap<String, Case> = files().into_iter().filter_map(case).collect();
    let asked = std::io::stdin().lines().map_while(Result::ok);
    let mut out = std::io::stdout();
    let config =
        options!(Config { rustc: rustc(), watch_memory: true, ..config(isolation, allocator) });
    let ran =
        selftest::run(asked.map(|name| &cases[&name]), &config, |report: &selftest::CaseReport| {
            let report = serde_json::to_string(report).unwrap();
            writeln!(out, "{report}").and_then(|()| out.flush()).unwrap();
        });
    Some(match ran {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => panic!("{error}"),
    })
}

fn config(isolation: &str, allocator: &str) -> Config {
    let isolation = Isolation::ALL.into_iter().find(|it| it.as_str() == isolation).unwrap();
    let allocator = match allocator {
        "pooling" => Allocator::Pooling(Pool::default()),
        _ => Allocator::OnDemand,
    };
    let foreign = ForeignModules::Helper(env!("CARGO_BIN_EXE_retort").into());
    options!(Config {
        options: options!(Options { isolation, allocator, foreign, ..Options::default() }),
        ..Config::default()
    })
}
