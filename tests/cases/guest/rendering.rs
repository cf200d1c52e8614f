//! Plans rendered to Rust: the same results as their other rendering and the oracle, for all plans that there are.

use std::path::Path;
use std::sync::LazyLock;

use libtest_mimic::{Completion, Trial};
use retort::graph::Extraction;
use retort::plan::{self, Plan, eval};
use retort::render::render_rust;
use retort::sandbox::Sandbox;
use retort::{Coded, Limits, Runner};
use serde_json::{Value, json};

use super::build::build;
use crate::corpora::Rule;
use crate::support::{rendered, rustc, sandbox, shared, workspace_root};
use crate::trial::{files, json_of, stem, with_rustc};

/// Names of functions that mean something else in a source, or to what compiles it.
const NAMES: &[&str] = &[
    "_",
    "Err",
    "Event",
    "Extractor",
    "LENGTH",
    "Null",
    "SECTION",
    "Some",
    "alloc",
    "core",
    "event",
    "exit",
    "exported",
    "extractor",
    "format",
    "graph",
    "malloc",
    "record",
    "rows",
    "str",
    "union",
];

/// One sandbox for what is rendered to WebAssembly text, one for guests in Rust.
static SANDBOXES: LazyLock<[Sandbox; 2]> = LazyLock::new(|| {
    let mut limits = Limits::default();
    // What they give is compared, and not how long they take on a busy machine.
    limits.deadline_ms = 60_000;
    [Sandbox::new(limits.clone()).unwrap(), sandbox(limits)]
});

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, events) in [
        ("examples/agent-decision", "events.ndjson"),
        ("examples/cloud-audit", "events.ndjson"),
        ("examples/github-webhook", "events.ndjson"),
        ("examples/shop-orders", "events.ndjson"),
        ("tests/plans/elements", "samples.ndjson"),
    ] {
        let folder = workspace_root().join(name);
        trials.push(with_rustc(format!("guest::rendered/{name}"), move |rustc| {
            let plan = plan::from_value(&json_of(&folder.join("plan.json"))).unwrap();
            let events = std::fs::read_to_string(folder.join(events)).unwrap();
            same(rustc, &plan, events.lines());
        }));
    }
    for name in NAMES {
        trials.push(with_rustc(format!("guest::rendered/function/{name}"), move |rustc| {
            let plan = json!({
                "event_type": "e", "target_entity_name": "Some", "function_name": name,
                "key_field": {"property_name": "None", "source_path": ["Extractor"]},
                "property_fields": [{"property_name": "self", "source_path": ["Self"]}],
            });
            let plan = plan::from_value(&plan).unwrap();
            let events = [r#"{"event_type":"e","session_id":"s","Extractor":1,"Self":2}"#];
            same(rustc, &plan, events);
        }));
    }
    for path in files("tests/render", "json") {
        let case: Value = json_of(&path);
        trials.push(with_rustc(format!("guest::rendered/render/{}", stem(&path)), move |rustc| {
            let plan = plan::from_value(&case["plan"]).unwrap();
            same(rustc, &plan, [case["event"].to_string().as_str()]);
        }));
    }
    for (corpus, name) in Rule::listed() {
        let title = format!("guest::rendered/{corpus}/{name}");
        let found = move || Some((rustc()?, shared("corpora")?));
        trials.push(Trial::ignorable_test(title, move || match found() {
            Some((rustc, corpora)) => {
                let rule = Rule::read(corpus, name, &corpora);
                same(&rustc, &rule.plan, rule.events.iter().map(|event| event.text.as_str()));
                Ok(Completion::Completed)
            }
            None => Ok(Completion::ignored_with("no rustc for guests, or no ../shared/corpora")),
        }));
    }
    // One for each file: most plans are small.
    let files = files("tests/extraction", "json").into_iter();
    for path in files.chain([workspace_root().join("tests/plans/extraction.json")]) {
        trials.push(with_rustc(format!("guest::rendered/{}", stem(&path)), move |rustc| {
            let cases: Vec<Value> = json_of(&path);
            let mut plans: Vec<(Value, Vec<String>)> = Vec::new();
            for case in cases {
                let event = case["event"].as_str().map_or(case["event"].to_string(), str::to_owned);
                match plans.iter_mut().find(|(plan, _)| *plan == case["plan"]) {
                    Some((_, events)) => events.push(event),
                    None => plans.push((case["plan"].clone(), vec![event])),
                }
            }
            for (plan, events) in plans {
                let plan = plan::from_value(&plan).unwrap();
                same(rustc, &plan, events.iter().map(String::as_str));
            }
        }));
    }
    trials
}

/// What an extractor makes of an event: the bytes of the result, or a code.
fn outcome(runner: &mut Runner, event: &str) -> Result<(String, u32), &'static str> {
    match runner.run(event.as_bytes()) {
        Ok(outcome) => {
            let json = String::from_utf8(outcome.json.to_vec()).unwrap();
            Ok((json, outcome.failed_conversions))
        }
        Err(error) => Err(error.code()),
    }
}

/// Both renderings give the same bytes for each event, and what the oracle says.
fn same<'e>(rustc: &Path, plan: &Plan, events: impl IntoIterator<Item = &'e str>) {
    let source = render_rust(plan).unwrap();
    is_formatted(&source);
    let built = build(rustc, &source);
    let wasm = built.unwrap_or_else(|error| panic!("{error}\n{source}"));
    let inspected = retort::gate::inspect(&wasm, &Default::default());
    let inspected = inspected.unwrap_or_else(|rejected| panic!("{rejected}"));
    let [of_text, of_rust] = &*SANDBOXES;
    let mut text = of_text.load(&rendered(plan)).unwrap().runner().checking_all();
    let mut rust = of_rust.load(&inspected).unwrap().runner().checking_all();
    for event in events {
        let expected = outcome(&mut text, event);
        assert_eq!(outcome(&mut rust, event), expected, "{event}\n{source}");
        let oracle = eval(plan, event);
        match expected {
            Ok((json, _)) => {
                let found: Extraction = serde_json::from_str(&json).unwrap();
                assert_eq!(Some(found), oracle.ok(), "{event}");
            }
            Err(code) => assert_eq!(oracle.err().map(|error| error.code()), Some(code), "{event}"),
        }
    }
}

/// rustfmt has nothing to change, where there is one.
fn is_formatted(source: &str) {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    let mut command = Command::new("rustfmt");
    command.args(["--edition=2024", "--config-path", "/dev/null", "--check"]);
    let spawned =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = spawned else { return };
    child.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.stdout.is_empty(), "{}\n{source}", String::from_utf8_lossy(&output.stdout));
}
