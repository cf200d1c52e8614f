//! Fuzz targets: functions from any bytes that fail where something that is to hold for all of them doesn't.
//!
//! Here they run bounded and deterministic: over what once made them fail or may (`fuzz/regressions/<target>/`), over seeds, which
//! are the repository's own cases, and over seeds that are mutated, the same in every run. `fuzz/` runs the same functions
//! for as long as one likes. `RETORT_FUZZ_RUNS` asks for another number of mutated inputs, and `RETORT_FUZZ_SEED` for others.

mod answer;
mod bundle;
mod expression;
mod gate;
mod inspect;
mod module;
mod mutate;
mod plan;
mod policy;
mod projector;
mod renderer;
mod result;
mod seeds;
mod text;

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use self::mutate::Mutator;
use crate::support::workspace_root;

/// One thing that is fuzzed.
pub(crate) struct Target {
    /// The name of its folders, and what `fuzz/run` calls it.
    pub(crate) name: &'static str,
    /// What is run. Gives whether the input got through all there was to check, as far as the target tells.
    pub(crate) run: fn(&[u8]) -> bool,
    /// What is mutated.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    /// Of what kind the inputs are.
    kind: mutate::Kind,
    /// How many mutated inputs the suite tries.
    runs: u64,
}

/// All of them.
pub(crate) const TARGETS: [Target; 10] = [
    Target {
        name: "plan",
        run: plan::target,
        seeds: seeds::plans,
        kind: mutate::Kind::Json,
        runs: 1500,
    },
    Target {
        name: "answer",
        run: answer::target,
        seeds: seeds::answers,
        kind: mutate::Kind::Json,
        runs: 600,
    },
    Target {
        name: "expression",
        run: expression::target,
        seeds: seeds::expressions,
        kind: mutate::Kind::Bytes,
        runs: 600,
    },
    Target {
        name: "inspect",
        run: inspect::target,
        seeds: seeds::choices,
        kind: mutate::Kind::Bytes,
        runs: 150,
    },
    Target {
        name: "gate",
        run: gate::target,
        seeds: seeds::modules,
        kind: mutate::Kind::Module,
        runs: 600,
    },
    Target {
        name: "projector",
        run: projector::target,
        seeds: seeds::events,
        kind: mutate::Kind::Json,
        runs: 3000,
    },
    Target {
        name: "result",
        run: result::target,
        seeds: seeds::results,
        kind: mutate::Kind::Json,
        runs: 5000,
    },
    Target {
        name: "bundle",
        run: bundle::target,
        seeds: seeds::edits,
        kind: mutate::Kind::Bytes,
        runs: 400,
    },
    Target {
        name: "renderer",
        run: renderer::target,
        seeds: seeds::choices,
        kind: mutate::Kind::Bytes,
        runs: 60,
    },
    Target {
        name: "policy",
        run: policy::target,
        seeds: seeds::choices,
        kind: mutate::Kind::Bytes,
        runs: 150,
    },
];

/// How long one input may take: far more than any does, on any machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn folder(of: &str, target: &str) -> PathBuf {
    workspace_root().join("fuzz").join(of).join(target)
}

/// The files of a folder, by name; none if it isn't there.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Runs a target over one input. One that fails is kept where `fuzz/run` keeps its own.
fn attempt(target: &Target, input: &[u8], name: &str) -> bool {
    let started = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let kept = |why: &str| -> ! {
        let folder = folder("artifacts", target.name);
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name.replace(['/', ' '], "-"));
        fs::write(&path, input).unwrap();
        panic!("{}: {name} {why}; it is kept as {}", target.name, path.display());
    };
    match outcome {
        Err(_) => kept("fails"),
        Ok(_) if started.elapsed() > PATIENCE => kept("takes too long"),
        Ok(passed) => passed,
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}: expected a number, found {text}")))
}

/// Runs a target over all that once failed, its seeds, and mutated ones.
fn bounded(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let first = number("RETORT_FUZZ_SEED").unwrap_or(0);
    let regressions = files(&folder("regressions", name));
    assert!(!regressions.is_empty(), "{name} has no regressions");
    for path in regressions {
        let (input, file) = (fs::read(&path).unwrap(), path.file_name().unwrap().to_string_lossy());
        attempt(target, &input, &file);
        // What lies beside it, and whether the mutator gets by with it.
        let mut mutator = Mutator::new(first, target.kind);
        for index in 0..16 {
            let input = mutator.input(std::slice::from_ref(&input));
            attempt(target, &input, &format!("{file}-mutated-{first}-{index}"));
        }
    }
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty(), "{name} has no seeds");
    for (index, seed) in seeds.iter().enumerate() {
        attempt(target, seed, &format!("seed-{index}"));
    }
    let runs = number("RETORT_FUZZ_RUNS").unwrap_or(target.runs);
    let mut mutator = Mutator::new(first, target.kind);
    let mut passed = 0;
    for index in 0..runs {
        let input = mutator.input(&seeds);
        passed += u64::from(attempt(target, &input, &format!("mutated-{first}-{index}")));
    }
    eprintln!("{name}: {} seeds, {runs} mutated inputs, {passed} of them passed", seeds.len());
    // Mutations are worth something only if they leave some inputs whole, and break some.
    assert!(runs < 100 || (passed > 0 && passed < runs), "{passed} of {runs}");
}

#[test]
fn plan() {
    bounded("plan");
}

#[test]
fn answer() {
    bounded("answer");
}

#[test]
fn expression() {
    bounded("expression");
}

#[test]
fn inspect() {
    bounded("inspect");
}

#[test]
fn gate() {
    bounded("gate");
}

#[test]
fn projector() {
    bounded("projector");
}

#[test]
fn result() {
    bounded("result");
}

#[test]
fn bundle() {
    bounded("bundle");
}

#[test]
fn renderer() {
    bounded("renderer");
}

#[test]
fn policy() {
    bounded("policy");
}

#[test]
fn every_target_has_its_regressions() {
    let files = files(&workspace_root().join("fuzz/regressions"));
    let names = files.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
    let targets: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(names.collect::<BTreeSet<String>>(), targets);
}
