//! Rendered extractors against the oracle, over random plans and random events.
//!
//! `property/*.json` are cases that once showed something: a plan, and events as they were written.

pub(crate) mod choices;
mod columns;
mod event;
mod expression;
mod function;
mod plan;
pub(crate) mod result;
pub(crate) mod secrets;

use std::fs;
use std::num::NonZeroU32;
use std::sync::LazyLock;

use proptest::prelude::*;
use retort::gate::{FuelBound, StructuralLimits, inspect};
use retort::graph::Extraction;
use retort::internal::{
    block::BlockWriter,
    event::{Projection, Projector},
    prove,
};
use retort::plan::{self as plans, Plan, eval};
use retort::render::capacities;
use retort::sandbox::{ResultCounts, Sandbox};
use retort::{Coded, Limits, Runner};
use serde_json::{Value, json};

use self::choices::Choices;
use crate::support::{rendered, sandbox, workspace_root};

static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| sandbox(Limits::default()));

/// A plan made ready in both ways.
struct Subject {
    plan: Plan,
    /// The same plan where it turns down events that have the same id twice.
    rejecting: Plan,
    warm: Runner,
    fresh: Runner,
    projector: Projector,
    bound: FuelBound,
    output_capacity: u32,
}

impl Subject {
    fn new(plan: Plan) -> Self {
        let proven = rendered(&plan);
        let unproven = inspect(proven.wasm(), &StructuralLimits::default()).unwrap();
        // One result is held to both checks, the next to that of its form alone, in turns.
        let in_turns = SANDBOX.checking_one_in(NonZeroU32::new(2).unwrap());
        let warm = in_turns.load(&proven).unwrap();
        assert!(warm.knows_results());
        let fresh = SANDBOX.load(&unproven).unwrap();
        assert!(warm.is_reset_safe() && !fresh.is_reset_safe() && !fresh.knows_results());
        // The verifier finds the same proof in the binary, with the same bound.
        let verified = prove::by_verification(unproven);
        assert!(verified.unproven().is_none(), "{:?}", verified.unproven());
        assert_eq!(verified.facts().fuel_bound, proven.facts().fuel_bound);
        let mut rejecting = serde_json::to_value(&plan).unwrap();
        rejecting["on_duplicate"] = json!("reject");
        Self {
            rejecting: plans::from_value(&rejecting).unwrap(),
            plan,
            warm: warm.runner(),
            fresh: fresh.runner(),
            projector: Projector::of(proven.section()),
            bound: proven.facts().fuel_bound.expect("rendered code loops over rows alone"),
            output_capacity: capacities(proven.section()).output,
        }
    }

    /// Bytes of the input block of an event.
    fn block_bytes(&self, event: &str) -> usize {
        let mut projection = Projection::default();
        self.projector.project(event.as_bytes(), &mut projection).unwrap();
        let mut writer = BlockWriter::default();
        writer.write(&self.projector, event.as_bytes(), &projection, usize::MAX).unwrap().len()
    }

    /// Whether the host has to leave out what stands twice: then the guest wrote more than what comes back.
    fn may_shrink(&self, event: &str) -> bool {
        let claims = self.plan.span_rules();
        eval(&self.rejecting, event).is_err()
            || claims.len() > 1
            || claims.iter().any(|claim| claim.for_each().is_some())
    }

