//! What JSON alone doesn't say: bounds, and that what is named is there.

use std::collections::BTreeSet;

use super::{
    Input, InputKind, MAX_ENTRIES, MAX_EVENT_TYPES, MAX_INPUTS, MAX_LEVELS, MAX_PATH_KEYS,
    MAX_PATH_SEGMENTS, MAX_ROWS, RESERVED_PREFIX, Rows, Section, SectionError,
};
use crate::abi::event::MAX_EVENT_TYPE_BYTES;
use crate::diagnostics::untrusted::quoted;
use crate::plan::expr::{Condition, Expression, ForEach, Level, Source, Test};
use crate::plan::{RESERVED_EXPORTS, is_identifier};

impl Section {
    /// Everything that a section has to keep to.
    pub(super) fn check(&self) -> Result<(), SectionError> {
        if let Some(expected) = function_fault(&self.function) {
            return Err(SectionError::Function { found: quoted(&self.function), expected });
        }
        self.check_event_types()?;
        if self.inputs.len() > MAX_INPUTS {
            return Err(SectionError::TooManyInputs { found: self.inputs.len() });
        }
        for (index, input) in self.inputs.iter().enumerate() {
            self.check_input(index, input)?;
        }
        self.check_keys()?;
        for (index, input) in self.inputs.iter().enumerate() {
            self.check_levels(index, input)?;
        }
        self.check_rows()
    }

    /// How large what the host keeps for the paths can become.
    fn check_keys(&self) -> Result<(), SectionError> {
        let inputs = self.inputs.iter().flat_map(Input::references);
        let inputs = inputs.map(|reference| reference.path.len()).sum::<usize>();
        let rows = self.rows.iter().flat_map(|rows| rows.iteration.paths());
        let rows = rows.map(Vec::len).sum::<usize>();
        let of_rows = |rows| [Rows::made_of(rows), Rows::references(rows)].concat();
        let of_rows = self.rows.iter().flat_map(of_rows);
        let of_rows = of_rows.map(|reference| reference.path.len()).sum::<usize>();
        match inputs + rows + of_rows {
            found if found > MAX_PATH_KEYS => Err(SectionError::TooManyKeys { found }),
            _ => Ok(()),
        }
    }

    fn check_event_types(&self) -> Result<(), SectionError> {
        if self.event_types.is_empty() {
            return Err(SectionError::NoEventTypes);
        }
        if self.event_types.len() > MAX_EVENT_TYPES {
            return Err(SectionError::TooManyEventTypes { found: self.event_types.len() });
        }
        let mut seen = BTreeSet::new();
        for (index, event_type) in self.event_types.iter().enumerate() {
            if event_type.is_empty() {
                return Err(SectionError::EmptyEventType { index });
            }
            if event_type.len() > MAX_EVENT_TYPE_BYTES {
                return Err(SectionError::LongEventType { index, found: event_type.len() });
            }
            if !seen.insert(event_type) {
                return Err(SectionError::RepeatedEventType { index, found: quoted(event_type) });
            }
        }
        Ok(())
    }

    fn check_input(&self, index: usize, input: &Input) -> Result<(), SectionError> {
        // Before the paths are collected, which goes as deep as conditions and values nest.
        let extent = Extent::Input(index);
        match &input.what {
            InputKind::Value(value) => extent.value(value, 1)?,
            InputKind::Truthy(_) => {}
            InputKind::When(condition) => extent.condition(condition, 1)?,
        }
        for reference in input.references() {
            if reference.path.len() > MAX_PATH_SEGMENTS {
                return Err(SectionError::PathTooDeep { index, found: reference.path.len() });
            }
        }
        match input.only_if {
            Some(found) if !self.is_guard(index, input, found) => {
                Err(SectionError::Guard { index, found })
            }
            _ => Ok(()),
        }
    }

    fn check_levels(&self, index: usize, input: &Input) -> Result<(), SectionError> {
        let allowed = match input.rows {
            None => 0,
            Some(found) => match self.rows.get(found) {
                Some(_) => self.level(found),
                None => {
                    return Err(SectionError::UnknownRows { index, found, rows: self.rows.len() });
                }
            },
        };
        let deepest = input.references().into_iter().map(|reference| reference.level.0).max();
        match deepest {
            Some(found) if found > allowed => {
                Err(SectionError::LevelTooDeep { index, found, allowed })
            }
            _ => Ok(()),
        }
    }

    /// The level of the elements of an iteration.
    fn level(&self, rows: usize) -> u8 {
        // All iterations around it are earlier ones, and whoever nests deeper than there are levels is refused.
        let around = Rows::around(&self.rows, rows);
        let outermost = around.first().and_then(|at| self.rows.get(*at));
        // What it says that it is within counts, whether that can be or not.
        let is_within = outermost.is_some_and(|outermost| outermost.within.is_some());
        u8::try_from(around.len() + usize::from(is_within)).unwrap_or(u8::MAX)
    }

