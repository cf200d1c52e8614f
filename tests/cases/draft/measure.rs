//! Drafts against gold: where the main node's values are read, and what comes of the other nodes and the edges.

use std::collections::BTreeSet;
use std::path::Path;

use retort::evidence::{at, dotted};
use retort::internal::oracle;
use retort::plan::{FieldMapping, Partial, Plan, SpanRule};
use retort::{EventSchema, GraphSpec, Rule, Samples, Task};
use serde_json::{Map, Value};

/// A task with its gold.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) task: Task,
    /// The events that the gold is about, in its order, with others between.
    pub(super) events: String,
    gold: Vec<Value>,
    wanted: Vec<String>,
}

/// How many properties are right, and what else is.
#[derive(Default)]
pub(super) struct Sums {
    wanted: usize,
    drafted: usize,
    right: usize,
    values: [usize; 3],
    rules: usize,
    key: usize,
    session: usize,
    span: usize,
    partial: usize,
    pub(super) wrong: Vec<String>,
}

impl Case {
    pub(super) fn new(
        name: &str,
        rule: Value,
        graph: &str,
        samples: &str,
        schema: Option<EventSchema>,
        gold: &Path,
    ) -> Self {
        let graph = GraphSpec::parse(graph, "graph").unwrap();
        let gold: Vec<Value> = std::fs::read_to_string(gold)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let node = gold.iter().find_map(|gold| gold["nodes"].get(0)).unwrap();
        let entity = node.get("entity").or_else(|| node.get("entity_name")).unwrap();
        let entity = graph.entity(entity.as_str().unwrap()).unwrap();
        let key = entity.key_properties().next().unwrap().logical_name.clone();
        let mut wanted: Vec<String> = entity
            .properties
            .iter()
            .map(|it| it.logical_name.clone())
            .filter(|it| *it != key)
            .collect();
        // A property for which no event has a value can't be found, nor missed.
        wanted.retain(|name| {
            gold.iter().any(|gold| raw(gold).is_some_and(|raw| raw.contains_key(name)))
        });
        let parsed = Samples::parse(samples, "samples").unwrap();
        let task = Task::builder(graph, parsed)
            .rule(Rule::from_value(rule).unwrap())
            .event_schema(schema)
            .build();
        Self { name: name.to_owned(), task, events: samples.to_owned(), gold, wanted }
    }

    /// Compares what a plan reads with the gold.
    pub(super) fn compare(&self, plan: &Plan) -> Sums {
        let pairs = self.pairs();
        let mut sums = Sums { rules: 1, wanted: self.wanted.len(), ..Sums::default() };
        let raw_of = |gold: &Value, name: &str| raw(gold).and_then(|it| it.get(name).cloned());
        let main = plan.nodes().first().unwrap();
        for field in main.property_fields() {
            let (name, path) = (field.property_name(), path(field));
            let mut differing = None;
            for (event, gold) in &pairs {
                let found = at(event, path).filter(|it| !it.is_null());
                let wanted = raw_of(gold, name).filter(|it| !it.is_null());
                sums.values[0] += usize::from(found.is_some() && found == wanted.as_ref());
                sums.values[1] += usize::from(found.is_some());
                if found != wanted.as_ref() && differing.is_none() {
                    differing = Some((found.cloned(), wanted));
                }
            }
            sums.drafted += 1;
            match differing {
                None if self.wanted.iter().any(|it| it == name) => sums.right += 1,
                None => sums.drafted -= 1,
                Some((found, wanted)) => {
                    let show =
                        |it: Option<Value>| it.map_or("nothing".to_owned(), |it| it.to_string());
                    sums.wrong.push(format!(
                        "{name} at {}: {}, the gold has {}",
                        dotted(path),
                        show(found),
                        show(wanted)
                    ));
                }
            }
        }
        for name in &self.wanted {
            if !main.property_fields().iter().any(|it| it.property_name() == name) {
                sums.wrong.push(format!("{name} is missing"));
            }
            let with_value =
                |(_, gold): &&(Value, &Value)| raw_of(gold, name).is_some_and(|it| !it.is_null());
            sums.values[2] += pairs.iter().filter(with_value).count();
        }
        self.compare_rest(plan, &pairs, &mut sums);
        sums
    }

