//! What a node, an edge or a span rule goes over, and what that means for the paths in it.

use serde_json::Value;

use super::super::error::{Place, PlanParseErrorCode as Code};
use super::super::model::innermost;
use super::fields::FOR_EACH_FIELDS;
use super::reader::{Fields, Reader};
use crate::plan::expr::{ForEach, Iteration, Level, Over, Reference};

/// Where paths start that stand in some part of a plan.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    innermost: Level,
    /// Whether a `for_each` could be written around it.
    can_iterate: bool,
    is_unread: bool,
}

impl Scope {
    /// Where paths start at the event, and no `for_each` can change it.
    pub(super) const EVENT: Self =
        Self { innermost: Level::EVENT, can_iterate: false, is_unread: false };

    /// Inside of something that could not be read: no level is held against a path.
    pub(super) const UNREAD: Self =
        Self { innermost: Level::DEEPEST, can_iterate: true, is_unread: true };

    /// Inside of something that goes over this, or over nothing.
    pub(super) fn inside(for_each: Option<&ForEach>) -> Self {
        Self { innermost: innermost(for_each), can_iterate: true, is_unread: false }
    }

    /// Inside of a value or a condition here. The schema of those doesn't know where they stand, so that it can't say of
    /// their paths that they may not be empty.
    pub(super) fn nested(self) -> Self {
        Self { can_iterate: true, ..self }
    }

    pub(super) fn innermost(self) -> Level {
        self.innermost
    }

    pub(super) fn is_unread(self) -> bool {
        self.is_unread
    }
}

/// Where a path starts, as it is written.
#[derive(Clone, Copy)]
enum From {
    Event,
    Parent,
}

impl Reader {
    /// The `for_each` of an object, and where paths inside of it start.
    pub(super) fn for_each(&mut self, at: &Place, fields: &Fields) -> (Option<ForEach>, Scope) {
        let Some(value) = fields.get("for_each") else {
            return (None, Scope::inside(None));
        };
        let noted = self.noted();
        let mut levels = Vec::new();
        let mut next = Some((at.field("for_each"), value));
        while let Some((here, value)) = next.take() {
            if levels.len() == usize::from(Level::DEEPEST.0) {
                let message = "expected at most two levels of for_each, found a third one";
                self.note(Code::TooDeep, &here, message);
                break;
            }
            let Some(fields) = self.any_object(&here, value) else { break };
            let around = levels.last().map(|it: &Iteration| it.over);
            levels.push(self.iteration(&here, fields, around));
            next = fields.get("for_each").map(|value| (here.field("for_each"), value));
        }
        let mut levels = levels.into_iter();
        match levels.next() {
            Some(outer) if self.noted() == noted => {
                let for_each = ForEach::new(outer, levels.next());
                let scope = Scope::inside(Some(&for_each));
                (Some(for_each), scope)
            }
            _ => (None, Scope::UNREAD),
        }
    }

    fn iteration(&mut self, at: &Place, fields: &Fields, around: Option<Over>) -> Iteration {
        let (over, name) = match fields.contains_key("array") {
            false if fields.contains_key("entries") => (Over::Entries, "entries"),
            _ => (Over::Array, "array"),
        };
        let missing: &[&str] = if fields.contains_key(name) { &[] } else { &["array"] };
        self.field_names(at, fields, FOR_EACH_FIELDS, missing);
        self.exclusive(at, fields, &["array", "entries"]);
        let place = at.field(name);
        let path = fields.get(name).map(|value| self.path_to_elements(&place, value, around));
        Iteration { over, path: path.unwrap_or_default() }
    }

    /// The path to what is gone over, from the elements of the iteration around it: those of an array may be it themselves.
    fn path_to_elements(&mut self, at: &Place, value: &Value, around: Option<Over>) -> Vec<String> {
        let path = self.segments(at, value);
        let is_empty = matches!(value, Value::Array(segments) if segments.is_empty());
        let reason = match around {
            Some(Over::Array) => return path,
            Some(Over::Entries) => "an entry has a key and a value, and nothing else to go over",
            None => "the event itself has no elements",
        };
        if is_empty {
            let message = format!("expected at least one segment, found none: {reason}");
            self.note(Code::OutsideForEach, at, message);
        }
        path
    }

    /// What `source_path` and `from` of an object say; `None` where there is no path.
    pub(super) fn reference(
        &mut self,
        at: &Place,
        fields: &Fields,
        scope: Scope,
    ) -> Option<Reference> {
        let value = fields.get("source_path");
        let place = at.field("source_path");
        let path = value.map(|value| self.segments(&place, value));
        let level = self.level(at, fields, scope);
        let is_empty = matches!(value, Some(Value::Array(segments)) if segments.is_empty());
        if is_empty && level.is_event() {
            self.empty(&place, scope, fields.contains_key("from"));
        }
        path.map(|path| Reference { path, level })
    }

    /// Where a path starts, as `from` says.
    pub(super) fn level(&mut self, at: &Place, fields: &Fields, scope: Scope) -> Level {
        let Some(value) = fields.get("from") else { return scope.innermost };
        let place = at.field("from");
        let choices = [("event", From::Event), ("parent", From::Parent)];
        match self.choice(&place, value, &choices) {
            Some(From::Event) => Level::EVENT,
            Some(From::Parent) if scope.innermost == Level::DEEPEST => Level(1),
            Some(From::Parent) => {
                let message = "expected a for_each inside a for_each around a path from the parent";
                self.note(Code::OutsideForEach, &place, message);
                Level::DEEPEST
            }
            // What is wrong is said; that the path might be empty isn't.
            None => Level::DEEPEST,
        }
    }

    fn empty(&mut self, at: &Place, scope: Scope, is_from_event: bool) {
        let expected = "expected at least one segment, found none";
        if !scope.can_iterate {
            self.note(Code::EmptyPath, at, expected);
        } else if is_from_event {
            let message = format!("{expected}: a path from the event can't be empty");
            self.note(Code::OutsideForEach, at, message);
        } else {
            let message = format!("{expected}: only inside a for_each, a path may be the element");
            self.note(Code::OutsideForEach, at, message);
        }
    }
}
