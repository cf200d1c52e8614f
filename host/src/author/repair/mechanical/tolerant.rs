//! A JSON value read as a plan as far as it goes: parts that can't be read are left out, and everything else knows its place.

use std::collections::BTreeMap;

use serde_json::Value;

use super::grammar::{enclosing, kind_at, shape_at};
use super::iteration::{IterationScope, scopes_of_levels};
use super::rule::{PlanRule, TolerantMapping};
use crate::evidence::effort::StepBudget;
use crate::graph::GraphSpec;
use crate::plan::EventPattern;
use crate::plan::expr::{ForEach, Level};
use crate::plan::language::{ObjectKind, Shape};

/// How many nodes, edges and span rules are looked at.
const MAX_RULES: usize = 256;
const MAX_SPANS: usize = 64;

/// The objects of a plan that have mappings.
const RULES: &[ObjectKind] =
    &[ObjectKind::External, ObjectKind::Node, ObjectKind::Edge, ObjectKind::Plan];

/// The objects of a plan that have a path, and a `from` beside it.
const WITH_PATHS: &[ObjectKind] = &[
    ObjectKind::Key,
    ObjectKind::Property,
    ObjectKind::Choice,
    ObjectKind::Condition,
    ObjectKind::Span,
];

/// What could be read of a value that should be a plan.
pub(super) struct TolerantPlan<'a> {
    pub(super) json: &'a Value,
    /// The event type, where it is one text that isn't empty.
    pub(super) event_type: Option<&'a str>,
    /// All event types that are written.
    pub(super) event_patterns: Vec<EventPattern>,
    /// Everything that has mappings: the plan itself in the short form, then nodes, then edges with their external ends.
    pub(super) rules: Vec<PlanRule<'a>>,
    /// What span rules go over, by their pointers.
    spans: BTreeMap<String, IterationScope>,
    /// What paths start from inside of each level of a `for_each`, by its pointer.
    levels: BTreeMap<String, IterationScope>,
}

impl<'a> TolerantPlan<'a> {
    /// Reads a value beside a graph, which says what is meant by names that it doesn't have.
    pub(super) fn read(json: &'a Value, graph: &'a GraphSpec, searches: &'a StepBudget) -> Self {
        let event_type = json.get("event_type");
        let event_types = match event_type {
            Some(Value::Array(items)) => items.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        let event_types = event_types.iter().filter_map(Value::as_str);
        let rules = read_rules(json, (graph, searches));
        let spans = read_spans(json);
        let owners =
            rules.iter().map(|rule| rule.at.as_str()).chain(spans.keys().map(String::as_str));
        let levels = owners.flat_map(|owner| {
            let at = format!("{owner}/for_each");
            json.pointer(&at).map(|written| scopes_of_levels(written, &at)).unwrap_or_default()
        });
        Self {
            json,
            levels: levels.collect(),
            event_type: event_type.and_then(Value::as_str).filter(|name| !name.is_empty()),
            event_patterns: event_types.map(EventPattern::new).collect(),
            rules,
            spans,
        }
    }

    /// What is at a pointer.
    pub(super) fn get(&self, at: &str) -> Option<&'a Value> {
        self.json.pointer(at)
    }

    /// What the place of a pointer holds, or should hold.
    pub(super) fn shape(&self, at: &str) -> Option<Shape> {
        shape_at(self.json, at)
    }

    /// The kind of object that is at a pointer, or should be.
    pub(super) fn kind(&self, at: &str) -> Option<ObjectKind> {
        kind_at(self.json, at)
    }

    /// All iterations, and the outer ones of those that are nested.
    pub(super) fn iterations(&self) -> Vec<ForEach> {
        let scopes = self.rules.iter().map(|rule| &rule.scope).chain(self.spans.values());
        let scopes = scopes.chain(self.levels.values());
        ForEach::all_levels(scopes.filter_map(IterationScope::for_each))
    }

