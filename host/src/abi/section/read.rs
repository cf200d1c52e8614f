//! The section's JSON, read. Strict: unknown keys, repeated and missing keys and values of another type are rejected.

use serde_json::Value;

use super::{ABI_VERSION, Section, SectionError};
use crate::abi::input::{Strict, input, rows, whole_number};
use crate::json::{self, Fault, scan};
use crate::plan::expr::conversion::PatternBudget;
use crate::plan::language::{
    Dialect, LocatedObject, LocatedValue, PlanPlace, ReadContext, section,
};

/// Reads a section, whose values are still to be checked.
pub(super) fn section(bytes: &[u8]) -> Result<Section, SectionError> {
    // The version decides what the other keys mean, so it is looked at before them.
    let value: Value = serde_json::from_slice(bytes).map_err(|error| unreadable(bytes, error))?;
    if let Some(found) = value.get("abi").and_then(Value::as_u64)
        && found != u64::from(ABI_VERSION)
    {
        return Err(SectionError::Version { found });
    }
    let Strict(value) = serde_json::from_slice(bytes)?;
    // All patterns share one budget, or a section of a few kilobytes would take minutes to read.
    let context = ReadContext::new(Dialect::Section, PatternBudget::of_section());
    let document = LocatedValue::root(&value, PlanPlace::default(), &context);
    let section = document.object(&section::SECTION).and_then(|object| declared(&object));
    section.filter(|_| context.noted() == 0).ok_or_else(|| SectionError::wrong_shape(context))
}

/// What begins like another kind of value is no section, also where it nests deeper than can be read.
fn unreadable(bytes: &[u8], error: serde_json::Error) -> SectionError {
    let is_object = bytes.get(scan::space(bytes, 0)) == Some(&b'{');
    match json::whole(bytes) {
        Err(stop) if stop.fault == Fault::Depth && !is_object => {
            SectionError::WrongShape { message: stop.fault.to_string() }
        }
        _ => error.into(),
    }
}

/// What an object declares; `None` where what is wrong was noted.
fn declared(object: &LocatedObject<'_>) -> Option<Section> {
    let texts = |list: LocatedValue<'_>| list.items().map(|item| item.text()).collect();
    object.get("abi").and_then(|it| whole_number(&it))?;
    // Conversions are read by it.
    let time_zone = object.get("time_zone").and_then(|it| it.zone());
    object.context.set_time_zone(time_zone.clone());
    Some(Section {
        abi: ABI_VERSION,
        function: object.get("function")?.text(),
        event_types: object.get("event_types").map(texts)?,
        inputs: object.get("inputs")?.items().map_while(|item| input(&item)).collect(),
        rows: match object.get("rows") {
            None => Vec::new(),
            Some(list) => list.items().map_while(|item| rows(&item)).collect(),
        },
        on_duplicate: object.get("on_duplicate").and_then(|it| it.word()),
        empty: object.get("empty").and_then(|it| it.word()).unwrap_or_default(),
        time_zone,
    })
}
