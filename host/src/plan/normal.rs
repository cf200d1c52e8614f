//! The normalised form of a plan: every field in one order, and none that is at its default save for those that plans
//! always had.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::language::Dialect;
use super::language::write::{Members, OrderedJson, for_each};
use super::model::{
    EdgeRule, Endpoint, EventPattern, EventTypes, FieldMapping, Form, NodeRule, Nulls, Partial,
    Plan, SpanRule, innermost,
};
use crate::plan::expr::{Condition, Empty, Level, OnDuplicate, OnError, Zone};

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut written = OrderedJson::from(plan(self));
        for at in self.unseen() {
            written.mark(at, "unseen");
        }
        written.serialize(serializer)
    }
}

fn plan(plan: &Plan) -> Members {
    let about = Members::new()
        .with("event_type", event_types(plan))
        .with_some("when", when(plan.when.as_ref(), Level::EVENT));
    let with_nodes = match (plan.form, plan.nodes.first()) {
        (Form::Short, Some(node)) => about
            .with("target_entity_name", node.entity_name.as_str())
            .with("function_name", plan.function_name.as_str())
            .with_some("key_field", node.key_fields.first().map(|key| mapping(key, Level::EVENT)))
            .with("property_fields", mappings(&node.property_fields, Level::EVENT)),
        _ => about
            .with("function_name", plan.function_name.as_str())
            .with("nodes", plan.nodes.iter().map(node).collect::<OrderedJson>()),
    };
    let edges = plan.edges.iter().map(|it| edge(it, &plan.nodes));
    let spans = plan.span_rules.rules.iter().map(span_rule);
    with_nodes
        .with_some("edges", (!plan.edges.is_empty()).then(|| edges.collect::<OrderedJson>()))
        .with_some("on_duplicate", unless_default(plan.on_duplicate, OnDuplicate::Last))
        .with_some("empty", unless_default(plan.empty, Empty::Value))
        .with_some("time_zone", plan.time_zone.as_ref().map(Zone::name))
        .with("session_id_path", plan.session_id_path.clone())
        .with(
            "span_handling",
            match plan.span_rules.rules.as_slice() {
                [rule] if !plan.span_rules.listed => span_rule(rule).into(),
                [] => Value::Null.into(),
                _ => spans.collect::<OrderedJson>(),
            },
        )
}

fn event_types(plan: &Plan) -> OrderedJson {
    let EventTypes { patterns, listed } = &plan.event_types;
    let written = |(index, pattern): (usize, &EventPattern)| -> OrderedJson {
        let name = pattern.to_string();
        match plan.unseen.contains(&plan.event_type_pointer(index)) {
            true => Members::new().with("type", name).into(),
            false => name.into(),
        }
    };
    match patterns.as_slice() {
        [one] if !listed => written((0, one)),
        patterns => patterns.iter().enumerate().map(written).collect(),
    }
}

fn node(node: &NodeRule) -> Members {
    let level = innermost(node.for_each.as_ref());
    Members::new()
        .with("entity_name", node.entity_name.as_str())
        .with_some("name", node.name.as_deref())
        .with_some("for_each", node.for_each.as_ref().map(for_each))
        .with_some("when", when(node.when.as_ref(), level))
        .with("key_fields", mappings(&node.key_fields, level))
        .with_some("property_fields", some_mappings(&node.property_fields, level))
}

fn edge(edge: &EdgeRule, nodes: &[NodeRule]) -> Members {
    let level = innermost(edge.for_each.as_ref());
    let end = |endpoint: &Endpoint| -> OrderedJson {
        match endpoint {
            Endpoint::Node(index) => nodes.get(*index).map_or("", NodeRule::name).into(),
            Endpoint::External { entity_name, key_fields } => Members::new()
                .with("entity_name", entity_name.as_str())
                .with("key_fields", mappings(key_fields, level))
                .into(),
        }
    };
    Members::new()
        .with("relationship_name", edge.relationship_name.as_str())
        .with("from", end(&edge.from))
        .with("to", end(&edge.to))
        .with_some("for_each", edge.own_for_each.as_ref().map(for_each))
        .with_some("when", when(edge.when.as_ref(), level))
        .with_some("edge_id", edge.edge_id.as_ref().map(|template| template.text()))
        .with_some("property_fields", some_mappings(&edge.property_fields, level))
}

fn mapping(mapping: &FieldMapping, level: Level) -> Members {
    Members::new()
        .with("property_name", mapping.property_name.as_str())
        .and(Dialect::Plan.write_value(&mapping.value, level))
        .with_some("nulls", unless_default(mapping.nulls, Nulls::Omit))
        .with_some("on_error", unless_default(mapping.on_error, OnError::Omit))
}

fn mappings(fields: &[FieldMapping], level: Level) -> OrderedJson {
    fields.iter().map(|field| mapping(field, level)).collect()
}

fn some_mappings(fields: &[FieldMapping], level: Level) -> Option<OrderedJson> {
    (!fields.is_empty()).then(|| mappings(fields, level))
}

fn span_rule(rule: &SpanRule) -> Members {
    let level = innermost(rule.for_each.as_ref());
    let claim = Members::new()
        .with("span_id_path", rule.span_id.path.clone())
        .and(Dialect::Plan.write_level(rule.span_id.level, level))
        .with_some("for_each", rule.for_each.as_ref().map(for_each))
        .with_some("when", when(rule.when.as_ref(), level));
    match &rule.partial {
        None => claim.with("partial_when_path", Value::Null),
        Some(Partial::Truthy(reference)) => claim.with("partial_when_path", reference.path.clone()),
        Some(Partial::When(condition)) => {
            claim.with_some("partial_when", when(Some(condition), level))
        }
    }
}

fn when(when: Option<&Condition>, level: Level) -> Option<Members> {
    when.map(|condition| Dialect::Plan.write_condition(condition, level))
}

fn unless_default<T: PartialEq + Serialize>(word: T, default: T) -> Option<Value> {
    (word != default).then(|| json!(word))
}