    fn compare_rest(&self, plan: &Plan, pairs: &[(Value, &Value)], sums: &mut Sums) {
        let mut all = |what: &str, path: String, right: &dyn Fn(&Value, &Value) -> bool| {
            let right = pairs.iter().all(|(event, gold)| right(event, gold));
            if !right {
                sums.wrong.push(format!("{what} at {path}"));
            }
            usize::from(right)
        };
        let key = plan.nodes().first().and_then(|main| main.key_fields().first()).unwrap();
        let key_right = all("key", dotted(path(key)), &|event, gold| {
            let Some(raw) = raw(gold) else { return true };
            at(event, path(key)) == raw.get(key.property_name())
        });
        let session = all("session", dotted(plan.session_id_path()), &|event, gold| {
            at(event, plan.session_id_path()).and_then(Value::as_str) == gold["session_id"].as_str()
        });
        let span = plan.span_rules().first();
        let path = |path: Option<&[String]>| path.map_or_else(String::new, dotted);
        let span_id = span.map(|it| it.span_id().path.as_slice());
        let span_right = all("span", path(span_id), &|event, gold| {
            span_id.and_then(|it| at(event, it)).and_then(Value::as_str) == gold["span_id"].as_str()
        });
        let partial = span.and_then(partial);
        let partial_right = all("free text", path(partial), &|event, gold| {
            let text = partial.and_then(|path| at(event, path)).and_then(Value::as_str);
            let spans =
                gold.get("partially_handled").or_else(|| gold.get("partially_handled_span_ids"));
            let is_partial = spans.and_then(Value::as_array).is_some_and(|it| !it.is_empty());
            raw(gold).is_none() || is_partial == text.is_some_and(|it| !it.is_empty())
        });
        sums.key = key_right;
        sums.session = session;
        sums.span = span_right;
        sums.partial = partial_right;
    }

    /// Compares what a plan makes of the events, the main nodes apart, with the gold's other nodes and edges.
    pub(super) fn compare_extended(&self, plan: &Plan) -> Facts {
        let main = plan.nodes().first().unwrap().entity_name();
        let mut sums = Facts::default();
        for (event, gold) in self.pairs() {
            let made = oracle::eval(plan, &event.to_string()).unwrap();
            let mut drafted = BTreeSet::new();
            for node in made.nodes.iter().filter(|node| node.entity_name != main) {
                for property in &node.properties {
                    drafted
                        .insert(format!("{} {}={}", node.node_id, property.name, property.value));
                }
            }
            for edge in &made.edges {
                let (from, to) = (&edge.from_node_id, &edge.to_node_id);
                drafted.insert(format!("{from} -{}-> {to}", edge.relationship_name));
            }
            let wanted = wanted(gold);
            sums.add(&Facts {
                wanted: wanted.len(),
                drafted: drafted.len(),
                right: wanted.intersection(&drafted).count(),
                wrong: wanted.symmetric_difference(&drafted).cloned().collect(),
            });
        }
        sums
    }

    /// The events with their gold.
    fn pairs(&self) -> Vec<(Value, &Value)> {
        let mut gold = self.gold.iter().peekable();
        let mut pairs = Vec::new();
        for line in self.events.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            let same = |gold: &&Value| {
                ["event_type", "session_id", "span_id"]
                    .iter()
                    .all(|key| event[*key].as_str() == gold[*key].as_str())
            };
            if let Some(gold) = gold.next_if(same) {
                pairs.push((event, gold));
            }
        }
        assert_eq!(gold.count(), 0, "{}: gold is in the order of the events", self.name);
        pairs
    }
}

/// What the gold says of the nodes beside the main one, and of edges.
fn wanted(gold: &Value) -> BTreeSet<String> {
    let mut wanted = BTreeSet::new();
    for node in gold["extended_nodes"].as_array().unwrap() {
        for (name, value) in node["properties"].as_object().unwrap() {
            wanted.insert(format!("{} {name}={value}", node["node_id"].as_str().unwrap()));
        }
    }
    for edge in gold["extended_edges"].as_array().unwrap() {
        let [from, name, to] = ["from", "relationship", "to"].map(|it| edge[it].as_str().unwrap());
        wanted.insert(format!("{from} -{name}-> {to}"));
    }
    wanted
}

