//! What values, conditions and conversions cost.
//!
//! Fuel is a count, not a clock: the same values cost the same on every machine. A unit stands for about a nanosecond on a
//! machine of today, as a unit of a guest's does: the bench `fuel` measures it, docs/limits.md has its table. Texts that are
//! made to be slow take up to three times that, and what the host looks at the clock for ends them.

use thiserror::Error;

/// The price of one thing that is done with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// What is done: the name of a conversion, `value` for a value that is read or `test` for a test of a condition.
    pub what: &'static str,
    /// Units each time.
    pub step: u64,
    /// Units for each byte of the text that it is done with.
    pub byte: u64,
}

/// A value that is read, a constant that is used, a piece of a template; by the bytes of its JSON.
pub const VALUE: Cost = Cost::new("value", 100, 4);
/// A test of a condition, by the bytes that it reads: a number for `truthy`, `equals` and `one_of`, an array or object for
/// `truthy`, and the strings that a string is compared with. Other tests read none.
pub const TEST: Cost = Cost::new("test", 100, 2);

/// A part of an expression that is evaluated, and each element that it goes over; by the bytes that it reads or makes.
pub const STEP: Cost = Cost::new("expression", 40, 1);
/// Each member of an object and element of a list that an expression looks at to find another one, on top of that.
pub const LOOK: Cost = Cost::new("look", 4, 0);
/// A function of an expression that reads or makes text, on top of that.
pub const TEXT: Cost = Cost::new("text", 100, 4);
/// `sha256` in an expression.
pub const SHA256: Cost = Cost::new("sha256", 200, 4);

/// All costs, in the order of the documentation. What is converted counts by the bytes of its JSON, a string by those of its
/// text. `regex` costs by the byte what the [pattern](super::conversion::Pattern::fuel_per_byte) says, and `parse_json` as
/// much again for each key of its path.
pub const COSTS: &[Cost] = &[
    VALUE,
    TEST,
    Cost::new("to_string", 50, 0),
    Cost::new("to_int64", 100, 1),
    Cost::new("to_double", 100, 1),
    Cost::new("to_boolean", 100, 1),
    Cost::new("to_json_text", 100, 4),
    Cost::new("timestamp", 400, 1),
    Cost::new("date", 400, 1),
    Cost::new("lower", 100, 4),
    Cost::new("upper", 100, 4),
    Cost::new("trim", 50, 1),
    Cost::new("split", 100, 1),
    Cost::new("regex", 200, 0),
    Cost::new("length", 100, 2),
    Cost::new("parse_json", 100, 2),
    STEP,
    LOOK,
    TEXT,
    SHA256,
];

/// The cost of what has this name. Without one nothing is compiled.
pub(super) const fn named(name: &str) -> Cost {
    let mut rest = COSTS;
    while let [cost, behind @ ..] = rest {
        if is_same(cost.what.as_bytes(), name.as_bytes()) {
            return *cost;
        }
        rest = behind;
    }
    panic!("every name has a cost")
}

const fn is_same(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([first, behind @ ..], [wanted, rest @ ..]) = (one, other) {
        if *first != *wanted {
            return false;
        }
        (one, other) = (behind, rest);
    }
    one.is_empty() && other.is_empty()
}

impl Cost {
    const fn new(what: &'static str, step: u64, byte: u64) -> Self {
        Self { what, step, byte }
    }

    /// The price for `bytes` bytes.
    #[must_use]
    pub fn of(&self, bytes: usize) -> u64 {
        self.step.saturating_add(self.byte.saturating_mul(bytes as u64))
    }
}

/// Fuel for every event where nobody says otherwise, whatever its size.
pub const DEFAULT_BASE: u64 = 10_000_000;
/// Fuel on top, for each byte.
pub const DEFAULT_PER_BYTE: u64 = 1_000;

/// The fuel for `bytes` bytes where nobody says otherwise.
pub(crate) fn default_for(bytes: usize) -> u64 {
    allowance(DEFAULT_BASE, DEFAULT_PER_BYTE, bytes)
}

/// The fuel for `bytes` bytes: so much in any case, and so much for each of them.
pub(crate) fn allowance(base: u64, per_byte: u64, bytes: usize) -> u64 {
    base.saturating_add(per_byte.saturating_mul(bytes as u64))
}

/// There is less fuel left than the next step costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the fuel for values and conversions is spent")]
pub struct OutOfFuel {
    /// How much more that step costs.
    pub missing: u64,
}

/// Takes `cost` from what is left of the fuel; where it isn't enough, nothing is left.
pub(crate) fn spend(fuel: &mut u64, cost: u64) -> Result<(), OutOfFuel> {
    match fuel.checked_sub(cost) {
        Some(left) => {
            *fuel = left;
            Ok(())
        }
        None => {
            let missing = cost - std::mem::take(fuel);
            Err(OutOfFuel { missing })
        }
    }
}
