//! Ids of which it is known what they are put together from.

use super::super::form::{IdUnit, may_be_equal};
use super::super::measure::Block;
use super::item::ValuePlace;
use super::shown;

/// An id: constant text with texts of a block between.
#[derive(Debug)]
pub(super) struct FitId {
    units: Vec<IdUnit>,
    places: Vec<ValuePlace>,
}

impl FitId {
    /// The id in which texts stand for values.
    pub(super) fn new(shown: &str) -> Option<Self> {
        let units = shown::units(shown)?;
        let places = units.iter().filter_map(|unit| match unit {
            IdUnit::Byte(_) => None,
            IdUnit::Text(place) => Some(ValuePlace::of(*place)),
        });
        let places = places.collect::<Option<_>>()?;
        Some(Self { units, places })
    }

    /// Whether the two may be the same in one result.
    pub(super) fn may_equal(&self, other: &Self) -> bool {
        may_be_equal(&self.units, &other.units)
    }

    /// Whether the two are put together from the same values of the event and of a row.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.units == other.units
    }

    /// Whether the two have the same constant text, with as many values in the same places.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let is_alike = |one: &IdUnit, other: &IdUnit| match (one, other) {
            (IdUnit::Text(_), IdUnit::Text(_)) => true,
            _ => one == other,
        };
        self.units.len() == other.units.len()
            && self.units.iter().zip(&other.units).all(|(one, other)| is_alike(one, other))
    }

    /// The texts of a block in it, as they are inside of a string.
    pub(super) fn texts<'b>(
        &self,
        block: Block<'b>,
        row: usize,
    ) -> impl Iterator<Item = Option<&'b [u8]>> {
        let places = self.places.iter();
        places.map(move |place| block.inside(block.record(place.number(row))?))
    }

    /// The texts of constants, before, between and behind those of a block.
    pub(super) fn constants(&self) -> Vec<Vec<u8>> {
        let constants = self.units.split(|unit| matches!(unit, IdUnit::Text(_)));
        let byte = |unit: &IdUnit| match unit {
            IdUnit::Byte(byte) => Some(*byte),
            IdUnit::Text(_) => None,
        };
        constants.map(|units| units.iter().filter_map(byte).collect()).collect()
    }
}

/// Whether a name of a spec is one with which an id is read in one way only, and which is written as it is.
pub(super) fn is_plain(name: &str) -> bool {
    let splits = |char: char| matches!(char, ':' | ',' | '=' | '"' | '\\' | shown::MARK);
    !name.is_empty() && !name.contains(|char: char| char < ' ' || splits(char))
}
