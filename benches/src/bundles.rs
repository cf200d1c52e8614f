//! Many bundles in directories.

use std::ops::Range;
use std::path::Path;

use retort::bundle::{Contents, Versions};
use retort::render::{self, compile};
use retort::{GraphSpec, Store, plan};
use serde_json::{Value, json};

/// The examples that bundles are made of, in turns: three plans of the short form, and one with rows, conversions and templates.
const EXAMPLES: [&str; 4] = ["agent-decision", "cloud-audit", "github-webhook", "shop-orders"];

/// What a bundle serves: one type each.
fn event_type(number: usize) -> String {
    format!("type.{number}")
}

/// An event for each of the bundles of these numbers.
///
/// # Panics
/// Where the examples aren't there.
#[must_use]
pub fn events(numbers: Range<usize>) -> Vec<String> {
    let events = EXAMPLES.map(|example| {
        let plan: Value = serde_json::from_str(&read(example, "plan.json")).expect("a plan");
        let types = plan["event_type"].as_array().cloned();
        let event_type = types.map_or(plan["event_type"].clone(), |types| types[0].clone());
        let events = read(example, "events.ndjson");
        let mut events = events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        events.find(|event| event["event_type"] == event_type).expect("an event of the type")
    });
    let event = |number: usize| {
        let mut event = events[number % events.len()].clone();
        event["event_type"] = json!(event_type(number));
        event.to_string()
    };
    numbers.map(event).collect()
}

fn read(example: &str, file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(example);
    std::fs::read_to_string(folder.join(file)).expect("an example")
}

/// Puts those of these numbers into a directory, each of a type of its own, and therefore with a module of its own.
///
/// # Panics
/// Where the examples aren't there, or the directory can't be written.
pub fn make(root: &Path, numbers: Range<usize>) {
    let store = Store::open(root).expect("a directory");
    let examples = EXAMPLES.map(Example::read);
    for number in numbers {
        examples[number % examples.len()].put(&store, number);
    }
}

struct Example {
    plan: Value,
    graph: String,
    schema: String,
    rule: String,
}

impl Example {
    fn read(name: &str) -> Self {
        let read = |file| read(name, file);
        let graph = GraphSpec::parse(&read("graph.yaml"), "graph.yaml").expect("a graph spec");
        Self {
            plan: serde_json::from_str(&read("plan.json")).expect("a plan"),
            graph: serde_json::to_string_pretty(&graph).expect("it is JSON"),
            schema: read("schema.json"),
            rule: read("rule.md"),
        }
    }

    fn put(&self, store: &Store, number: usize) {
        let mut plan = self.plan.clone();
        plan["event_type"] = json!(event_type(number));
        let plan = plan::parse(&plan.to_string()).expect("the plan is valid");
        let compiled = compile(render::render(&plan).expect("it renders")).expect("it compiles");
        let text = serde_json::to_string_pretty(&plan).expect("it is JSON");
        let contents = Contents {
            module_name: "extractor",
            name: None,
            function_name: plan.function_name(),
            event_types: &[event_type(number)],
            plan: Some(text.as_bytes()),
            source: Some(compiled.source().text().as_bytes()),
            rust: None,
            module: compiled.module(),
            graph: self.graph.as_bytes(),
            limits: b"{}\n",
            event_schema: Some(self.schema.as_bytes()),
            rule: Some(self.rule.as_bytes()),
            versions: Versions::CURRENT,
        };
        store.put(&contents, retort::jiff::Timestamp::UNIX_EPOCH).expect("it is stored");
    }
}
