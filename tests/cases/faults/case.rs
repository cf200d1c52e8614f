//! Right plans, with the tasks that they are right for.

use std::collections::BTreeSet;
use std::path::Path;

use retort::bundle::SmokeOptions;
use retort::evidence::at;
use retort::graph::{Extraction, Node, Property, ValidateOptions, validate};
use retort::{EventSchema, GraphSpec, Samples, Task, plan};
use serde_json::{Value, json};

use super::whole::external;
use crate::support::workspace_root;
use crate::trial::say;

/// Samples of one rule that are taken: the first ones.
const MAX_SAMPLES: usize = 60;

/// A right plan and its task.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) plan: Value,
    pub(super) task: Task,
    pub(super) smoke: SmokeOptions,
}

impl Case {
    /// The example projects, which every checkout has.
    pub(super) fn examples() -> Vec<Self> {
        ["agent-decision", "cloud-audit", "github-webhook"].map(Self::example).into()
    }

    /// These, with expressions in the place of paths, those to what is gone over included.
    pub(super) fn going_over_expressions(mut cases: Vec<Self>) -> Vec<Self> {
        cases.iter_mut().for_each(|case| by_expressions(&mut case.plan, true));
        cases
    }

    /// All of them, with expressions in the place of paths.
    pub(super) fn examples_by_expressions() -> Vec<Self> {
        let mut cases = Self::examples();
        cases.push(Self::example("shop-orders"));
        cases.iter_mut().for_each(|case| by_expressions(&mut case.plan, false));
        cases
    }

    /// An example project.
    pub(super) fn example(name: &str) -> Self {
        let folder = workspace_root().join("examples").join(name);
        let task = Task::builder(
            GraphSpec::parse(&read(&folder.join("graph.yaml")), "graph.yaml").unwrap(),
            Samples::parse(&read(&folder.join("samples.ndjson")), "samples").unwrap(),
        )
        .event_schema(EventSchema::parse(&read(&folder.join("schema.json")), "schema").unwrap())
        .build();
        let plan = json_of(&folder.join("plan.json"));
        Self { name: name.to_owned(), plan, task, smoke: external() }
    }

    /// A plan over arrays that are four deep.
    pub(super) fn elements() -> Self {
        let folder = workspace_root().join("tests/plans/elements");
        let graph = GraphSpec::parse(&read(&folder.join("graph.yaml")), "graph.yaml").unwrap();
        let samples = Samples::parse(&read(&folder.join("samples.ndjson")), "samples").unwrap();
        let plan = json_of(&folder.join("plan.json"));
        let task = Task::builder(graph, samples).build();
        Self { name: "elements".to_owned(), plan, task, smoke: external() }
    }

    /// The rules over real events, cut down to [their core](core).
    pub(super) fn corpora(root: &Path) -> Vec<Self> {
        let mut cases = Vec::new();
        for corpus in ["github_webhooks", "agent_telemetry"] {
            let plans = workspace_root().join("tests/plans").join(corpus);
            let rules = json_of(&plans.join("rules.json"));
            for (name, rule) in rules.as_object().unwrap() {
                // One node for each of a dozen tools: no one node is its core.
                if name != "mako_tools" {
                    let plan = json_of(&plans.join(format!("{name}.json")));
                    cases.push(Self::of_rule(&root.join(corpus), name, rule, &plan));
                }
            }
        }
        cases
    }

    fn of_rule(data: &Path, name: &str, rule: &Value, plan: &Value) -> Self {
        let types = plan::from_value(plan).unwrap();
        let is_of_type = |line: &&str| {
            let event: Value = serde_json::from_str(line).unwrap();
            types.event_types().matches(event["event_type"].as_str().unwrap_or_default())
        };
        let events = read(&data.join(rule["events"].as_str().unwrap()));
        let samples: Vec<&str> = events.lines().filter(is_of_type).take(MAX_SAMPLES).collect();
        let samples = Samples::parse(&samples.join("\n"), "samples").unwrap();
        let observed = data.join("schemas_observed").join(format!("{name}.json"));
        let schema = observed.exists().then(|| EventSchema::parse(&read(&observed), name).unwrap());
        let plan = core(plan, samples.iter().next().unwrap().event_type());
        let task = Task::builder(graph(data, name), samples).event_schema(schema).build();
        let mut case = Self { name: name.to_owned(), plan, task, smoke: SmokeOptions::default() };
        case.leave_out_what_needs_conversion();
        case.leave_out_what_nobody_knows();
        case
    }

