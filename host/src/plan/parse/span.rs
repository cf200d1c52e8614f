//! Which spans are handled.

use serde_json::Value;

use super::for_each::for_each;
use crate::diagnostics::codes;
use crate::plan::expr::{Level, Reference};
use crate::plan::language::{LocatedObject, LocatedValue, ObjectKind};
use crate::plan::model::{Partial, SpanRule, SpanRules};

pub(super) fn span_rules(written: &LocatedValue<'_>) -> SpanRules {
    match written.value {
        Value::Null => SpanRules::default(),
        Value::Array(_) => {
            let rules = written.items().filter_map(|item| span_rule(&item));
            SpanRules { rules: rules.collect(), listed: true }
        }
        Value::Object(_) => {
            SpanRules { rules: span_rule(written).into_iter().collect(), listed: false }
        }
        _ => {
            written.wrong_type("an object, an array of objects or null");
            SpanRules::default()
        }
    }
}

fn span_rule(written: &LocatedValue<'_>) -> Option<SpanRule> {
    let object = written.object(ObjectKind::Span.table())?;
    let (for_each, scope) = for_each(&object);
    let level = object.level(scope);
    let path = element_path(&object, "span_id_path", level);
    let when = object.condition("when", scope);
    let innermost = scope.innermost;
    let truthy = element_path(&object, "partial_when_path", innermost)
        .map(|path| Partial::Truthy(Reference { path, level: innermost }));
    let partial = object.condition("partial_when", scope).map(Partial::When);
    let span_id = path.unwrap_or_else(|| object.default_path("span_id_path"));
    Some(SpanRule {
        span_id: Reference { path: span_id, level },
        for_each,
        when,
        partial: truthy.or(partial),
    })
}

/// A path that may be empty where it starts at an element.
fn element_path(rule: &LocatedObject<'_>, name: &str, level: Level) -> Option<Vec<String>> {
    let written = rule.get(name).filter(|it| !(it.value.is_null() && it.field.is_nullable()))?;
    if !rule.has("for_each") {
        return Some(written.path());
    }
    let path = written.segments();
    if written.is_empty_list() && level.is_event() {
        let observed = "none: a path from the event can't be empty";
        written.note(codes::OUTSIDE_FOR_EACH, "at least one segment", observed.to_owned());
    }
    Some(path)
}
