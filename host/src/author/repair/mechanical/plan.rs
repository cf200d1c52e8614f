//! What the plan parser says, as findings with patches.

use serde_json::Value;

use super::context::{Context, Parts};
use super::fields::Fields;
use super::{conflicts, conversions, duplicates, edges, levels, values};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::{Coded, Stage};
use crate::diagnostics::untrusted::bounded;
use crate::evidence::Task;
use crate::evidence::effort::Cancel;
use crate::evidence::effort::Efforts;
use crate::plan::{PlanParseError, PlanParseErrorCode as Code};

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
    plan_findings_within(value, problems, task, &Efforts::new(&Cancel::default()))
}

/// The same, within these efforts: without any, a problem has no patch that takes a search.
pub(crate) fn plan_findings_within(
    value: &Value,
    problems: &[PlanParseError],
    task: &Task,
    efforts: &Efforts,
) -> Vec<Finding> {
    if let Some(finding) = wrapped(value, problems).or_else(|| lengthened(value, problems)) {
        return vec![finding];
    }
    let parts = Parts::new(value, task, efforts);
    let context = Context::new(&parts);
    let fields = Fields::new(value, problems, &efforts.searches);
    let is_absent = |problem: &PlanParseError| {
        problem.code == Code::MissingRequiredField && !fields.is_renamed_to(&problem.pointer)
    };
    // To complete a plan that lacks more than one field would be to write it.
    let lacks_much = problems.iter().filter(|problem| is_absent(problem)).count() > 1;
    let mut findings = Vec::new();
    for problem in problems {
        if findings.len() == MAX_FINDINGS {
            break;
        }
        let at = problem.pointer.as_str();
        if problem.code == Code::MissingRequiredField && fields.is_renamed_to(at) {
            continue;
        }
        let remedy = match problem.code {
            Code::UnknownField => match values::step_around(at) {
                Some(step) => conversions::step(&context, step),
                None => fields.unknown(at),
            },
            Code::MissingRequiredField => values::missing(&context, at)
                .map(|(patch, certain)| (patch, certain && !lacks_much)),
            code => remedy(&context, code, at),
        };
        let mut finding = described(problem, at);
        if problem.code == Code::UnknownField && matches!(remedy, Some((_, false))) {
            SAYS_MORE.clone_into(&mut finding.expected);
        }
        findings.push(match remedy {
            Some((patch, true)) => finding.with_fix(patch),
            Some((patch, false)) => finding.with_suggestion(patch),
            None => finding,
        });
    }
    findings
}

fn remedy(context: &Context<'_, '_>, code: Code, at: &str) -> Remedy {
    match code {
        Code::WrongType | Code::EmptyString | Code::EmptyPath | Code::TooFewItems => {
            values::misfit(context, at)
        }
        Code::InvalidIdentifier => values::invalid_name(context, at),
        Code::InvalidValue => values::invalid_word(context, at),
        Code::DuplicatePropertyName => duplicates::duplicate(context, at),
        Code::DuplicateItem => Some((patch::remove(at), true)),
        Code::ConflictingFields => conflicts::conflicting(context, at),
        Code::UnusedField => conflicts::unused(context, at),
        Code::InvalidTemplate => values::invalid_template(context, at),
        Code::OutsideForEach => {
            edges::wrong_end(context, at).or_else(|| levels::outside(context, at))
        }
        Code::ForEachMismatch => edges::wrong_end(context, at),
        Code::UnknownNode => edges::end_meant(context, at),
        Code::InvalidPattern => {
            values::step_around(at).and_then(|step| conversions::step(context, step))
        }
        Code::UnknownField
        | Code::MissingRequiredField
        | Code::InvalidJson
        | Code::WrongRootType
        | Code::TooManyItems
        | Code::PatternTooLarge
        | Code::TooDeep
        | Code::DuplicateNodeName => None,
    }
}

/// Fields of the short form beside some that only nodes have: the node that they stand for, in a list.
fn lengthened(value: &Value, problems: &[PlanParseError]) -> Option<Finding> {
    let fields = value.as_object().filter(|fields| !fields.contains_key("nodes"))?;
    let only_nodes_have = |name: &str| match name {
        "for_each" => true,
        "key_fields" => {
            fields.get(name).and_then(Value::as_array).is_some_and(|keys| keys.len() > 1)
        }
        _ => false,
    };
    let (at, name) = ["for_each", "key_fields"]
        .into_iter()
        .find(|name| fields.contains_key(*name) && only_nodes_have(name))
        .map(|name| (format!("/{name}"), name))?;
    let problem = problems.iter().find(|problem| problem.pointer == at)?;
    let entity = fields.get("target_entity_name").or_else(|| fields.get("entity_name"))?;
    let node = conflicts::long_form(fields, entity)?;
    let moved = [
        "target_entity_name",
        "entity_name",
        "key_field",
        "key_fields",
        "property_fields",
        "for_each",
        "name",
    ];
    let gone = moved.into_iter().filter(|field| fields.contains_key(*field));
    let gone = gone.map(|field| patch::remove(&format!("/{field}"))).reduce(patch::both)?;
    let mut finding = described(problem, &at);
    finding.expected = format!("a node in a list `nodes` to have `{name}`");
    Some(finding.with_fix(patch::both(gone, patch::add("/nodes", [node]))))
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
    let says = |name: &str| inner.get(name).is_some();
    let is_plan = says("event_type") && (says("key_field") || says("nodes"));
    let problem = problems.first().filter(|_| is_plan)?;
    Some(described(problem, "").with_fix(patch::replace("", inner)))
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
    Finding::new(Stage::Plan, problem.entry(), bounded_pointer(at), expected, observed)
}

/// A pointer to show: one that names an unknown field holds whatever the field is called.
fn bounded_pointer(at: &str) -> String {
    if at.chars().all(|c| c.is_ascii_graphic()) && at.len() <= MAX_POINTER {
        return at.to_owned();
    }
    bounded(at, MAX_POINTER)
}
