//! The extractions as a person would write them who wants them fast, over types that derive `Deserialize` and name just what is wanted:
//! strings are borrowed, and what is only handed on stays JSON text.

mod graph;
mod key;
mod lenient;
mod shop_orders;

use serde::Deserialize;
use serde_json::value::RawValue;

use self::graph::{Graph, Scalar};
use super::time as by_hand;

/// Orders with their lines and parcels.
#[must_use]
pub fn shop_orders(event: &[u8], out: &mut Vec<u8>) -> bool {
    extract(event, out, shop_orders::fill)
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
    out.clear();
    serde_json::to_writer(out, &graph).is_ok()
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

/// A number, as such or in a string.
fn double(value: Option<&RawValue>) -> Option<Scalar<'static>> {
    let json = value?.get();
    let digits = json.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(json);
    digits.parse().ok().filter(|it: &f64| it.is_finite()).map(Scalar::Double)
}

/// A time, as a number since 1970 or written out.
fn time(value: Option<&RawValue>) -> Option<Scalar<'static>> {
    let json = value?.get();
    let time = match json.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
        Some(written) => by_hand::written(written),
        None => by_hand::since_epoch(json.parse().ok()?),
    };
    time.map(Scalar::Time)
}
