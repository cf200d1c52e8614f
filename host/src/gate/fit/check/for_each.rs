//! What each `for_each` goes over has to be there, and be an array or an object.

use serde_json::Value;

use super::describe::{described, shown};
use super::expression;
use crate::diagnostics::codes::{FOR_EACH_NOT_ARRAY, FOR_EACH_NOT_OBJECT, UNKNOWN_PATH};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::evidence::similarity::ranking::Likely;
use crate::evidence::{Path, PathIndex, Seen};
use crate::gate::fit::scope::Scopes;
use crate::gate::fit::smallest;
use crate::gate::fit::suggest::{
    Meant, NearestPath, collections, nearest_collection, reads_elements, relocate,
};
use crate::json::JsonKind;
use crate::plan::expr::{FIRST_OF, Over, Query, Reference};
use crate::plan::{Plan, Read, Role};

/// How many arrays a message names.
const MAX_LISTED: usize = 6;

/// Everything that the plan goes over has to be there in some event, and be an array or an object.
pub(in crate::gate::fit) fn check(plan: &Plan, scopes: &Scopes<'_>) -> Vec<Finding> {
    check_reads(&plan.reads(), plan.expressions(), scopes)
}

/// The same of whatever reads this.
pub(in crate::gate::fit) fn check_reads(
    reads: &[Read<'_>],
    mut expressions: Vec<(String, &Query)>,
    scopes: &Scopes<'_>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for read in reads.iter().filter(|read| read.role == Role::ForEach) {
        if read.is_gone_over() {
            findings.extend(match alternatives(read, reads) {
                Some(all) => alternative(read, &all, scopes),
                None => iteration(read, reads, scopes),
            });
        } else if let Some(at) = expressions.iter().position(|(at, _)| *at == read.pointer) {
            // An expression is looked at as a whole, where the first of its paths is.
            let (_, query) = expressions.swap_remove(at);
            let unknown = expression::keys(&read.pointer, query, None, read.for_each, scopes);
            let is_known = unknown.is_empty();
            findings.extend(unknown);
            findings.extend(is_known.then(|| no_array(read, query, scopes)).flatten());
        }
    }
    findings
}

/// An expression that gives something else than an array wherever it is evaluated.
fn no_array(read: &Read<'_>, query: &Query, scopes: &Scopes<'_>) -> Option<Finding> {
    let results = scopes.relevant(read.for_each, &[])?.evaluated(query);
    if results.iter().any(|(_, result)| result.as_ref().is_some_and(Value::is_array)) {
        return None;
    }
    let is_something = |(_, result): &&(&Seen, Option<Value>)| *result != Some(Value::Null);
    let telling = results.iter().find(is_something);
    let observed = match telling {
        Some((_, Some(value))) => described(value),
        Some((_, None)) => "an expression that fails".to_owned(),
        None => "null".to_owned(),
    };
    // Without what it reads, which may well be optional, an expression gives null or fails, right as it may be.
    let is_seen = |reference: &Reference| {
        let known = scopes.at(read.for_each, reference.level);
        known.is_some_and(|it| it.values(&reference.path).any(|(_, value)| !value.is_null()))
    };
    let gives_something = telling.is_some_and(|(_, result)| result.is_some());
    if !gives_something && !query.references().all(is_seen) {
        return None;
    }
    let (first, _) = telling.or(results.first())?;
    let count = results.len();
    let mut finding = Finding::new(
        Stage::Fit,
        FOR_EACH_NOT_ARRAY,
        &read.pointer,
        "an expression that gives an array to go over",
        format!("{observed}, and an array in none of {count} samples"),
    );
    finding.event = smallest([*first].into_iter());
    Some(finding)
}

/// All paths of which the first counts at which there is an array, where this is one of them.
fn alternatives<'r, 'p>(read: &Read<'_>, reads: &'r [Read<'p>]) -> Option<Vec<&'r Read<'p>>> {
    let list = |pointer: &'r str| {
        let (list, _) = pointer.rsplit_once('/')?;
        list.ends_with(&format!("/{FIRST_OF}")).then_some(list)
    };
    let (own, _) = read.pointer.rsplit_once('/')?;
    let all: Vec<&Read<'_>> = reads.iter().filter(|it| list(&it.pointer) == Some(own)).collect();
    (!all.is_empty()).then_some(all)
}

