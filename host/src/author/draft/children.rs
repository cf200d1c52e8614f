//! The other nodes that a rule asks for: what each is, how it is joined to the main one, and what is said of where it is.

use serde_json::{Map, Value};

use super::brief::{Brief, is_any};
use super::lookup::Lookup;
use super::prose::{self, mentions, quoted, sentences};
use crate::evidence::Path;
use crate::evidence::matching::words;
use crate::graph::spec::{Entity, GraphSpec, Relationship};

/// How deep a rule is read.
const MAX_DEPTH: usize = 16;

/// How many of them there may be: as many as a plan's nodes, save the main one.
const MAX_CHILDREN: usize = 63;

/// Keys whose values name an entity.
const ENTITY: &[&str] = &["entity", "node"];

/// Keys of parts that are about other nodes than the main one.
const CHILDREN: &[&str] = &["children", "child", "extended", "related", "nested"];

/// Keys under which it is said where they are.
const LOCATING: &[&str] = &["array", "each", "in", "location", "over", "path", "source"];

/// Keys under which they are described.
const DESCRIBING: &[&str] =
    &["comment", "description", "doc", "explanation", "hint", "meaning", "note", "what", "when"];

/// A node that is asked for beside the main one.
#[derive(Clone, Debug)]
pub(super) struct Child<'g> {
    pub(super) entity: &'g Entity,
    /// The relationship that joins it; `None` where the rule and the graph leave it open.
    pub(super) relationship: Option<&'g Relationship>,
    /// What is said of its properties.
    pub(super) brief: Brief,
    /// What is said of it.
    pub(super) hint: String,
    /// Where it is, where the rule names a path.
    pub(super) path: Option<Path>,
}

/// The nodes that a rule asks for beside the one that it is about, in the rule's order.
pub(super) fn children<'g>(
    rule: &Map<String, Value>,
    graph: &'g GraphSpec,
    main: &'g Entity,
    lookup: Lookup<'_>,
) -> Vec<Child<'g>> {
    let mut reader = Reader { graph, main, lookup, children: Vec::new() };
    reader.object(rule, false, MAX_DEPTH);
    let mut children = reader.children;
    children.retain(|child| child.entity.key_properties().next().is_some());
    for child in &mut children {
        child.relationship =
            child.relationship.or_else(|| only_relationship(graph, main, child.entity));
    }
    children.truncate(MAX_CHILDREN);
    children
}

/// Whether a sentence is about a node beside the main one: it names its entity, or a relationship.
pub(super) fn is_about_child(
    sentence: &str,
    graph: &GraphSpec,
    main: &Entity,
    lookup: Lookup<'_>,
) -> bool {
    relationship_in(sentence, graph, lookup).is_some() || entity_in(sentence, graph, main).is_some()
}

struct Reader<'a, 'g> {
    graph: &'g GraphSpec,
    main: &'g Entity,
    lookup: Lookup<'a>,
    children: Vec<Child<'g>>,
}

impl<'g> Reader<'_, 'g> {
    fn object(&mut self, object: &Map<String, Value>, aside: bool, depth: usize) {
        if let Some(child) = self.child(object, aside) {
            self.children.push(child);
            return;
        }
        for (key, value) in object {
            let aside = aside || is_any(&words(key), CHILDREN);
            self.value(value, aside, depth);
        }
    }

    fn value(&mut self, value: &Value, aside: bool, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match value {
            Value::Object(object) => self.object(object, aside, depth),
            Value::Array(items) => items.iter().for_each(|item| self.value(item, aside, depth)),
            Value::String(text) => sentences(text).iter().for_each(|it| self.sentence(it)),
            _ => {}
        }
    }

    /// The child that an object is about: it names an entity other than the main one, or stands where children are told of.
    fn child(&self, object: &Map<String, Value>, aside: bool) -> Option<Child<'g>> {
        let texts = || object.iter().filter_map(|(key, value)| Some((words(key), value.as_str()?)));
        let entity = texts()
            .filter(|(key, _)| is_any(key, ENTITY))
            .find_map(|(_, name)| self.graph.entity(name));
        let relationship = texts().find_map(|(_, name)| self.graph.relationship(name));
        let entity = match (entity, relationship) {
            (Some(entity), _) if entity.name != self.main.name || aside => entity,
            (None, Some(relationship)) => self.other_end(relationship)?,
            _ => return None,
        };
        let hint: Vec<&str> =
            texts().filter(|(key, _)| is_any(key, DESCRIBING)).map(|(_, text)| text).collect();
        let path = object.iter().filter(|(key, _)| is_any(&words(key), LOCATING));
        let mut path = path.filter_map(|(_, value)| self.path(value));
        Some(Child {
            entity,
            relationship,
            brief: Brief::read(object, self.graph, entity, self.lookup),
            hint: hint.join("; "),
            path: path.next(),
        })
    }

    fn sentence(&mut self, sentence: &str) {
        let relationship = relationship_in(sentence, self.graph, self.lookup);
        let entity = entity_in(sentence, self.graph, self.main)
            .or_else(|| relationship.and_then(|it| self.other_end(it)));
        let Some(entity) = entity else { return };
        let path = prose::paths(sentence, self.lookup).into_iter().next();
        // What a thing is called tells nothing of where it is: names that are quoted don't count as words.
        let hint = quoted(sentence)
            .into_iter()
            .take_while(|_| self.lookup.may_read(sentence))
            .fold(sentence.to_owned(), |text, name| text.replace(name, " "));
        if let Some(child) = self.children.iter_mut().find(|it| it.entity.name == entity.name) {
            child.relationship = child.relationship.or(relationship);
            child.path = child.path.take().or(path);
            return;
        }
        let brief = Brief::default();
        self.children.push(Child { entity, relationship, brief, hint, path });
    }

    fn other_end(&self, relationship: &Relationship) -> Option<&'g Entity> {
        let is_from = relationship.from_entity == self.main.name;
        let other = if is_from { &relationship.to_entity } else { &relationship.from_entity };
        self.graph.entity(other)
    }

    /// A path that occurs: a list of keys, or keys joined by dots.
    fn path(&self, value: &Value) -> Option<Path> {
        match value {
            Value::String(text) => prose::known(text, self.lookup),
            Value::Array(keys) => {
                let path: Path = keys
                    .iter()
                    .map(|key| key.as_str().map(str::to_owned))
                    .collect::<Option<_>>()?;
                (self.lookup.knows(&path) && !path.is_empty()).then_some(path)
            }
            _ => None,
        }
    }
}

fn relationship_in<'g>(
    sentence: &str,
    graph: &'g GraphSpec,
    lookup: Lookup<'_>,
) -> Option<&'g Relationship> {
    let mut all = graph.relationships().iter().take_while(|_| lookup.may_read(sentence));
    all.find(|it| mentions(sentence, &it.name))
}

/// The entity other than the main one that a sentence names between quotation marks.
fn entity_in<'g>(sentence: &str, graph: &'g GraphSpec, main: &Entity) -> Option<&'g Entity> {
    let named = quoted(sentence).into_iter().filter_map(|name| graph.entity(name));
    named.into_iter().find(|it| it.name != main.name)
}

/// The relationship between two entities, where there is one alone.
fn only_relationship<'g>(
    graph: &'g GraphSpec,
    main: &Entity,
    other: &Entity,
) -> Option<&'g Relationship> {
    let joins = |it: &&Relationship| {
        (it.from_entity == main.name && it.to_entity == other.name)
            || (it.from_entity == other.name && it.to_entity == main.name)
    };
    let mut found = graph.relationships().iter().filter(joins);
    found.next().filter(|_| found.next().is_none())
}
