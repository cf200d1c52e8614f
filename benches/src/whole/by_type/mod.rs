//! The extractions as a person would write them who wants them fast, over types that derive `Deserialize` and name just what is wanted:
//! strings are borrowed, and what is only handed on stays JSON text.

mod cloudtrail;
mod directory_changes;
mod graph;
mod key;
mod kubernetes_audit;
mod lenient;
mod mako_tools;
mod otlp_traces;
mod pull_requests;
mod queue_batches;
mod shop_orders;
mod tool_results;

use serde::Deserialize;
use serde_json::value::RawValue;

use self::graph::{Graph, Scalar};
use super::time as by_hand;

/// Orders with their lines and parcels.
#[must_use]
pub fn shop_orders(event: &[u8], out: &mut Vec<u8>) -> bool {
    extract(event, out, shop_orders::fill)
}

/// Calls of an API.
#[must_use]
pub fn cloudtrail(event: &[u8], out: &mut Vec<u8>) -> bool {
    extract(event, out, cloudtrail::fill)
}

/// What the tools of an agent that decides gave.
#[must_use]
pub fn mako_tools(event: &[u8], out: &mut Vec<u8>) -> bool {
    extract(event, out, mako_tools::fill)
}

/// Pull requests.
#[must_use]
pub fn pull_requests(event: &[u8], out: &mut Vec<u8>) -> bool {
    extract(event, out, pull_requests::fill)
}

/// Spans of services.
#[must_use]
pub fn otlp_traces(event: &[u8], out: &mut Vec<u8>) -> bool {
    extract(event, out, otlp_traces::fill)
}

/// What an agent's tools gave.
#[must_use]
pub fn tool_results(event: &[u8], out: &mut Vec<u8>) -> bool {
    extract(event, out, tool_results::fill)
}

/// Workloads that were written to a cluster.
#[must_use]
pub fn kubernetes_audit(event: &[u8], out: &mut Vec<u8>) -> bool {
    extract(event, out, kubernetes_audit::fill)
}

/// What changed in the directory.
#[must_use]
pub fn directory_changes(event: &[u8], out: &mut Vec<u8>) -> bool {
    extract(event, out, directory_changes::fill)
}

/// Orders out of a queue.
#[must_use]
pub fn queue_batches(event: &[u8], out: &mut Vec<u8>) -> bool {
    queue_batches::extract(event, out)
}

fn extract<'a, E: Deserialize<'a>>(
    event: &'a [u8],
    out: &mut Vec<u8>,
    fill: impl for<'e> Fn(&'e E, &mut Graph<'e>) -> Option<()>,
) -> bool {
    let Ok(event) = serde_json::from_slice::<E>(event) else { return false };
    let mut graph = Graph::default();
    // What isn't there where it has to be ends it: nothing more comes out then.
    let _ = fill(&event, &mut graph);
    write(&graph, out)
}

fn write(graph: &Graph<'_>, out: &mut Vec<u8>) -> bool {
    out.clear();
    serde_json::to_writer(out, graph).is_ok()
}

/// Sorted, each once.
fn sorted<'a>(names: impl Iterator<Item = &'a str>, separator: &str) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names.join(separator)
}

/// An integer, as such or as text.
fn integer(value: Option<&RawValue>) -> Option<i64> {
    written(value?).parse().ok()
}

fn is_truthy(value: Option<&RawValue>) -> bool {
    let Some(value) = value else { return false };
    match value.get() {
        "false" | "\"\"" | "0" => false,
        list if list.starts_with(['{', '[']) => {
            !list.get(1..list.len() - 1).is_none_or(|inner| inner.trim().is_empty())
        }
        number if number.starts_with(['0', '-']) => number.parse::<f64>().is_ok_and(|it| it != 0.0),
        _ => true,
    }
}

/// A value as the event has it.
fn json(value: Option<&RawValue>) -> Option<Scalar<'_>> {
    value.map(Scalar::Json)
}

fn text(value: Option<&str>) -> Option<Scalar<'_>> {
    value.map(Scalar::Text)
}

/// What a scalar says, with or without quotes. Nothing that is read so has escapes.
fn written(value: &RawValue) -> &str {
    let json = value.get();
    json.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(json)
}

/// A number, as such or in a string.
fn double(value: Option<&RawValue>) -> Option<Scalar<'static>> {
    written(value?).parse().ok().filter(|it: &f64| it.is_finite()).map(Scalar::Double)
}

/// A time, as a number since 1970 or written out.
fn time(value: Option<&RawValue>) -> Option<Scalar<'static>> {
    let value = value?;
    let time = if value.get().starts_with('"') {
        by_hand::written(written(value))
    } else {
        by_hand::since_epoch(value.get().parse().ok()?)
    };
    time.map(Scalar::Time)
}
