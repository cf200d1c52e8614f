//! What has mappings: the plan of the short form, nodes, edges, and external nodes at the ends of edges.

use serde_json::Value;

use super::context::{for_each_of, name_of, path_of};
use super::grammar::Kind;
use crate::evidence::Task;
use crate::evidence::effort::Efforts;
use crate::gate::fit::suggest::{likely_entity, means_key};
use crate::graph::spec::{Entity, Property, Relationship};
use crate::plan::expr::{ForEach, Level};

/// How many nodes and edges are looked at.
const MAX_OWNERS: usize = 256;

/// Where the paths of something start.
#[derive(Clone, Debug)]
pub(super) enum Around {
    Event,
    Elements(ForEach),
    /// A `for_each` that can't be read.
    Unread,
}

impl Around {
    /// By the `for_each` of an object, if it has one.
    pub(super) fn of(object: &Value) -> Self {
        match object.get("for_each") {
            None => Self::Event,
            Some(written) => for_each_of(written).map_or(Self::Unread, Self::Elements),
        }
    }

    /// The innermost level.
    fn level(&self) -> Level {
        match self {
            Self::Elements(for_each) => for_each.level(),
            Self::Event | Self::Unread => Level::EVENT,
        }
    }
}

/// What the graph says about an owner, and whether nothing else is meant.
#[derive(Clone, Copy)]
enum Meant<'a> {
    Entity(&'a Entity, bool),
    Relationship(&'a Relationship),
    Unknown,
}

/// Something with mappings.
pub(super) struct Owner<'a> {
    /// The pointer to it.
    pub(super) at: String,
    pub(super) kind: Kind,
    pub(super) value: &'a Value,
    pub(super) around: Around,
    meant: Meant<'a>,
    paths: Vec<(Level, Vec<String>)>,
    efforts: &'a Efforts,
}

/// What an owner is looked at beside.
#[derive(Clone, Copy)]
struct Within<'a> {
    task: &'a Task,
    efforts: &'a Efforts,
}

impl<'a> Owner<'a> {
    fn new(at: String, kind: Kind, value: &'a Value, around: Around, within: Within<'a>) -> Self {
        let (meant, paths) = (Meant::Unknown, Vec::new());
        let efforts = within.efforts;
        let mut owner = Self { at, kind, value, around, meant, paths, efforts };
        owner.meant = owner.meant_by(within.task);
        owner.paths = owner.read_paths();
        owner
    }

    fn meant_by(&self, task: &'a Task) -> Meant<'a> {
        let graph = task.graph();
        let text = |name: &str| self.value.get(name).and_then(Value::as_str);
        let written = match self.kind {
            Kind::Edge => {
                let named = text("relationship_name").and_then(|it| graph.relationship(it));
                return named.map_or(Meant::Unknown, Meant::Relationship);
            }
            Kind::Plan => text("target_entity_name"),
            _ => text("entity_name"),
        };
        if let Some(entity) = written.and_then(|name| graph.entity(name)) {
            return Meant::Entity(entity, true);
        }
        let keys = self.keys();
        let key = keys.first().and_then(|(_, key)| name_of(key));
        let names: Vec<&str> = self.properties().iter().filter_map(name_of).collect();
        let written = written.filter(|it| !it.is_empty());
        match likely_entity(written, key, &names, graph, &self.efforts.searches) {
            Some(likely) => Meant::Entity(likely.item, likely.is_certain()),
            None => Meant::Unknown,
        }
    }

    fn read_paths(&self) -> Vec<(Level, Vec<String>)> {
        let innermost = self.around.level();
        let read = |mapping: &Value| {
            let level = match mapping.get("from").and_then(Value::as_str) {
                Some("event") => Level::EVENT,
                Some("parent") => Level(innermost.0.saturating_sub(1)),
                _ => innermost,
            };
            Some((level, mapping.get("source_path").and_then(path_of)?))
        };
        let keys = self.keys();
        let keys = keys.iter().map(|(_, key)| *key);
        keys.chain(self.properties()).filter_map(read).collect()
    }

    /// The entity that is stated or meant, and whether that is certain.
    pub(super) fn entity(&self) -> Option<(&'a Entity, bool)> {
        match self.meant {
            Meant::Entity(entity, certain) => Some((entity, certain)),
            _ => None,
        }
    }

    /// The relationship that is stated.
    pub(super) fn relationship(&self) -> Option<&'a Relationship> {
        match self.meant {
            Meant::Relationship(relationship) => Some(relationship),
            _ => None,
        }
    }

