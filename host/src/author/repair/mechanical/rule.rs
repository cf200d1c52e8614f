//! What has mappings: the plan in the short form, nodes, edges, and the external nodes at the ends of edges.

use serde_json::{Map, Value};

use super::iteration::IterationScope;
use crate::evidence::effort::StepBudget;
use crate::evidence::similarity::ranking::{Likely, first_of};
use crate::gate::fit::suggest::{likely_entity, means_key};
use crate::graph::GraphSpec;
use crate::graph::spec::{Entity, Properties, PropertySpec, Relationship};
use crate::plan::expr::Level;
use crate::plan::language::ObjectKind;

/// A value as a path, if it is one.
pub(super) fn read_path(value: &Value) -> Option<Vec<String>> {
    let keys = value.as_array()?.iter();
    let path: Option<Vec<String>> = keys.map(|key| key.as_str().map(str::to_owned)).collect();
    path.filter(|path| !path.is_empty() && path.iter().all(|key| !key.is_empty()))
}

/// A mapping, as far as it can be read.
pub(super) struct TolerantMapping<'a> {
    /// The pointer to it.
    pub(super) at: String,
    pub(super) json: &'a Value,
    /// Whether it is of a key.
    pub(super) is_key: bool,
    /// What it is called, if it is.
    pub(super) name: Option<&'a str>,
    /// Its `source_path`, if that is a path.
    pub(super) path: Option<Vec<String>>,
    /// Where that starts.
    pub(super) level: Level,
}

impl<'a> TolerantMapping<'a> {
    pub(super) fn read(at: String, json: &'a Value, is_key: bool, scope: &IterationScope) -> Self {
        let name = json.get("property_name").and_then(Value::as_str);
        Self {
            at,
            json,
            is_key,
            name: name.filter(|name| !name.is_empty()),
            path: json.get("source_path").and_then(read_path),
            level: scope.level_of(json),
        }
    }

    /// The pointer to its name.
    pub(super) fn name_at(&self) -> String {
        format!("{}/property_name", self.at)
    }

    /// Whether it is called by a name of the property.
    pub(super) fn is_of(&self, property: &PropertySpec) -> bool {
        self.name.is_some_and(|name| property.is_named(name))
    }

    /// The same as a mapping of a key.
    pub(super) fn as_key(&self) -> Option<Map<String, Value>> {
        let mut fields = self.json.as_object()?.clone();
        fields.remove("nulls");
        Some(fields)
    }
}

/// Something with mappings, as far as it can be read.
pub(super) struct PlanRule<'a> {
    /// The pointer to it.
    pub(super) at: String,
    /// A plan in the short form, a node, an edge, or an external node.
    pub(super) kind: ObjectKind,
    pub(super) json: &'a Value,
    /// What its paths start from.
    pub(super) scope: IterationScope,
    /// Those of the key first.
    pub(super) mappings: Vec<TolerantMapping<'a>>,
    /// The entity that is stated or meant, where it is of one.
    pub(super) entity: Option<Likely<&'a Entity>>,
    /// The relationship that is stated, where it is an edge.
    pub(super) relationship: Option<&'a Relationship>,
    searches: &'a StepBudget,
}

impl<'a> PlanRule<'a> {
    pub(super) fn read(
        at: String,
        kind: ObjectKind,
        json: &'a Value,
        scope: IterationScope,
        (graph, searches): (&'a GraphSpec, &'a StepBudget),
    ) -> Self {
        let mappings = read_mappings(&at, kind, json, &scope);
        let (entity, relationship) = (None, None);
        let mut rule = Self { at, kind, json, scope, mappings, entity, relationship, searches };
        match kind {
            ObjectKind::Edge => {
                let name = rule.text("relationship_name");
                rule.relationship = name.and_then(|name| graph.relationship(name));
            }
            _ => rule.entity = rule.likely_entity(graph),
        }
        rule
    }

    fn likely_entity(&self, graph: &'a GraphSpec) -> Option<Likely<&'a Entity>> {
        let written = self.entity_name();
        if let Some(entity) = written.and_then(|name| graph.entity(name)) {
            return Some(Likely::new(entity, true));
        }
        let key = self.keys().next().and_then(|key| key.name);
        let names: Vec<&str> = self.properties().filter_map(|it| it.name).collect();
        let written = written.filter(|name| !name.is_empty());
        likely_entity(written, key, &names, graph, self.searches)
    }

    fn text(&self, field: &str) -> Option<&'a str> {
        self.json.get(field).and_then(Value::as_str)
    }

