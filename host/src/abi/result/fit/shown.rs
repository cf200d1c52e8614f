//! An item with texts that stand for its values, by which its constant text is held to a graph spec.

use serde::de::DeserializeOwned;

use super::super::form::{IdUnit, ItemOutline, ItemPart, RecordPlace, open};
use super::item::{FitValue, ValuePlace};
use crate::abi::slot::SlotKind;
use crate::graph::extraction::Property;
use crate::graph::spec::PropertySpec;
use crate::graph::validate::value;

/// An item in which a text stands for each value.
pub(super) struct ShownItem<T> {
    pub(super) item: T,
    /// Where values are that are written as JSON, with the first kind of those that are written.
    places: Vec<(RecordPlace, u32)>,
}

impl<T: DeserializeOwned> ShownItem<T> {
    /// None where the two can't be told apart, or it isn't such an item.
    pub(super) fn of(outline: &ItemOutline) -> Option<Self> {
        let mut shown = Shown::default();
        shown.push(&outline.parts)?;
        let Shown { text, places } = shown;
        let item = serde_json::from_str(text.strip_prefix(',')?).ok()?;
        Some(Self { item, places })
    }
}

impl<T> ShownItem<T> {
    /// What has to hold of a value for it to be of its property, where that isn't constant; none where a constant one isn't known to be.
    pub(super) fn value(
        &self,
        given: &Property,
        property: &PropertySpec,
        is_key: bool,
    ) -> Option<Option<FitValue>> {
        let property_type = &property.property_type;
        let is_shown = |place: RecordPlace| given.value.as_str() == Some(&shown(place));
        let own = self.places.iter().filter(|(place, _)| is_shown(*place));
        // Where it is written in several ways, the least that is left out.
        let Some((place, first)) = own.min_by_key(|(_, first)| *first) else {
            let json = given.value.to_string();
            let fits = value::is_known_to_fit(property_type, json.as_bytes());
            return (fits && !(is_key && json == EMPTY_TEXT)).then_some(None);
        };
        Some(Some(FitValue {
            place: ValuePlace::of(*place)?,
            property_type: property_type.clone(),
            first: *first,
            is_key,
        }))
    }
}

/// No key has it.
pub(super) const EMPTY_TEXT: &str = "\"\"";

/// What stands for the value at a place: a text of its own.
fn shown(place: RecordPlace) -> String {
    format!("{MARK}{}{}{MARK}", if place.in_row { ROW } else { "" }, place.at)
}

/// What texts that stand for values begin and end with, and no constant text of an item whose fit is known has.
pub(super) const MARK: char = '\u{f8ff}';

/// What is before the place of a value of a row.
const ROW: &str = "row ";

/// What an id is put together from in which texts stand for values.
pub(super) fn units(id: &str) -> Option<Vec<IdUnit>> {
    let mut units = Vec::new();
    // Every other one is what is between two marks.
    for (number, text) in id.split(MARK).enumerate() {
        if number % 2 == 0 {
            units.extend(text.bytes().map(IdUnit::Byte));
        } else {
            let at = text.strip_prefix(ROW);
            let place = RecordPlace { in_row: at.is_some(), at: at.unwrap_or(text).parse().ok()? };
            units.push(IdUnit::Text(place));
        }
    }
    Some(units)
}

#[derive(Default)]
struct Shown {
    text: String,
    places: Vec<(RecordPlace, u32)>,
}

impl Shown {
    fn push(&mut self, parts: &[ItemPart]) -> Option<()> {
        for part in parts {
            match part {
                ItemPart::Constant(constant) => self.constant(constant)?,
                ItemPart::Text(place) => self.text.push_str(&shown(*place)),
                ItemPart::Json(place) => self.json(*place, SlotKind::Absent),
                ItemPart::Optional { before, value, keeps_null, after } => {
                    self.constant(before)?;
                    self.json(*value, if *keeps_null { SlotKind::Null } else { SlotKind::Boolean });
                    self.constant(after)?;
                }
                ItemPart::List(inside) => {
                    let first = self.text.len();
                    // Lists hold no lists.
                    self.push(inside)?;
                    open(&mut self.text, first);
                }
            }
        }
        Some(())
    }

    fn constant(&mut self, text: &str) -> Option<()> {
        // Nothing that stands for a value is found elsewhere.
        (!text.contains(MARK) && !text.contains("\\u")).then(|| self.text.push_str(text))
    }

    fn json(&mut self, place: RecordPlace, first: SlotKind) {
        self.places.push((place, first as u32));
        self.text.extend(["\"", &shown(place), "\""]);
    }
}
