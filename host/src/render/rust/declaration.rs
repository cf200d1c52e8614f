//! The declaration as the macro `extractor!` takes it.

use serde_json::{Map, Value as Json};

use super::function::FunctionName;
use super::names::Names;
use super::text::{Lines, json, list, literal};
use crate::abi::section::{Input, InputKind, Rows, Section};
use crate::plan::expr::{ForEach, OnError, Query, Reference};
use crate::plan::{Plan, Read, innermost};

pub(super) fn write(
    out: &mut String,
    plan: &Plan,
    function: &FunctionName,
    section: &Section,
    names: &Names,
) {
    let unseen = Unseen::of(plan);
    let all = object(section);
    let mut lines = Lines::new(out);
    lines.open("extractor! {");
    lines.line(&format!("function: {},", function.declared()));
    match section.event_types() {
        [one] => lines.line(&format!("event_types: [{}],", literal(one))),
        several => {
            lines.open("event_types: [");
            several.iter().for_each(|one| lines.line(&format!("{},", literal(one))));
            lines.close("],");
        }
    }
    for key in ["on_duplicate", "empty", "time_zone"] {
        if let Some(Json::String(value)) = all.get(key) {
            lines.line(&format!("{key}: {},", literal(value)));
        }
    }
    lines.open("inputs: {");
    inputs(&mut lines, section, names, &unseen, None);
    lines.close("},");
    if !section.rows().is_empty() {
        lines.open("rows: {");
        for (index, rows) in section.rows().iter().enumerate() {
            let mut line = format!("{}: {}", names.rows[index], over(section, rows, names));
            if unseen.has_rows(section, index) {
                line.push_str(" unseen");
            }
            lines.open(&format!("{line} {{"));
            inputs(&mut lines, section, names, &unseen, Some(index));
            lines.close("},");
        }
        lines.close("},");
    }
    lines.close("}");
}

/// What a plan says that no sample shows.
struct Unseen<'p>(Vec<Read<'p>>);

impl<'p> Unseen<'p> {
    fn of(plan: &'p Plan) -> Self {
        let mut reads = plan.reads();
        reads.retain(|read| plan.unseen_at(&read.pointer).is_some());
        Self(reads)
    }

    fn has_input(&self, section: &Section, input: &Input) -> bool {
        let around = input.rows.and_then(|rows| Rows::for_each(section.rows(), rows));
        input.references().into_iter().any(|reference| self.has(reference, around.as_ref()))
    }

    fn has_rows(&self, section: &Section, index: usize) -> bool {
        let Some(own) = Rows::for_each(section.rows(), index) else { return false };
        let level = innermost(own.outer());
        let paths = own.innermost().paths().iter().cloned();
        let places = paths.map(|path| Reference { path, level });
        let made_of = own.innermost().query().into_iter().flat_map(Query::references).cloned();
        places.chain(made_of).any(|reference| self.has(&reference, own.outer()))
    }

    fn has(&self, reference: &Reference, around: Option<&ForEach>) -> bool {
        let start = |it: Option<&'_ ForEach>| it.and_then(|it| it.at(reference.level)).cloned();
        self.0.iter().any(|read| {
            let is_same = match (start(read.for_each), start(around)) {
                (Some(one), Some(other)) => one.goes_over_what(&other),
                _ => reference.level.is_event(),
            };
            read.reference == *reference && is_same
        })
    }
}

/// What it is as JSON; the order of members is of no account here.
fn object(of: impl serde::Serialize) -> Map<String, Json> {
    match serde_json::to_value(of) {
        Ok(Json::Object(members)) => members,
        _ => Map::new(),
    }
}

/// It as JSON, in the order in which it is mostly written.
fn text(of: impl serde::Serialize) -> String {
    serde_json::to_string(&of).unwrap_or_default()
}

fn depth(section: &Section, rows: Option<usize>) -> u64 {
    rows.map_or(0, |rows| Rows::around(section.rows(), rows).len() as u64)
}

