//! Which events.

use serde_json::Value;

use crate::diagnostics::codes;
use crate::diagnostics::untrusted::quoted;
use crate::plan::MAX_EVENT_TYPE_BYTES;
use crate::plan::language::{LocatedValue, ObjectKind};
use crate::plan::model::{EventPattern, EventTypes};

pub(super) fn event_types(written: &LocatedValue<'_>) -> EventTypes {
    match written.value {
        Value::String(_) | Value::Object(_) => {
            EventTypes { patterns: vec![EventPattern::new(&event_type(written))], listed: false }
        }
        Value::Array(_) => EventTypes { patterns: listed_types(written), listed: true },
        _ => {
            written.wrong_type("a string, an object with a type, or an array of these");
            EventTypes::unread()
        }
    }
}

/// A type, by itself or in an object.
fn event_type(written: &LocatedValue<'_>) -> String {
    if !written.value.is_object() {
        return type_name(written);
    }
    let object = written.object(ObjectKind::EventType.table());
    object.and_then(|it| it.get("type")).map(|it| type_name(&it)).unwrap_or_default()
}

fn type_name(written: &LocatedValue<'_>) -> String {
    let text = written.text();
    if text.len() > MAX_EVENT_TYPE_BYTES {
        let expected = format!("at most {MAX_EVENT_TYPE_BYTES} bytes");
        written.note(codes::INVALID_VALUE, expected, text.len().to_string());
    }
    text
}

fn listed_types(written: &LocatedValue<'_>) -> Vec<EventPattern> {
    let mut patterns: Vec<(EventPattern, LocatedValue<'_>)> = Vec::new();
    for item in written.items() {
        let text = event_type(&item);
        let pattern = EventPattern::new(&text);
        let earlier = patterns.iter().find(|(it, _)| !text.is_empty() && *it == pattern);
        if let Some((_, earlier)) = earlier {
            let (at, other) = (&item.at, &earlier.at);
            let at = match (item.value.is_object(), earlier.value.is_object()) {
                (true, false) => at.field("type"),
                (false, true) => other.field("type"),
                _ => at.clone(),
            };
            let (expected, found) = ("each type once", format!("{} again", quoted(&text)));
            item.context.note(codes::DUPLICATE_ITEM, &at, expected.to_owned(), found);
        }
        patterns.push((pattern, item));
    }
    patterns.into_iter().map(|(pattern, _)| pattern).collect()
}
