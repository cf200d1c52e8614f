//! The check of results against what serde makes of the same text, and what is left of results that hold an id twice against
//! what a few lines of plain code leave.

use std::collections::HashSet;

use retort::Coded;
use retort::graph::Extraction;
use retort::internal::result::{self, Reducer};
use retort::plan::OnDuplicate;

use super::text::assert_one_line;
use crate::property::result::agrees;

pub(crate) fn target(data: &[u8]) -> bool {
    let verdict = result::check(data);
    if let Err(error) = &verdict {
        assert_one_line(&error.to_string());
        assert_one_line(error.path());
    }
    let Ok(text) = std::str::from_utf8(data) else {
        assert_eq!(verdict.map_err(|error| error.code()), Err("result_not_utf8"));
        return false;
    };
    agrees(text).unwrap_or_else(|error| panic!("{error}"));
    if verdict.is_err() {
        return false;
    }
    let whole: Extraction = serde_json::from_str(text).unwrap();
    let mut reducer = Reducer::default();
    for rule in [OnDuplicate::Last, OnDuplicate::Reject] {
        match (reducer.check(data, rule), reduced(&whole, rule)) {
            (Ok((json, shape, made)), Some(expected)) => {
                assert_eq!(Ok(made), verdict);
                let found: Extraction = serde_json::from_slice(json).unwrap();
                assert_eq!(found, expected);
                assert_eq!(result::check(json), Ok(shape));
            }
            (Err(error), None) => {
                assert_eq!(error.code(), "duplicate_id");
                assert_one_line(&error.to_string());
            }
            (found, expected) => panic!("{found:?}, not {expected:?}"),
        }
    }
    true
}

/// What is left of a result; `None`: it is rejected.
fn reduced(whole: &Extraction, rule: OnDuplicate) -> Option<Extraction> {
    let nodes = last_of_each(&whole.nodes, |node| &node.node_id);
    let edges = last_of_each(&whole.edges, |edge| &edge.edge_id);
    let loses = nodes.len() < whole.nodes.len() || edges.len() < whole.edges.len();
    if loses && rule == OnDuplicate::Reject {
        return None;
    }
    let mut partial = HashSet::new();
    let partially = whole.partially_handled_span_ids.iter().filter(|id| partial.insert(*id));
    let partially_handled_span_ids = partially.cloned().collect();
    let fully = whole.fully_handled_span_ids.iter().filter(|id| partial.insert(*id));
    let fully_handled_span_ids = fully.cloned().collect();
    Some(Extraction { nodes, edges, fully_handled_span_ids, partially_handled_span_ids })
}

fn last_of_each<T: Clone>(list: &[T], id: impl Fn(&T) -> &String) -> Vec<T> {
    let mut seen = HashSet::new();
    let mut kept: Vec<T> = list.iter().rev().filter(|it| seen.insert(id(it))).cloned().collect();
    kept.reverse();
    kept
}
