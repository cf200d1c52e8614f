//! What can be told of a value that should be a plan and isn't yet: the parts of it that can be read, and what they say
//! about the rest.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::grammar::{Kind, enclosing, kind};
use super::owner::{Around, Owner, owners};
use super::scope::Scope;
use crate::evidence::Evidence;
use crate::evidence::PathIndex;
use crate::evidence::Task;
use crate::evidence::effort::Efforts;
use crate::evidence::similarity::spelling;
use crate::gate::fit::suggest::likely_event_type;
use crate::plan::expr::conversion::{Conversion, PatternBudget};
use crate::plan::expr::{ForEach, Iteration, Level, Over};
use crate::plan::{EventPattern, is_identifier, is_reserved};

/// What can be read of a value that isn't a plan.
pub(super) struct Parts<'a> {
    value: &'a Value,
    task: &'a Task,
    efforts: &'a Efforts,
    event_type: Option<(&'a str, bool)>,
    types: Vec<&'a str>,
    owners: Vec<Owner<'a>>,
    /// What span rules go over, by their pointers.
    spans: BTreeMap<String, Around>,
    elements: BTreeMap<ForEach, Evidence>,
}

impl<'a> Parts<'a> {
    pub(super) fn new(value: &'a Value, task: &'a Task, efforts: &'a Efforts) -> Self {
        let evidence = task.evidence();
        let owners = owners(value, task, efforts);
        let from_event = owners.iter().flat_map(|owner| owner.paths(Level::EVENT));
        let paths: Vec<&[String]> = from_event.collect();
        let key = owners.first().and_then(|owner| owner.key_path(Level::EVENT));
        let written = patterns(value);
        let matched = || {
            let types = evidence.event_types().map(|(name, _)| name);
            types.filter(|name| written.iter().any(|it| it.matches(name)))
        };
        let text = value.get("event_type").and_then(Value::as_str).filter(|name| !name.is_empty());
        let event_type = matched().next().map(|name| (name, true)).or_else(|| {
            likely_event_type(text, key, &paths, evidence, &efforts.searches)
                .map(|it| (it.item, it.is_certain()))
        });
        let mut types: Vec<&str> = matched().collect();
        if types.is_empty() {
            types.extend(event_type.map(|(name, _)| name));
        }
        let spans = spans(value);
        let mut elements = BTreeMap::new();
        let room = efforts.room();
        for around in owners.iter().map(|owner| &owner.around).chain(spans.values()) {
            let Around::Elements(for_each) = around else { continue };
            for for_each in [for_each.clone(), for_each.outer()] {
                elements.entry(for_each).or_insert_with_key(|for_each| {
                    evidence.elements_within(&types, for_each, &room)
                });
            }
        }
        Self { value, task, efforts, event_type, types, owners, spans, elements }
    }

    fn evidence(&self, for_each: Option<&ForEach>) -> Option<&Evidence> {
        match for_each {
            None => Some(self.task.evidence()),
            Some(for_each) => self.elements.get(for_each),
        }
    }
}

/// A plan that can't be read, beside the task that it is for.
pub(super) struct Context<'p, 'a> {
    pub(super) value: &'a Value,
    parts: &'p Parts<'a>,
    event: PathIndex<'p>,
    known: BTreeMap<&'p ForEach, PathIndex<'p>>,
    /// What is left for the patterns that remedies hold.
    patterns: RefCell<PatternBudget>,
}

impl<'p, 'a> Context<'p, 'a> {
    pub(super) fn new(parts: &'p Parts<'a>) -> Self {
        let known = |evidence: &'p Evidence| {
            PathIndex::of_types(evidence, parts.types.clone(), parts.efforts)
        };
        Self {
            value: parts.value,
            parts,
            event: known(parts.task.evidence()),
            known: parts.elements.iter().map(|(each, it)| (each, known(it))).collect(),
            patterns: RefCell::default(),
        }
    }

    /// Whether a value is a step of a conversion. All patterns that are looked at have the budget of one plan together.
    pub(super) fn is_step(&self, value: &Value) -> bool {
        Conversion::from_json_within(value, &mut self.patterns.borrow_mut()).is_ok()
    }

    pub(super) fn task(&self) -> &'a Task {
        self.parts.task
    }

    /// What is taken for the search of what is meant.
    pub(super) fn efforts(&self) -> &'a Efforts {
        self.parts.efforts
    }

    /// The types of samples that the plan is for, or seems to be for.
    pub(super) fn types(&self) -> &[&'a str] {
        &self.parts.types
    }

    /// The event type that is stated or meant, and whether that is certain.
    pub(super) fn event_type(&self) -> Option<(&'a str, bool)> {
        self.parts.event_type
    }

    /// Everything that has mappings.
    pub(super) fn owners(&self) -> &'p [Owner<'a>] {
        &self.parts.owners
    }

    /// What has the mapping, or is the node or edge, at a pointer.
    pub(super) fn owner(&self, at: &str) -> Option<&'p Owner<'a>> {
        let kinds = [Kind::External, Kind::Node, Kind::Edge, Kind::Plan];
        let (at, _) = enclosing(self.value, at, &kinds)?;
        self.parts.owners.iter().find(|owner| owner.at == at)
    }

    /// What is known where a place's paths start; `None` where a `for_each` around it can't be read.
    pub(super) fn scope(&self, at: &str) -> Option<Scope<'_, 'p, 'a>> {
        let for_each = self.for_each(at)?;
        let level = self.level(at, for_each);
        Some(Scope::new(self.owner(at), self.known_at(for_each, level)?, level))
    }

    /// What is gone over around a place; `None` where that can't be read.
    pub(super) fn for_each(&self, at: &str) -> Option<Option<&'p ForEach>> {
        let around = match enclosing(self.value, at, &[Kind::Span]) {
            Some((span, _)) => self.parts.spans.get(&span)?,
            None => match self.owner(at) {
                Some(owner) if !is_about_events(at) => &owner.around,
                _ => &Around::Event,
            },
        };
        match around {
            Around::Unread => None,
            Around::Event => Some(None),
            Around::Elements(for_each) => Some(Some(for_each)),
        }
    }

    /// The level that a path has, by the `from` beside it.
    fn level(&self, at: &str, for_each: Option<&ForEach>) -> Level {
        let innermost = for_each.map_or(Level::EVENT, ForEach::level);
        let with_path = [Kind::Key, Kind::Property, Kind::Choice, Kind::Condition, Kind::Span];
        let beside = enclosing(self.value, at, &with_path);
        let from = beside.and_then(|(at, _)| self.value.pointer(&at)?.get("from")?.as_str());
        match from {
            Some("event") => Level::EVENT,
            Some("parent") => Level(innermost.0.saturating_sub(1)),
            _ => innermost,
        }
    }

    /// What is known of values that paths of a level lead to.
    pub(super) fn known_at(
        &self,
        for_each: Option<&ForEach>,
        level: Level,
    ) -> Option<&PathIndex<'p>> {
        let Some(for_each) = for_each.filter(|_| !level.is_event()) else {
            return Some(&self.event);
        };
        let outer = for_each.outer();
        self.known.get(if level == for_each.level() { for_each } else { &outer })
    }

    pub(super) fn evidence(&self, for_each: Option<&ForEach>) -> Option<&'p Evidence> {
        self.parts.evidence(for_each)
    }

    /// A name for the function: of the first entity, else of the event type.
    pub(super) fn function_name(&self) -> String {
        let of = self.owners().iter().find_map(Owner::entity).map(|(it, _)| it.name.as_str());
        let of = of.or(self.event_type().map(|(name, _)| name)).unwrap_or("event");
        let words = spelling::words(of).join("_");
        format!("extract_{}", words.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "_"))
    }
}

