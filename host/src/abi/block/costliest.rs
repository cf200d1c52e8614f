//! What the fuel of an event went to.

use std::cmp::Reverse;
use std::fmt;

/// The parts of a declaration that took most of an event's fuel, the costliest one first. Its `Display` is a clause for a message;
/// empty where nothing took any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costliest {
    parts: Vec<CostlyPart>,
}

/// A part of a declaration, and what it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostlyPart {
    /// Which one it is.
    pub part: FuelUse,
    /// Where it is written: `inputs[3]` of the section, or a JSON Pointer (RFC 6901) into the plan.
    pub place: String,
    /// The paths that it reads and its conversions, fit to be shown.
    pub reads: String,
    /// The fuel that it took, over all rows; of the part that there wasn't enough for, with the step that ended it.
    pub fuel: u64,
}

/// Which part of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FuelUse {
    /// An input, by its place.
    Input(usize),
    /// The rows of an iteration, by its place, without their values.
    Rows(usize),
}

impl Costliest {
    /// How many parts are named.
    pub const MOST: usize = 3;

    /// Out of all parts with what they took; `reads` describes one.
    pub(super) fn of(
        all: impl Iterator<Item = (FuelUse, u64)>,
        reads: impl Fn(FuelUse) -> String,
    ) -> Self {
        let mut all: Vec<_> = all.filter(|(_, fuel)| *fuel > 0).collect();
        all.sort_by_key(|(_, fuel)| Reverse(*fuel));
        let part = |(part, fuel)| CostlyPart {
            part,
            place: match part {
                FuelUse::Input(index) => format!("inputs[{index}]"),
                FuelUse::Rows(index) => format!("rows[{index}]"),
            },
            reads: reads(part),
            fuel,
        };
        Self { parts: all.into_iter().take(Self::MOST).map(part).collect() }
    }

    /// The parts, the costliest one first; at most [`MOST`](Self::MOST).
    #[must_use]
    pub fn parts(&self) -> &[CostlyPart] {
        &self.parts
    }

    /// The same, with the places that somebody knows who knows what the declaration was made of.
    #[must_use]
    pub(crate) fn placed(mut self, place: impl Fn(FuelUse) -> Option<String>) -> Self {
        for part in &mut self.parts {
            if let Some(place) = place(part.part) {
                part.place = place;
            }
        }
        self
    }
}

impl fmt::Display for Costliest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, CostlyPart { place, reads, fuel, .. }) in self.parts.iter().enumerate() {
            f.write_str(if index == 0 { "; most of it went to " } else { ", " })?;
            write!(f, "{place} ({reads}): {fuel}")?;
        }
        Ok(())
    }
}
