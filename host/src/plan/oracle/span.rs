//! Which spans are handled.

use std::collections::HashSet;

use super::row::Row;
use crate::plan::model::{Partial, Plan, SpanRule};

/// The claims of an event, each span id once and on one side.
#[derive(Default)]
pub(super) struct Claims {
    pub(super) full: Vec<String>,
    pub(super) partial: Vec<String>,
}

pub(super) fn claims(plan: &Plan, event: &Row<'_>) -> Claims {
    let mut claims = Claims::default();
    let (mut full, mut partial) = (HashSet::new(), HashSet::new());
    for rule in plan.span_rules() {
        for row in event.rows(rule.for_each()) {
            let Some(span_id) = span_id(rule, &row) else { continue };
            let (side, known) = if is_partial(rule, &row) {
                (&mut claims.partial, &mut partial)
            } else {
                (&mut claims.full, &mut full)
            };
            if known.insert(span_id.clone()) {
                side.push(span_id);
            }
        }
    }
    claims.full.retain(|span_id| !partial.contains(span_id));
    claims
}

fn span_id(rule: &SpanRule, row: &Row<'_>) -> Option<String> {
    if !rule.when().is_none_or(|condition| row.holds(condition)) {
        return None;
    }
    row.find(rule.span_id()).filter(|value| value.is_truthy())?.scalar()
}

fn is_partial(rule: &SpanRule, row: &Row<'_>) -> bool {
    match rule.partial() {
        None => false,
        Some(Partial::Truthy(reference)) => row.find(reference).is_some_and(|it| it.is_truthy()),
        Some(Partial::When(condition)) => row.holds(condition),
    }
}
