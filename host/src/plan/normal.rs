//! The normalised form of a plan: every field in one order, and none that is at its default save for those that plans
//! always had.

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::model::{
    EdgeRule, Endpoint, EventTypes, FieldMapping, Form, NodeRule, Nulls, Partial, Plan, SpanRule,
    innermost,
};
use crate::plan::expr::{
    Condition, Expression, ForEach, Iteration, Level, OnDuplicate, OnError, Over, Reference,
    Source, Test,
};

/// A part of a plan, which stands where paths start at this level.
struct At<'p, T: ?Sized>(&'p T, Level);

/// The parts of a list, each at this level.
struct All<'p, T>(&'p [T], Level);

impl<'p, T> Serialize for All<'p, T>
where
    At<'p, T>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for item in self.0 {
            list.serialize_element(&At(item, self.1))?;
        }
        list.end()
    }
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("event_type", &self.event_types)?;
        when(&mut map, self.when.as_ref(), Level::EVENT)?;
        match (self.form, self.nodes.first()) {
            (Form::Short, Some(node)) => {
                map.serialize_entry("target_entity_name", &node.entity_name)?;
                map.serialize_entry("function_name", &self.function_name)?;
                if let Some(key) = node.key_fields.first() {
                    map.serialize_entry("key_field", &At(key, Level::EVENT))?;
                }
                map.serialize_entry("property_fields", &All(&node.property_fields, Level::EVENT))?;
            }
            _ => {
                map.serialize_entry("function_name", &self.function_name)?;
                map.serialize_entry("nodes", &self.nodes)?;
            }
        }
        if !self.edges.is_empty() {
            let edges: Vec<Edge<'_>> =
                self.edges.iter().map(|edge| Edge { edge, nodes: &self.nodes }).collect();
            map.serialize_entry("edges", &edges)?;
        }
        if self.on_duplicate != OnDuplicate::Last {
            map.serialize_entry("on_duplicate", &self.on_duplicate)?;
        }
        map.serialize_entry("session_id_path", &self.session_id_path)?;
        match self.span_rules.rules.as_slice() {
            [rule] if !self.span_rules.listed => map.serialize_entry("span_handling", rule)?,
            [] => map.serialize_entry("span_handling", &())?,
            rules => map.serialize_entry("span_handling", rules)?,
        }
        map.end()
    }
}

impl Serialize for EventTypes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.patterns.as_slice() {
            [one] if !self.listed => serializer.collect_str(one),
            patterns => serializer.collect_seq(patterns.iter().map(ToString::to_string)),
        }
    }
}

impl Serialize for NodeRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let level = innermost(self.for_each.as_ref());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("entity_name", &self.entity_name)?;
        if let Some(name) = &self.name {
            map.serialize_entry("name", name)?;
        }
        for_each(&mut map, self.for_each.as_ref())?;
        when(&mut map, self.when.as_ref(), level)?;
        map.serialize_entry("key_fields", &All(&self.key_fields, level))?;
        properties(&mut map, &self.property_fields, level)?;
        map.end()
    }
}

/// An edge, and the nodes that its ends may name.
struct Edge<'p> {
    edge: &'p EdgeRule,
    nodes: &'p [NodeRule],
}

impl Serialize for Edge<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { edge, nodes } = self;
        let level = innermost(edge.for_each.as_ref());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("relationship_name", &edge.relationship_name)?;
        for (end, endpoint) in [("from", &edge.from), ("to", &edge.to)] {
            match endpoint {
                Endpoint::Node(index) => {
                    let name = nodes.get(*index).map_or("", NodeRule::name);
                    map.serialize_entry(end, name)?;
                }
                external @ Endpoint::External { .. } => {
                    map.serialize_entry(end, &At(external, level))?;
                }
            }
        }
        for_each(&mut map, edge.own_for_each.as_ref())?;
        when(&mut map, edge.when.as_ref(), level)?;
        if let Some(template) = &edge.edge_id {
            map.serialize_entry("edge_id", template.text())?;
        }
        properties(&mut map, &edge.property_fields, level)?;
        map.end()
    }
}

impl Serialize for At<'_, Endpoint> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(endpoint, level) = *self;
        let mut map = serializer.serialize_map(None)?;
        if let Endpoint::External { entity_name, key_fields } = endpoint {
            map.serialize_entry("entity_name", entity_name)?;
            map.serialize_entry("key_fields", &All(key_fields, level))?;
        }
        map.end()
    }
}