    /// What the oracle says, if the extractor says the same.
    fn check(&mut self, event: &str) -> Result<Result<Extraction, &'static str>, TestCaseError> {
        let expected = eval(&self.plan, event).map_err(|error| error.code());
        let block = expected.as_ref().ok().map(|_| self.block_bytes(event));
        let shrinks = self.may_shrink(event);
        let (warm, fresh) = (&mut self.warm, &mut self.fresh);
        both_checks_agree(warm, fresh, event)?;
        for runner in [warm, fresh] {
            let outcome = match (runner.run(event.as_bytes()), &expected) {
                (Ok(outcome), Ok(_)) => outcome,
                (Err(error), Err(code)) => {
                    prop_assert_eq!(error.code(), *code, "{}", event);
                    continue;
                }
                (Ok(outcome), Err(code)) => {
                    let found = String::from_utf8_lossy(outcome.json);
                    return Err(TestCaseError::fail(format!("{found}, not {code}: {event}")));
                }
                (Err(error), Ok(_)) => {
                    return Err(TestCaseError::fail(format!("{error}: {event}")));
                }
            };
            let found: Extraction = serde_json::from_slice(outcome.json).unwrap();
            let canonical =
                |extraction: &Extraction| serde_json::to_value(extraction).unwrap().to_string();
            prop_assert_eq!(
                canonical(&found),
                expected.as_ref().map(canonical).unwrap_or_default(),
                "{}",
                event
            );
            let written = if shrinks { self.output_capacity as usize } else { outcome.json.len() };
            let bound = self.bound.of_event(block.unwrap_or_default() as u64, written as u64);
            let used = outcome.fuel - outcome.conversion_fuel;
            prop_assert!(used <= bound, "{} of {}: {}", used, bound, event);
        }
        Ok(expected)
    }
}

/// Holds what comes of a result whose form is proven to what the full check makes of it, twice: the first time the runner of the
/// proven extractor makes both checks, the second time that of the form alone.
fn both_checks_agree(
    proven: &mut Runner,
    unproven: &mut Runner,
    event: &str,
) -> Result<(), TestCaseError> {
    let whole = made(unproven, event);
    for turn in ["both", "its form alone"] {
        prop_assert_eq!(&made(proven, event), &whole, "{}: {}", turn, event);
    }
    prop_assert!(proven.extractor().knows_results(), "{}", event);
    Ok(())
}

/// The result, what is in it and what was left out; or the code, and where in the result.
fn made(
    runner: &mut Runner,
    event: &str,
) -> Result<(String, ResultCounts, u32), (&'static str, Option<String>)> {
    match runner.run(event.as_bytes()) {
        Ok(outcome) => {
            let json = String::from_utf8(outcome.json.to_vec()).unwrap();
            Ok((json, outcome.shape, outcome.dropped_duplicates))
        }
        Err(error) => Err((error.code(), error.place())),
    }
}

/// Runs as many cases as usual (`PROPTEST_CASES`), times `factor`.
fn config(factor: f64) -> ProptestConfig {
    let usual = ProptestConfig::default();
    let cases = (f64::from(usual.cases) * factor) as u32;
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 2000, ..usual }
}

/// How many bytes a plan is made of at most: enough for four levels of elements.
const PLAN_BYTES: usize = 1500;

/// How many an event is.
const EVENT_BYTES: usize = 4000;

/// Bytes of which choices are made.
fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

/// A plan that bytes choose.
pub(crate) fn any_plan(bytes: &[u8]) -> Plan {
    a_plan(bytes).0
}

/// An event for a plan, perhaps only nearly, that bytes choose.
pub(crate) fn an_event(plan: &Plan, bytes: &[u8]) -> String {
    event::event(plan, &mut Choices::new(bytes))
}

