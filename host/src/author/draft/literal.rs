//! What a rule names literally.
//!
//! No sentence is understood. A name counts where it is a text of its own, where it is set in quotation marks or backticks,
//! or where it can't be an ordinary word, because it holds a dot or an underscore. A path belongs to a property where one
//! sentence names just these two. A hint is what a JSON rule says beside a property's name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::evidence::effort::StepBudget;
use crate::evidence::{Evidence, Path};
use crate::graph::spec::{Entity, GraphSpec, Relationship};

/// How deep a rule is read.
const MAX_DEPTH: usize = 16;

/// How many entities beside the main one are looked for: as many as a plan has nodes, save one.
const MAX_OTHERS: usize = 63;

/// What it costs to look up a path, and to take a text apart, for each of its bytes, in steps.
const LOOKUP: u64 = 100;
const READING: u64 = 40;

/// Marks that set a name apart from the words around it.
const QUOTES: &[char] = &['`', '\'', '"', '\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}'];

/// Where a sentence ends.
const SENTENCE_ENDS: [&str; 6] = ["\n\n", "\n- ", "\n* ", ". ", ".\n", ";"];

/// Where names of a rule are looked up, as long as there is effort.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookup<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) effort: &'a StepBudget,
}

impl Lookup<'_> {
    /// The path that a text writes with dots, if it occurs in samples of any event type, or is declared.
    pub(super) fn path(self, dotted: &str) -> Option<Path> {
        let dotted = dotted.trim_start_matches('$').trim_start_matches('.');
        self.known(dotted.split('.').map(str::to_owned).collect())
    }

    fn known(self, path: Path) -> Option<Path> {
        let mut types = self.evidence.event_types();
        let is_known =
            types.any(|(name, _)| self.effort.take(LOOKUP) && self.evidence.knows(name, &path));
        (is_known && !path.is_empty() && !path.iter().any(String::is_empty)).then_some(path)
    }

    /// Whether a text may be taken apart.
    pub(super) fn may_read(self, text: &str) -> bool {
        self.effort.take(READING * text.len() as u64)
    }
}

/// The texts of a rule, the outer ones first.
pub(super) fn texts(rule: &Map<String, Value>) -> Vec<&str> {
    let mut level: Vec<&Value> = rule.values().collect();
    let mut texts = Vec::new();
    for _ in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for value in level {
            match value {
                Value::String(text) => texts.push(text.as_str()),
                Value::Array(items) => next.extend(items),
                Value::Object(object) => next.extend(object.values()),
                _ => {}
            }
        }
        level = next;
    }
    texts
}

/// What is set in quotation marks or backticks in a text.
pub(super) fn quoted(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((start, mark)) = rest.char_indices().find(|(_, char)| QUOTES.contains(char)) {
        let (before, from) = rest.split_at(start);
        let inner = from.get(mark.len_utf8()..).unwrap_or_default();
        // `author's`: an apostrophe inside of a word opens nothing.
        let in_word = before.chars().next_back().is_some_and(char::is_alphanumeric);
        let closing = match mark {
            '\u{201c}' => '\u{201d}',
            '\u{2018}' => '\u{2019}',
            other => other,
        };
        rest = match inner.split_once(closing) {
            Some((name, after)) if !in_word => {
                found.extend((!name.is_empty()).then_some(name));
                after
            }
            _ => inner,
        };
    }
    found
}

/// The words of a text, without the marks around them.
pub(super) fn bare(text: &str) -> impl Iterator<Item = &str> {
    let is_between =
        |char: char| char.is_whitespace() || QUOTES.contains(&char) || "(),;:=[]".contains(char);
    text.split(is_between).map(|word| word.trim_end_matches('.')).filter(|word| !word.is_empty())
}

/// The names that a sentence writes literally.
fn names(sentence: &str) -> BTreeSet<&str> {
    let telling = bare(sentence).filter(|word| word.contains(['.', '_']));
    quoted(sentence).into_iter().chain(telling).collect()
}

fn sentences(text: &str) -> Vec<&str> {
    SENTENCE_ENDS
        .iter()
        .fold(vec![text], |parts, end| parts.into_iter().flat_map(|it| it.split(end)).collect())
}

/// What a rule says of a property.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    hints: Vec<String>,
    /// The path that is named for it.
    pub(super) path: Option<Path>,
}

impl Said {
    /// All hints, if there are any.
    pub(super) fn hint(&self) -> Option<String> {
        (!self.hints.is_empty()).then(|| self.hints.join(", "))
    }
}

