//! Values that are missing, or of a form that plans don't take, and that follow from the rest of the plan and the task.

use serde_json::{Map, Value, json};

use super::context::{Context, identifier, name_of, parent_kind, split};
use super::grammar::{Holds, Kind, holds, kind};
use super::plan::Remedy;
use super::{conversions, edges, levels, shape, template};
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::spelling;
use crate::json::JsonKind;
use crate::plan::expr::Level;

/// How alike a word has to be to one of those that a field takes to be a slip of it.
const SLIP: f64 = 0.7;

/// Required fields of a node or an edge, without which something else is made of it.
const OPTIONAL: &[&str] = &[
    "when",
    "partial_when",
    "property_fields",
    "convert",
    "for_each",
    "edges",
    "name",
    "edge_id",
    "on_duplicate",
    "from",
    "nulls",
    "on_error",
];

/// A required field that isn't there.
pub(super) fn missing(context: &Context<'_, '_>, at: &str) -> Remedy {
    let (parent, name) = split(at)?;
    let owner = context.value.pointer(parent)?;
    match (kind(context.value, parent), name.as_str()) {
        (Some(Kind::Condition), _) if owner.as_object().is_some_and(Map::is_empty) => {
            let (_, field) = split(parent)?;
            return OPTIONAL.contains(&field.as_str()).then(|| (patch::remove(parent), true));
        }
        (Some(Kind::Condition), "exists") => return Some((patch::add(at, true), false)),
        (Some(Kind::Plan), "key_field") => return missing_key(context, at),
        (Some(Kind::Node), "key_fields") => return missing_keys(context, at),
        (Some(Kind::External), "key_fields") => return edges::node_meant(context, parent),
        (Some(Kind::Edge), _) => return edges::missing(context, at),
        (None, _)
            if matches!(holds(context.value, parent), Some(Holds::Step | Holds::Arguments)) =>
        {
            return step_around(at).and_then(|step| conversions::step(context, step));
        }
        _ => {}
    }
    let (value, certain) = derived(context, at)?;
    Some((patch::add(at, value), certain))
}

/// A value of the wrong JSON type, or an empty one.
pub(super) fn misfit(context: &Context<'_, '_>, at: &str) -> Remedy {
    let (parent, name) = split(at)?;
    let found = context.value.pointer(at)?;
    let holds = holds(context.value, at)?;
    if let Some(value) = shape::made(holds, found) {
        return Some((patch::replace(at, value), true));
    }
    if found.is_null() && OPTIONAL.contains(&name.as_str()) && !matches!(holds, Holds::End) {
        return Some((patch::remove(at), true));
    }
    match holds {
        Holds::Path => path(context, at, &name, found),
        Holds::Segment => segment(context, parent, &name, found),
        Holds::Object(Kind::ForEach) => {
            let (path, certain) = iterated(context, at, found)?;
            Some((patch::replace(at, json!({"array": path})), certain))
        }
        Holds::Object(Kind::Property) => found.is_null().then(|| (patch::remove(at), true)),
        Holds::ObjectOrObjects(Kind::Span) => {
            let path = found.as_str().filter(|text| !text.is_empty());
            match path.and_then(|text| context.scope(at)?.path_in(text)) {
                Some((path, certain)) => {
                    Some((patch::replace(at, json!({"span_id_path": path})), certain))
                }
                None => Some((patch::replace(at, Value::Null), found == false)),
            }
        }
        Holds::Word(_) if name == "nulls" => Some((patch::remove(at), !found.is_boolean())),
        Holds::EventTypes | Holds::Name => {
            derived(context, at).map(|(value, certain)| (patch::replace(at, value), certain))
        }
        Holds::Constant if parent_kind(context.value, at) == Some(Kind::Condition) => {
            compared(context, parent, found)
        }
        Holds::Step | Holds::Arguments => {
            step_around(at).and_then(|step| conversions::step(context, step))
        }
        _ => None,
    }
}

/// `equals` with what isn't a scalar: null is what doesn't exist, a list is one of several.
fn compared(context: &Context<'_, '_>, condition: &str, found: &Value) -> Remedy {
    let mut fields = context.value.pointer(condition)?.as_object()?.clone();
    fields.remove("equals")?;
    match found {
        Value::Null => {
            fields.insert("exists".to_owned(), json!(true));
            Some((patch::replace(condition, json!({"not": fields})), true))
        }
        Value::Array(items) if !items.is_empty() => {
            fields.insert("one_of".to_owned(), json!(items));
            Some((patch::replace(condition, fields), true))
        }
        _ => None,
    }
}

/// The pointer of the step of a chain that a place is in.
pub(super) fn step_around(at: &str) -> Option<&str> {
    let chain = at.rfind("/convert/")? + "/convert/".len();
    let end = at.get(chain..)?.find('/').map_or(at.len(), |length| chain + length);
    at.get(..end)
}