fn a_plan(bytes: &[u8]) -> (Plan, Value) {
    let json = plan::plan(&mut Choices::new(bytes));
    let plan = plans::from_value(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    (plan, json)
}

/// Holds the extractor of a plan to the oracle, over events; plan and events are made of bytes. Whether anything was extracted.
pub(crate) fn agrees(plan: &[u8], events: &[&[u8]]) -> Result<bool, TestCaseError> {
    let (plan, json) = a_plan(plan);
    let mut subject = Subject::new(plan);
    let mut found = false;
    for bytes in events {
        let event = event::event(&subject.plan, &mut Choices::new(bytes));
        let verdict = subject.check(&event);
        let verdict = verdict.map_err(|error| TestCaseError::fail(format!("{error}\n{json}")))?;
        found |= verdict.is_ok_and(|extraction| !extraction.is_empty());
    }
    Ok(found)
}

proptest! {
    // Each plan has to be compiled to native code.
    #![proptest_config(config(0.5))]

    #[test]
    fn rendered_extractors_mean_what_their_plan_means(
        plan in bytes(PLAN_BYTES),
        drafts in prop::collection::vec(bytes(EVENT_BYTES), 1..16),
    ) {
        let drafts: Vec<&[u8]> = drafts.iter().map(Vec::as_slice).collect();
        agrees(&plan, &drafts)?;
    }
}

/// What came out of some events.
#[derive(Debug, Default)]
struct Seen {
    events: usize,
    nodes: usize,
    edges: usize,
    properties: usize,
    full: usize,
    partial: usize,
    several: usize,
    deep: usize,
    made: usize,
    turned_down: usize,
}

/// The generators are worth something only if what they make is mostly read.
#[test]
fn the_generators_reach_what_they_are_for() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = Seen::default();
    for _ in 0..3000 {
        let plan_bytes = bytes(PLAN_BYTES).new_tree(&mut runner).unwrap().current();
        let event_bytes = bytes(EVENT_BYTES).new_tree(&mut runner).unwrap().current();
        let (plan, _) = a_plan(&plan_bytes);
        let event = event::event(&plan, &mut Choices::new(&event_bytes));
        let Ok(found) = eval(&plan, &event) else {
            seen.turned_down += 1;
            continue;
        };
        seen.events += usize::from(!found.is_empty());
        seen.nodes += found.nodes.len();
        seen.edges += found.edges.len();
        seen.several += usize::from(found.nodes.len() > 1);
        let is_deep = |node: &plans::NodeRule| node.for_each().is_some_and(|it| it.level().0 > 2);
        if plan.nodes().iter().all(is_deep) {
            seen.deep += found.nodes.len();
        }
        let is_made = |node: &plans::NodeRule| {
            let levels = node.for_each().map(|it| it.levels()).unwrap_or_default();
            levels.into_iter().any(|it| it.query().is_some())
        };
        if plan.nodes().iter().any(is_made) {
            seen.made += found.nodes.len();
        }
        seen.properties += found.nodes.iter().map(|node| node.properties.len()).sum::<usize>();
        seen.full += found.fully_handled_span_ids.len();
        seen.partial += found.partially_handled_span_ids.len();
    }
    assert!(
        seen.events > 750
            && seen.nodes > 1000
            && seen.several > 150
            && seen.deep > 10
            && seen.made > 10
            && seen.edges > 200
            && seen.properties > 2500
            && seen.full > 200
            && seen.partial > 75
            && seen.turned_down > 15,
        "{seen:?}"
    );
}

/// Plans and events that once showed something, or that the generators reach too rarely.
#[test]
fn known_cases() {
    let mut paths: Vec<_> = fs::read_dir(workspace_root().join("tests/property"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let case: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut subject = Subject::new(plans::from_value(&case["plan"]).unwrap());
        for event in case["events"].as_array().unwrap() {
            if let Err(error) = subject.check(event.as_str().unwrap()) {
                panic!("{}: {error}", path.display());
            }
        }
    }
}

/// Values nest as deep in a result as they do in an event.
#[test]
fn the_deepest_value_comes_through() {
    let plan = json!({
        "event_type": "e", "target_entity_name": "Thing", "function_name": "read",
        "key_field": {"property_name": "key", "source_path": ["k"]},
        "property_fields": [{"property_name": "v", "source_path": ["v"]}],
    });
    let mut subject = Subject::new(plans::from_value(&plan).unwrap());
    let deepest = format!("{}{}", "[".repeat(122), "]".repeat(122));
    let event = format!(r#"{{"event_type":"e","k":1,"v":{deepest}}}"#);
    assert_eq!(subject.check(&event).unwrap().unwrap().nodes.len(), 1);
    // Which values are deeper is known without reading the result; those that only hold as many brackets aren't.
    for (value, is_served) in [
        (format!("{}{}", "[".repeat(123), "]".repeat(123)), false),
        (format!("{}1{}", r#"{"x":["#.repeat(61), "]}".repeat(61)), true),
        (format!("{}1{}", r#"{"x":["#.repeat(62), "]}".repeat(62)), false),
        (format!("[{}1]", r#"[],{},"[{","#.repeat(100)), true),
    ] {
        let event = format!(r#"{{"event_type":"e","k":1,"v":{value}}}"#);
        both_checks_agree(&mut subject.warm, &mut subject.fresh, &event).unwrap();
        let code = made(&mut subject.warm, &event).err().map(|(code, _)| code);
        assert_eq!(code, (!is_served).then_some("result_not_json"), "{value}");
    }
}
