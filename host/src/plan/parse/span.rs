//! Which spans are handled.

use serde_json::Value;

use super::super::error::{Place, PlanParseErrorCode as Code};
use super::super::model::{Partial, SpanRule, SpanRules};
use super::fields::SPAN_FIELDS;
use super::reader::{Fields, MAX_ENTRIES, Reader};
use crate::plan::expr::{Level, Reference};

impl Reader {
    pub(super) fn span_rules(&mut self, at: &Place, value: &Value) -> SpanRules {
        match value {
            Value::Null => SpanRules::default(),
            Value::Array(_) => {
                let wanted = "an array of objects";
                let items = self.items(at, value, wanted, (1, MAX_ENTRIES)).iter().enumerate();
                let rules = items.filter_map(|(index, it)| self.span_rule(&at.item(index), it));
                SpanRules { rules: rules.collect(), listed: true }
            }
            Value::Object(_) => {
                SpanRules { rules: self.span_rule(at, value).into_iter().collect(), listed: false }
            }
            _ => {
                self.wrong_type(at, "an object, an array of objects or null", value);
                SpanRules::default()
            }
        }
    }

    fn span_rule(&mut self, at: &Place, value: &Value) -> Option<SpanRule> {
        let fields = self.object(at, value, SPAN_FIELDS)?;
        self.exclusive(at, fields, &["partial_when_path", "partial_when"]);
        let (for_each, scope) = self.for_each(at, fields);
        let level = self.level(at, fields, scope);
        let path = fields.get("span_id_path");
        let path = path.map(|it| self.element_path(&at.field("span_id_path"), it, fields, level));
        let when = self.condition(at, fields, "when", scope);
        let truthy = fields.get("partial_when_path").filter(|value| !value.is_null());
        let truthy = truthy.map(|value| {
            let level = scope.innermost();
            let path = self.element_path(&at.field("partial_when_path"), value, fields, level);
            Partial::Truthy(Reference { path, level })
        });
        let partial = self.condition(at, fields, "partial_when", scope).map(Partial::When);
        let span_id = path.unwrap_or_else(|| vec!["span_id".to_owned()]);
        Some(SpanRule {
            span_id: Reference { path: span_id, level },
            for_each,
            when,
            partial: truthy.or(partial),
        })
    }

    /// A path that may be empty where it starts at an element.
    fn element_path(
        &mut self,
        at: &Place,
        value: &Value,
        rule: &Fields,
        level: Level,
    ) -> Vec<String> {
        if !rule.contains_key("for_each") {
            return self.path(at, value);
        }
        let path = self.segments(at, value);
        if matches!(value, Value::Array(segments) if segments.is_empty()) && level.is_event() {
            let message =
                "expected at least one segment, found none: a path from the event can't be empty";
            self.note(Code::OutsideForEach, at, message);
        }
        path
    }
}
