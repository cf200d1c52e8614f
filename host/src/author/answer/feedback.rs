//! All that is wrong with an answer, for the model that gave it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};

use crate::diagnostics::fence;
use crate::diagnostics::listing::{MAX_LISTED, push_section};
use crate::diagnostics::untrusted::sanitize;
use crate::plan::PlanParseError;

/// How much of a place, a violation, or a value is repeated, in characters.
const QUOTED_CHARS: usize = 200;

/// How much of a part of the schema is repeated, in characters.
const SCHEMA_CHARS: usize = 400;

/// How much of a line of text is shown on either side of where it goes wrong, in bytes.
const NEAR_BYTES: usize = 40;

static SCHEMA: LazyLock<Value> = LazyLock::new(crate::plan::schema);

static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| {
    jsonschema::draft202012::new(&SCHEMA).expect("the schema is a constant, and a test compiles it")
});

/// Adds the problems after the first one, which has been reported.
pub(super) fn others(problems: &[PlanParseError], text: &mut String) {
    let others = problems.get(1..).unwrap_or_default();
    let entries = others.iter().map(|it| format!("{}: {}", place(&it.path), it.message));
    let heading = format!("Other problems ({})", others.len());
    push_section(text, "", &heading, others.len(), entries);
}

/// Adds the violations of the plan's schema that none of the problems reports, each with the place in the answer and the
/// part of the schema that it concerns. A problem at, above or below a place reports it: alternatives fail as a whole for
/// what is wrong in one of them.
pub(super) fn violations(value: &Value, problems: &[PlanParseError], text: &mut String) {
    let reported: BTreeSet<&str> = problems.iter().map(|it| it.pointer.as_str()).collect();
    let mut violations = Violations::default();
    for error in VALIDATOR.iter_errors(value) {
        violations.collect(&error, &reported);
    }
    let Violations { shown, count } = violations;
    push_section(text, "", &format!("Violations of the schema ({count})"), count, shown);
}

fn is_reported(pointer: &str, reported: &BTreeSet<&str>) -> bool {
    let ends = pointer.match_indices('/').map(|(end, _)| end).chain([pointer.len()]);
    let mut above = ends.filter_map(|end| pointer.get(..end));
    let inside = format!("{pointer}/");
    above.any(|it| reported.contains(it))
        || reported.range(inside.as_str()..).next().is_some_and(|it| it.starts_with(&inside))
}

/// Adds what is around the place where a text stops being JSON.
pub(super) fn surroundings(text: &str, fault: &serde_json::Error, diagnostic: &mut String) {
    let Some(line) = fault.line().checked_sub(1).and_then(|index| text.lines().nth(index)) else {
        return;
    };
    let from = line.floor_char_boundary(fault.column().saturating_sub(NEAR_BYTES));
    let to = line.ceil_char_boundary(fault.column().saturating_add(NEAR_BYTES).min(line.len()));
    let near = line.get(from..to).unwrap_or_default().trim();
    if !near.is_empty() {
        let (near, _) = fence::quoted(near, 6 * NEAR_BYTES);
        diagnostic.push_str(&format!("\n\nThat is near {near}."));
    }
}

/// The first violations, and how many there are.
#[derive(Default)]
struct Violations {
    shown: Vec<String>,
    count: usize,
}

impl Violations {
    /// Adds a violation; a part of the schema that is in an entry already isn't repeated. Of alternatives, the one that the
    /// value is meant for is gone into: the one that takes its type.
    fn collect(&mut self, error: &ValidationError<'_>, reported: &BTreeSet<&str>) {
        if is_reported(error.instance_path().as_str(), reported) {
            return;
        }
        if let ValidationErrorKind::AnyOf { context }
        | ValidationErrorKind::OneOfNotValid { context } = error.kind()
        {
            let is_for_another_type = |other: &ValidationError<'_>| {
                other.instance_path() == error.instance_path()
                    && matches!(other.kind(), ValidationErrorKind::Type { .. })
            };
            let mut meant = context.iter().filter(|errors| !errors.iter().any(is_for_another_type));
            if let (Some(errors), None) = (meant.next(), meant.next()) {
                errors.iter().for_each(|error| self.collect(error, reported));
                return;
            }
        }
        self.count += 1;
        if self.count > MAX_LISTED {
            return;
        }
        let place = place(error.instance_path().as_str());
        let violation = sanitize(&error.masked_with("the value").to_string(), QUOTED_CHARS);
        let part = format!("\n    schema {}", part(error.schema_path().as_str()));
        let is_new = !self.shown.iter().any(|entry| entry.ends_with(&part));
        self.shown.push(format!("{place}: {violation}{}", if is_new { &part } else { "" }));
    }
}

fn place(path: &str) -> String {
    if path.is_empty() { "the plan".to_owned() } else { sanitize(path, QUOTED_CHARS) }
}

/// The part of the schema that a keyword belongs to, in at most a few hundred characters: of an object, the keyword and
/// the names of its fields.
fn part(keyword_path: &str) -> String {
    let (place, keyword) = keyword_path.rsplit_once('/').unwrap_or(("", keyword_path));
    let part = SCHEMA.pointer(place).map_or(Value::Null, |part| match part.get("properties") {
        Some(Value::Object(fields)) => {
            let names: Vec<&String> = fields.keys().collect();
            json!({ keyword: part.get(keyword), "fields": names })
        }
        _ => part.clone(),
    });
    sanitize(&format!("#{place}: {}", fence::compact(&part)), SCHEMA_CHARS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::{is_reported, others, violations};
    use crate::plan::problems_of_value;

    fn reported(value: &Value) -> String {
        let mut text = String::new();
        others(&problems_of_value(value), &mut text);
        violations(value, &problems_of_value(value), &mut text);
        text
    }

    #[test]
    fn only_ten_problems_are_listed() {
        let text = reported(&json!({"property_fields": vec![json!(null); 20]}));
        assert!(text.starts_with("\n\nOther problems ("), "{text}");
        assert!(text.ends_with(" more (truncated)"), "{text}");
        assert_eq!(text.matches("\n  - ").count(), 10);
    }

    #[test]
    fn violations_alone_are_listed_with_the_part_of_the_schema() {
        let mut text = String::new();
        violations(&json!({"property_fields": vec![json!(null); 20]}), &[], &mut text);
        assert!(text.contains("\nViolations of the schema ("), "{text}");
        assert!(text.ends_with(" more (truncated)"), "{text}");
        assert_eq!(text.matches("\n    schema #/$defs/field_mapping").count(), 1, "{text}");
    }

    #[test]
    fn what_is_reported_of_a_place_is_reported_of_what_is_above_and_below_it() {
        let reported = BTreeSet::from(["/nodes/1/when", "/nodes/10"]);
        for (pointer, expected) in [
            ("", true),
            ("/nodes", true),
            ("/nodes/1", true),
            ("/nodes/1/when", true),
            ("/nodes/1/when/all/0", true),
            ("/nodes/10/name", true),
            ("/nodes/1/whenever", false),
            ("/nodes/2", false),
            ("/edges", false),
        ] {
            assert_eq!(is_reported(pointer, &reported), expected, "{pointer}");
        }
    }

    #[test]
    fn a_plan_violates_nothing() {
        let plan = json!({"event_type": "e", "target_entity_name": "E", "function_name": "f",
            "key_field": {"property_name": "p", "source_path": ["a"]}, "span_handling": null});
        let mut text = String::new();
        violations(&plan, &[], &mut text);
        assert_eq!(text, "");
    }
}