/// Whether a place is one of those that are about whole events.
fn is_about_events(at: &str) -> bool {
    let first = at.split('/').nth(1).unwrap_or_default();
    matches!(first, "when" | "session_id_path" | "event_type")
}

/// How many span rules are looked at.
const MAX_SPANS: usize = 64;

fn spans(value: &Value) -> BTreeMap<String, Around> {
    let at = "/span_handling";
    match value.pointer(at) {
        Some(Value::Array(rules)) => {
            let rules = rules.iter().enumerate().take(MAX_SPANS);
            rules.map(|(i, rule)| (format!("{at}/{i}"), Around::of(rule))).collect()
        }
        Some(rule) => BTreeMap::from([(at.to_owned(), Around::of(rule))]),
        None => BTreeMap::new(),
    }
}

fn patterns(value: &Value) -> Vec<EventPattern> {
    let written = match value.get("event_type") {
        Some(Value::String(text)) => vec![text.as_str()],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    written.into_iter().map(EventPattern::new).collect()
}

/// The iterations that an object writes in `for_each`, if they can be read.
pub(super) fn for_each_of(written: &Value) -> Option<ForEach> {
    let outer = iteration(written)?;
    let inner = match written.get("for_each") {
        Some(inner) if inner.get("for_each").is_none() => Some(iteration(inner)?),
        Some(_) => return None,
        None => None,
    };
    Some(ForEach::new(outer, inner))
}

fn iteration(written: &Value) -> Option<Iteration> {
    let (over, path) = match (written.get("array"), written.get("entries")) {
        (Some(path), None) => (Over::Array, path),
        (None, Some(path)) => (Over::Entries, path),
        _ => return None,
    };
    let keys = path.as_array()?.iter().map(|key| key.as_str().map(str::to_owned));
    Some(Iteration { over, path: keys.collect::<Option<_>>()? })
}

/// The name of a mapping, as far as it has one.
pub(super) fn name_of(mapping: &Value) -> Option<&str> {
    mapping.get("property_name").and_then(Value::as_str).filter(|name| !name.is_empty())
}

/// A value as a path, if it is one.
pub(super) fn path_of(value: &Value) -> Option<Vec<String>> {
    let segments = value.as_array()?;
    let path: Option<Vec<String>> =
        segments.iter().map(|it| it.as_str().map(str::to_owned)).collect();
    path.filter(|path| !path.is_empty() && path.iter().all(|it| !it.is_empty()))
}

/// A name made an identifier that isn't reserved.
pub(super) fn identifier(name: &str, prefix: &str) -> String {
    let joined: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(100).collect();
    let trimmed = joined.trim_matches('_');
    if is_identifier(trimmed) && !is_reserved(trimmed) {
        trimmed.to_owned()
    } else {
        format!("{prefix}{trimmed}")
    }
}

/// The object that is at a pointer.
pub(super) fn object_at<'v>(value: &'v Value, pointer: &str) -> Option<&'v Map<String, Value>> {
    value.pointer(pointer).and_then(Value::as_object)
}

/// A pointer's parent, and its last name.
pub(super) fn split(pointer: &str) -> Option<(&str, String)> {
    let (parent, name) = pointer.rsplit_once('/')?;
    Some((parent, name.replace("~1", "/").replace("~0", "~")))
}

/// The kind of the object around a place.
pub(super) fn parent_kind(value: &Value, at: &str) -> Option<Kind> {
    kind(value, split(at)?.0)
}