/// One of several paths need not be in the samples, as long as another one is, unless it is one of theirs misspelt.
fn alternative(read: &Read<'_>, all: &[&Read<'_>], scopes: &Scopes<'_>) -> Option<Finding> {
    let known = scopes.at(read.for_each, read.reference.level)?;
    let path = &read.reference.path;
    let has_array = |path: &Path| known.kinds(path).contains(JsonKind::Array);
    if has_array(path) {
        return None;
    }
    let misspelt = |path: &Path| {
        let is_unknown = known.values(path).next().is_none() && !known.admits_path(path);
        let nearest =
            || nearest_collection(path, Over::Array, known).filter(NearestPath::is_clear_typo);
        let nearest = is_unknown.then(nearest).flatten()?;
        let is_listed = all.iter().any(|other| other.reference.path == nearest.path.item);
        (!is_listed).then_some(nearest)
    };
    if let Some(nearest) = misspelt(path) {
        // Of several that are like the same list, it is one of them misspelt: one of as many keys if there is any.
        let same = all.iter().map(|other| &other.reference.path);
        let same = same
            .filter(|it| misspelt(it).is_some_and(|other| other.path.item == nearest.path.item));
        let meant = same.min_by_key(|it| it.len() != nearest.path.item.len());
        if meant == Some(path) {
            let finding = unknown_path(read, Over::Array, known);
            return Some(finding.suggesting(Some(nearest.path.replacing(&read.pointer))));
        }
        return None;
    }
    // Where there is an array at none of them, the first one is the place to say so.
    let is_first = all.first().is_some_and(|first| first.pointer == read.pointer);
    let may_be = |it: &&Read<'_>| {
        let path = &it.reference.path;
        has_array(path) || (known.admits_path(path) && known.values(path).next().is_none())
    };
    if !is_first || all.iter().any(may_be) {
        return None;
    }
    match known.values(path).next() {
        Some((_, first)) => Some(not_to_go_over(read, Over::Array, first, known)),
        None => unknown(read, Over::Array, known, scopes),
    }
}

fn iteration(read: &Read<'_>, reads: &[Read<'_>], scopes: &Scopes<'_>) -> Option<Finding> {
    let known = scopes.at(read.for_each, read.reference.level)?;
    let path = &read.reference.path;
    let (at, field) = read.pointer.rsplit_once('/')?;
    let (over, wanted) = match field {
        "array" => (Over::Array, JsonKind::Array),
        _ => (Over::Entries, JsonKind::Object),
    };
    let kinds = known.kinds(path);
    if kinds.contains(wanted) {
        return None;
    }
    let Some((_, first)) = known.values(path).next() else {
        return if known.admits_path(path) { None } else { unknown(read, over, known, scopes) };
    };
    let finding = not_to_go_over(read, over, first, known);
    let other = match over {
        Over::Array => (JsonKind::Object, "entries"),
        Over::Entries => (JsonKind::Array, "array"),
    };
    let inside: Vec<&Path> = collections(over, known).filter(|it| it.starts_with(path)).collect();
    if let [only] = inside.as_slice() {
        return Some(finding.with_fix(patch::replace(&read.pointer, only)));
    }
    if !kinds.contains(other.0) {
        let nearest = nearest_collection(path, over, known).map(|it| it.path.only_if(false));
        return Some(finding.suggesting(nearest.map(|it| it.replacing(&read.pointer))));
    }
    // What is read of the elements tells whether the right thing is gone over in the wrong way.
    let renamed = patch::rename(&read.pointer, &format!("{at}/{}", other.1));
    let certain = over == Over::Entries && reads_elements(read, reads, known);
    Some(finding.suggesting(Some(Likely::new(renamed, certain))))
}

/// What is at a path can't be gone over.
fn not_to_go_over(read: &Read<'_>, over: Over, first: &Value, known: &PathIndex<'_>) -> Finding {
    let path = &read.reference.path;
    let (what, code) = match over {
        Over::Array => ("an array", FOR_EACH_NOT_ARRAY),
        Over::Entries => ("an object", FOR_EACH_NOT_OBJECT),
    };
    let mut finding = Finding::new(
        Stage::Fit,
        code,
        &read.pointer,
        format!("{what} to go over; {}", listed(over, known)),
        format!("{} at {}", described(first), shown(path)),
    );
    finding.event = smallest(known.values(path).map(|(seen, _)| seen));
    finding
}

fn unknown_path(read: &Read<'_>, over: Over, known: &PathIndex<'_>) -> Finding {
    let what = if over == Over::Array { "an array" } else { "an object" };
    Finding::new(
        Stage::Fit,
        UNKNOWN_PATH,
        &read.pointer,
        format!("{what} that {} have; {}", known.of, listed(over, known)),
        format!("{}, which none of {} samples has", shown(&read.reference.path), known.count()),
    )
}

fn unknown(
    read: &Read<'_>,
    over: Over,
    known: &PathIndex<'_>,
    scopes: &Scopes<'_>,
) -> Option<Finding> {
    let path = &read.reference.path;
    let finding = unknown_path(read, over, known);
    let level = read.reference.level;
    if let Some(Meant::Reference(meant) | Meant::InElement(meant)) =
        relocate(&read.reference, read.for_each, scopes)
        && meant.level == level
    {
        return Some(finding.with_fix(patch::replace(&read.pointer, &meant.path)));
    }
    let nearest = nearest_collection(path, over, known);
    let is_typo = nearest.as_ref().is_some_and(NearestPath::is_clear_typo);
    if known.is_thin() && !is_typo && !known.is_blocked(path) {
        return None;
    }
    Some(finding.suggesting(nearest.map(|it| it.path.replacing(&read.pointer))))
}

fn listed(over: Over, known: &PathIndex<'_>) -> String {
    let names: Vec<String> =
        collections(over, known).take(MAX_LISTED).map(|path| shown(path)).collect();
    match names.is_empty() {
        true => "none is known".to_owned(),
        false => format!("there are {}", names.join(", ")),
    }
}
