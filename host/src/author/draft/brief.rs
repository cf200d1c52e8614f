//! What a rule says, whatever its keys are.
//!
//! A rule may be words, or an object that somebody found sensible. So nothing is read by its place: an object that names
//! a property is about that property, a key that speaks of sessions is about the session, and all other text is prose.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::lookup::Lookup;
use super::prose;
use crate::evidence::Path;
use crate::evidence::matching::{Word, words};
use crate::graph::spec::{Entity, GraphSpec};

/// How deep a rule is read.
const MAX_DEPTH: usize = 16;

/// Keys whose values name a property.
const NAMING: &[&str] = &["name", "property", "field", "column", "attribute"];

/// Keys under which a property is described.
const DESCRIBING: &[&str] = &[
    "hint",
    "description",
    "meaning",
    "note",
    "comment",
    "doc",
    "definition",
    "what",
    "explanation",
    "rule",
];

/// Keys under which there is a path.
const LOCATING: &[&str] = &["path", "source", "from", "location", "pointer"];

/// Keys under which properties are listed by name.
const LISTING: &[&str] = &["properties", "fields", "columns", "attributes", "extract", "carry"];

/// Keys of parts that are about something else than the node: other nodes, edges, examples.
const ASIDE: &[&str] =
    &["children", "child", "extended", "edge", "relationship", "sample", "example", "resolved"];

/// What is said about one thing: a property, or the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Said {
    /// In words.
    pub(super) text: Vec<String>,
    /// The path that is named outright.
    pub(super) path: Option<Path>,
    /// Whether every event is said to have it.
    pub(super) required: bool,
}

impl Said {
    fn add(&mut self, other: Self) {
        self.text.extend(other.text);
        self.path = self.path.take().or(other.path);
        self.required |= other.required;
    }

    /// All the words, if there are any.
    pub(super) fn words(&self) -> Option<String> {
        (!self.text.is_empty()).then(|| self.text.join(", "))
    }
}

/// A rule, by what it is about.
#[derive(Clone, Debug, Default)]
pub(super) struct Brief {
    /// By the properties' names.
    pub(super) properties: BTreeMap<String, Said>,
    /// Whether the rule lists properties one by one, so that those which it doesn't list aren't wanted.
    pub(super) lists_properties: bool,
    pub(super) session: Said,
    pub(super) span: Said,
    pub(super) partial: Said,
    /// Everything else.
    pub(super) prose: Vec<String>,
}

impl Brief {
    pub(super) fn read(
        rule: &Map<String, Value>,
        graph: &GraphSpec,
        entity: &Entity,
        lookup: Lookup<'_>,
    ) -> Self {
        let mut reader = Reader { graph, entity, lookup, brief: Self::default() };
        reader.object(rule, &[], MAX_DEPTH);
        let mut brief = reader.brief;
        super::narrative::add(&mut brief, graph, entity, lookup);
        brief
    }

    /// What is said about a property under either of its names.
    pub(super) fn of(&self, name: &str) -> Option<&Said> {
        self.properties.get(name)
    }
}

struct Reader<'a> {
    graph: &'a GraphSpec,
    entity: &'a Entity,
    lookup: Lookup<'a>,
    brief: Brief,
}