impl Serialize for At<'_, FieldMapping> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(mapping, level) = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("property_name", &mapping.property_name)?;
        value(&mut map, &mapping.value, level)?;
        if mapping.nulls != Nulls::Omit {
            map.serialize_entry("nulls", &mapping.nulls)?;
        }
        if mapping.on_error != OnError::Omit {
            map.serialize_entry("on_error", &mapping.on_error)?;
        }
        map.end()
    }
}

impl Serialize for At<'_, Expression> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        value(&mut map, self.0, self.1)?;
        map.end()
    }
}

impl Serialize for At<'_, Condition> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(condition, level) = *self;
        let mut map = serializer.serialize_map(None)?;
        match condition {
            Condition::Test(path, test) => {
                reference(&mut map, path, level)?;
                match test {
                    Test::Exists => map.serialize_entry("exists", &true)?,
                    Test::Truthy => map.serialize_entry("truthy", &true)?,
                    Test::Equals(value) => map.serialize_entry("equals", value)?,
                    Test::OneOf(values) => map.serialize_entry("one_of", values)?,
                    Test::StartsWith(text) => map.serialize_entry("starts_with", text)?,
                    Test::IsType(kind) => map.serialize_entry("is_type", kind)?,
                }
            }
            Condition::All(all) => map.serialize_entry("all", &All(all, level))?,
            Condition::Any(any) => map.serialize_entry("any", &All(any, level))?,
            Condition::Not(inner) => map.serialize_entry("not", &At(&**inner, level))?,
        }
        map.end()
    }
}

impl Serialize for SpanRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let level = innermost(self.for_each.as_ref());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("span_id_path", &self.span_id.path)?;
        from(&mut map, &self.span_id, level)?;
        for_each(&mut map, self.for_each.as_ref())?;
        when(&mut map, self.when.as_ref(), level)?;
        match &self.partial {
            None => map.serialize_entry("partial_when_path", &())?,
            Some(Partial::Truthy(reference)) => {
                map.serialize_entry("partial_when_path", &reference.path)?;
            }
            Some(Partial::When(condition)) => {
                map.serialize_entry("partial_when", &At(condition, level))?;
            }
        }
        map.end()
    }
}

/// An iteration, and the one inside of it.
struct Levels<'p>(&'p Iteration, Option<&'p Iteration>);

impl Serialize for Levels<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(iteration, inner) = *self;
        let mut map = serializer.serialize_map(None)?;
        let over = match iteration.over {
            Over::Array => "array",
            Over::Entries => "entries",
        };
        map.serialize_entry(over, &iteration.path)?;
        if let Some(inner) = inner {
            map.serialize_entry("for_each", &Levels(inner, None))?;
        }
        map.end()
    }
}

fn for_each<M: SerializeMap>(map: &mut M, for_each: Option<&ForEach>) -> Result<(), M::Error> {
    let mut levels = for_each.into_iter().flat_map(ForEach::levels);
    match levels.next() {
        Some(outer) => map.serialize_entry("for_each", &Levels(outer, levels.next())),
        None => Ok(()),
    }
}

fn when<M: SerializeMap>(
    map: &mut M,
    when: Option<&Condition>,
    level: Level,
) -> Result<(), M::Error> {
    when.map_or(Ok(()), |condition| map.serialize_entry("when", &At(condition, level)))
}

fn properties<M: SerializeMap>(
    map: &mut M,
    fields: &[FieldMapping],
    level: Level,
) -> Result<(), M::Error> {
    if fields.is_empty() {
        return Ok(());
    }
    map.serialize_entry("property_fields", &All(fields, level))
}

fn value<M: SerializeMap>(
    map: &mut M,
    expression: &Expression,
    level: Level,
) -> Result<(), M::Error> {
    match &expression.source {
        Source::Path(path) => reference(map, path, level)?,
        Source::Constant(constant) => map.serialize_entry("constant", constant)?,
        Source::Template(template) => map.serialize_entry("template", template.text())?,
        Source::Coalesce(values) => map.serialize_entry("coalesce", &All(values, level))?,
    }
    if expression.convert.is_empty() {
        return Ok(());
    }
    map.serialize_entry("convert", &expression.convert)
}

fn reference<M: SerializeMap>(
    map: &mut M,
    reference: &Reference,
    level: Level,
) -> Result<(), M::Error> {
    map.serialize_entry("source_path", &reference.path)?;
    from(map, reference, level)
}

fn from<M: SerializeMap>(map: &mut M, reference: &Reference, level: Level) -> Result<(), M::Error> {
    if reference.level == level {
        return Ok(());
    }
    let from = if reference.level.is_event() { "event" } else { "parent" };
    map.serialize_entry("from", from)
}
