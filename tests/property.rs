//! Rendered extractors against the oracle, over random plans and random events.

mod generate;
mod result;

use std::sync::LazyLock;

use proptest::prelude::*;
use retort::abi::block::BlockWriter;
use retort::event::{Projection, Projector};
use retort::gate::inspect::{FuelBound, StructuralLimits, inspect};
use retort::graph::extraction::Extraction;
use retort::plan::{self, Plan, eval::eval};
use retort::sandbox::{Limits, Runner, Sandbox};
use serde_json::json;

use self::generate::{draft, event, plan};
use crate::support::rendered;

static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| Sandbox::new(Limits::default()).unwrap());

/// A plan made ready in both ways.
struct Subject {
    plan: Plan,
    warm: Runner,
    fresh: Runner,
    projector: Projector,
    bound: FuelBound,
}

impl Subject {
    fn new(plan: Plan) -> Self {
        let proven = rendered(&plan);
        let unproven = inspect(proven.wasm(), &StructuralLimits::default()).unwrap();
        let warm = SANDBOX.load(&proven).unwrap();
        let fresh = SANDBOX.load(&unproven).unwrap();
        assert!(warm.is_reset_safe() && !fresh.is_reset_safe());
        Self {
            plan,
            warm: warm.runner(),
            fresh: fresh.runner(),
            projector: Projector::new(proven.section().inputs()),
            bound: proven.facts().fuel_bound.expect("rendered code has no loop"),
        }
    }

    /// Bytes of the input block of an event.
    fn block_bytes(&self, event: &str) -> usize {
        let mut projection = Projection::default();
        self.projector.project(event.as_bytes(), &mut projection).unwrap();
        let mut writer = BlockWriter::default();
        writer.write(&self.projector, event.as_bytes(), &projection, usize::MAX).unwrap().len()
    }

    /// Whether the event gave a node.
    fn check(&mut self, event: &str) -> Result<bool, TestCaseError> {
        let expected =
            eval(&self.plan, event).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let block = self.block_bytes(event);
        for runner in [&mut self.warm, &mut self.fresh] {
            let outcome = runner.run(event.as_bytes());
            let outcome =
                outcome.map_err(|error| TestCaseError::fail(format!("{error}: {event}")))?;
            let found: Extraction = serde_json::from_slice(outcome.json).unwrap();
            let canonical = |extraction| serde_json::to_value(extraction).unwrap().to_string();
            prop_assert_eq!(canonical(&found), canonical(&expected), "{}", event);
            let bound = self.bound.for_bulk_bytes((block + outcome.json.len()) as u64);
            prop_assert!(outcome.fuel <= bound, "{} of {}: {}", outcome.fuel, bound, event);
        }
        Ok(!expected.is_empty())
    }
}

/// Runs as many cases as usual (`PROPTEST_CASES`), times `factor`.
fn config(factor: f64) -> ProptestConfig {
    let usual = ProptestConfig::default();
    let cases = (f64::from(usual.cases) * factor) as u32;
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 2000, ..usual }
}

proptest! {
    // Each plan has to be compiled to native code.
    #![proptest_config(config(0.25))]

    #[test]
    fn rendered_extractors_mean_what_their_plan_means(
        plan in plan(),
        drafts in prop::collection::vec(draft(), 1..16),
    ) {
        let mut subject = Subject::new(plan);
        for draft in drafts {
            let event = event(&subject.plan, &draft);
            subject.check(&event)?;
        }
    }
}

/// The generators are worth something only if what they make is mostly read.
#[test]
fn the_generators_reach_what_they_are_for() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut nodes, mut properties, mut spans, mut sessions) = (0, 0, 0, 0);
    for _ in 0..400 {
        let plan = plan().new_tree(&mut runner).unwrap().current();
        let draft = draft().new_tree(&mut runner).unwrap().current();
        let found = eval(&plan, &event(&plan, &draft)).unwrap();
        spans += found.fully_handled_span_ids.len() + found.partially_handled_span_ids.len();
        let Some(node) = found.nodes.first() else { continue };
        nodes += 1;
        properties += node.properties.len() - 1;
        sessions += usize::from(!node.node_id.starts_with(':'));
    }
    assert!(
        nodes > 80 && properties > 80 && spans > 15 && sessions > 20,
        "{nodes} {properties} {spans} {sessions}"
    );
}

/// Plans and events that once showed something, or that the generators reach too rarely.
#[test]
fn known_corners() {
    let plan = |key: &[&str], value: &[&str]| {
        plan::from_value(&json!({
            "event_type": "e", "target_entity_name": "Thing", "function_name": "read",
            "key_field": {"property_name": "key", "source_path": key},
            "property_fields": [{"property_name": "v", "source_path": value, "nulls": "keep"}],
            "span_handling": {"span_id_path": key, "partial_when_path": value},
        }))
        .unwrap()
    };
    let deepest = format!("{}{}", "[".repeat(122), "]".repeat(122));
    let cases = [
        (&["k"][..], &["v"][..], format!(r#"{{"event_type":"e","k":1,"v":{deepest}}}"#)),
        (&["k"], &["k", "v"], r#"{"event_type":"e","k":{"v":1},"k":"x"}"#.to_owned()),
        (&["k"], &["k", "v"], r#"{"event_type":"e","k":"x","k":{"v":1}}"#.to_owned()),
        (&["k"], &["v"], r#"{"event_type":"e","k":"x","v":1e-400}"#.to_owned()),
        (&["event_type"], &["event_type"], r#"{"event_type":"e"}"#.to_owned()),
        (&["k"], &["v"], r#"{"event_type":"x","k":1,"\u0065vent_type":"\u0065"}"#.to_owned()),
    ];
    for (key, value, event) in cases {
        Subject::new(plan(key, value)).check(&event).unwrap();
    }
}