    /// Leaves out the properties that no value fits as it stands, and lists, which are values of no type that a graph has.
    fn leave_out_what_needs_conversion(&mut self) {
        let unfit: BTreeSet<String> = self
            .mappings()
            .iter()
            .filter(|(_, it)| {
                let name = it["property_name"].as_str().unwrap();
                name == "alternatives_considered"
                    || !self.is_valid(name, &path_of(&it["source_path"]))
            })
            .map(|(_, it)| it["property_name"].to_string())
            .collect();
        let fields = self.plan["property_fields"].as_array_mut().unwrap();
        fields.retain(|it| !unfit.contains(&it["property_name"].to_string()));
    }

    /// Leaves out the paths that no sample of the event type has and the schema doesn't declare: that they are right is
    /// known from elsewhere.
    fn leave_out_what_nobody_knows(&mut self) {
        let unknown: BTreeSet<String> = self
            .mappings()
            .iter()
            .filter(|(_, it)| !self.exists(&path_of(&it["source_path"])))
            .map(|(_, it)| it["property_name"].to_string())
            .collect();
        if !unknown.is_empty() {
            say(&format!("{}: no evidence for {unknown:?}", self.name));
        }
        let fields = self.plan["property_fields"].as_array_mut().unwrap();
        fields.retain(|it| !unknown.contains(&it["property_name"].to_string()));
    }

    pub(super) fn event_type(&self) -> &str {
        self.plan["event_type"].as_str().unwrap()
    }

    pub(super) fn entity(&self) -> &str {
        self.plan["target_entity_name"].as_str().unwrap()
    }

    /// The mappings with their pointers, the key first.
    pub(super) fn mappings(&self) -> Vec<(String, &Value)> {
        let properties = self.plan["property_fields"].as_array().unwrap().iter().enumerate();
        let properties = properties.map(|(i, it)| (format!("/property_fields/{i}"), it));
        std::iter::once(("/key_field".to_owned(), &self.plan["key_field"]))
            .chain(properties)
            .collect()
    }

    /// Whether a path occurs in a sample of the plan's event type, or is declared; or in a sample of another type, where
    /// there are fewer than five of this one; or it is behind a null, of whose fields nothing is known.
    pub(super) fn exists(&self, path: &[String]) -> bool {
        let declared = self.task.evidence().declared().contains_key(path);
        let here = || self.events().any(|event| at(event, path).is_some());
        let elsewhere = || {
            let mut samples = self.task.evidence().event_types().flat_map(|(_, it)| it.samples());
            samples.any(|seen| at(seen.event(), path).is_some())
        };
        let few = self.events().count() < 5;
        declared || here() || self.is_behind_null(path) || (few && elsewhere())
    }

    /// Whether the nearest thing on the way that any sample has is always null, and nothing is declared below it.
    fn is_behind_null(&self, path: &[String]) -> bool {
        let evidence = self.task.evidence();
        let found = (1..path.len()).rev().find_map(|length| {
            let samples = evidence.event_types().flat_map(|(_, it)| it.samples());
            let values: Vec<&Value> =
                samples.filter_map(|seen| at(seen.event(), &path[..length])).collect();
            (!values.is_empty()).then_some((length, values))
        });
        found.is_some_and(|(length, values)| {
            let mut declared = evidence.declared().keys();
            values.iter().all(|it| it.is_null())
                && !declared.any(|it| it.len() > length && it.starts_with(&path[..length]))
        })
    }

    /// Whether what samples have at a path is valid for a property, by the graph validator. Where no sample has a value,
    /// nothing is known.
    pub(super) fn is_valid(&self, property: &str, path: &[String]) -> bool {
        let mut values =
            self.events().filter(|it| self.gives_a_node(it)).filter_map(|it| at(it, path));
        values.all(|value| value.is_null() || self.is_valid_value(property, value))
    }

    fn is_valid_value(&self, property: &str, value: &Value) -> bool {
        let node = Node {
            node_id: "x".to_owned(),
            entity_name: self.entity().to_owned(),
            labels: Vec::new(),
            properties: vec![Property { name: property.to_owned(), value: value.clone() }],
        };
        let result = Extraction { nodes: vec![node], ..Extraction::default() };
        let report = validate(self.task.graph(), &result, ValidateOptions::default());
        !report.failures().iter().any(|failure| failure.path.starts_with("nodes[0].properties[0]"))
    }

    /// Whether a scalar is anywhere at the path.
    pub(super) fn has_scalar(&self, path: &[String]) -> bool {
        let is_scalar = |it: &Value| it.is_string() || it.is_number() || it.is_boolean();
        self.events().filter_map(|event| at(event, path)).any(is_scalar)
    }

