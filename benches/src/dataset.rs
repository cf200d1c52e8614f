//! Events with the plan that reads them.

use std::path::{Path, PathBuf};

use retort::Limits;
use retort::gate::{Inspected, StructuralLimits, inspect};
use retort::internal::prove;
use retort::plan::{self, Plan};
use retort::render::{self, compile};
use retort::sandbox::{Extractor, Sandbox};
use serde_json::Value;

use crate::by_hand::{ByHand, cloud_audit, telemetry, webhook};

/// Real events of one kind, a plan for them, and what stands against it.
pub struct Dataset {
    /// What the events are.
    pub name: &'static str,
    /// One event each, compact JSON, all of the plan's event type.
    pub events: Vec<Vec<u8>>,
    /// The plan.
    pub plan: Plan,
    /// The same extraction by hand.
    pub by_hand: ByHand,
}

impl Dataset {
    /// All three, the smallest events first.
    ///
    /// # Panics
    /// When neither the corpora nor the examples are there, or an event isn't JSON: nothing can be measured then.
    #[must_use]
    pub fn all() -> Vec<Self> {
        vec![
            Self::new(
                "telemetry",
                "agent_telemetry/seeded_decision.ndjson",
                "agent-decision",
                telemetry::BY_HAND,
            ),
            Self::new(
                "cloudtrail",
                "security_logs/aws_cloudtrail.ndjson",
                "cloud-audit",
                cloud_audit::BY_HAND,
            ),
            Self::new(
                "github",
                "github_webhooks/events.ndjson",
                "github-webhook",
                webhook::BY_HAND,
            ),
        ]
    }

    fn new(name: &'static str, corpus: &str, example: &str, by_hand: ByHand) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let corpus = root.join("../shared/corpora").join(corpus);
        let example = root.join("examples").join(example).join("events.ndjson");
        let file: PathBuf = if corpus.exists() { corpus } else { example };
        let text = std::fs::read_to_string(&file).expect("the corpora or the examples are there");
        let events = text.lines().filter_map(|line| one_type(line, by_hand.event_type)).collect();
        let plan = plan::parse(by_hand.plan).expect("the plan is valid");
        Self { name, events, plan, by_hand }
    }

    /// Bytes of all events.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.events.iter().map(|event| event.len() as u64).sum()
    }

    /// The plan, through every gate up to the sandbox, under the default limits.
    ///
    /// # Panics
    /// When a gate refuses the plan.
    #[must_use]
    pub fn extractor(&self) -> Extractor {
        let sandbox = Sandbox::new(Limits::default()).expect("an engine");
        sandbox.load(&self.inspected()).expect("the module loads")
    }

    /// The plan, through every gate before the sandbox.
    ///
    /// # Panics
    /// When a gate refuses the plan.
    #[must_use]
    pub fn inspected(&self) -> Inspected {
        inspected(&self.plan)
    }
}

/// A plan, through every gate before the sandbox.
///
/// # Panics
/// When a gate refuses the plan.
#[must_use]
pub fn inspected(plan: &Plan) -> Inspected {
    let source = render::render(plan).expect("the plan renders");
    let compiled = compile(source).expect("the source compiles");
    let inspected =
        inspect(compiled.module(), &StructuralLimits::default()).expect("the module is admitted");
    prove::by_rendering(inspected, &compiled)
}

/// The event with its type replaced, so that one plan reads every event of a corpus; `None` for a line that isn't JSON.
fn one_type(line: &str, event_type: &str) -> Option<Vec<u8>> {
    let event: Value = serde_json::from_str(line).ok()?;
    let found = event.get("event_type")?.to_string();
    // The text is edited, not printed again: the order and the spelling of a real event matter to what is measured.
    Some(line.replacen(&found, &Value::from(event_type).to_string(), 1).into_bytes())
}
