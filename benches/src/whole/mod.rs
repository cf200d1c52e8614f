//! Plans as users write them, with conversions, templates, conditions and rows, and the same by hand: over `serde_json::Value`, and
//! over types that derive `Deserialize`.

pub mod by_type;
pub mod by_value;
mod same;
mod time;

use std::path::{Path, PathBuf};

pub use same::is_same;

/// An extraction by hand: event in, result out; false for an event that isn't JSON.
pub type Extract = fn(&[u8], &mut Vec<u8>) -> bool;

/// A plan with events for it, and what stands against it.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// What the events are.
    pub name: &'static str,
    /// The plan's file, below the checkout.
    plan: &'static str,
    /// The events' file, below the checkout.
    events: &'static str,
    /// Of which types the events are to be: what their types begin with.
    types: &'static str,
    /// Whether all give the same JSON; the same facts otherwise, for what isn't exact in `Value` or has no order.
    pub is_exact: bool,
    /// The same extraction over `serde_json::Value`.
    pub by_value: Extract,
    /// The same extraction over a derived type.
    pub by_type: Extract,
}

macro_rules! hard {
    ($name:literal, $extraction:ident) => {
        Set {
            name: $name,
            plan: concat!("evaluation/tasks/hard/", $name, "/plan.json"),
            events: concat!("evaluation/tasks/hard/", $name, "/events.ndjson"),
            types: "",
            is_exact: false,
            by_value: by_value::$extraction,
            by_type: by_type::$extraction,
        }
    };
}

/// All of them: an example, what the corpora have, and the hard tasks of evaluation/.
pub const ALL: [Set; 9] = [
    Set {
        name: "shop-orders",
        plan: "examples/shop-orders/plan.json",
        events: "examples/shop-orders/events.ndjson",
        types: "",
        is_exact: true,
        by_value: by_value::shop_orders,
        by_type: by_type::shop_orders,
    },
    Set {
        name: "cloudtrail-whole",
        plan: "tests/plans/security_logs/cloudtrail.json",
        events: "../shared/corpora/security_logs/aws_cloudtrail.ndjson",
        types: "AWS.CloudTrail.",
        is_exact: false,
        by_value: by_value::cloudtrail,
        by_type: by_type::cloudtrail,
    },
    Set {
        name: "mako-tools",
        plan: "tests/plans/agent_telemetry/mako_tools.json",
        events: "../shared/corpora/agent_telemetry/mako_tools.ndjson",
        types: "",
        is_exact: false,
        by_value: by_value::mako_tools,
        by_type: by_type::mako_tools,
    },
    Set {
        name: "pull-requests",
        plan: "tests/plans/github_webhooks/pull_request.json",
        events: "../shared/corpora/github_webhooks/events.ndjson",
        types: "pull_request.",
        is_exact: true,
        by_value: by_value::pull_requests,
        by_type: by_type::pull_requests,
    },
    hard!("otlp-traces", otlp_traces),
    hard!("tool-results", tool_results),
    hard!("kubernetes-audit", kubernetes_audit),
    hard!("directory-changes", directory_changes),
    hard!("queue-batches", queue_batches),
];

impl Set {
    /// The plan's text.
    ///
    /// # Errors
    /// When the file isn't there.
    pub fn plan(&self) -> std::io::Result<String> {
        std::fs::read_to_string(below(self.plan))
    }

    /// The events that are JSON and of the plan's types; `None` where a clone by itself doesn't have them.
    #[must_use]
    pub fn events(&self) -> Option<Vec<Vec<u8>>> {
        let text = std::fs::read_to_string(below(self.events)).ok()?;
        let is_wanted = |line: &&str| {
            retort::internal::event::validate(line.as_bytes()).is_ok()
                && line.contains(&format!("\"event_type\":\"{}", self.types))
        };
        Some(text.lines().filter(is_wanted).map(|line| line.as_bytes().to_vec()).collect())
    }
}

fn below(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}
