//! Which events.

use serde_json::Value;

use super::super::error::{Place, PlanParseErrorCode as Code};
use super::super::model::{EventPattern, EventTypes};
use super::reader::{MAX_ENTRIES, Reader};
use crate::diagnostics::untrusted::quoted;
use crate::plan::MAX_EVENT_TYPE_BYTES;

impl Reader {
    pub(super) fn event_types(&mut self, at: &Place, value: &Value) -> EventTypes {
        match value {
            Value::String(_) => EventTypes {
                patterns: vec![EventPattern::new(&self.event_type(at, value))],
                listed: false,
            },
            Value::Array(_) => EventTypes { patterns: self.listed_types(at, value), listed: true },
            _ => {
                self.wrong_type(at, "a string or an array of strings", value);
                EventTypes::unread()
            }
        }
    }

    fn event_type(&mut self, at: &Place, value: &Value) -> String {
        let text = self.text(at, value);
        if text.len() > MAX_EVENT_TYPE_BYTES {
            let found = text.len();
            let message = format!("expected at most {MAX_EVENT_TYPE_BYTES} bytes, found {found}");
            self.note(Code::InvalidValue, at, message);
        }
        text
    }

    fn listed_types(&mut self, at: &Place, value: &Value) -> Vec<EventPattern> {
        let mut patterns: Vec<EventPattern> = Vec::new();
        let items = self.items(at, value, "an array of strings", (1, MAX_ENTRIES));
        for (index, item) in items.iter().enumerate() {
            let here = at.item(index);
            let text = self.event_type(&here, item);
            let pattern = EventPattern::new(&text);
            if !text.is_empty() && patterns.contains(&pattern) {
                let message = format!("expected each type once, found {} again", quoted(&text));
                self.note(Code::DuplicateItem, &here, message);
            }
            patterns.push(pattern);
        }
        patterns
    }
}