/// A name that isn't an identifier.
pub(super) fn invalid_name(context: &Context<'_, '_>, at: &str) -> Remedy {
    let written = context.value.pointer(at)?.as_str()?;
    if at == "/function_name" {
        return Some((patch::replace(at, identifier(written, "extract_")), true));
    }
    if holds(context.value, at) == Some(Holds::End) {
        return edges::end_meant(context, at);
    }
    let (value, certain) = derived(context, at).unwrap_or((json!(identifier(written, "_")), false));
    Some((patch::replace(at, value), certain))
}

/// What a field takes is one of a few words, or `true`, and this is another one.
pub(super) fn invalid_word(context: &Context<'_, '_>, at: &str) -> Remedy {
    let found = context.value.pointer(at)?;
    let (parent, name) = split(at)?;
    match holds(context.value, at)? {
        Holds::Step | Holds::Arguments => conversions::step(context, step_around(at)?),
        Holds::True if *found == Value::Bool(false) => {
            let opposite = shape::opposite(context.value.pointer(parent)?, &name)?;
            Some((patch::replace(parent, opposite), true))
        }
        Holds::Word(words) => {
            let written = found.as_str()?.trim().to_ascii_lowercase();
            if name == "from"
                && let Some(from) = levels::from_meant(context, parent)
            {
                return Some((from, true));
            }
            let other = OTHER_WORDS
                .iter()
                .find(|(field, others, _)| *field == name && others.contains(&written.as_str()));
            let word = other.map(|(.., word)| *word);
            let near =
                |it: &&&str| spelling::names(&written, it, &context.efforts().searches) >= SLIP;
            let word = word.or_else(|| words.iter().find(near).copied());
            match word {
                // An element is where paths start anyway.
                Some("") => Some((patch::remove(at), true)),
                Some(word) => Some((patch::replace(at, word), true)),
                None => Some((patch::remove(at), false)),
            }
        }
        _ => None,
    }
}

/// Words that others have for those that fields take; the empty one for what is said by saying nothing.
const OTHER_WORDS: &[(&str, &[&str], &str)] = &[
    ("from", &["root", "top", "$", "record", "document", "global"], "event"),
    ("from", &["element", "item", "self", "current", "row", "entry", "this", "."], ""),
    ("from", &["outer", "outer_element", "^", ".."], "parent"),
    ("nulls", &["drop", "skip", "ignore", "remove"], "omit"),
    ("nulls", &["include", "write", "preserve"], "keep"),
    ("on_error", &["drop", "skip", "ignore", "null", "leave_out"], "omit"),
    ("on_error", &["fail", "error", "raise", "abort"], "reject"),
    ("on_duplicate", &["overwrite", "keep_last", "replace", "latest"], "last"),
    ("on_duplicate", &["fail", "error", "raise", "abort"], "reject"),
    ("is_type", &["str", "text"], "string"),
    ("is_type", &["int", "integer", "int64", "double", "float"], "number"),
    ("is_type", &["bool"], "boolean"),
    ("is_type", &["map", "dict"], "object"),
    ("is_type", &["list"], "array"),
    ("is_type", &["none", "nil"], "null"),
];

/// What a name or a source path has to be, by the rest of the plan and the task.
pub(super) fn derived(context: &Context<'_, '_>, at: &str) -> Option<(Value, bool)> {
    let (parent, name) = split(at)?;
    let text = |(text, certain): (&str, bool)| (json!(text), certain);
    match name.as_str() {
        "event_type" => context.event_type().map(text),
        "target_entity_name" | "entity_name" => {
            let owner = context.owner(parent).filter(|owner| owner.at == parent)?;
            if owner.kind == Kind::External {
                return edges::entity_meant(context, parent).map(text);
            }
            owner.entity().map(|(it, certain)| (json!(it.name), certain))
        }
        "relationship_name" => edges::relationship_meant(context, parent),
        "function_name" => Some((json!(context.function_name()), true)),
        "property_name" => {
            let scope = context.scope(parent)?;
            if kind(context.value, parent) == Some(Kind::Key) {
                let (key, certain) = scope.key_name(parent)?;
                return Some((json!(key.logical_name), certain));
            }
            let (property, certain) = scope.property_of_mapping(context.value.pointer(parent)?)?;
            Some((json!(property.logical_name), certain))
        }
        "source_path" => {
            let name = name_of(context.value.pointer(parent)?)?;
            let is_key = kind(context.value, parent) == Some(Kind::Key);
            let nearest = context.scope(parent)?.path_for(name, is_key)?;
            Some((json!(nearest.item), nearest.is_certain()))
        }
        _ => None,
    }
}

/// A plan without a key: the mapping that is the key's, or a path that suits it.
fn missing_key(context: &Context<'_, '_>, at: &str) -> Remedy {
    let owner = context.owner("")?;
    let (key, certain) = owner.key(at).filter(|_| {
        owner.entity().is_some_and(|(entity, _)| entity.key_properties().count() == 1)
    })?;
    let mapped =
        owner.properties().iter().position(|it| name_of(it).is_some_and(|it| key.is_named(it)));
    if let Some(index) = mapped {
        let mapping = as_key(owner.properties().get(index)?)?;
        let taken = patch::remove(&format!("/property_fields/{index}"));
        return Some((patch::both(patch::add(at, mapping), taken), certain));
    }
    let nearest = context.scope("")?.path_for(&key.logical_name, true)?;
    let mapping = json!({"property_name": key.logical_name, "source_path": nearest.item});
    Some((patch::add(at, mapping), certain && nearest.is_certain()))
}

