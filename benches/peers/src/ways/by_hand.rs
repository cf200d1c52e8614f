//! Native code, written for each extraction, over several libraries.

use serde::Serialize;
use simd_json::prelude::ValueAsScalar;
use sonic_rs::{JsonValueTrait, PointerTree};

use super::{Made, Way, each};
use crate::by_hand::{Graph, Json, Table, shop_orders};
use crate::sets::Set;

pub(super) fn ways(set: &Set) -> Vec<Way<'_>> {
    let mut ways = vec![
        Way::new("`serde_json::Value` by hand", each(set.by_value)),
        Way::new("a derived type by hand, serde_json", each(set.by_type))
            .that_may_differ("what isn't of the type that was derived for is refused"),
        Way::new("simd-json's `BorrowedValue` by hand", simd_value(set)),
        Way::new("sonic-rs's `Value` by hand", sonic_value(set)),
    ];
    if let Some(table) = &set.table {
        let lazy = Way::new("sonic-rs's `get_many` by hand", sonic_lazy(table));
        ways.push(lazy.that_may_differ("an empty object on the way to what is wanted is refused"));
    }
    ways
}

/// What is extracted of a tree; `method` reads the JSON that stands in a text.
fn extract<'a, V: Json>(
    set: &'a Set,
    event: &'a V,
    method: impl Fn(&str) -> Option<String>,
) -> Graph<'a, V> {
    match &set.table {
        Some(table) => table.extract(event),
        None => shop_orders(event, method).unwrap_or_default(),
    }
}

fn simd_value(set: &Set) -> Made<'_> {
    let method = |text: &str| {
        let mut text = text.as_bytes().to_vec();
        let value = simd_json::to_borrowed_value(&mut text).ok()?;
        Some(value.member("method")?.as_str()?.to_owned())
    };
    // It parses in place, so it gets a copy of each event; that is part of using it on input that is borrowed.
    let (mut copy, mut buffers) = (Vec::new(), simd_json::Buffers::default());
    each(move |event, out| {
        copy.clear();
        copy.extend_from_slice(event);
        let event = simd_json::to_borrowed_value_with_buffers(&mut copy, &mut buffers);
        event.is_ok_and(|event| serde_json::to_writer(out, &extract(set, &event, method)).is_ok())
    })
}

fn sonic_value(set: &Set) -> Made<'_> {
    let method = |text: &str| {
        let value: sonic_rs::Value = sonic_rs::from_str(text).ok()?;
        Some(value.member("method")?.as_str()?.to_owned())
    };
    each(move |event, out| {
        let Ok(event) = sonic_rs::from_slice::<sonic_rs::Value>(event) else { return false };
        sonic_rs::to_writer(out, &extract(set, &event, method)).is_ok()
    })
}

/// Only what is wanted is read; the rest is skipped until all is found, and what comes then isn't looked at.
fn sonic_lazy(table: &Table) -> Made<'_> {
    let mut tree = PointerTree::new();
    table.paths().for_each(|path| tree.add_path(path));
    each(move |event, out| {
        let Ok(found) = sonic_rs::get_many(event, &tree) else { return false };
        let [event_type, session, span, key, fields @ ..] = found.as_slice() else { return false };
        let text = |value| Option::as_ref(value).and_then(sonic_rs::LazyValue::as_str);
        let fields = fields.iter().map(|value| value.as_ref().filter(|value| !value.is_null()));
        let graph = || {
            let key = key.as_ref()?;
            let key_text = match key.as_str() {
                Some(text) => text,
                None if key.is_number() || key.is_boolean() => key.as_raw_str(),
                None => return None,
            };
            let span = text(span).unwrap_or_default();
            let (event_type, session) = (text(event_type)?, text(session).unwrap_or_default());
            Some(table.fill(event_type, session, span, (key, key_text.into()), fields))
        };
        write(out, &graph().unwrap_or_default())
    })
}

fn write(out: &mut Vec<u8>, graph: &impl Serialize) -> bool {
    sonic_rs::to_writer(out, graph).is_ok()
}