/// An entity that a rule asks for.
#[derive(Clone, Debug)]
pub(super) struct Subject<'g> {
    pub(super) entity: &'g Entity,
    /// The relationship that joins it to the main entity; `None` for that itself, and where it is left open.
    pub(super) relationship: Option<&'g Relationship>,
    /// What is said of its properties.
    pub(super) properties: BTreeMap<String, Said>,
    /// Whether properties are listed one by one, so that no others are wanted.
    pub(super) lists_properties: bool,
    /// Where it is, where the rule names that.
    pub(super) path: Option<Path>,
}

impl<'g> Subject<'g> {
    pub(super) fn new(entity: &'g Entity) -> Self {
        let (properties, lists_properties) = (BTreeMap::new(), false);
        Self { entity, relationship: None, properties, lists_properties, path: None }
    }

    fn property(&self, name: &str) -> Option<String> {
        self.entity.property(name).map(|property| property.logical_name.clone())
    }
}

/// Session and span of an event, and its free text.
#[derive(Clone, Debug, Default)]
pub(super) struct Handling {
    /// `None` for the plan's default.
    pub(super) session: Option<Path>,
    /// `None` where no span is known.
    pub(super) span: Option<Path>,
    pub(super) free_text: Option<Path>,
}

/// A rule, by what it names.
#[derive(Clone, Debug)]
pub(super) struct Named<'g> {
    pub(super) main: Subject<'g>,
    pub(super) others: Vec<Subject<'g>>,
    pub(super) handling: Handling,
    /// Every path in its texts, in their order.
    pub(super) paths: Vec<Path>,
}

impl<'g> Named<'g> {
    pub(super) fn read(
        rule: &Map<String, Value>,
        graph: &'g GraphSpec,
        main: &'g Entity,
        lookup: Lookup<'_>,
    ) -> Self {
        let (others, paths, handling) = (Vec::new(), Vec::new(), Handling::default());
        let named = Self { main: Subject::new(main), others, handling, paths };
        let mut reader = Reader { graph, lookup, named };
        reader.object(rule, Of::Main, MAX_DEPTH);
        let mut named = reader.named;
        named.others.retain(|other| other.entity.key_properties().next().is_some());
        named.others.truncate(MAX_OTHERS);
        named
    }

    fn subject(&mut self, of: Of) -> &mut Subject<'g> {
        let other = match of {
            Of::Other(index) => self.others.get_mut(index),
            Of::Main => None,
        };
        other.unwrap_or(&mut self.main)
    }

    /// Where the path of a part of the plan goes that a key or a word names.
    fn role(&mut self, name: &str) -> Option<&mut Option<Path>> {
        let name = name.to_lowercase();
        let Handling { session, span, free_text } = &mut self.handling;
        [("partial", free_text), ("session", session), ("span", span)]
            .into_iter()
            .find_map(|(role, path)| name.contains(role).then_some(path))
    }
}

/// Which subject a part of a rule is about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Of {
    Main,
    /// By its index.
    Other(usize),
}

struct Reader<'a, 'g> {
    graph: &'g GraphSpec,
    lookup: Lookup<'a>,
    named: Named<'g>,
}