/// A node without a key: of each property of the key, the mapping that is its, or a path that suits it.
fn missing_keys(context: &Context<'_, '_>, at: &str) -> Remedy {
    let (parent, _) = split(at)?;
    let owner = context.owner(parent)?;
    let (entity, mut certain) = owner.entity()?;
    let scope = context.scope(at)?;
    let (mut keys, mut taken) = (Vec::new(), Vec::new());
    for key in entity.key_properties() {
        let is_it = |it: &Value| name_of(it).is_some_and(|name| key.is_named(name));
        if let Some(index) = owner.properties().iter().position(is_it) {
            keys.push(Value::Object(as_key(owner.properties().get(index)?)?));
            taken.push(patch::remove(&format!("{parent}/property_fields/{index}")));
        } else {
            let nearest = scope.path_for(&key.logical_name, true)?;
            certain &= nearest.is_certain();
            keys.push(json!({"property_name": key.logical_name, "source_path": nearest.item}));
        }
    }
    let added = patch::add(at, keys);
    Some((taken.into_iter().fold(added, patch::both), certain))
}

fn as_key(mapping: &Value) -> Option<Map<String, Value>> {
    let mut mapping = mapping.as_object()?.clone();
    mapping.remove("nulls");
    Some(mapping)
}

/// A path that isn't a list of names: one text, or nothing.
fn path(context: &Context<'_, '_>, at: &str, field: &str, found: &Value) -> Remedy {
    let (parent, _) = split(at)?;
    if matches!(field, "array" | "entries") {
        let (path, certain) = iterated(context, parent, found)?;
        return Some((patch::replace(at, path), certain));
    }
    let scope = context.scope(at)?;
    let text = found.as_str().filter(|text| !text.is_empty());
    if let Some((path, exists)) = text.and_then(|text| scope.path_in(text)) {
        return Some((patch::replace(at, path), exists));
    }
    if field == "source_path" {
        return derived(context, at).map(|(value, certain)| (patch::replace(at, value), certain));
    }
    // The others have a default.
    let is_nothing = found.is_null() || found.as_array().is_some_and(Vec::is_empty) || found == "";
    Some((patch::remove(at), is_nothing))
}

/// The path of an array that a `for_each` was given as text, and whether there is an array.
fn iterated(context: &Context<'_, '_>, at: &str, found: &Value) -> Option<(Vec<String>, bool)> {
    let text = found.as_str().filter(|text| !text.is_empty())?;
    let text = text.strip_suffix("[*]").or_else(|| text.strip_suffix("[]")).unwrap_or(text);
    let (outer, name) = split(at)?;
    let around = context.value.pointer(outer)?;
    // A nested one starts at the element of the one outside.
    let outside = (name == "for_each" && kind(context.value, outer) == Some(Kind::ForEach))
        .then(|| super::context::for_each_of(&without_inner(around)));
    let known = match outside {
        None => context.known_at(None, Level::EVENT)?,
        Some(outside) => {
            let outside = outside?;
            let elements = context.evidence(Some(&outside));
            if elements.is_none() {
                let path: Vec<String> = text.split('.').map(str::to_owned).collect();
                return Some((path, false));
            }
            context.known_at(Some(&outside), outside.level())?
        }
    };
    let path: Vec<String> =
        text.split('.').filter(|key| !key.is_empty() && *key != "$").map(str::to_owned).collect();
    let is_array = known.values(&path).any(|(_, it)| it.is_array())
        || known.declared_kinds(&path).contains(JsonKind::Array);
    (!path.is_empty()).then_some((path, is_array))
}

fn without_inner(for_each: &Value) -> Value {
    let mut outer = for_each.clone();
    if let Some(fields) = outer.as_object_mut() {
        fields.remove("for_each");
    }
    outer
}

/// A segment that isn't a name: a number, or nothing.
fn segment(context: &Context<'_, '_>, parent: &str, index: &str, found: &Value) -> Remedy {
    let at = format!("{parent}/{index}");
    let index: usize = index.parse().ok()?;
    let segments = context.value.pointer(parent)?.as_array()?;
    let text = |it: &Value| it.as_str().map(str::to_owned);
    let scope = context.scope(parent)?;
    if found.is_number() {
        let named =
            segments.iter().map(|it| text(it).or_else(|| it.is_number().then(|| it.to_string())));
        let named: Option<Vec<String>> = named.collect();
        if named.is_some_and(|path| scope.known().has(&path)) {
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
    is_nothing.then(|| (patch::remove(&at), scope.known().has(&others)))
}

/// A text that is no template.
pub(super) fn invalid_template(context: &Context<'_, '_>, at: &str) -> Remedy {
    let (text, certain) = template::mended(context, at)?;
    Some((patch::replace(at, text), certain))
}
