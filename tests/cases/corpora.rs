//! Hand-written plans over real events.
//!
//! `tests/plans/<corpus>/<rule>.json` is a plan. `rules.json` beside it says for each rule which events it is about, which gold
//! extractions its results have to equal, and which graph spec they have to fit. Rules without gold have a rule in words
//! and a graph spec of their own beside the plan; `rules.json` gives the cause of every event that such a plan declines and
//! of every value that it can't read, and what comes out is compared with a snapshot of its shape.

mod digest;
mod gold;
mod lacking;
mod rule;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use libtest_mimic::Trial;
use retort::bundle::{Request, SmokeOptions};
use retort::graph::{Extraction, ValidateOptions, validate};
use retort::plan::eval;
use retort::sandbox::Sandbox;
use retort::{Limits, Pipeline, Runner, Samples, Task};

use crate::support::{assert_sparing, rendered};
use crate::trial::on_shared;

use digest::Digest;
pub(crate) use rule::Rule;

/// Failures of one rule that are listed.
const SHOWN: usize = 10;

static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| Sandbox::new(Limits::default()).unwrap());

pub(crate) fn trials() -> Vec<Trial> {
    let checks: [fn(&Rule); 5] = [
        |rule| assert_none(&failures_of(rule, &mut Engine::Oracle)),
        the_module_extracts_what_the_rule_wants,
        the_plan_passes_every_gate,
        events_that_lack_something_give_results_that_fit,
        results_without_gold_keep_their_shape,
    ];
    let mut trials = Vec::new();
    for (corpus, name) in Rule::listed() {
        trials.push(on_shared(format!("corpora::{corpus}/{name}"), "corpora", move |corpora| {
            let rule = Rule::read(corpus, name, &corpora);
            checks.iter().for_each(|check| check(&rule));
        }));
    }
    trials
}

/// A way to run a plan.
enum Engine {
    Oracle,
    Wasm { runner: Box<Runner>, failed_conversions: u64 },
}

impl Engine {
    fn wasm(rule: &Rule) -> Self {
        let module = SANDBOX.load(&rendered(&rule.plan)).unwrap();
        Self::Wasm { runner: Box::new(module.runner().checking_all()), failed_conversions: 0 }
    }

    fn run(&mut self, rule: &Rule, event: &str) -> Extraction {
        match self {
            Self::Oracle => eval(&rule.plan, event).unwrap(),
            Self::Wasm { runner, failed_conversions } => {
                let outcome = runner.run(event.as_bytes()).unwrap();
                *failed_conversions += u64::from(outcome.failed_conversions);
                assert_sparing(event, outcome.fuel);
                serde_json::from_slice(outcome.json).unwrap()
            }
        }
    }
}

/// Runs a rule's plan over all its events; what is wrong with the results, if anything.
fn failures_of(rule: &Rule, engine: &mut Engine) -> Vec<String> {
    let mut failures = Vec::new();
    let mut causes = BTreeSet::new();
    let mut gold = rule.gold.iter().flatten().peekable();
    for event in &rule.events {
        let found = engine.run(rule, &event.text);
        let mut of_event: Vec<String> = misfits(rule, &found).collect();
        if rule.gold.is_some() {
            let wanted = gold.next_if(|gold| gold.is_of(event));
            of_event.extend(gold::differences(&found, wanted, &rule.json_text));
        } else {
            let wanted = Engine::Oracle.run(rule, &event.text);
            if found != wanted {
                of_event.push(format!("the oracle has {wanted:?}, the module {found:?}"));
            }
            if found.is_empty() {
                match rule.cause_of_declining(event) {
                    Some(cause) => {
                        causes.insert(cause);
                    }
                    None => of_event.push("declined without a cause".to_owned()),
                }
            }
        }
        failures.extend(of_event.into_iter().map(|it| format!("{}: {it}", event.name())));
    }
    if gold.next().is_some() {
        failures.push("gold is not in the order of the events".to_owned());
    }
    let unused = rule.causes_of_declining().filter(|cause| !causes.contains(cause));
    failures.extend(unused.map(|cause| format!("no event is declined that {cause}")));
    failures
}

/// What the graph spec says against a result. Nodes of other events may be at the ends of edges.
fn misfits(rule: &Rule, found: &Extraction) -> impl Iterator<Item = String> {
    let options =
        options!(ValidateOptions { allow_external_endpoints: true, ..ValidateOptions::default() });
    let report = rule.graph.as_ref().map(|graph| validate(graph, found, options));
    report.into_iter().flat_map(|report| report.into_failures()).map(|it| format!("{it:?}"))
}

fn assert_none(failures: &[String]) {
    let shown: Vec<&str> = failures.iter().take(SHOWN).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} failures\n  {}", failures.len(), shown.join("\n  "));
}

/// The module extracts what the rule wants, and what conversions it fails has a cause.
fn the_module_extracts_what_the_rule_wants(rule: &Rule) {
    let mut engine = Engine::wasm(rule);
    assert_none(&failures_of(rule, &mut engine));
    let Engine::Wasm { failed_conversions, .. } = engine else { return };
    let unreadable: u64 = rule.unreadable.iter().map(|it| it.events).sum();
    let known = rule.unreadable.iter().map(|it| format!("{} of {}", it.events, it.property));
    let known: Vec<String> = known.collect();
    assert_eq!(failed_conversions, unreadable, "failed conversions with a cause: {known:?}");
}

/// Paths, types and entities are what samples and graph specs say, and every limit holds.
fn the_plan_passes_every_gate(rule: &Rule) {
    let Some(graph) = rule.graph.clone() else { return };
    let pipeline = Pipeline::builder().build().unwrap();
    let smoke =
        options!(SmokeOptions { allow_external_endpoints: true, ..SmokeOptions::default() });
    let samples: Vec<&str> = rule.events_of_plan().map(|it| it.text.as_str()).collect();
    let samples = Samples::parse(&samples.join("\n"), "samples").unwrap();
    let task = Task::new(graph, samples);
    let plan = serde_json::to_string(&rule.plan).unwrap();
    let accepted = pipeline.accept(&plan, Request::new(&task).smoke(smoke));
    accepted.unwrap_or_else(|error| panic!("{error}"));
}

/// What comes out still fits the graph spec, and the module does as the oracle does, whatever a right event lacks.
fn events_that_lack_something_give_results_that_fit(rule: &Rule) {
    let mut engine = Engine::wasm(rule);
    let mut failures = Vec::new();
    for event in lacking::variants(rule) {
        let wanted = Engine::Oracle.run(rule, &event);
        let found = engine.run(rule, &event);
        if found != wanted {
            failures.push(format!("the oracle has {wanted:?}, the module {found:?}: {event}"));
        }
        failures.extend(misfits(rule, &wanted).map(|it| format!("{it}: {event}")));
    }
    assert_none(&failures);
}

/// What a rule without gold gives, in shape: the data itself isn't ours to publish.
fn results_without_gold_keep_their_shape(rule: &Rule) {
    if rule.gold.is_some() {
        return;
    }
    let mut digest = Digest::new(rule.events.len());
    for event in &rule.events {
        digest.add(&eval(&rule.plan, &event.text).unwrap());
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("corpora");
    settings.bind(|| insta::assert_snapshot!(rule.name.as_str(), digest.to_string()));
}