    /// What the property of a mapping is in the graph.
    pub(super) fn property(&self, name: &str) -> Option<&'a Property> {
        match self.meant {
            Meant::Entity(entity, _) => entity.property(name),
            Meant::Relationship(relationship) => relationship.property(name),
            Meant::Unknown => None,
        }
    }

    /// The mappings of the key, with their pointers, whatever they are.
    pub(super) fn keys(&self) -> Vec<(String, &'a Value)> {
        let at = &self.at;
        if let Some(key) = self.value.get("key_field").filter(|_| self.kind == Kind::Plan) {
            return vec![(format!("{at}/key_field"), key)];
        }
        let keys = self.value.get("key_fields").and_then(Value::as_array).into_iter().flatten();
        keys.enumerate().map(|(i, key)| (format!("{at}/key_fields/{i}"), key)).collect()
    }

    /// The mappings of `property_fields`, whatever they are.
    pub(super) fn properties(&self) -> &'a [Value] {
        let fields = self.value.get("property_fields").and_then(Value::as_array);
        fields.map_or(&[], Vec::as_slice)
    }

    /// The names of all mappings.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let keys: Vec<&str> = self.keys().into_iter().filter_map(|(_, it)| name_of(it)).collect();
        keys.into_iter().chain(self.properties().iter().filter_map(name_of))
    }

    /// The paths that start at a level, that of the key first.
    pub(super) fn paths(&self, level: Level) -> impl Iterator<Item = &[String]> {
        let there = self.paths.iter().filter(move |(it, _)| *it == level);
        there.map(|(_, path)| path.as_slice())
    }

    /// The path of the first property of the key, if it starts at this level.
    pub(super) fn key_path(&self, level: Level) -> Option<&[String]> {
        let keys = self.keys();
        let (_, key) = keys.first()?;
        let path = path_of(key.get("source_path")?)?;
        self.paths(level).find(|it| **it == path)
    }

    /// The property of the entity's key that the mapping at a pointer is, and whether that is certain: the one in its
    /// place, or the only one that no other mapping of the key names.
    pub(super) fn key(&self, at: &str) -> Option<(&'a Property, bool)> {
        let (entity, certain) = self.entity()?;
        let keys: Vec<&Property> = entity.key_properties().collect();
        if let [only] = keys.as_slice() {
            return Some((only, certain));
        }
        let others: Vec<&str> = self
            .keys()
            .into_iter()
            .filter(|(other, _)| other != at)
            .filter_map(|(_, it)| name_of(it))
            .collect();
        let mut open = keys.into_iter().filter(|key| !others.iter().any(|it| key.is_named(it)));
        let first = open.next()?;
        Some((first, certain && open.next().is_none()))
    }

    /// The properties that no mapping names, those of the key apart.
    pub(super) fn free(&self) -> Vec<&'a Property> {
        let is_named = |property: &&Property| self.names().any(|name| property.is_named(name));
        match self.meant {
            Meant::Entity(entity, _) => {
                let keys: Vec<&Property> = entity.key_properties().collect();
                let is_key = |it: &&Property| keys.iter().any(|key| std::ptr::eq(*key, *it));
                let others = entity.properties.iter().filter(|it| !is_named(it));
                others.filter(|it| !is_key(it)).collect()
            }
            Meant::Relationship(relationship) => {
                relationship.properties.iter().filter(|it| !is_named(it)).collect()
            }
            Meant::Unknown => Vec::new(),
        }
    }

    /// Whether a property of the key was meant by what its mapping says, if it says anything.
    pub(super) fn means_key(&self, at: &str, key: &Property) -> bool {
        let keys = self.keys();
        let stated = keys.iter().find(|(it, _)| it == at).map(|(_, it)| *it);
        let path = stated.and_then(|it| path_of(it.get("source_path")?)).unwrap_or_default();
        let written = stated.and_then(name_of);
        let Some((entity, _)) = self.entity() else { return false };
        written.is_none_or(|written| means_key(written, &path, entity, key, &self.efforts.searches))
    }
}

/// Everything in a value that has mappings: the value itself in the short form, then nodes, then edges with their ends.
pub(super) fn owners<'a>(value: &'a Value, task: &'a Task, efforts: &'a Efforts) -> Vec<Owner<'a>> {
    let within = Within { task, efforts };
    let list =
        |name: &str| value.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut owners = Vec::new();
    if value.get("nodes").is_none() {
        owners.push(Owner::new(String::new(), Kind::Plan, value, Around::Event, within));
    }
    for (i, node) in list("nodes").iter().enumerate().take(MAX_OWNERS) {
        let at = format!("/nodes/{i}");
        owners.push(Owner::new(at, Kind::Node, node, Around::of(node), within));
    }
    for (i, edge) in list("edges").iter().enumerate().take(MAX_OWNERS) {
        let around = around_edge(edge, &owners);
        owners.push(Owner::new(format!("/edges/{i}"), Kind::Edge, edge, around.clone(), within));
        for end in ["from", "to"] {
            let Some(node) = edge.get(end).filter(|it| it.is_object()) else { continue };
            let at = format!("/edges/{i}/{end}");
            owners.push(Owner::new(at, Kind::External, node, around.clone(), within));
        }
    }
    owners
}

/// What an edge goes over: its own `for_each`, or the innermost of the nodes that it names.
fn around_edge(edge: &Value, owners: &[Owner<'_>]) -> Around {
    let own = Around::of(edge);
    let nodes = ["from", "to"].into_iter().filter_map(|end| {
        let name = edge.get(end)?.as_str()?;
        owners.iter().find(|owner| owner.kind == Kind::Node && node_name(owner.value) == Some(name))
    });
    nodes.map(|node| node.around.clone()).fold(own, |deepest, around| match (&deepest, &around) {
        (Around::Unread, _) | (_, Around::Unread) => Around::Unread,
        _ if around.level() > deepest.level() => around,
        _ => deepest,
    })
}

/// What edges call a node.
pub(super) fn node_name(node: &Value) -> Option<&str> {
    let given = node.get("name").and_then(Value::as_str);
    given.or_else(|| node.get("entity_name").and_then(Value::as_str))
}
