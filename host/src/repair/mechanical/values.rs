//! Values that are missing, or of a form that plans don't take, and that follow from the rest of the plan and the task.

use serde_json::{Map, Value, json};

use super::context::{Context, identifier, name_of, object_at, path_of};
use super::fields::split;
use super::plan::Remedy;
use crate::finding::patch;

/// A required field that isn't there.
pub(super) fn missing(context: &Context<'_, '_>, at: &str) -> Remedy {
    if at == "/key_field" {
        return missing_key(context);
    }
    let (value, certain) = derived(context, at)?;
    Some((patch::add(at, value), certain))
}

/// A value of the wrong JSON type, or an empty one.
pub(super) fn misfit(context: &Context<'_, '_>, at: &str) -> Remedy {
    let (parent, name) = split(at)?;
    let found = context.value.pointer(at)?;
    match name.as_str() {
        "source_path" | "session_id_path" | "span_id_path" | "partial_when_path" => {
            path(context, at, &name, found)
        }
        "property_fields" => list_of_mappings(found).map(|(list, certain)| match list {
            Some(list) => (patch::replace(at, list), certain),
            None => (patch::remove(at), certain),
        }),
        "key_field" => match found {
            Value::Array(items) => match items.as_slice() {
                [only] if only.is_object() => Some((patch::replace(at, only), true)),
                _ => None,
            },
            _ => None,
        },
        "span_handling" => match path_in(context, found) {
            Some((path, certain)) => {
                Some((patch::replace(at, json!({"span_id_path": path})), certain))
            }
            None => Some((patch::replace(at, Value::Null), found == false)),
        },
        "nulls" => Some((patch::remove(at), !found.is_boolean())),
        "event_type" | "target_entity_name" | "function_name" | "property_name" => {
            derived(context, at).map(|(value, certain)| (patch::replace(at, value), certain))
        }
        _ if parent == "/property_fields" => found.is_null().then(|| (patch::remove(at), true)),
        _ => segment(context, parent, &name, found),
    }
}

/// A name that isn't an identifier.
pub(super) fn invalid_name(context: &Context<'_, '_>, at: &str) -> Remedy {
    let written = context.value.pointer(at)?.as_str()?;
    if at == "/function_name" {
        return Some((patch::replace(at, identifier(written, "extract_")), true));
    }
    let (value, certain) = derived(context, at).unwrap_or((json!(identifier(written, "_")), false));
    Some((patch::replace(at, value), certain))
}

/// Something else than `omit` or `keep`.
pub(super) fn invalid_nulls(context: &Context<'_, '_>, at: &str) -> Remedy {
    let written = context.value.pointer(at)?.as_str()?.trim().to_ascii_lowercase();
    let known = ["omit", "keep"].into_iter().find(|it| *it == written);
    Some(known.map_or((patch::remove(at), false), |it| (patch::replace(at, it), true)))
}

/// What a name or a source path has to be, by the rest of the plan and the task.
fn derived(context: &Context<'_, '_>, at: &str) -> Option<(Value, bool)> {
    let (parent, name) = split(at)?;
    let text = |(text, certain): (&str, bool)| (json!(text), certain);
    match name.as_str() {
        "event_type" => context.event_type().map(text),
        "target_entity_name" => context.entity().map(|(it, certain)| (json!(it.name), certain)),
        "function_name" => Some((json!(context.function_name()), true)),
        "property_name" if parent == "/key_field" => {
            let (key, certain) = context.key()?;
            let is_mapped =
                context.mappings().iter().filter_map(name_of).any(|it| key.is_named(it));
            Some((json!(key.logical_name), certain && !is_mapped && context.means_key(key)))
        }
        "property_name" => {
            let mapping = object_at(context.value, parent)?;
            let written = mapping.get("property_name").and_then(Value::as_str);
            let path = mapping.get("source_path").and_then(path_of).unwrap_or_default();
            let (property, certain) = context.property_of(written, &path)?;
            Some((json!(property.logical_name), certain))
        }
        "source_path" => {
            let name = name_of(context.value.pointer(parent)?)?;
            let nearest = context.path_for(name, parent == "/key_field")?;
            Some((json!(nearest.path), nearest.certain))
        }
        _ => None,
    }
}