fn inputs(
    lines: &mut Lines<'_>,
    section: &Section,
    names: &Names,
    unseen: &Unseen<'_>,
    rows: Option<usize>,
) {
    let depth = depth(section, rows);
    for (place, input) in section.inputs().iter().enumerate() {
        if input.rows != rows {
            continue;
        }
        let mut line = format!("{}: {}", names.inputs[place], what(input, depth));
        if let Some(guard) = input.only_if {
            line.push_str(&format!(" if {}", names.inputs[guard]));
        }
        if input.on_error == OnError::Reject {
            line.push_str(" or reject");
        }
        if unseen.has_input(section, input) {
            line.push_str(" unseen");
        }
        line.push(',');
        lines.line(&line);
    }
}

fn what(input: &Input, depth: u64) -> String {
    let alone = Input::of(input.what.clone());
    let members = object(&alone);
    let level = members.get("level").and_then(Json::as_u64).unwrap_or_default();
    let path = members
        .get("path")
        .and_then(Json::as_array)
        .map(|path| list(path.iter().filter_map(Json::as_str)));
    match (&input.what, path) {
        (InputKind::Truthy(_), Some(path)) if level == depth => format!("truthy {path}"),
        (InputKind::When(_), _) => {
            let condition = members.get("when").map(Json::to_string).unwrap_or_default();
            format!("when {}", json(&condition))
        }
        (InputKind::Value(_), Some(path)) => {
            let from = match depth.saturating_sub(level) {
                0 => "",
                _ if level == 0 => "event ",
                1 => "parent ",
                2 => "parent2 ",
                _ => "parent3 ",
            };
            format!("{from}{path}{}", conversions(&members))
        }
        (InputKind::Value(_), None) => match expression(&members, depth) {
            Some(expression) => format!("{expression}{}", conversions(&members)),
            None => format!("json {}", json(&text(&alone))),
        },
        (InputKind::Truthy(_), _) => format!("json {}", json(&text(&alone))),
    }
}

/// An expression whose current value is the innermost element.
fn expression(members: &Map<String, Json>, depth: u64) -> Option<String> {
    let expression = members.get("expression")?;
    let level = expression.get("level").and_then(Json::as_u64).unwrap_or_default();
    let text = expression.get("text").and_then(Json::as_str)?;
    (level == depth).then(|| format!("expression {}", literal(text)))
}

fn conversions(members: &Map<String, Json>) -> String {
    let Some(Json::Array(steps)) = members.get("as") else { return String::new() };
    let steps = steps.iter().map(|step| match step {
        Json::String(name) => literal(name),
        other => json(&other.to_string()),
    });
    format!(" as [{}]", steps.collect::<Vec<_>>().join(", "))
}

/// What an iteration goes over.
fn over(section: &Section, rows: &Rows, names: &Names) -> String {
    let mut alone = Rows { within: None, only_if: None, ..rows.clone() };
    let condition = alone.iteration.condition.take();
    let members = object(&alone);
    let path = |key: &str| {
        let path = members.get(key)?.as_array()?;
        Some(list(path.iter().filter_map(Json::as_str)))
    };
    let mut line = if let Some(path) = path("array") {
        format!("each {path}")
    } else if let Some(path) = path("entries") {
        format!("each entries {path}")
    } else if let Some(expression) = expression(&members, depth(section, rows.within)) {
        format!("each {expression}")
    } else {
        format!("each json {}", json(&text(&alone)))
    };
    if let Some(within) = rows.within {
        line.push_str(&format!(" within {}", names.rows[within]));
    }
    if condition.is_some() {
        let condition = object(rows).remove("where").map(|it| it.to_string()).unwrap_or_default();
        line.push_str(&format!(" where {}", json(&condition)));
    }
    if let Some(guard) = rows.only_if {
        line.push_str(&format!(" if {}", names.inputs[guard]));
    }
    line
}
