//! What can be told of a value that should be a plan and isn't yet: the parts of it that can be read, and what they say
//! about the rest.

use serde_json::{Map, Value};

use crate::gate::fit::likeness;
use crate::gate::fit::names::{likely_entity, likely_property};
use crate::gate::fit::nearest::{Nearest, Search, Sought, forms};
use crate::gate::fit::{Known, likely_event_type};
use crate::graph::spec::{Entity, Property};
use crate::plan::{is_identifier, is_reserved};
use crate::task::Task;

/// A plan that can't be read, beside the task that it is for.
pub(super) struct Context<'a> {
    pub(super) value: &'a Value,
    task: &'a Task,
    entity: Option<(&'a Entity, bool)>,
    event_type: Option<(&'a str, bool)>,
    paths: Vec<Vec<String>>,
}

impl<'a> Context<'a> {
    pub(super) fn new(value: &'a Value, task: &'a Task) -> Self {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let key = value.get("key_field").and_then(name_of);
        let mappings =
            || value.get("property_fields").and_then(Value::as_array).into_iter().flatten();
        let names: Vec<&str> = mappings().filter_map(name_of).collect();
        let entity = likely_entity_of(text("target_entity_name"), key, &names, task);
        let all = value.get("key_field").into_iter().chain(mappings());
        let paths: Vec<Vec<String>> =
            all.filter_map(|it| path_of(it.get("source_path")?)).collect();
        let slices: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
        let written = text("event_type").filter(|name| !name.is_empty());
        let evidence = task.evidence();
        let stated =
            evidence.event_types().map(|(name, _)| name).find(|name| Some(*name) == written);
        let event_type = stated
            .map(|name| (name, true))
            .or_else(|| likely_event_type(written, &slices, evidence));
        Self { value, task, entity, event_type, paths }
    }

    /// The entity that is stated or meant, and whether that is certain.
    pub(super) fn entity(&self) -> Option<(&'a Entity, bool)> {
        self.entity
    }

    /// The event type that is stated or meant, and whether that is certain.
    pub(super) fn event_type(&self) -> Option<(&'a str, bool)> {
        self.event_type
    }

    /// The entity's key, where it has a single one.
    pub(super) fn key(&self) -> Option<(&'a Property, bool)> {
        let (entity, certain) = self.entity?;
        let mut keys = entity.key_properties();
        let key = keys.next()?;
        keys.next().is_none().then_some((key, certain))
    }

    pub(super) fn known(&self) -> Known<'a> {
        Known::new(self.task.evidence(), self.event_type.map_or("", |(name, _)| name))
    }

    /// The mappings of `property_fields`, whatever they are.
    pub(super) fn mappings(&self) -> &'a [Value] {
        let fields = self.value.get("property_fields").and_then(Value::as_array);
        fields.map_or(&[], Vec::as_slice)
    }

    /// The properties that no mapping names, the key apart.
    pub(super) fn free(&self) -> Vec<&'a Property> {
        let Some((entity, _)) = self.entity else { return Vec::new() };
        let key = self.value.get("key_field").and_then(name_of);
        let named: Vec<&str> = self.mappings().iter().filter_map(name_of).chain(key).collect();
        let keys: Vec<&Property> = entity.key_properties().collect();
        let is_free = |property: &&Property| {
            !named.iter().any(|name| property.is_named(name))
                && !keys.iter().any(|key| std::ptr::eq(*key, *property))
        };
        entity.properties.iter().filter(is_free).collect()
    }

    /// The property that a path of a mapping without a usable name is for.
    pub(super) fn property_of(
        &self,
        written: Option<&str>,
        path: &[String],
    ) -> Option<(&'a Property, bool)> {
        likely_property(written, path, &self.free(), &self.known())
    }

    /// A path for a property, or for anything of that name.
    pub(super) fn path_for(&self, name: &str, is_key: bool) -> Option<Nearest> {
        let known = self.known();
        let entity = self.entity.map(|(entity, _)| entity);
        let property = entity.and_then(|entity| entity.property(name));
        let taken = self.paths.iter().map(Vec::as_slice);
        let search = Search::new(&known, entity.map_or("", |it| &it.name), taken);
        let property_type = property.map(|it| &it.property_type);
        search.named(&Sought { given: &[], name: Some(name), property_type, is_key })
    }

    /// A path that was written as one text, and whether there is such a path.
    pub(super) fn path_in(&self, text: &str) -> Option<(Vec<String>, bool)> {
        let whole = vec![text.to_owned()];
        let mut forms = forms(&whole);
        forms.insert(0, whole);
        let known = self.known();
        let mut anywhere = self.task.evidence().event_types();
        let exists = |path: &Vec<String>| known.has(path);
        if let Some(path) = forms.iter().find(|path| exists(path)) {
            return Some((path.clone(), true));
        }
        let elsewhere = anywhere
            .find_map(|(name, _)| forms.iter().find(|path| self.task.evidence().knows(name, path)));
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
        let of = self.entity.map(|(entity, _)| entity.name.as_str());
        let of = of.or(self.event_type.map(|(name, _)| name)).unwrap_or("event");
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