    /// What paths start from inside of the level of a `for_each` that is at a pointer.
    pub(super) fn inside_level(&self, at: &str) -> Option<&IterationScope> {
        self.levels.get(at)
    }

    /// The rule at a pointer.
    pub(super) fn rule(&self, at: &str) -> Option<&PlanRule<'a>> {
        self.rules.iter().find(|rule| rule.at == at)
    }

    /// The rule at a pointer or around it.
    pub(super) fn rule_around(&self, at: &str) -> Option<&PlanRule<'a>> {
        self.rule(enclosing(self.json, at, RULES)?)
    }

    /// The mapping of a property, or the value in a `coalesce`, at a pointer or around it.
    pub(super) fn value_around(&self, at: &str) -> Option<TolerantMapping<'a>> {
        let kinds = [ObjectKind::Key, ObjectKind::Property, ObjectKind::Choice];
        self.read_mapping(enclosing(self.json, at, &kinds)?)
    }

    /// The mapping of a property at a pointer or around it.
    pub(super) fn mapping_around(&self, at: &str) -> Option<TolerantMapping<'a>> {
        self.read_mapping(enclosing(self.json, at, &[ObjectKind::Key, ObjectKind::Property])?)
    }

    fn read_mapping(&self, at: &str) -> Option<TolerantMapping<'a>> {
        let is_key = self.kind(at) == Some(ObjectKind::Key);
        let scope = self.scope(at).unwrap_or(&IterationScope::Unreadable);
        Some(TolerantMapping::read(at.to_owned(), self.get(at)?, is_key, scope))
    }

    /// The nodes that edges can name, with what they call them.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&PlanRule<'a>, &'a str)> {
        self.rules.iter().filter_map(|rule| Some((rule, rule.node_name()?)))
    }

    /// What the paths of a place start from; `None` of a span rule that isn't looked at.
    pub(super) fn scope(&self, at: &str) -> Option<&IterationScope> {
        if let Some(level) = enclosing(self.json, at, &[ObjectKind::ForEach])
            && at.strip_prefix(level).is_some_and(|inside| inside.starts_with("/where"))
        {
            return self.levels.get(level);
        }
        match enclosing(self.json, at, &[ObjectKind::Span]) {
            Some(span) => self.spans.get(span),
            None => Some(self.rule_around(at).map_or(&IterationScope::Event, |rule| &rule.scope)),
        }
    }

    /// The level at which the path of a place starts, by the `from` beside it.
    pub(super) fn level(&self, at: &str) -> Level {
        let Some(scope) = self.scope(at) else { return Level::EVENT };
        let beside = enclosing(self.json, at, WITH_PATHS).and_then(|at| self.get(at));
        beside.map_or(scope.level(), |object| scope.level_of(object))
    }
}

fn read_rules<'a>(json: &'a Value, beside: (&'a GraphSpec, &'a StepBudget)) -> Vec<PlanRule<'a>> {
    let list = |name: &str| {
        let items = json.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        items.iter().enumerate().take(MAX_RULES)
    };
    let mut rules = Vec::new();
    if json.get("nodes").is_none() {
        let scope = IterationScope::Event;
        rules.push(PlanRule::read(String::new(), ObjectKind::Plan, json, scope, beside));
    }
    for (i, node) in list("nodes") {
        let scope = IterationScope::of(node);
        rules.push(PlanRule::read(format!("/nodes/{i}"), ObjectKind::Node, node, scope, beside));
    }
    for (i, edge) in list("edges") {
        let at = format!("/edges/{i}");
        let scope = edge_scope(edge, &rules);
        rules.push(PlanRule::read(at.clone(), ObjectKind::Edge, edge, scope.clone(), beside));
        for end in ["from", "to"] {
            let Some(node) = edge.get(end).filter(|it| it.is_object()) else { continue };
            let (at, scope) = (format!("{at}/{end}"), scope.clone());
            rules.push(PlanRule::read(at, ObjectKind::External, node, scope, beside));
        }
    }
    rules
}

