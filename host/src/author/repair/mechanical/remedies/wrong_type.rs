//! Values of the wrong JSON type, and empty ones.

use serde_json::{Value, json};

use super::{
    Context, Remedy, conversion, derived, fix, is_optional, replace, reshape, split, written_path,
};
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::ranking::Likely;
use crate::plan::language::{ObjectKind, Shape};

/// What was meant, in the form that the place takes; else what follows from the rest of the plan and the task.
pub(super) fn remedy(context: &Context<'_, '_>, at: &str) -> Remedy {
    let plan = context.plan;
    let (parent, name) = split(at)?;
    let found = plan.get(at)?;
    let shape = plan.shape(at)?;
    if let Some(value) = reshape::reshaped(shape, found) {
        return fix(patch::replace(at, value));
    }
    let may_be_left_out = || plan.kind(parent).is_some_and(|kind| is_optional(kind, &name));
    if found.is_null() && may_be_left_out() {
        return fix(patch::remove(at));
    }
    match shape {
        Shape::Path => written_path::path(context, at, found),
        Shape::Segment => written_path::segment(context, at, found),
        Shape::Object(ObjectKind::ForEach) => {
            let path = written_path::iterated(context, at, found)?;
            replace(at, path.map(|path| json!({"array": path})))
        }
        Shape::Object(ObjectKind::Property) if found.is_null() => fix(patch::remove(at)),
        Shape::ObjectOrObjects(ObjectKind::Span) => {
            let path = found.as_str().filter(|text| !text.is_empty());
            match path.and_then(|text| context.scope(at)?.path_in(text)) {
                Some(path) => replace(at, path.map(|path| json!({"span_id_path": path}))),
                None => replace(at, Likely::new(Value::Null, found == false)),
            }
        }
        Shape::Word(_) if name == "nulls" => {
            Some(Likely::new(patch::remove(at), !found.is_boolean()))
        }
        Shape::EventTypes | Shape::Name => replace(at, derived(context, at)?),
        Shape::Constant if plan.kind(parent) == Some(ObjectKind::Condition) => {
            compared(context, parent, found)
        }
        Shape::Step | Shape::Arguments => conversion::remedy(context, at),
        _ => None,
    }
}

/// `equals` with what isn't a scalar: null is what doesn't exist, a list is one of several.
fn compared(context: &Context<'_, '_>, condition: &str, found: &Value) -> Remedy {
    let mut fields = context.plan.get(condition)?.as_object()?.clone();
    fields.remove("equals")?;
    match found {
        Value::Null => {
            fields.insert("exists".to_owned(), json!(true));
            fix(patch::replace(condition, json!({"not": fields})))
        }
        Value::Array(items) if !items.is_empty() => {
            fields.insert("one_of".to_owned(), json!(items));
            fix(patch::replace(condition, fields))
        }
        _ => None,
    }
}