/// Properties of nodes and ends of edges, counted over events.
#[derive(Default)]
pub(super) struct Facts {
    wanted: usize,
    drafted: usize,
    right: usize,
    pub(super) wrong: Vec<String>,
}

impl Facts {
    pub(super) fn add(&mut self, other: &Self) {
        self.wanted += other.wanted;
        self.drafted += other.drafted;
        self.right += other.right;
        self.wrong.extend(other.wrong.iter().cloned());
    }

    /// Precision and recall.
    pub(super) fn shares(&self) -> (f64, f64) {
        (ratio(self.right, self.drafted), ratio(self.right, self.wanted))
    }

    pub(super) fn row(&self, name: &str) -> String {
        let Self { wanted, drafted, right, .. } = self;
        let ((precision, recall), f1) = (self.shares(), f1(*right, *drafted, *wanted));
        format!(
            "  {name:<20} {right:>5} {drafted:>7} {wanted:>6}  {precision:>9.3} {recall:>6.3} {f1:>5.3}\n"
        )
    }
}

/// The path of a mapping that has nothing but one, and perhaps conversions.
pub(super) fn path(field: &FieldMapping) -> &[String] {
    &field.reference().unwrap().path
}

/// Where the text is that makes a span partially handled.
pub(super) fn partial(span: &SpanRule) -> Option<&[String]> {
    match span.partial() {
        Some(Partial::Truthy(reference)) => Some(&reference.path),
        _ => None,
    }
}

/// The values of the gold's node, as the event has them.
fn raw(gold: &Value) -> Option<Map<String, Value>> {
    let node = gold["nodes"].get(0)?;
    if let Some(raw) = node.get("raw").and_then(Value::as_object) {
        return Some(raw.clone());
    }
    match &node["properties"] {
        Value::Object(properties) => Some(properties.clone()),
        Value::Array(list) => {
            let pair = |it: &Value| Some((it["name"].as_str()?.to_owned(), it["value"].clone()));
            list.iter().map(pair).collect()
        }
        _ => None,
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts of properties")]
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

fn f1(right: usize, drafted: usize, wanted: usize) -> f64 {
    let (precision, recall) = (ratio(right, drafted), ratio(right, wanted));
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}

impl Sums {
    pub(super) fn add(&mut self, other: &Self) {
        for (mine, theirs) in [
            (&mut self.wanted, other.wanted),
            (&mut self.drafted, other.drafted),
            (&mut self.right, other.right),
            (&mut self.rules, other.rules),
            (&mut self.key, other.key),
            (&mut self.session, other.session),
            (&mut self.span, other.span),
            (&mut self.partial, other.partial),
        ] {
            *mine += theirs;
        }
        for (mine, theirs) in self.values.iter_mut().zip(other.values) {
            *mine += theirs;
        }
    }

    pub(super) fn f1(&self) -> f64 {
        f1(self.right, self.drafted, self.wanted)
    }

    /// Whether key, session and span are right in every rule, and some property is.
    pub(super) fn rest_is_right(&self) -> bool {
        self.right > 0 && [self.key, self.session, self.span].iter().all(|it| *it == self.rules)
    }

    /// The share of the rules whose free text is right.
    pub(super) fn free_text(&self) -> f64 {
        ratio(self.partial, self.rules)
    }

    pub(super) fn header() -> String {
        "  rule                 right drafted wanted  precision recall    F1  values (p, r)  key session span \
         free text\n"
            .to_owned()
    }

    pub(super) fn row(&self, name: &str) -> String {
        let [equal, found, wanted] = self.values;
        let of = |count: usize| format!("{count}/{}", self.rules);
        format!(
            "  {name:<20} {:>5} {:>7} {:>6}  {:>9.3} {:>6.3} {:>5.3}  {:.3} {:.3}  {} {} {} {}\n",
            self.right,
            self.drafted,
            self.wanted,
            ratio(self.right, self.drafted),
            ratio(self.right, self.wanted),
            self.f1(),
            ratio(equal, found),
            ratio(equal, wanted),
            of(self.key),
            of(self.session),
            of(self.span),
            of(self.partial),
        )
    }
}
