//! What the plan parser says, as findings with patches.

use serde_json::Value;

use super::context::{Context, Parts};
use super::fields::Fields;
use super::{duplicates, values};
use crate::finding::{Finding, patch};
use crate::plan::{PlanParseError, PlanParseErrorCode as Code};
use crate::problem::{Coded, Stage};
use crate::task::Task;
use crate::untrusted::bounded;

/// How many problems become findings.
const MAX_FINDINGS: usize = 100;

/// What is expected in place of a field that may not just be dropped.
const SAYS_MORE: &str = "a field that plans have: what this one says can't be said in a plan, and is lost where it is dropped";

/// How much of an unknown field's name a pointer repeats, in characters.
const MAX_POINTER: usize = 300;

/// What can be done about a plan without asking: a patch and whether it is certain.
pub(super) type Remedy = Option<(json_patch::Patch, bool)>;

/// The parser's problems as findings, each with what would mend it, where that follows from the plan and the task.
///
/// `value` is what was to be a plan, `problems` are those that [`problems_of_value`](crate::plan::problems_of_value) found
/// in it. A field that is missing because it is there under another name has one finding, that of the other name. Where
/// several fields are missing none is certain. There are at most a hundred: problems beyond that have no finding and are
/// not counted anywhere here.
#[must_use]
pub fn plan_findings(value: &Value, problems: &[PlanParseError], task: &Task) -> Vec<Finding> {
    if let Some(finding) = wrapped(value, problems) {
        return vec![finding];
    }
    let parts = Parts::new(value, task);
    let context = Context::new(&parts);
    let fields = Fields::new(value, problems);
    let is_absent = |problem: &PlanParseError| {
        problem.code == Code::MissingRequiredField
            && !fields.is_renamed_to(&pointer(value, &problem.path))
    };
    // To complete a plan that lacks more than one field would be to write it.
    let lacks_much = problems.iter().filter(|problem| is_absent(problem)).count() > 1;
    let mut findings = Vec::new();
    for problem in problems {
        if findings.len() == MAX_FINDINGS {
            break;
        }
        let at = pointer(value, &problem.path);
        let remedy = match problem.code {
            Code::UnknownField => fields.unknown(&at),
            Code::MissingRequiredField if fields.is_renamed_to(&at) => continue,
            Code::MissingRequiredField => values::missing(&context, &at)
                .map(|(patch, certain)| (patch, certain && !lacks_much)),
            Code::WrongType | Code::EmptyString | Code::EmptyPath => values::misfit(&context, &at),
            Code::InvalidIdentifier => values::invalid_name(&context, &at),
            Code::InvalidValue => values::invalid_nulls(&context, &at),
            Code::DuplicatePropertyName => duplicates::duplicate(&context, &at),
            _ => None,
        };
        let mut finding = described(problem, &at);
        if problem.code == Code::UnknownField && matches!(remedy, Some((_, false))) {
            SAYS_MORE.clone_into(&mut finding.expected);
        }
        findings.push(match remedy {
            Some((patch, true)) => finding.mended_by(patch),
            Some((patch, false)) => finding.perhaps(patch),
            None => finding,
        });
    }
    findings
}

/// A plan inside of something else: the only item of an array, or the only field of an object.
fn wrapped(value: &Value, problems: &[PlanParseError]) -> Option<Finding> {
    let inner = match value {
        Value::Array(items) => match items.as_slice() {
            [only] => only,
            _ => return None,
        },
        Value::Object(fields) if fields.len() == 1 => fields.values().next()?,
        _ => return None,
    };
    let is_plan = inner.get("key_field").is_some() && inner.get("event_type").is_some();
    let problem = problems.first().filter(|_| is_plan)?;
    Some(described(problem, "").mended_by(patch::replace("", inner)))
}

fn described(problem: &PlanParseError, at: &str) -> Finding {
    let message = problem.message.as_str();
    let (expected, observed) = match message.split_once(", found ") {
        Some((expected, observed)) => {
            (expected.strip_prefix("expected ").unwrap_or(expected), observed)
        }
        None => match message.strip_prefix("found ") {
            Some(observed) => ("a field that plans have", observed),
            None => (message.strip_prefix("expected ").unwrap_or(message), "something else"),
        },
    };
    let observed = if problem.code == Code::EmptyString { "an empty one" } else { observed };
    Finding::new(Stage::Plan, problem.code(), bounded_pointer(at), expected, observed)
}

/// A pointer to show: one that names an unknown field holds whatever the field is called.
fn bounded_pointer(at: &str) -> String {
    if at.chars().all(|c| c.is_ascii_graphic()) && at.len() <= MAX_POINTER {
        return at.to_owned();
    }
    bounded(at, MAX_POINTER)
}

/// A problem's path as a JSON Pointer. All names in it are those of plans but the last, which may hold anything.
pub(super) fn pointer(value: &Value, path: &str) -> String {
    let (mut place, mut at, mut rest) = (Some(value), String::new(), path);
    while !rest.is_empty() {
        let is_index = rest.starts_with('[');
        let fields = place.and_then(Value::as_object);
        let whole = fields.is_some_and(|fields| fields.contains_key(rest));
        let end = match rest.find(if is_index { ']' } else { '.' }) {
            Some(end) if is_index => end + 1,
            Some(end) if !whole => rest.get(..end).and_then(|it| it.find('[')).unwrap_or(end),
            None if !whole => rest.find('[').filter(|at| *at > 0).unwrap_or(rest.len()),
            _ => rest.len(),
        };
        let (name, behind) = rest.split_at(end);
        let name = if is_index { name.trim_matches(['[', ']']) } else { name };
        place = match (place, name.parse::<usize>()) {
            (Some(Value::Array(items)), Ok(index)) => items.get(index),
            (Some(Value::Object(fields)), _) => fields.get(name),
            _ => None,
        };
        at = patch::below(&at, name);
        rest = behind.strip_prefix('.').unwrap_or(behind);
    }
    at
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::pointer;

    #[test]
    fn paths_of_problems_become_pointers() {
        let plan =
            json!({"a.b[0]/~": 1, "property_fields": [{"x[1].y": 2, "source_path": ["a", ""]}]});
        for (path, expected) in [
            ("", ""),
            ("a.b[0]/~", "/a.b[0]~1~0"),
            ("property_fields[0].x[1].y", "/property_fields/0/x[1].y"),
            ("property_fields[0].source_path[1]", "/property_fields/0/source_path/1"),
            ("property_fields[0].property_name", "/property_fields/0/property_name"),
            ("key_field.property_name", "/key_field/property_name"),
            ("session_id_path[0]", "/session_id_path/0"),
        ] {
            assert_eq!(pointer(&plan, path), expected, "{path}");
        }
    }
}