    /// What is written for its entity.
    pub(super) fn entity_name(&self) -> Option<&'a str> {
        let is_plan = self.kind == ObjectKind::Plan;
        self.text(if is_plan { "target_entity_name" } else { "entity_name" })
    }

    /// What edges call it, if it is a node.
    pub(super) fn node_name(&self) -> Option<&'a str> {
        match self.kind {
            ObjectKind::Node => self.text("name").or_else(|| self.entity_name()),
            ObjectKind::Plan => self.entity_name(),
            _ => None,
        }
    }

    /// Whether it is of an entity, stated or meant.
    pub(super) fn is_of(&self, entity: &str) -> bool {
        self.entity.is_some_and(|it| it.item.name == entity)
    }

    /// The properties of what it is about.
    fn declared(&self) -> Option<&'a Properties> {
        let entity = self.entity.map(|entity| &entity.item.properties);
        entity.or(self.relationship.map(|relationship| &relationship.properties))
    }

    /// A property of what it is about.
    pub(super) fn property(&self, name: &str) -> Option<&'a PropertySpec> {
        self.declared()?.named(name)
    }

    /// The mappings of the key.
    pub(super) fn keys(&self) -> impl Iterator<Item = &TolerantMapping<'a>> {
        self.mappings.iter().filter(|it| it.is_key)
    }

    /// The mappings of `property_fields`.
    pub(super) fn properties(&self) -> impl Iterator<Item = &TolerantMapping<'a>> {
        self.mappings.iter().filter(|it| !it.is_key)
    }

    /// The mapping at a pointer.
    pub(super) fn mapping(&self, at: &str) -> Option<&TolerantMapping<'a>> {
        self.mappings.iter().find(|it| it.at == at)
    }

    /// Whether a mapping is called by a name of the property.
    pub(super) fn maps(&self, property: &PropertySpec) -> bool {
        self.mappings.iter().any(|it| it.is_of(property))
    }

    /// The paths that start at a level, those of the key first.
    pub(super) fn paths(&self, level: Level) -> impl Iterator<Item = &[String]> {
        let there = self.mappings.iter().filter(move |it| it.level == level);
        there.filter_map(|it| it.path.as_deref())
    }

    /// The property of the entity's key that the mapping at a pointer is: the one in its place, or the only one that no other
    /// mapping of the key names.
    pub(super) fn key(&self, at: &str) -> Option<Likely<&'a PropertySpec>> {
        let entity = self.entity?;
        let keys: Vec<&PropertySpec> = entity.item.key_properties().collect();
        if let [only] = keys.as_slice() {
            return Some(entity.map(|_| *only));
        }
        let is_open = |key: &&PropertySpec| !self.keys().any(|it| it.at != at && it.is_of(key));
        let open = first_of(keys.into_iter().filter(is_open))?;
        Some(open.only_if(entity.is_certain()))
    }

    /// Whether a property of the key was meant by what the mapping at a pointer says, if it says anything.
    pub(super) fn means_key(&self, at: &str, key: &PropertySpec) -> bool {
        let Some(Likely { item: entity, .. }) = self.entity else { return false };
        let mapping = self.keys().find(|it| it.at == at);
        let path = mapping.and_then(|it| it.path.as_deref()).unwrap_or_default();
        let written = mapping.and_then(|it| it.name);
        written.is_none_or(|written| means_key(written, path, entity, key, self.searches))
    }

    /// The properties that no mapping names, those of the key apart.
    pub(super) fn free(&self) -> Vec<&'a PropertySpec> {
        let entity = self.entity.map(|it| it.item);
        let keys = || entity.into_iter().flat_map(Entity::key_properties);
        let is_free =
            |it: &&PropertySpec| !keys().any(|key| std::ptr::eq(key, *it)) && !self.maps(it);
        self.declared().into_iter().flat_map(|all| all.iter()).filter(is_free).collect()
    }
}

/// The mappings of a rule, whatever they are.
fn read_mappings<'a>(
    at: &str,
    kind: ObjectKind,
    json: &'a Value,
    scope: &IterationScope,
) -> Vec<TolerantMapping<'a>> {
    let list = |field: &'static str, is_key: bool| {
        let items = json.get(field).and_then(Value::as_array).into_iter().flatten().enumerate();
        items.map(move |(i, it)| {
            TolerantMapping::read(format!("{at}/{field}/{i}"), it, is_key, scope)
        })
    };
    let properties = list("property_fields", false);
    match json.get("key_field").filter(|_| kind == ObjectKind::Plan) {
        Some(key) => {
            let key = TolerantMapping::read(format!("{at}/key_field"), key, true, scope);
            std::iter::once(key).chain(properties).collect()
        }
        None => list("key_fields", true).chain(properties).collect(),
    }
}