    fn gives_a_node(&self, event: &Value) -> bool {
        let key = path_of(&self.plan["key_field"]["source_path"]);
        at(event, &key).is_some_and(|it| it.is_string() || it.is_number() || it.is_boolean())
    }

    fn events(&self) -> impl Iterator<Item = &Value> {
        let samples = self.task.evidence().of(self.event_type()).unwrap();
        samples.samples().map(|seen| seen.event())
    }
}

/// The first node of a plan as a plan in the short form for one event type, without conversions: what the faults are made in.
fn core(plan: &Value, event_type: &str) -> Value {
    let (entity, key, node) = match plan.pointer("/nodes/0") {
        Some(node) => (&node["entity_name"], &node["key_fields"][0], node),
        None => (&plan["target_entity_name"], &plan["key_field"], plan),
    };
    let direct = |field: &Value| json!({"property_name": field["property_name"], "source_path": field["source_path"]});
    let fields = node["property_fields"].as_array().unwrap();
    let session = plan.get("session_id_path").cloned();
    let span = &plan["span_handling"];
    json!({
        "event_type": event_type,
        "target_entity_name": entity,
        "function_name": plan["function_name"],
        "key_field": direct(key),
        "property_fields": fields.iter().map(direct).collect::<Vec<_>>(),
        "session_id_path": session.unwrap_or_else(|| json!(["session_id"])),
        "span_handling": {
            "span_id_path": span.get("span_id_path").cloned().unwrap_or_else(|| json!(["span_id"])),
            "partial_when_path": span["partial_when_path"],
        },
    })
}

/// The graph of a rule: the corpus' own, else what the rule itself says of its entity.
fn graph(data: &Path, name: &str) -> GraphSpec {
    let own = data.join("graph_spec.yaml");
    if own.exists() {
        return GraphSpec::parse(&read(&own), "graph.yaml").unwrap();
    }
    if name == "bka_decision" {
        let properties =
            [("decision_id", "string"), ("outcome", "string"), ("confidence", "double")];
        return one_entity("mako_DecisionPoint", "decision_id", &properties);
    }
    let rule = json_of(&data.join("rules").join(format!("{name}.json")));
    let core = &rule["core"];
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let key = (text(&core["key"]["property"]), text(&core["key"]["type"]));
    let others = core["properties"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text(&it["name"]), text(&it["type"])));
    let all: Vec<(String, String)> = std::iter::once(key).chain(others).collect();
    let all: Vec<(&str, &str)> =
        all.iter().map(|(name, of)| (name.as_str(), of.as_str())).collect();
    one_entity(&text(&core["entity"]), all[0].0, &all)
}

fn one_entity(name: &str, key: &str, properties: &[(&str, &str)]) -> GraphSpec {
    let properties: Vec<Value> = properties
        .iter()
        .map(|(name, of)| json!({"column": name, "logical_name": name, "sdk_type": of}))
        .collect();
    let spec =
        json!({"entities": [{"name": name, "key_columns": [key], "properties": properties}]});
    GraphSpec::parse(&spec.to_string(), "graph.json").unwrap()
}

pub(super) fn path_of(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

pub(super) fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

pub(super) fn json_of(file: &Path) -> Value {
    serde_json::from_str(&read(file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Writes the paths of mappings as expressions, where they start at the innermost element and have no more to say; those to
/// arrays that are gone over as well, if `lists` says so.
fn by_expressions(value: &mut Value, lists: bool) {
    match value {
        Value::Object(fields) => {
            let is_mapping = fields.contains_key("property_name")
                && !fields.contains_key("from")
                && !fields.contains_key("nulls");
            let (field, is_written) =
                if is_mapping { ("source_path", true) } else { ("array", lists) };
            let path = fields.get(field).filter(|_| is_written).map(path_of);
            if let Some(path) = path.filter(|path| !path.is_empty()) {
                let is_plain = |key: &String| {
                    key.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
                        && !key.starts_with(|it: char| it.is_ascii_digit())
                };
                let written = |key: &String| {
                    if is_plain(key) { key.clone() } else { json!(key).to_string() }
                };
                let keys: Vec<String> = path.iter().map(written).collect();
                fields.remove(field);
                fields.insert("expression".to_owned(), json!(keys.join(".")));
            }
            fields.values_mut().for_each(|value| by_expressions(value, lists));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| by_expressions(item, lists)),
        _ => {}
    }
}
