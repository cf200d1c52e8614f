//! Which alternatives of a `coalesce` an event takes.

use std::collections::BTreeSet;

use super::row::Row;
use super::{OracleError, is_for, read};
use crate::plan::expr::{Condition, Expression, ForEach, Source};
use crate::plan::model::{FieldMapping, Plan};

/// The alternatives of a plan, and those of them that some event takes.
#[derive(Debug, Default)]
pub(crate) struct Alternatives {
    /// Pointers to all that an event can do without: what is the same for every event is there for where nothing else is.
    pub(crate) all: BTreeSet<String>,
    pub(crate) taken: BTreeSet<String>,
}

impl Alternatives {
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut all = BTreeSet::new();
        for (at, mapping, ..) in mappings(plan) {
            collect(&at, mapping.value(), &mut all);
        }
        Self { all, taken: BTreeSet::new() }
    }

    /// Takes down which of them an event takes.
    ///
    /// # Errors
    /// As [`eval`](super::eval), where the event can't be read.
    pub(crate) fn note(&mut self, plan: &Plan, event: &str) -> Result<(), OracleError> {
        let event = Row::event(read(event)?, plan.empty());
        if !is_for(plan, &event) {
            return Ok(());
        }
        for (at, mapping, for_each, when) in mappings(plan) {
            if !matches!(mapping.value().source, Source::Coalesce(_)) {
                continue;
            }
            for row in event.rows(for_each) {
                if when.is_none_or(|condition| row.holds(condition)) {
                    take(&at, mapping.value(), &row, &mut self.taken);
                }
            }
        }
        Ok(())
    }
}

type Placed<'p> = (String, &'p FieldMapping, Option<&'p ForEach>, Option<&'p Condition>);

/// The mappings of all nodes and edges, with their pointers and what decides how often each has a value.
fn mappings(plan: &Plan) -> Vec<Placed<'_>> {
    let mut all: Vec<Placed<'_>> = Vec::new();
    for (index, node) in plan.nodes().iter().enumerate() {
        let (for_each, when) = (node.for_each(), node.when());
        let keys = node.key_fields().iter().enumerate();
        let keys = keys.map(|(key, it)| (plan.key_pointer(index, key), it));
        let others = node.property_fields().iter().enumerate();
        let others = others.map(|(other, it)| (plan.property_pointer(index, other), it));
        all.extend(keys.chain(others).map(|(at, it)| (at, it, for_each, when)));
    }
    for (index, edge) in plan.edges().iter().enumerate() {
        let at = plan.edge_pointer(index);
        let properties = edge.property_fields().iter().enumerate();
        all.extend(properties.map(|(property, it)| {
            (format!("{at}/property_fields/{property}"), it, edge.for_each(), edge.when())
        }));
    }
    all
}

/// No deeper than values nest.
fn collect(at: &str, value: &Expression, all: &mut BTreeSet<String>) {
    let Source::Coalesce(values) = &value.source else { return };
    for (index, value) in values.iter().enumerate() {
        let at = format!("{at}/coalesce/{index}");
        collect(&at, value, all);
        if !matches!(value.source, Source::Constant(_)) {
            all.insert(at);
        }
    }
}

/// No deeper than values nest.
fn take(at: &str, value: &Expression, row: &Row<'_>, taken: &mut BTreeSet<String>) {
    let Source::Coalesce(values) = &value.source else { return };
    let first = values.iter().position(|value| row.has(value));
    if let Some((index, value)) = first.and_then(|index| Some((index, values.get(index)?))) {
        let at = format!("{at}/coalesce/{index}");
        take(&at, value, row, taken);
        taken.insert(at);
    }
}
