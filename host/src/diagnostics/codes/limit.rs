//! The limits that codes are about.

/// What is to be done where what an extractor does with an event is too much.
const DO_LESS: &str =
    "Make the plan do less for an event, with fewer properties, conversions, patterns and elements";

/// What is to be done where the extractor that is made of a plan is too much.
const SMALLER: &str = "Make the plan smaller, with fewer properties, nodes and conditions";

/// What is to be done where the event itself is too much.
const OTHER_EVENTS: &str = "No plan makes events smaller: leave such events out of the samples";

/// The limit that a code says was exceeded: what it is called where it can be set, what it counts, and what else than raising it
/// would help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitEntry {
    /// Where it is set; nowhere, if it is the same everywhere.
    pub part: LimitPart,
    /// Its name there; several that add up.
    pub names: &'static [&'static str],
    /// What is counted.
    pub unit: &'static str,
    /// What a person can do about the plan or the events, without a full stop. Of a limit that can't be set, nothing but the
    /// code's own action.
    pub(crate) instead: &'static str,
}

/// The parts of a tenant's policy that hold limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitPart {
    /// What an extractor may use.
    Limits,
    /// How a module may be built.
    Structure,
    /// None: it can't be set.
    Fixed,
}

impl LimitPart {
    /// The key of the policy, where it is in one.
    #[must_use]
    pub const fn key(self) -> Option<&'static str> {
        match self {
            Self::Limits => Some("limits"),
            Self::Structure => Some("structure"),
            Self::Fixed => None,
        }
    }
}

impl LimitEntry {
    /// What running an extractor on an event may take.
    pub(super) const fn of_run(names: &'static [&'static str], unit: &'static str) -> Self {
        Self { part: LimitPart::Limits, names, unit, instead: DO_LESS }
    }

    /// What an event may be.
    pub(super) const fn of_event(names: &'static [&'static str], unit: &'static str) -> Self {
        Self { part: LimitPart::Limits, names, unit, instead: OTHER_EVENTS }
    }

    /// What making a module ready may take.
    pub(super) const fn of_compiling(names: &'static [&'static str], unit: &'static str) -> Self {
        Self { part: LimitPart::Limits, names, unit, instead: SMALLER }
    }

    /// What a module may be.
    pub(super) const fn of_structure(names: &'static [&'static str], unit: &'static str) -> Self {
        Self { part: LimitPart::Structure, names, unit, instead: SMALLER }
    }

    /// What is the same on every host.
    pub(super) const fn fixed(unit: &'static str) -> Self {
        Self { part: LimitPart::Fixed, names: &[], unit, instead: "" }
    }

    /// What was used of it and what was allowed, and what can be done about it, in whole sentences; `None` of a limit that can't
    /// be set.
    ///
    /// # Example
    /// ```
    /// use retort::internal::codes;
    ///
    /// let limit = codes::OUT_OF_FUEL.limit.expect("one");
    /// let advice = limit.advice(Some((2_100, 2_000))).expect("one that can be set");
    /// assert!(advice.starts_with("`fuel_base` and `fuel_per_byte`: 2100 units of fuel, 2000 allowed. Make the plan do less"));
    /// assert!(advice.ends_with("or raise them (`limits` in the policy, --policy)."));
    /// ```
    #[must_use]
    pub fn advice(&self, usage: Option<(u64, u64)>) -> Option<String> {
        let Self { names, unit, instead, .. } = self;
        let key = self.part.key()?;
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let figures = match usage {
            // How much more it would have been isn't always known.
            Some((used, allowed)) if used <= allowed => format!("all of {allowed} {unit} used"),
            Some((used, allowed)) => format!("{used} {unit}, {allowed} allowed"),
            None => format!("too many {unit}"),
        };
        let raise = if names.len() == 1 { "raise it" } else { "raise them" };
        let names = names.join(" and ");
        Some(format!(
            "{names}: {figures}. {instead}, or {raise} (`{key}` in the policy, --policy)."
        ))
    }
}
