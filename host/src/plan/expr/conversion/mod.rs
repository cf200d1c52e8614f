//! Conversions: a closed list, applied by the host.

mod chain;
pub(super) mod data;
mod error;
mod json;
mod kept;
mod number;
mod pattern;
mod pattern_cost;
#[cfg(test)]
mod properties;
mod read;
#[cfg(test)]
mod tests;
mod text;
mod time;
mod zone;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

pub(crate) use chain::{Chain, Converted, MAX_TEXT_BYTES};
pub(crate) use data::{Data, Json, StepOutcome};
pub use error::ConversionError;
pub(in crate::plan::expr) use number::{WORD_DIGITS, is_printed_int64};
pub(crate) use pattern::PatternBudget;
pub use pattern::{Group, Pattern};
pub(in crate::plan::expr) use text::find_from;
pub(crate) use time::{from_nanoseconds, nanoseconds};
pub use zone::Zone;

use super::fuel::{self, Cost};
use crate::graph::spec::PropertyType;

/// One step of a chain of conversions. docs/plan.md says what each takes and gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// The text of a scalar.
    ToString,
    /// An integer of 64 bits.
    ToInt64,
    /// A finite number.
    ToDouble,
    /// A boolean.
    ToBoolean,
    /// JSON as text.
    ToJsonText,
    /// RFC 3339 in UTC. With a zone, times without an offset are read in it.
    Timestamp(Option<Zone>),
    /// A date, of what the same takes.
    Date(Option<Zone>),
    /// Lower case.
    Lower,
    /// Upper case.
    Upper,
    /// Without white space around.
    Trim,
    /// One part of a string.
    Split {
        /// What is between the parts; not empty.
        separator: String,
        /// Which part, from 0; from the end if negative.
        index: i32,
    },
    /// What a group of a pattern matched.
    Regex(Pattern),
    /// How many characters, elements or keys.
    Length,
    /// What is at a path in the JSON that a string holds.
    ParseJson {
        /// The path; empty for all of it.
        path: Vec<String>,
    },
}

/// What each of [`Conversion::NAMES`] costs.
const STEP_COSTS: [fuel::Cost; Conversion::NAMES.len()] = {
    let mut costs = [fuel::VALUE; Conversion::NAMES.len()];
    let mut number = 0;
    while number < costs.len() {
        costs[number] = fuel::named(Conversion::NAMES[number]);
        number += 1;
    }
    costs
};

impl Conversion {
    /// The names of all conversions, in the order of the documentation.
    pub const NAMES: &[&str] = &[
        "to_string",
        "to_int64",
        "to_double",
        "to_boolean",
        "to_json_text",
        "timestamp",
        "date",
        "lower",
        "upper",
        "trim",
        "split",
        "regex",
        "length",
        "parse_json",
    ];

    /// The name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        Self::NAMES[self.number()]
    }

    /// Its place among the names.
    fn number(&self) -> usize {
        match self {
            Self::ToString => 0,
            Self::ToInt64 => 1,
            Self::ToDouble => 2,
            Self::ToBoolean => 3,
            Self::ToJsonText => 4,
            Self::Timestamp(_) => 5,
            Self::Date(_) => 6,
            Self::Lower => 7,
            Self::Upper => 8,
            Self::Trim => 9,
            Self::Split { .. } => 10,
            Self::Regex(_) => 11,
            Self::Length => 12,
            Self::ParseJson { .. } => 13,
        }
    }

    /// The conversion that gives values of a type; `None` where none does.
    #[must_use]
    pub fn to_type(property_type: &PropertyType) -> Option<Self> {
        match property_type {
            PropertyType::String => Some(Self::ToString),
            PropertyType::Int64 => Some(Self::ToInt64),
            PropertyType::Double | PropertyType::Float64 => Some(Self::ToDouble),
            PropertyType::Boolean | PropertyType::Bool => Some(Self::ToBoolean),
            PropertyType::Timestamp => Some(Self::Timestamp(None)),
            PropertyType::Date => Some(Self::Date(None)),
            PropertyType::Bytes | PropertyType::Unsupported(_) => None,
        }
    }

    /// The same where times without an offset are read in this zone.
    #[must_use]
    pub fn in_zone(self, zone: Option<&Zone>) -> Self {
        match self {
            Self::Timestamp(_) => Self::Timestamp(zone.cloned()),
            Self::Date(_) => Self::Date(zone.cloned()),
            other => other,
        }
    }

    /// The type of what it gives; `None` where that may be anything.
    #[must_use]
    pub fn gives(&self) -> Option<PropertyType> {
        match self {
            Self::ToString
            | Self::ToJsonText
            | Self::Lower
            | Self::Upper
            | Self::Trim
            | Self::Split { .. }
            | Self::Regex(_) => Some(PropertyType::String),
            Self::ToInt64 | Self::Length => Some(PropertyType::Int64),
            Self::ToDouble => Some(PropertyType::Double),
            Self::ToBoolean => Some(PropertyType::Boolean),
            Self::Timestamp(_) => Some(PropertyType::Timestamp),
            Self::Date(_) => Some(PropertyType::Date),
            Self::ParseJson { .. } => None,
        }
    }

    /// Whether it takes objects and arrays as well as scalars.
    #[must_use]
    pub fn takes_nested(&self) -> bool {
        matches!(self, Self::ToJsonText | Self::Length)
    }

    /// What it costs. That of `regex` has a part that depends on the pattern.
    #[must_use]
    pub fn cost(&self) -> Cost {
        let mut cost = STEP_COSTS[self.number()];
        match self {
            Self::Regex(pattern) => cost.byte += pattern.fuel_per_byte(),
            // Each key is one more pass over what the one before has led to.
            Self::ParseJson { path } => {
                let passes = 1 + path.len() as u64;
                cost.step *= passes;
                cost.byte *= passes;
            }
            _ => {}
        }
        cost
    }

    /// What it makes of a value.
    pub(crate) fn apply<'t>(&self, data: Data<'t>) -> StepOutcome<'t> {
        chain::apply(self, data)
    }

    /// The step as it is written: its name, or an object with its name and its arguments.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Split { separator, index } => {
                json!({"split": {"separator": separator, "index": index}})
            }
            Self::Regex(pattern) => {
                let mut arguments = json!({"pattern": pattern.text()});
                if let Some(group) = pattern.group() {
                    arguments["group"] = json!(group);
                }
                json!({"regex": arguments})
            }
            Self::ParseJson { path } => json!({"parse_json": path}),
            simple => json!(simple.name()),
        }
    }
}

impl Serialize for Conversion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}
