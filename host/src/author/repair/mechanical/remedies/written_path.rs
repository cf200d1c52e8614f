//! Paths that aren't lists of names.

use serde_json::Value;

use super::{Context, IterationScope, Remedy, derived, fix, replace, split};
use crate::diagnostics::finding::patch;
use crate::evidence::Path;
use crate::evidence::similarity::ranking::Likely;
use crate::json::JsonKind;
use crate::plan::expr::{FIRST_OF, Level};
use crate::plan::language::ObjectKind;

/// A path that isn't a list of names: one text, or nothing.
pub(super) fn path(context: &Context<'_, '_>, at: &str, found: &Value) -> Remedy {
    let (parent, field) = split(at)?;
    if matches!(field.as_str(), "array" | "entries") {
        return replace(at, iterated(context, parent, found)?);
    }
    if let Some((level, FIRST_OF)) = split(parent).as_ref().map(|(at, name)| (*at, name.as_str())) {
        return replace(at, iterated(context, level, found)?);
    }
    let text = found.as_str().filter(|text| !text.is_empty());
    let scope = context.scope(at)?;
    if let Some(path) = text.and_then(|text| scope.path_in(text)) {
        return replace(at, path);
    }
    if field == "source_path" {
        return replace(at, derived(context, at)?);
    }
    // The others have a default.
    let is_nothing = found.is_null() || found.as_array().is_some_and(Vec::is_empty) || found == "";
    Some(Likely::new(patch::remove(at), is_nothing))
}

/// The path of what a `for_each` goes over, which was written as text; certain where there is an array.
pub(super) fn iterated(context: &Context<'_, '_>, at: &str, found: &Value) -> Option<Likely<Path>> {
    let text = found.as_str()?;
    let text = text.strip_suffix("[*]").or_else(|| text.strip_suffix("[]")).unwrap_or(text);
    let keys = text.split('.').filter(|key| !key.is_empty() && *key != "$");
    let path: Path = keys.map(str::to_owned).collect();
    // A nested one starts at the element of the one outside.
    let (outer, name) = split(at)?;
    let is_nested = name == "for_each" && context.plan.kind(outer) == Some(ObjectKind::ForEach);
    let known = if is_nested {
        let outer = context.plan.inside_level(outer)?;
        context.known(outer, outer.level())
    } else {
        context.known(&IterationScope::Event, Level::EVENT)
    };
    let is_array = known.is_some_and(|known| {
        known.values(&path).any(|(_, it)| it.is_array())
            || known.declared_kinds(&path).contains(JsonKind::Array)
    });
    (!path.is_empty()).then(|| Likely::new(path, is_array))
}

/// A segment that isn't a name: a number, or nothing.
pub(super) fn segment(context: &Context<'_, '_>, at: &str, found: &Value) -> Remedy {
    let (path_at, index) = split(at)?;
    let index: usize = index.parse().ok()?;
    let segments = context.plan.get(path_at)?.as_array()?;
    let scope = context.scope(path_at)?;
    if found.is_number() {
        let name = |it: &Value| match it {
            Value::Number(number) => Some(number.to_string()),
            it => it.as_str().map(str::to_owned),
        };
        let named: Option<Path> = segments.iter().map(name).collect();
        if named.is_some_and(|path| scope.known.has(&path)) {
            return fix(patch::replace(at, found.to_string()));
        }
        // Arrays have no paths into them: what was meant is known by the property's name, if by anything.
        return replace(path_at, derived(context, path_at)?);
    }
    let others = segments.iter().enumerate().filter(|(place, _)| *place != index);
    let others: Option<Path> = others.map(|(_, it)| it.as_str().map(str::to_owned)).collect();
    let others = others.filter(|path| !path.is_empty())?;
    let is_nothing = found.is_null() || found == "";
    is_nothing.then(|| Likely::new(patch::remove(at), scope.known.has(&others)))
}