impl Reader<'_> {
    fn object(&mut self, object: &Map<String, Value>, topic: &[Word], depth: usize) {
        if depth == 0 || self.is_about_another(object) {
            return;
        }
        let named = self.named(object);
        let keyed = object.keys().filter(|key| self.property(key).is_some()).count();
        let is_map = named.is_none() && keyed * 2 >= object.len();
        for (key, value) in object {
            let key_words = words(key);
            if is_any(&key_words, ASIDE) {
                continue;
            }
            if let Some(name) = self.property(key).filter(|_| is_map) {
                let said = self.said(value);
                self.note(&name, said);
            } else if let Some((name, naming)) = &named
                && key != naming
                && !matches!(value, Value::Object(_))
                && (is_any(&key_words, DESCRIBING) || is_any(&key_words, LOCATING))
            {
                let said = self.said(value);
                self.note(&name.clone(), said);
            } else if let Some((name, _)) = &named
                && is_any(&key_words, &["required", "mandatory"])
            {
                let required = value.as_bool() == Some(true);
                self.note(&name.clone(), Said { required, ..Said::default() });
            } else {
                let topic: Vec<Word> = topic.iter().chain(&key_words).cloned().collect();
                self.value(value, &topic, depth);
            }
        }
        // `key_field` and `key_field_path`: a name, and beside it where it is.
        for (key, value) in object {
            let Some(name) = value.as_str().and_then(|name| self.property(name)) else { continue };
            for suffix in LOCATING {
                if let Some(place) = object.get(&format!("{key}_{suffix}")) {
                    let said = self.said(place);
                    self.note(&name, said);
                }
            }
        }
    }

    fn value(&mut self, value: &Value, topic: &[Word], depth: usize) {
        match value {
            Value::Object(inner) => self.object(inner, topic, depth.saturating_sub(1)),
            Value::Array(_) if self.role(topic).is_some() => {
                let said = self.said(value);
                if let Some(role) = self.role(topic) {
                    role.add(said);
                }
            }
            Value::Array(items) if depth > 0 => {
                for item in items {
                    let lists = is_any(topic, LISTING);
                    match item.as_str().filter(|_| lists).and_then(|name| self.property(name)) {
                        Some(name) => self.note(&name, Said::default()),
                        None => self.value(item, topic, depth - 1),
                    }
                }
            }
            Value::String(text) => {
                let said = self.said(value);
                let handling = text.to_lowercase();
                let handling = handling.contains("handled") || handling.contains("partial");
                let spoken = is_any(topic, &["span"]) && handling;
                if is_any(topic, &["otherwise", "else"]) {
                } else if spoken {
                    self.brief.partial.add(said);
                } else if let Some(role) = self.role(topic) {
                    role.add(said);
                } else if let Some(name) = self.property(text) {
                    self.note(&name, Said::default());
                } else {
                    self.brief.prose.push(text.clone());
                }
            }
            _ => {}
        }
    }

    /// Which part of a plan a key is about, if it isn't properties.
    fn role(&mut self, topic: &[Word]) -> Option<&mut Said> {
        if is_any(topic, &["partial", "partially", "partly"]) {
            Some(&mut self.brief.partial)
        } else if is_any(topic, &["session"]) {
            Some(&mut self.brief.session)
        } else if is_any(topic, &["span"]) {
            Some(&mut self.brief.span)
        } else {
            None
        }
    }

    fn note(&mut self, name: &str, said: Said) {
        let is_key =
            self.entity.key_properties().next().is_some_and(|key| key.logical_name == name);
        self.brief.lists_properties |= !is_key;
        self.brief.properties.entry(name.to_owned()).or_default().add(said);
    }

    /// The property that an object is about, and the key that says so.
    fn named<'o>(&self, object: &'o Map<String, Value>) -> Option<(String, &'o str)> {
        object.iter().find_map(|(key, value)| {
            let name = self.property(value.as_str()?)?;
            let key_words = words(key);
            // `key_field` is the role of a property in an object about other things as well.
            let naming = is_any(&key_words, NAMING) && !is_any(&key_words, &["key"]);
            naming.then_some((name, key.as_str()))
        })
    }

    /// The name under which a result gives the property of this name.
    fn property(&self, name: &str) -> Option<String> {
        self.entity.property(name).map(|property| property.logical_name.clone())
    }

    /// Whether an object says that it is about an entity, and about another one.
    fn is_about_another(&self, object: &Map<String, Value>) -> bool {
        object.iter().any(|(key, value)| {
            let name = value.as_str().unwrap_or_default();
            is_any(&words(key), &["entity", "node"])
                && name != self.entity.name
                && self.graph.entity(name).is_some()
        })
    }

    /// A text, or a path: a list of keys, or keys joined by dots that lead somewhere.
    fn said(&self, value: &Value) -> Said {
        match value {
            Value::String(text) => {
                let path = prose::known(text, self.lookup).or_else(|| {
                    let mut paths = prose::paths(text, self.lookup).into_iter();
                    paths.next().filter(|_| paths.next().is_none())
                });
                Said { text: vec![text.clone()], path, ..Said::default() }
            }
            Value::Array(items) => {
                let path: Option<Path> =
                    items.iter().map(|it| it.as_str().map(str::to_owned)).collect();
                let path = path.filter(|path| {
                    !path.is_empty() && path.iter().all(|key| !key.is_empty() && !key.contains(' '))
                });
                let text = items.iter().filter_map(Value::as_str).map(str::to_owned);
                Said {
                    text: if path.is_some() { Vec::new() } else { text.collect() },
                    path,
                    ..Said::default()
                }
            }
            Value::Object(object) => {
                let mut said = Said::default();
                for (key, value) in object {
                    let key = words(key);
                    if (is_any(&key, DESCRIBING) || is_any(&key, LOCATING)) && !value.is_object() {
                        said.add(self.said(value));
                    }
                }
                said
            }
            _ => Said::default(),
        }
    }
}

pub(super) fn is_any(words: &[Word], of: &[&str]) -> bool {
    words.iter().any(|word| word.is_one_of(of))
}
