//! What a node, an edge or a span rule goes over.

use crate::diagnostics::codes;
use crate::plan::expr::{ForEach, Iteration, Level, Over};
use crate::plan::language::{LocatedObject, LocatedValue, ObjectKind, PathScope};
use crate::plan::model::innermost;

/// The `for_each` of an object, and where paths inside of it start.
pub(super) fn for_each(object: &LocatedObject<'_>) -> (Option<ForEach>, PathScope) {
    let Some(written) = object.get("for_each") else {
        return (None, PathScope::inside(None));
    };
    let noted = object.context.noted();
    let mut for_each: Option<ForEach> = None;
    let mut next = Some(written);
    while let Some(written) = next.take() {
        let level = innermost(for_each.as_ref());
        if level == Level::DEEPEST {
            let expected = "at most four levels of for_each";
            written.note(codes::TOO_DEEP, expected, "a fifth one".to_owned());
            break;
        }
        let Some(object) = written.object(ObjectKind::ForEach.table()) else { break };
        let around = for_each.as_ref().map(|it| it.innermost().over());
        let Some(iteration) = iteration(&object, around, level) else {
            return (None, PathScope::UNREAD);
        };
        let inside = match for_each {
            Some(outer) => outer.around(iteration),
            None => ForEach::new(iteration),
        };
        check_places(&object, &inside);
        for_each = Some(inside);
        next = object.get("for_each");
    }
    match for_each {
        Some(for_each) if object.context.noted() == noted => {
            let scope = PathScope::inside(Some(&for_each));
            (Some(for_each), scope)
        }
        _ => (None, PathScope::UNREAD),
    }
}

/// One level, in what is at this one; `None` where what it goes over can't be read.
fn iteration(
    object: &LocatedObject<'_>,
    around: Option<Over>,
    outside: Level,
) -> Option<Iteration> {
    let list = object.list(PathScope::at(outside), |path| path_to_elements(path, around));
    let condition = object.condition("where", PathScope::at(outside.inside()));
    Some(Iteration { list: list?, condition })
}

/// Every place is looked at by whoever checks what is read.
fn check_places(object: &LocatedObject<'_>, for_each: &ForEach) {
    let places = for_each.places();
    if places > ForEach::MAX_PLACES
        && let Some(written) = object.alternative()
    {
        let expected = format!("at most {} places where elements may be", ForEach::MAX_PLACES);
        let found = format!("{places}, by the paths of all levels together");
        written.note(codes::TOO_MANY_PLACES, expected, found);
    }
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