/// What an edge goes over: its own `for_each`, or the innermost of those of the nodes that it names.
fn edge_scope(edge: &Value, rules: &[PlanRule<'_>]) -> IterationScope {
    let ends = ["from", "to"].into_iter().filter_map(|end| edge.get(end)?.as_str());
    let node = |name: &str| {
        let mut nodes = rules.iter().filter(|rule| rule.kind == ObjectKind::Node);
        nodes.find(|node| node.node_name() == Some(name))
    };
    let scopes = ends.filter_map(node).map(|node| node.scope.clone());
    scopes.fold(IterationScope::of(edge), IterationScope::innermost)
}

fn read_spans(json: &Value) -> BTreeMap<String, IterationScope> {
    let at = "/span_handling";
    match json.pointer(at) {
        Some(Value::Array(rules)) => {
            let rules = rules.iter().enumerate().take(MAX_SPANS);
            rules.map(|(i, rule)| (format!("{at}/{i}"), IterationScope::of(rule))).collect()
        }
        Some(rule) => BTreeMap::from([(at.to_owned(), IterationScope::of(rule))]),
        None => BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::TolerantPlan;
    use crate::evidence::effort::{Cancel, StepBudget};
    use crate::graph::GraphSpec;
    use crate::plan::expr::Level;

    #[test]
    fn what_can_be_read_knows_its_place_whatever_is_beside_it() {
        let json = json!({
            "event_type": ["a", 7],
            "nodes": [
                {"entity_name": "Order", "for_each": "lines", "key_fields": [null]},
                {"entity_name": 1, "name": "line", "for_each": {"array": ["lines"]}, "key_fields": {},
                    "property_fields": [
                        {"property_name": "", "source_path": ["no", 1], "from": "event"},
                        {"property_name": "no", "source_path": ["no"]},
                    ]},
            ],
            "edges": [{"from": "line", "to": {"entity_name": "Order", "key_fields": [{}]}}, null],
            "span_handling": [{"for_each": {"entries": ["spans"]}, "span_id_path": []}],
        });
        let graph = "entities: [{name: Order, keys: {primary: [id]}, properties: [{name: id, type: string}]}]";
        let graph = GraphSpec::parse(graph, "graph.yaml").expect("a graph");
        let effort = StepBudget::new(u64::MAX, &Cancel::default());
        let plan = TolerantPlan::read(&json, &graph, &effort);

        assert_eq!((plan.event_type, plan.event_patterns.len()), (None, 1));
        let rules: Vec<&str> = plan.rules.iter().map(|rule| rule.at.as_str()).collect();
        assert_eq!(rules, ["/nodes/0", "/nodes/1", "/edges/0", "/edges/0/to", "/edges/1"]);
        let names: Vec<&str> = plan.nodes().map(|(_, name)| name).collect();
        assert_eq!(names, ["Order", "line"]);
        let line = plan.rule("/nodes/1").expect("a node");
        let read = line.mappings.iter().map(|it| (it.name, it.path.is_some(), it.level));
        let expected = [(None, false, Level::EVENT), (Some("no"), true, Level(1))];
        assert_eq!(read.collect::<Vec<_>>(), expected);
        // An edge goes over what its nodes go over, and its external ends with it.
        for at in ["/nodes/1/when", "/edges/0/when", "/edges/0/to/key_fields/0", "/span_handling/0"]
        {
            assert_eq!(plan.level(at), Level(1), "{at}");
            assert!(plan.scope(at).is_some_and(|it| it.for_each().is_some()), "{at}");
        }
        for at in ["/nodes/0/key_fields/0", "/when", "/edges/1"] {
            assert_eq!(plan.level(at), Level::EVENT, "{at}");
        }
        let mapping = plan.mapping_around("/nodes/1/property_fields/1/source_path/0");
        assert_eq!(mapping.map(|it| it.at).as_deref(), Some("/nodes/1/property_fields/1"));
    }
}