impl<'g> Reader<'_, 'g> {
    fn value(&mut self, value: &Value, of: Of, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match value {
            Value::Object(object) => self.object(object, of, depth),
            Value::Array(items) => items.iter().for_each(|item| self.value(item, of, depth)),
            Value::String(text) => match self.named.subject(of).property(text) {
                Some(name) => self.list(&name, of),
                None => self.text(text, of),
            },
            _ => {}
        }
    }

    fn object(&mut self, object: &Map<String, Value>, of: Of, depth: usize) {
        let of = self.subject_of(object, of);
        let names_entity = object.values().any(|it| self.entity(it).is_some());
        let subject = self.named.subject(of);
        let described = object.values().find_map(|it| subject.property(it.as_str()?));
        if let Some(name) = described.filter(|_| !names_entity) {
            object.iter().for_each(|(key, value)| self.describe(&name, key, value, of));
            return;
        }
        for (key, value) in object {
            let subject = self.named.subject(of);
            let is_property =
                |it: &Value| it.as_str().is_some_and(|it| subject.property(it).is_some());
            let is_list = value.as_array().is_some_and(|items| items.iter().all(is_property));
            if let Some(name) = subject.property(key) {
                self.describe(&name, key, value, of);
            } else if let Some(path) = self.path_under(key, value).filter(|_| !is_list) {
                match self.named.role(key) {
                    Some(role) => role.get_or_insert(path),
                    None => self.named.subject(of).path.get_or_insert(path),
                };
            } else {
                self.value(value, of, depth);
            }
        }
    }

    /// The path that a value is, or all that is in an object under the name of a part of the plan: `"span": {"path": "$.id"}`.
    fn path_under(&mut self, key: &str, value: &Value) -> Option<Path> {
        match value {
            Value::Object(inner) if inner.len() == 1 && self.named.role(key).is_some() => {
                inner.iter().find_map(|(key, value)| self.path(key, value))
            }
            _ => self.path(key, value),
        }
    }

    /// What a value beside a property's name, or under it, says of the property.
    fn describe(&mut self, name: &str, key: &str, value: &Value, of: Of) {
        self.list(name, of);
        let path = self.path(key, value);
        let said = self.named.subject(of).properties.entry(name.to_owned()).or_default();
        match value {
            _ if path.is_some() => said.path = said.path.take().or(path),
            Value::String(text) if text.contains(' ') => said.hints.push(text.clone()),
            Value::Object(object) => {
                object.iter().for_each(|(key, value)| self.describe(name, key, value, of));
            }
            _ => {}
        }
    }

    fn list(&mut self, name: &str, of: Of) {
        let subject = self.named.subject(of);
        let is_key = subject.entity.key_properties().any(|key| key.logical_name == name);
        subject.lists_properties |= !is_key;
        subject.properties.entry(name.to_owned()).or_default();
    }

    fn entity(&self, name: &Value) -> Option<&'g Entity> {
        self.graph.entity(name.as_str()?)
    }

    /// Whom an object is about that names an entity, or a relationship; else whom what it is in is about.
    fn subject_of(&mut self, object: &Map<String, Value>, of: Of) -> Of {
        let names = || object.values().filter_map(Value::as_str);
        let relationship = names().find_map(|name| self.graph.relationship(name));
        let mut entities = object.iter().filter_map(|(key, name)| Some((key, self.entity(name)?)));
        let by_key =
            entities.clone().find(|(key, _)| key.contains("entity") || key.contains("node"));
        let entity = match by_key.or_else(|| entities.next()) {
            Some((_, entity)) => entity,
            None => match relationship.and_then(|it| self.other_end(it)) {
                Some(entity) => entity,
                None => return of,
            },
        };
        if relationship.is_none() && entity.name == self.named.main.entity.name {
            return Of::Main;
        }
        self.named.others.push(Subject { relationship, ..Subject::new(entity) });
        Of::Other(self.named.others.len() - 1)
    }

    fn other_end(&self, relationship: &Relationship) -> Option<&'g Entity> {
        let is_from = relationship.from_entity == self.named.main.entity.name;
        let other = if is_from { &relationship.to_entity } else { &relationship.from_entity };
        self.graph.entity(other)
    }

    /// A path that occurs: a list of keys, or keys joined by dots; one key alone only where it is said to be a path.
    fn path(&self, key: &str, value: &Value) -> Option<Path> {
        match value {
            Value::String(text) => {
                let is_path = text.contains('.')
                    || text.starts_with('$')
                    || key.contains("path")
                    || key.contains("source");
                self.lookup.path(text).filter(|_| is_path)
            }
            Value::Array(keys) => self.lookup.known(
                keys.iter().map(|key| key.as_str().map(str::to_owned)).collect::<Option<_>>()?,
            ),
            _ => None,
        }
    }

    fn text(&mut self, text: &str, of: Of) {
        for sentence in sentences(text) {
            if self.lookup.may_read(sentence) {
                self.sentence(sentence, of);
            }
        }
    }

    fn sentence(&mut self, sentence: &str, of: Of) {
        let names = names(sentence);
        let subject = self.named.subject(of);
        let properties: BTreeSet<String> =
            names.iter().filter_map(|name| subject.property(name)).collect();
        let paths: BTreeSet<Path> = names
            .iter()
            .filter(|name| subject.property(name).is_none())
            .filter_map(|name| self.lookup.path(name))
            .collect();
        if let (Some(name), Some(path), 1, 1) =
            (properties.first(), paths.first(), properties.len(), paths.len())
        {
            let said = subject.properties.entry(name.clone()).or_default();
            said.path.get_or_insert_with(|| path.clone());
        }
        self.named.paths.extend(paths);
    }
}

#[cfg(test)]
mod tests {
    use super::{names, quoted, sentences};

    #[test]
    fn texts_are_taken_apart() {
        let text = "Every order. The id,\nand `a.b`, identify it.\nAnd one v1.2\n- two";
        let found = sentences(text);
        assert_eq!(
            found,
            ["Every order", "The id,\nand `a.b`, identify it", "And one v1.2", "two"]
        );
        assert_eq!(quoted("the author's `x.y` is 'z'"), ["x.y", "z"]);
        let found: Vec<&str> = names("the id of a.b, or `c`, is order_id.").into_iter().collect();
        assert_eq!(found, ["a.b", "c", "order_id"]);
    }
}
