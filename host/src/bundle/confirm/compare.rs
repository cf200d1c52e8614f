//! A result against what is expected of it.
//!
//! Nodes are found by their entity and key, edges by their relationship and ends. Where none is as expected, and one of the
//! same entity or relationship is left that nothing else is expected of, that one is taken for a wrong one: its key, or its
//! ends, are what differs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::difference::{Difference, Told, named};
use crate::bundle::origin::{edge_rule, node_rule};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::untrusted::escaped;
use crate::evidence::expected::{ExpectedEdge, ExpectedEnd, ExpectedNode, ExpectedResult};
use crate::evidence::{ExpectedSample, Sample};
use crate::graph::extraction::{Edge, Extraction, Node, Property, is_same_value};
use crate::graph::spec::{GraphSpec, Properties};
use crate::graph::validate::has_key;
use crate::plan::{FieldMapping, Plan};

/// How many nodes or edges that are there are named where another one was expected.
const MAX_NAMED: usize = 3;

/// Differences of one sample that are told.
const MAX_OF_SAMPLE: usize = 100;

/// A sample's result, and what it is from.
pub(super) struct Comparison<'a> {
    plan: Option<&'a Plan>,
    graph: Option<&'a GraphSpec>,
    sample: &'a Sample,
    result: &'a Extraction,
    /// By id: an edge's ends are looked up by it.
    by_id: BTreeMap<&'a str, &'a Node>,
    found: Vec<Difference>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(
        plan: Option<&'a Plan>,
        graph: Option<&'a GraphSpec>,
        sample: &'a Sample,
        result: &'a Extraction,
    ) -> Self {
        let by_id = result.nodes.iter().map(|node| (node.node_id.as_str(), node)).collect();
        Self { plan, graph, sample, result, by_id, found: Vec::new() }
    }

    /// In what the result differs; at most 100 differences.
    pub(super) fn with(mut self, expected: &ExpectedSample) -> Vec<Difference> {
        let expected = &expected.result;
        self.session(expected);
        self.nodes(expected);
        self.edges(expected);
        self.spans(expected);
        self.found
    }

    fn note(
        &mut self,
        code: Code,
        pointer: String,
        value: Option<&Value>,
        [expected, observed]: [Told; 2],
    ) {
        if self.found.len() < MAX_OF_SAMPLE {
            let (line, value) = (self.sample.line(), value.cloned());
            self.found.push(Difference { line, code, pointer, expected, observed, value });
        }
    }

    fn session(&mut self, expected: &ExpectedResult) {
        let Some(session) = &expected.session else { return };
        let is_other = |node: &&Node| {
            let start = node.node_id.strip_prefix(session.as_str());
            let rest = start.and_then(|rest| rest.strip_prefix(':'));
            !rest.is_some_and(|rest| rest.starts_with(&format!("{}:", node.entity_name)))
        };
        let Some(node) = self.result.nodes.iter().find(is_other) else { return };
        let value = Value::String(session.clone());
        let expected = Told::new(|show| format!("the session {}", show("session_id", &value)));
        let id = Value::String(node.node_id.clone());
        let observed = Told::new(|show| format!("a node with the id {}", show("node_id", &id)));
        let pointer = self.plan.map_or("", |_| "/session_id_path").to_owned();
        self.note(codes::OTHER_SESSION, pointer, Some(&value), [expected, observed]);
    }

    fn spans(&mut self, expected: &ExpectedResult) {
        let result = self.result;
        let handled = [
            ("fully", &expected.fully_handled_span_ids, &result.fully_handled_span_ids),
            ("partially", &expected.partially_handled_span_ids, &result.partially_handled_span_ids),
        ];
        for (how, expected, found) in handled {
            let Some(expected) = expected else { continue };
            let set = |ids: &[String]| ids.iter().cloned().collect::<BTreeSet<_>>();
            if set(expected) == set(found) {
                continue;
            }
            let listed = |ids: &[String]| {
                Told::new(|show| match ids.len() {
                    0 => format!("no span {how} handled"),
                    count => {
                        let ids: Vec<String> = ids
                            .iter()
                            .take(MAX_NAMED)
                            .map(|id| show("span_id", &Value::String(id.clone())))
                            .collect();
                        let more = if count > MAX_NAMED { ", .." } else { "" };
                        format!("{how} handled spans: {}{more}", ids.join(", "))
                    }
                })
            };
            let pointer = self.plan.map_or("", |_| "/span_handling").to_owned();
            let value = expected.first().map(|id| Value::String(id.clone()));
            let told = [listed(expected), listed(found)];
            self.note(codes::OTHER_SPANS, pointer, value.as_ref(), told);
        }
    }

    fn nodes(&mut self, expected: &ExpectedResult) {
        let mut left: Vec<&'a Node> = self.result.nodes.iter().collect();
        let mut missing = Vec::new();
        for wanted in &expected.nodes {
            // Of several that it may be, the one that differs least.
            let fits = |node: &&&Node| self.is_node(wanted, node);
            let differing = |node: &&&Node| self.differing(&wanted.properties, node);
            let best = left.iter().filter(fits).min_by_key(differing).copied();
            // What another entry speaks of already may be spoken of again.
            let named = || self.result.nodes.iter().find(|node| self.is_node(wanted, node));
            match best.or_else(named) {
                Some(node) => {
                    left.retain(|it| !std::ptr::eq(*it, node));
                    self.node(wanted, node, expected.exact);
                }
                None => missing.push(wanted),
            }
        }
        for wanted in missing {
            let is_like = |node: &&Node| wanted.entity.as_ref() == Some(&node.entity_name);
            let wrong = left.iter().position(is_like).map(|place| left.remove(place));
            self.missing_node(wanted, wrong);
        }
        if expected.exact {
            for node in left {
                let pointer =
                    self.plan.and_then(|plan| Some(plan.node_pointer(node_rule(plan, node)?)));
                let told = [Told::plain("nothing but what is listed"), self.told_node(node)];
                self.note(codes::UNWANTED_NODE, pointer.unwrap_or_default(), None, told);
            }
        }
    }

    fn is_node(&self, wanted: &ExpectedNode, node: &Node) -> bool {
        let ExpectedNode { entity, key, node_id, .. } = wanted;
        self.is_named(entity.as_deref(), key, node_id.as_deref(), node)
    }

    fn is_named(
        &self,
        entity: Option<&str>,
        key: &Map<String, Value>,
        node_id: Option<&str>,
        node: &Node,
    ) -> bool {
        let spec = self.properties_of(&node.entity_name);
        entity.is_none_or(|entity| entity == node.entity_name)
            && node_id.is_none_or(|id| id == node.node_id)
            && key.iter().all(|(name, value)| {
                value_of(spec, &node.properties, name)
                    .is_some_and(|found| is_same_value(value, found))
            })
    }

    fn properties_of(&self, entity: &str) -> Option<&'a Properties> {
        Some(&self.graph?.entity(entity)?.properties)
    }

    fn differing(&self, wanted: &Map<String, Value>, node: &Node) -> usize {
        let spec = self.properties_of(&node.entity_name);
        let differs = |(name, value): &(&String, &Value)| {
            !is_same_value(value, value_of(spec, &node.properties, name).unwrap_or(&Value::Null))
        };
        wanted.iter().filter(differs).count()
    }

    fn node(&mut self, wanted: &ExpectedNode, node: &'a Node, exact: bool) {
        let spec = self.properties_of(&node.entity_name);
        let rule = self.plan.and_then(|plan| Some((plan, node_rule(plan, node)?)));
        let place = |name: &str| {
            let Some((plan, index)) = rule else { return String::new() };
            let Some(made) = plan.nodes().get(index) else { return String::new() };
            let is_named = |it: &FieldMapping| is_one(spec, it.property_name(), name);
            let key = made.key_fields().iter().position(is_named);
            let other = made.property_fields().iter().position(is_named);
            let of_key = key.map(|key| plan.key_pointer(index, key));
            of_key
                .or_else(|| Some(plan.property_pointer(index, other?)))
                .unwrap_or_else(|| plan.node_pointer(index))
        };
        let own = self.told_node(node);
        self.properties(spec, &wanted.properties, &node.properties, &own, place);
        // Which of its properties are the key's may be known by the entry alone.
        let is_of_key = |name: &str| {
            let of_spec = self.graph.and_then(|graph| graph.entity(&node.entity_name));
            of_spec.is_some_and(|it| it.key_properties().any(|it| it.is_named(name)))
                || wanted.key.keys().any(|key| is_one(spec, key, name))
        };
        if exact {
            let others = node.properties.iter().filter(|it| !is_of_key(&it.name));
            let others: Vec<&Property> = others.collect();
            self.unwanted(spec, &wanted.properties, &others, &own, place);
        }
    }

    /// The properties that are listed, of a node or an edge.
    fn properties(
        &mut self,
        spec: Option<&Properties>,
        wanted: &Map<String, Value>,
        found: &[Property],
        own: &Told,
        place: impl Fn(&str) -> String,
    ) {
        for (name, value) in wanted {
            let observed = value_of(spec, found, name);
            if is_same_value(value, observed.unwrap_or(&Value::Null)) {
                continue;
            }
            let told = |value: &Value| {
                let said = |show: &dyn Fn(&str, &Value) -> String| show(name, value);
                Told::new(said)
            };
            let expected = Told {
                plain: format!("{} as `{}` of {}", told(value).plain, escaped(name), own.plain),
                shown: format!("{} as `{}` of {}", told(value).shown, escaped(name), own.shown),
            };
            let (code, observed) = match observed {
                Some(observed) => (codes::OTHER_VALUE, told(observed)),
                None => (codes::MISSING_PROPERTY, Told::plain("nothing")),
            };
            self.note(code, place(name), Some(value), [expected, observed]);
        }
    }

    fn unwanted(
        &mut self,
        spec: Option<&Properties>,
        wanted: &Map<String, Value>,
        found: &[&Property],
        own: &Told,
        place: impl Fn(&str) -> String,
    ) {
        for Property { name, value } in found {
            if value.is_null() || wanted.keys().any(|it| is_one(spec, it, name)) {
                continue;
            }
            let expected = Told {
                plain: format!("no `{}` of {}", escaped(name), own.plain),
                shown: format!("no `{}` of {}", escaped(name), own.shown),
            };
            let observed = Told::new(|show| show(name, value));
            self.note(codes::UNWANTED_PROPERTY, place(name), None, [expected, observed]);
        }
    }

    fn told_node(&self, node: &Node) -> Told {
        let entity = self.graph.and_then(|graph| graph.entity(&node.entity_name));
        let keys: Vec<(&str, &Value)> = entity
            .into_iter()
            .flat_map(|entity| entity.key_properties())
            .filter_map(|key| {
                let own = node.properties.iter().find(|it| key.is_named(&it.name))?;
                Some((own.name.as_str(), &own.value))
            })
            .collect();
        Told::new(|show| named(show, &node.entity_name, &keys, Some(&node.node_id)))
    }

    fn missing_node(&mut self, wanted: &ExpectedNode, wrong: Option<&'a Node>) {
        let ExpectedNode { entity, key, node_id, .. } = wanted;
        let keys: Vec<(&str, &Value)> = key.iter().map(|(name, it)| (name.as_str(), it)).collect();
        let name = entity.as_deref().unwrap_or("a node");
        let expected = Told::new(|show| named(show, name, &keys, node_id.as_deref()));
        let (pointer, observed) = match wrong {
            Some(node) => (self.wrong_key(wanted, node), self.told_node(node)),
            None => self.nothing(name),
        };
        let id = node_id.as_ref().map(|id| Value::String(id.clone()));
        let value = key.values().next().or(id.as_ref()).cloned();
        self.note(codes::MISSING_NODE, pointer, value.as_ref(), [expected, observed]);
    }

    /// Where a node's key is from that is another than was expected: what of it differs, if that is one property.
    fn wrong_key(&self, wanted: &ExpectedNode, node: &Node) -> String {
        let Some((plan, index)) = self.plan.and_then(|plan| Some((plan, node_rule(plan, node)?)))
        else {
            return String::new();
        };
        let spec = self.properties_of(&node.entity_name);
        let differs = |mapping: &FieldMapping| {
            wanted.key.iter().any(|(name, value)| {
                is_one(spec, name, mapping.property_name())
                    && !value_of(spec, &node.properties, name)
                        .is_some_and(|it| is_same_value(value, it))
            })
        };
        let keys = plan.nodes().get(index).map(|rule| rule.key_fields()).unwrap_or_default();
        match keys.iter().position(differs) {
            Some(key) => plan.key_pointer(index, key),
            None => plan.node_pointer(index),
        }
    }

    /// Why there is no node of an entity, as far as can be told.
    fn nothing(&self, entity: &str) -> (String, Told) {
        let none = Told::plain("none");
        let Some(plan) = self.plan else { return (String::new(), none) };
        let event_type = self.sample.event_type();
        if !plan.event_types().matches(event_type) {
            let event_type = escaped(event_type);
            let said = format!("none, since the plan is not for events of type \"{event_type}\"");
            return ("/event_type".to_owned(), Told::plain(said));
        }
        match plan.nodes().iter().position(|rule| rule.entity_name() == entity) {
            Some(index) => {
                // Where nothing else decides whether there is a node, its key does.
                let decided_by_key = plan.when().is_none()
                    && plan.nodes().get(index).is_some_and(|rule| {
                        let is_plain = rule.for_each().is_none() && rule.when().is_none();
                        is_plain && rule.key_fields().len() == 1
                    });
                let pointer = match decided_by_key {
                    true => plan.key_pointer(index, 0),
                    false => plan.node_pointer(index),
                };
                (pointer, none)
            }
            None => (String::new(), Told::plain("no node of the plan for that entity")),
        }
    }

    fn edges(&mut self, expected: &ExpectedResult) {
        let mut left: Vec<&'a Edge> = self.result.edges.iter().collect();
        let mut missing = Vec::new();
        for wanted in &expected.edges {
            let fits = |edge: &&&Edge| self.is_edge(wanted, edge);
            let spec = self.properties_of_edge(&wanted.relationship);
            let differing = |edge: &&&Edge| {
                let differs = |(name, value): &(&String, &Value)| {
                    !is_same_value(
                        value,
                        value_of(spec, &edge.properties, name).unwrap_or(&Value::Null),
                    )
                };
                wanted.properties.iter().filter(differs).count()
            };
            let best = left.iter().filter(fits).min_by_key(differing).copied();
            let named = || self.result.edges.iter().find(|edge| self.is_edge(wanted, edge));
            match best.or_else(named) {
                Some(edge) => {
                    left.retain(|it| !std::ptr::eq(*it, edge));
                    self.edge(wanted, edge, expected.exact);
                }
                None => missing.push(wanted),
            }
        }
        for wanted in missing {
            let is_like = |edge: &&Edge| wanted.relationship == edge.relationship_name;
            let wrong = left.iter().position(is_like).map(|place| left.remove(place));
            self.missing_edge(wanted, wrong);
        }
        if expected.exact {
            for edge in left {
                let pointer =
                    self.plan.and_then(|plan| Some(plan.edge_pointer(edge_rule(plan, edge)?)));
                let told = [Told::plain("nothing but what is listed"), told_edge(edge)];
                self.note(codes::UNWANTED_EDGE, pointer.unwrap_or_default(), None, told);
            }
        }
    }

    fn is_edge(&self, wanted: &ExpectedEdge, edge: &Edge) -> bool {
        wanted.relationship == edge.relationship_name
            && wanted.from.as_ref().is_none_or(|end| self.is_end(end, &edge.from_node_id))
            && wanted.to.as_ref().is_none_or(|end| self.is_end(end, &edge.to_node_id))
    }

    /// Whether an id is that of a node that is meant, which may be one of another event.
    fn is_end(&self, wanted: &ExpectedEnd, id: &str) -> bool {
        let ExpectedEnd { entity, key, node_id } = wanted;
        if let Some(node) = self.by_id.get(id) {
            return self.is_named(entity.as_deref(), key, node_id.as_deref(), node);
        }
        if node_id.as_ref().is_some_and(|wanted| wanted != id) {
            return false;
        }
        let Some(entity) = entity else { return true };
        match self.graph.and_then(|graph| graph.entity(entity)) {
            Some(entity) => has_key(id, entity, key),
            None => {
                let text = |value: &Value| match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let pairs = key.iter().map(|(name, value)| format!("{name}={}", text(value)));
                id.ends_with(&format!(":{entity}:{}", pairs.collect::<Vec<_>>().join(",")))
            }
        }
    }

    fn properties_of_edge(&self, relationship: &str) -> Option<&'a Properties> {
        Some(&self.graph?.relationship(relationship)?.properties)
    }

    fn edge(&mut self, wanted: &ExpectedEdge, edge: &'a Edge, exact: bool) {
        let spec = self.properties_of_edge(&edge.relationship_name);
        let rule = self.plan.and_then(|plan| Some((plan, edge_rule(plan, edge)?)));
        let place = |name: &str| {
            let Some((plan, index)) = rule else { return String::new() };
            let at = plan.edge_pointer(index);
            let made = plan.edges().get(index).map(|rule| rule.property_fields());
            let is_named = |it: &FieldMapping| is_one(spec, it.property_name(), name);
            match made.unwrap_or_default().iter().position(is_named) {
                Some(property) => format!("{at}/property_fields/{property}"),
                None => at,
            }
        };
        let own = told_edge(edge);
        self.properties(spec, &wanted.properties, &edge.properties, &own, place);
        if exact {
            let all: Vec<&Property> = edge.properties.iter().collect();
            self.unwanted(spec, &wanted.properties, &all, &own, place);
        }
    }

    fn missing_edge(&mut self, wanted: &ExpectedEdge, wrong: Option<&'a Edge>) {
        let told_end = |show: &dyn Fn(&str, &Value) -> String, end: &Option<ExpectedEnd>| match end
        {
            None => "any node".to_owned(),
            Some(ExpectedEnd { entity, key, node_id }) => {
                let keys: Vec<(&str, &Value)> =
                    key.iter().map(|(name, it)| (name.as_str(), it)).collect();
                named(show, entity.as_deref().unwrap_or("a node"), &keys, node_id.as_deref())
            }
        };
        let expected = Told::new(|show| {
            format!(
                "{} from {} to {}",
                escaped(&wanted.relationship),
                told_end(show, &wanted.from),
                told_end(show, &wanted.to)
            )
        });
        let rule_of = |plan: &Plan, edge: &Edge| {
            let at = plan.edge_pointer(edge_rule(plan, edge)?);
            let is_other = |end: &Option<ExpectedEnd>, id: &str| {
                end.as_ref().is_some_and(|end| !self.is_end(end, id))
            };
            Some(
                match (
                    is_other(&wanted.from, &edge.from_node_id),
                    is_other(&wanted.to, &edge.to_node_id),
                ) {
                    (true, false) => format!("{at}/from"),
                    (false, true) => format!("{at}/to"),
                    _ => at,
                },
            )
        };
        let (pointer, observed) = match (wrong, self.plan) {
            (Some(edge), plan) => {
                let pointer = plan.and_then(|plan| rule_of(plan, edge));
                (pointer.unwrap_or_default(), told_edge(edge))
            }
            (None, Some(plan)) => {
                let is_of =
                    |it: &crate::plan::EdgeRule| it.relationship_name() == wanted.relationship;
                let rule = plan.edges().iter().position(is_of);
                (rule.map(|rule| plan.edge_pointer(rule)).unwrap_or_default(), Told::plain("none"))
            }
            (None, None) => (String::new(), Told::plain("none")),
        };
        self.note(codes::MISSING_EDGE, pointer, None, [expected, observed]);
    }
}

fn told_edge(edge: &Edge) -> Told {
    Told::new(|show| {
        let id = |id: &str| show("node_id", &Value::String(id.to_owned()));
        format!(
            "{} from {} to {}",
            escaped(&edge.relationship_name),
            id(&edge.from_node_id),
            id(&edge.to_node_id)
        )
    })
}

/// Whether two names mean one property: a column is another name for it.
fn is_one(spec: Option<&Properties>, one: &str, other: &str) -> bool {
    let column = |name: &str| spec.and_then(|spec| spec.named(name)).map(|it| it.column.as_str());
    one == other || column(one).is_some_and(|it| column(other) == Some(it))
}

fn value_of<'p>(
    spec: Option<&Properties>,
    properties: &'p [Property],
    name: &str,
) -> Option<&'p Value> {
    let exact = properties.iter().find(|it| it.name == name);
    let found = exact.or_else(|| properties.iter().find(|it| is_one(spec, &it.name, name)));
    found.map(|it| &it.value)
}
