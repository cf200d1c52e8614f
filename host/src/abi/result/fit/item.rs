//! What has to hold of the values of an item.

use super::super::form::{FormRows, ItemForm, RecordPlace, Unless};
use super::super::measure::{Block, DENIED, is_left_out};
use super::shown::EMPTY_TEXT;
use crate::graph::spec::PropertyType;
use crate::graph::validate::value;

/// An item of a plan: when it is written, and its values.
#[derive(Debug)]
pub(super) struct FitItem {
    pub(super) rows: Option<FormRows>,
    /// When it isn't written, by values of the event and by those of a row.
    pub(super) unless: [Vec<Unless<usize>>; 2],
    values: Vec<FitValue>,
}

/// A value of a property.
#[derive(Debug)]
pub(super) struct FitValue {
    pub(super) place: ValuePlace,
    pub(super) property_type: PropertyType,
    /// The first kind of a value that is written, where others are left out.
    pub(super) first: u32,
    pub(super) is_key: bool,
}

/// The record of a value, counted from the block's first or from a row's.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValuePlace {
    pub(super) in_row: bool,
    pub(super) record: usize,
}

impl ValuePlace {
    pub(super) fn of(place: RecordPlace) -> Option<Self> {
        Some(Self { in_row: place.in_row, record: place.record()? })
    }

    /// The number of the record, for the row that begins with this one.
    pub(super) fn number(self, row: usize) -> usize {
        self.record + if self.in_row { row } else { 0 }
    }
}

impl FitItem {
    pub(super) fn new(form: &ItemForm, values: Vec<FitValue>) -> Self {
        let unless = [&form.of_event, &form.of_row].map(|it| it.unless.clone());
        Self { rows: form.rows, unless, values }
    }

    /// Whether `fits` holds for all rows of which it is written, each given by its first record.
    pub(super) fn all(
        &self,
        block: Block<'_>,
        mut fits: impl FnMut(usize) -> Option<bool>,
    ) -> Option<bool> {
        let [of_event, of_row] = &self.unless;
        if is_left_out(of_event, block, 0)? {
            return Some(true);
        }
        let Some(rows) = self.rows else { return fits(0) };
        let head = block.record(rows.head)?;
        let mut row = Block::first_row(head);
        for _ in 0..head.length() {
            if !is_left_out(of_row, block, row)? && !fits(row)? {
                return Some(false);
            }
            row = row.saturating_add(rows.stride);
        }
        Some(true)
    }

    /// Whether it is written, for a row where it has rows.
    pub(super) fn is_written(&self, block: Block<'_>, row: usize) -> Option<bool> {
        let [of_event, of_row] = &self.unless;
        Some(!is_left_out(of_event, block, 0)? && !is_left_out(of_row, block, row)?)
    }

    /// Whether its values are of the types of their properties.
    pub(super) fn fits(&self, block: Block<'_>, row: usize) -> Option<bool> {
        for value in &self.values {
            let found = block.record(value.place.number(row))?;
            let kind = found.kind();
            let is_left_out = value.first > 0 && (kind < value.first || kind >= DENIED);
            if is_left_out && !value.is_key {
                continue;
            }
            let text = block.text(found)?;
            let is_empty = value.is_key && text == EMPTY_TEXT.as_bytes();
            if is_left_out || is_empty || !value::is_known_to_fit(&value.property_type, text) {
                return Some(false);
            }
        }
        Some(true)
    }
}
