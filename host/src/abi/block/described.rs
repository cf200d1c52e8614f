//! Inputs and rows in words, for errors that say where the fuel went or what failed: nothing of the event.

use crate::abi::event::Projector;
use crate::abi::section::{InputKind, Rows};
use crate::diagnostics::untrusted::escaped;
use crate::plan::expr::{Conversion, Expression, Reference, Source};

/// The paths of an input, fit to be shown, and the names of its conversions.
pub(super) fn input(projector: &Projector, index: usize) -> (String, String) {
    let Some(input) = projector.inputs().get(index) else { return Default::default() };
    let rows = projector.rows();
    let around = input.rows.map(|own| Rows::around(rows, own)).unwrap_or_default();
    let around = around.into_iter().filter_map(|at| rows.get(at));
    let over = |rows: &Rows| format!("{}[]", list(rows));
    let around: Vec<String> = around.map(over).collect();
    let path = |reference: &Reference| {
        let around = around.iter().take(usize::from(reference.level.0)).cloned();
        around.chain([reference.path.join(".")]).collect::<Vec<_>>().join(".")
    };
    let mut paths: Vec<String> = input.references().into_iter().map(path).collect();
    paths.dedup();
    let mut names = Vec::new();
    if let InputKind::Value(value) = &input.what {
        conversions(value, &mut names);
    }
    (escaped(&paths.join(", ")), names.join(", "))
}

/// What the rows of an iteration go over, fit to be shown.
pub(super) fn rows(projector: &Projector, index: usize) -> String {
    escaped(&projector.rows().get(index).map(list).unwrap_or_default())
}

/// What rows go over.
fn list(rows: &Rows) -> String {
    match rows.iteration.query() {
        Some(query) => format!("({})", query.text()),
        None => rows.iteration.path().join("."),
    }
}

/// The names of the conversions of a value, in the order in which they are applied. Values nest as deep as a section lets
/// them.
fn conversions(value: &Expression, names: &mut Vec<&'static str>) {
    match &value.source {
        Source::Coalesce(values) => values.iter().for_each(|value| conversions(value, names)),
        Source::Query(_) => names.push("expression"),
        Source::Path(_) | Source::Constant(_) | Source::Template(_) => {}
    }
    names.extend(value.convert.iter().map(Conversion::name));
}
