//! What a node, an edge or a span rule goes over.

use crate::diagnostics::codes;
use crate::plan::expr::{ForEach, Iteration, Level, Over};
use crate::plan::language::{LocatedObject, LocatedValue, ObjectKind, PathScope};

/// The `for_each` of an object, and where paths inside of it start.
pub(super) fn for_each(object: &LocatedObject<'_>) -> (Option<ForEach>, PathScope) {
    let Some(written) = object.get("for_each") else {
        return (None, PathScope::inside(None));
    };
    let noted = object.context.noted();
    let mut levels: Vec<Iteration> = Vec::new();
    let mut next = Some(written);
    while let Some(written) = next.take() {
        if levels.len() == usize::from(Level::DEEPEST.0) {
            written.note(
                codes::TOO_DEEP,
                "at most two levels of for_each",
                "a third one".to_owned(),
            );
            break;
        }
        let Some(object) = written.object(ObjectKind::ForEach.table()) else { break };
        let around = levels.last().map(|it| it.over);
        levels.push(iteration(&object, around));
        next = object.get("for_each");
    }
    let mut levels = levels.into_iter();
    match levels.next() {
        Some(outer) if object.context.noted() == noted => {
            let for_each = ForEach::new(outer, levels.next());
            let scope = PathScope::inside(Some(&for_each));
            (Some(for_each), scope)
        }
        _ => (None, PathScope::UNREAD),
    }
}

fn iteration(object: &LocatedObject<'_>, around: Option<Over>) -> Iteration {
    let (over, written) = object.over();
    let path = written.map(|path| path_to_elements(&path, around));
    Iteration { over, path: path.unwrap_or_default() }
}

/// The path to what is gone over, from the elements of the iteration around it: those of an array may be it themselves.
fn path_to_elements(written: &LocatedValue<'_>, around: Option<Over>) -> Vec<String> {
    let path = written.segments();
    let reason = match around {
        Some(Over::Array) => return path,
        Some(Over::Entries) => "an entry has a key and a value, and nothing else to go over",
        None => "the event itself has no elements",
    };
    if written.is_empty_list() {
        written.note(codes::OUTSIDE_FOR_EACH, "at least one segment", format!("none: {reason}"));
    }
    path
}
