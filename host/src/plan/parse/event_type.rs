//! Which events.

use serde_json::Value;

use crate::diagnostics::codes;
use crate::diagnostics::untrusted::quoted;
use crate::plan::MAX_EVENT_TYPE_BYTES;
use crate::plan::language::LocatedValue;
use crate::plan::model::{EventPattern, EventTypes};

pub(super) fn event_types(written: &LocatedValue<'_>) -> EventTypes {
    match written.value {
        Value::String(_) => {
            EventTypes { patterns: vec![EventPattern::new(&event_type(written))], listed: false }
        }
        Value::Array(_) => EventTypes { patterns: listed_types(written), listed: true },
        _ => {
            written.wrong_type("a string or an array of strings");
            EventTypes::unread()
        }
    }
}

fn event_type(written: &LocatedValue<'_>) -> String {
    let text = written.text();
    if text.len() > MAX_EVENT_TYPE_BYTES {
        let expected = format!("at most {MAX_EVENT_TYPE_BYTES} bytes");
        written.note(codes::INVALID_VALUE, expected, text.len().to_string());
    }
    text
}

fn listed_types(written: &LocatedValue<'_>) -> Vec<EventPattern> {
    let mut patterns: Vec<EventPattern> = Vec::new();
    for item in written.items() {
        let text = event_type(&item);
        let pattern = EventPattern::new(&text);
        if !text.is_empty() && patterns.contains(&pattern) {
            item.note(codes::DUPLICATE_ITEM, "each type once", format!("{} again", quoted(&text)));
        }
        patterns.push(pattern);
    }
    patterns
}
