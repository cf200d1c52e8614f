//! What can be told of a value that should be a plan and isn't yet: the parts of it that can be read, and what they say
//! about the rest.

use std::cell::OnceCell;

use serde_json::{Map, Value};

use crate::gate::fit::likeness;
use crate::gate::fit::names::{likely_entity, likely_property, means_key};
use crate::gate::fit::nearest::{Nearest, Search, Sought, forms, is_presentable};
use crate::gate::fit::{Known, likely_event_type};
use crate::graph::spec::{Entity, Property};
use crate::plan::{is_identifier, is_reserved};
use crate::task::Task;

/// What can be read of a value that isn't a plan.
pub(super) struct Parts<'a> {
    value: &'a Value,
    task: &'a Task,
    entity: Option<(&'a Entity, bool)>,
    event_type: Option<(&'a str, bool)>,
    paths: Vec<Vec<String>>,
    known: Known<'a>,
}

impl<'a> Parts<'a> {
    pub(super) fn new(value: &'a Value, task: &'a Task) -> Self {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let key = value.get("key_field");
        let mappings =
            || value.get("property_fields").and_then(Value::as_array).into_iter().flatten();
        let names: Vec<&str> = mappings().filter_map(name_of).collect();
        let entity =
            likely_entity_of(text("target_entity_name"), key.and_then(name_of), &names, task);
        let source_path = |mapping: &Value| path_of(mapping.get("source_path")?);
        let key_path = key.and_then(source_path);
        let others = mappings().filter_map(source_path);
        let paths: Vec<Vec<String>> = key_path.clone().into_iter().chain(others).collect();
        let slices: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
        let written = text("event_type").filter(|name| !name.is_empty());
        let evidence = task.evidence();
        let stated =
            evidence.event_types().map(|(name, _)| name).find(|name| Some(*name) == written);
        let event_type = stated
            .map(|name| (name, true))
            .or_else(|| likely_event_type(written, key_path.as_deref(), &slices, evidence));
        let known = Known::new(evidence, event_type.map_or("", |(name, _)| name));
        Self { value, task, entity, event_type, paths, known }
    }
}

/// A plan that can't be read, beside the task that it is for. What every problem may be asked for is worked out once.
pub(super) struct Context<'p, 'a> {
    pub(super) value: &'a Value,
    parts: &'p Parts<'a>,
    search: Search<'p, 'a>,
    free: OnceCell<Vec<&'a Property>>,
}

impl<'p, 'a> Context<'p, 'a> {
    pub(super) fn new(parts: &'p Parts<'a>) -> Self {
        let entity = parts.entity.map_or("", |(entity, _)| entity.name.as_str());
        let taken = parts.paths.iter().map(Vec::as_slice);
        let search = Search::new(&parts.known, entity, taken);
        Self { value: parts.value, parts, search, free: OnceCell::new() }
    }

    /// The entity that is stated or meant, and whether that is certain.
    pub(super) fn entity(&self) -> Option<(&'a Entity, bool)> {
        self.parts.entity
    }

    /// The event type that is stated or meant, and whether that is certain.
    pub(super) fn event_type(&self) -> Option<(&'a str, bool)> {
        self.parts.event_type
    }

    /// The entity's key, where it has a single one.
    pub(super) fn key(&self) -> Option<(&'a Property, bool)> {
        let (entity, certain) = self.parts.entity?;
        let mut keys = entity.key_properties();
        let key = keys.next()?;
        keys.next().is_none().then_some((key, certain))
    }

    pub(super) fn known(&self) -> &Known<'a> {
        &self.parts.known
    }

    /// The mappings of `property_fields`, whatever they are.
    pub(super) fn mappings(&self) -> &'a [Value] {
        let fields = self.value.get("property_fields").and_then(Value::as_array);
        fields.map_or(&[], Vec::as_slice)
    }

    /// The properties that no mapping names, the key apart.
    fn free(&self) -> &[&'a Property] {
        self.free.get_or_init(|| {
            let Some((entity, _)) = self.parts.entity else { return Vec::new() };
            let key = self.value.get("key_field").and_then(name_of);
            let named: Vec<&str> = self.mappings().iter().filter_map(name_of).chain(key).collect();
            let keys: Vec<&Property> = entity.key_properties().collect();
            let is_free = |property: &&Property| {
                !named.iter().any(|name| property.is_named(name))
                    && !keys.iter().any(|key| std::ptr::eq(*key, *property))
            };
            entity.properties.iter().filter(is_free).collect()
        })
    }

    /// The property that a path of a mapping without a usable name is for.
    pub(super) fn property_of(
        &self,
        written: Option<&str>,
        path: &[String],
    ) -> Option<(&'a Property, bool)> {
        likely_property(written, path, self.free(), self.known())
    }

    /// Whether the key was meant by what `key_field` says, if it says anything.
    pub(super) fn means_key(&self, key: &Property) -> bool {
        let stated = self.value.get("key_field");
        let path = stated.and_then(|it| path_of(it.get("source_path")?)).unwrap_or_default();
        let written = stated.and_then(name_of);
        let Some((entity, _)) = self.parts.entity else { return false };
        written.is_none_or(|written| means_key(written, &path, entity, key))
    }

    /// A path for a property, or for anything of that name.
    pub(super) fn path_for(&self, name: &str, is_key: bool) -> Option<Nearest> {
        let property = self.parts.entity.and_then(|(entity, _)| entity.property(name));
        let property_type = property.map(|it| &it.property_type);
        self.search.named(&Sought { given: &[], name: Some(name), property_type, is_key })
    }

    /// A path that was written as one text, and whether there is such a path.
    pub(super) fn path_in(&self, text: &str) -> Option<(Vec<String>, bool)> {
        let whole = vec![text.to_owned()];
        let mut forms = forms(&whole);
        forms.insert(0, whole);
        forms.retain(|path| path.iter().all(|segment| is_presentable(segment)));
        let known = self.known();
        let mut anywhere = self.parts.task.evidence().event_types();
        let exists = |path: &Vec<String>| known.has(path);
        if let Some(path) = forms.iter().find(|path| exists(path)) {
            return Some((path.clone(), true));
        }
        let elsewhere = anywhere.find_map(|(name, _)| {
            forms.iter().find(|path| self.parts.task.evidence().knows(name, path))
        });
        if let Some(path) = elsewhere {
            return Some((path.clone(), true));
        }
        forms
            .get(1)
            .or(forms.first())
            .filter(|path| path.iter().all(|it| !it.is_empty()))
            .map(|path| (path.clone(), false))
    }

    /// A name for the function: of the entity, else of the event type.
    pub(super) fn function_name(&self) -> String {
        let of = self.parts.entity.map(|(entity, _)| entity.name.as_str());
        let of = of.or(self.parts.event_type.map(|(name, _)| name)).unwrap_or("event");
        format!(
            "extract_{}",
            likeness::words(of)
                .join("_")
                .replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "_")
        )
    }
}

fn likely_entity_of<'a>(
    written: Option<&str>,
    key: Option<&str>,
    names: &[&str],
    task: &'a Task,
) -> Option<(&'a Entity, bool)> {
    let graph = task.graph();
    let stated = written.and_then(|name| graph.entity(name)).map(|entity| (entity, true));
    stated.or_else(|| likely_entity(written.filter(|it| !it.is_empty()), key, names, graph))
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