/// A plan without a key: the mapping that is the key's, or a path that suits it.
fn missing_key(context: &Context<'_, '_>) -> Remedy {
    let (key, certain) = context.key()?;
    let mapped =
        context.mappings().iter().position(|it| name_of(it).is_some_and(|it| key.is_named(it)));
    if let Some(index) = mapped {
        let mut mapping: Map<String, Value> = context.mappings().get(index)?.as_object()?.clone();
        mapping.remove("nulls");
        let taken = patch::remove(&format!("/property_fields/{index}"));
        return Some((patch::both(patch::add("/key_field", mapping), taken), certain));
    }
    let nearest = context.path_for(&key.logical_name, true)?;
    let mapping = json!({"property_name": key.logical_name, "source_path": nearest.path});
    Some((patch::add("/key_field", mapping), certain && nearest.certain))
}

/// A path that isn't a list of names: one text, or nothing.
fn path(context: &Context<'_, '_>, at: &str, field: &str, found: &Value) -> Remedy {
    if let Some((path, exists)) = path_in(context, found) {
        return Some((patch::replace(at, path), exists));
    }
    if field == "source_path" {
        return derived(context, at).map(|(value, certain)| (patch::replace(at, value), certain));
    }
    // The others have a default.
    let is_nothing = found.is_null() || found.as_array().is_some_and(Vec::is_empty) || found == "";
    Some((patch::remove(at), is_nothing))
}

/// A path that was written as one text.
fn path_in(context: &Context<'_, '_>, found: &Value) -> Option<(Vec<String>, bool)> {
    context.path_in(found.as_str().filter(|text| !text.is_empty())?)
}

/// A segment that isn't a name: a number, or nothing.
fn segment(context: &Context<'_, '_>, parent: &str, index: &str, found: &Value) -> Remedy {
    let at = format!("{parent}/{index}");
    let index: usize = index.parse().ok()?;
    let segments = context.value.pointer(parent)?.as_array()?;
    let text = |it: &Value| it.as_str().map(str::to_owned);
    if found.is_number() {
        let named =
            segments.iter().map(|it| text(it).or_else(|| it.is_number().then(|| it.to_string())));
        let named: Option<Vec<String>> = named.collect();
        if named.is_some_and(|path| context.known().has(&path)) {
            return Some((patch::replace(&at, found.to_string()), true));
        }
        // Arrays have no paths into them: what was meant is told by the property's name, if by anything.
        let instead = parent.ends_with("/source_path").then(|| derived(context, parent)).flatten();
        return instead.map(|(path, certain)| (patch::replace(parent, path), certain));
    }
    let others = segments.iter().enumerate().filter(|(place, _)| *place != index);
    let others: Option<Vec<String>> = others.map(|(_, it)| text(it)).collect();
    let others = others.filter(|it| !it.is_empty())?;
    let is_nothing = found.is_null() || found == "";
    is_nothing.then(|| (patch::remove(&at), context.known().has(&others)))
}

/// What was given in place of a list of mappings, as one: a single mapping, or an object of names and paths. `None` inside
/// where there is nothing to be mapped.
fn list_of_mappings(found: &Value) -> Option<(Option<Value>, bool)> {
    let fields = match found {
        Value::Null => return Some((None, true)),
        Value::Object(fields) => fields,
        _ => return None,
    };
    if fields.contains_key("property_name") || fields.contains_key("source_path") {
        return Some((Some(json!([found])), true));
    }
    let mapping = |(name, content): (&String, &Value)| match content {
        Value::String(_) | Value::Array(_) => {
            Some(json!({"property_name": name, "source_path": content}))
        }
        Value::Object(mapping) => {
            let mut mapping = mapping.clone();
            mapping.entry("property_name").or_insert_with(|| json!(name));
            Some(Value::Object(mapping))
        }
        _ => None,
    };
    let list: Option<Vec<Value>> = fields.iter().map(mapping).collect();
    list.map(|list| (Some(json!(list)), true))
}