    fn is_guard(&self, index: usize, input: &Input, found: usize) -> bool {
        found < index
            && self.inputs.get(found).is_some_and(|guard| {
                guard.is_test() && (guard.rows.is_none() || guard.rows == input.rows)
            })
    }

    fn check_rows(&self) -> Result<(), SectionError> {
        if self.rows.len() > MAX_ROWS {
            return Err(SectionError::TooManyRows { found: self.rows.len() });
        }
        for (index, rows) in self.rows.iter().enumerate() {
            // Before its paths are collected, which goes as deep as conditions nest.
            if let Some(condition) = &rows.iteration.condition {
                Extent::Rows(index).condition(condition, 1)?;
            }
            let read = [rows.made_of(), rows.references()].concat();
            let read = read.into_iter().map(|reference| &reference.path);
            let longest = rows.iteration.paths().iter().chain(read).map(Vec::len).max();
            if let Some(found) = longest.filter(|found| *found > MAX_PATH_SEGMENTS) {
                return Err(SectionError::RowsPathTooDeep { index, found });
            }
            if let Some(found) = rows.within
                && (found >= index || self.level(found) >= Level::DEEPEST.0)
            {
                return Err(SectionError::Within { index, found });
            }
            let places = Rows::for_each(&self.rows, index).map_or(0, |it| it.places());
            if places > ForEach::MAX_PLACES {
                return Err(SectionError::Places { index, found: places });
            }
            let inside = self.level(index);
            for (part, references, allowed) in [
                ("where", rows.references(), inside),
                ("expression", rows.made_of(), inside.saturating_sub(1)),
            ] {
                let deepest = references.into_iter().map(|reference| reference.level.0).max();
                if let Some(found) = deepest.filter(|found| *found > allowed) {
                    return Err(SectionError::RowsLevelTooDeep { index, part, found, allowed });
                }
            }
            if let Some(found) = rows.only_if {
                let guard = self.inputs.get(found);
                if !guard.is_some_and(|guard| guard.is_test() && guard.rows.is_none()) {
                    return Err(SectionError::RowsGuard { index, found });
                }
            }
        }
        Ok(())
    }
}

/// How far the input, or the condition of the iteration, at an index goes. Recursion ends at [`MAX_LEVELS`].
#[derive(Clone, Copy)]
enum Extent {
    Input(usize),
    Rows(usize),
}

impl Extent {
    fn value(&self, value: &Expression, level: usize) -> Result<(), SectionError> {
        self.level("values", level)?;
        if !value.convert.is_empty() {
            self.entries("conversions", value.convert.len())?;
        }
        match &value.source {
            // An expression has bounds of its own, which hold wherever it is read.
            Source::Path(_) | Source::Constant(_) | Source::Query(_) => Ok(()),
            Source::Template(template) if template.pieces().is_empty() => Ok(()),
            Source::Template(template) => self.entries("pieces", template.pieces().len()),
            Source::Coalesce(values) => {
                self.entries("values", values.len())?;
                values.iter().try_for_each(|value| self.value(value, level + 1))
            }
        }
    }

    fn condition(&self, condition: &Condition, level: usize) -> Result<(), SectionError> {
        self.level("conditions", level)?;
        match condition {
            Condition::Test(_, Test::OneOf(values)) => self.entries("values", values.len()),
            Condition::Test(..) | Condition::Query(_) => Ok(()),
            Condition::All(conditions) | Condition::Any(conditions) => {
                self.entries("conditions", conditions.len())?;
                conditions.iter().try_for_each(|inner| self.condition(inner, level + 1))
            }
            Condition::Not(inner) => self.condition(inner, level + 1),
        }
    }

    fn level(&self, of: &'static str, level: usize) -> Result<(), SectionError> {
        match self {
            _ if level <= MAX_LEVELS => Ok(()),
            Self::Input(index) => Err(SectionError::Nesting { index: *index, of }),
            Self::Rows(index) => Err(SectionError::RowsNesting { index: *index, of }),
        }
    }

    fn entries(&self, of: &'static str, found: usize) -> Result<(), SectionError> {
        match self {
            _ if (1..=MAX_ENTRIES).contains(&found) => Ok(()),
            Self::Input(index) => Err(SectionError::Entries { index: *index, of, found }),
            Self::Rows(index) => Err(SectionError::RowsEntries { index: *index, of, found }),
        }
    }
}

/// What is expected of an extractor's name that `name` isn't.
fn function_fault(name: &str) -> Option<&'static str> {
    if !is_identifier(name) {
        Some("an identifier, [A-Za-z_][A-Za-z0-9_]*")
    } else if RESERVED_EXPORTS.contains(&name) {
        Some("a name other than memory, _start and _initialize")
    } else if name.starts_with(RESERVED_PREFIX) {
        Some("a name that doesn't begin with retort_, which belongs to the ABI")
    } else {
        None
    }
}
