//! Right plans of the whole language: nodes and edges, conversions, elements and conditions.

use std::collections::BTreeSet;
use std::path::Path;

use retort::bundle::SmokeOptions;
use retort::evidence::at;
use retort::plan::{self, Plan, Read, eval};
use retort::{EventSchema, GraphSpec, Samples, Task};
use serde_json::Value;

use super::case::{Case, json_of, read};
use super::knowable::unknown_reads;
use crate::support::workspace_root;
use crate::trial::say;

/// Samples of one rule that are taken, evenly spread, beside those that show something of the plan for the first time.
const MAX_SAMPLES: usize = 24;

impl Case {
    /// The example with lines and parcels, which every checkout has.
    pub(super) fn whole_examples() -> Vec<Self> {
        vec![Self::example("shop-orders")]
    }

    /// The rules over real events as they are.
    pub(super) fn whole_corpora(root: &Path) -> Vec<Self> {
        let mut cases = Vec::new();
        for corpus in ["github_webhooks", "agent_telemetry", "security_logs"] {
            let plans = workspace_root().join("tests/plans").join(corpus);
            let rules = json_of(&plans.join("rules.json"));
            for (name, rule) in rules.as_object().unwrap() {
                // Without a graph spec there is nothing that a result has to fit.
                let own = plans.join(format!("{name}.graph.yaml"));
                if own.exists() || rule.get("graph").is_some() {
                    cases.push(Self::whole_rule(&plans, &root.join(corpus), name, rule));
                }
            }
        }
        cases
    }

    fn whole_rule(plans: &Path, data: &Path, name: &str, rule: &Value) -> Self {
        let value = json_of(&plans.join(format!("{name}.json")));
        let plan = plan::from_value(&value).unwrap();
        let events = read(&data.join(rule["events"].as_str().unwrap()));
        let is_of_type = |line: &&str| {
            let event: Value = serde_json::from_str(line).unwrap();
            plan.event_types().matches(event["event_type"].as_str().unwrap_or_default())
        };
        let lines: Vec<&str> = events.lines().filter(is_of_type).collect();
        let step = lines.len().div_ceil(MAX_SAMPLES).max(1);
        let mut shown = BTreeSet::new();
        let is_taken = |(index, line): &(usize, &str)| {
            let before = shown.len();
            shown.extend(shows(&plan, line));
            index % step == 0 || shown.len() > before
        };
        let lines: Vec<&str> =
            lines.into_iter().enumerate().filter(is_taken).map(|(_, line)| line).collect();
        let samples = Samples::parse(&lines.join("\n"), "samples").unwrap();
        let observed = data.join("schemas_observed").join(format!("{name}.json"));
        let schema = observed.exists().then(|| EventSchema::parse(&read(&observed), name).unwrap());
        let own = plans.join(format!("{name}.graph.yaml"));
        let graph = match rule["graph"].as_object() {
            Some(bound) => {
                let file = |field: &str| read(&data.join(bound[field].as_str().unwrap()));
                GraphSpec::from_ontology(&file("ontology"), &file("binding")).unwrap()
            }
            None if own.exists() => GraphSpec::parse(&read(&own), "graph.yaml").unwrap(),
            None => {
                let file = rule["graph"].as_str().unwrap();
                GraphSpec::parse(&read(&data.join(file)), file).unwrap()
            }
        };
        let task = Task::builder(graph, samples).event_schema(schema).build();
        let mut case = Self { name: name.to_owned(), plan: value, task, smoke: external() };
        case.leave_out_what_no_sample_has();
        case
    }

    /// Leaves out the properties whose paths no sample has and the schema doesn't declare: that they are right is known from
    /// elsewhere.
    fn leave_out_what_no_sample_has(&mut self) {
        let plan = plan::from_value(&self.plan).unwrap();
        let mut unknown: Vec<(String, usize)> = Vec::new();
        for (pointer, _) in unknown_reads(self, &plan) {
            if let Some((list, rest)) = pointer.rsplit_once("/property_fields/") {
                let index: usize = rest.split('/').next().unwrap().parse().unwrap();
                unknown.push((format!("{list}/property_fields"), index));
            }
        }
        unknown.sort();
        unknown.dedup();
        for (list, index) in unknown.into_iter().rev() {
            let gone = self.plan.pointer_mut(&list).unwrap().as_array_mut().unwrap().remove(index);
            say(&format!("{}: no evidence for {}", self.name, gone["property_name"]));
        }
    }
}

/// What an event shows of a plan: paths that it has, and properties that are made of it.
fn shows(plan: &Plan, line: &str) -> BTreeSet<String> {
    let event: Value = serde_json::from_str(line).unwrap();
    let there = |read: &Read<'_>| {
        read.reference.level.is_event() && at(&event, &read.reference.path).is_some()
    };
    let paths = plan.reads().into_iter().filter(there).map(|read| read.pointer);
    let result = eval(plan, line).unwrap();
    let nodes =
        result.nodes.iter().flat_map(|it| it.properties.iter().map(|p| (&it.entity_name, p)));
    let edges =
        result.edges.iter().flat_map(|it| it.properties.iter().map(|p| (&it.relationship_name, p)));
    let properties = nodes.chain(edges).map(|(owner, it)| format!("{owner}.{}", it.name));
    paths.chain(properties).collect()
}

/// What is asked of a plan that has edges to nodes of other events.
pub(super) fn external() -> SmokeOptions {
    options!(SmokeOptions { allow_external_endpoints: true, ..SmokeOptions::default() })
}
