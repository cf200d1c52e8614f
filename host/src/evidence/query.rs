//! What expressions give for samples.

use serde_json::Value;

use super::observe::Seen;
use super::path::at;
use crate::plan::expr::{
    CompiledValue, Empty, Evaluated, Expression, Found, Json, Level, Lookup, OutOfFuel, Query,
    Reference, Source, fuel,
};

/// Values by their number, and what an empty string counts as.
pub(crate) struct SampleValues(pub(crate) Vec<Option<String>>, pub(crate) Empty);

impl Lookup for SampleValues {
    fn json(&self, index: usize) -> Option<Json<'_>> {
        let value = self.0.get(index)?.as_deref()?;
        (self.1 == Empty::Value || value != r#""""#).then_some(value.into())
    }

    fn found(&self, index: usize) -> Option<Found<'_>> {
        self.0.get(index)?.as_deref().map(Found::Text)
    }

    fn empty(&self) -> Empty {
        self.1
    }
}

/// An expression, made ready.
pub(crate) struct SampleQuery {
    compiled: CompiledValue,
    references: Vec<Reference>,
    empty: Empty,
}

impl SampleQuery {
    /// An expression whose result counts as absent where it is an empty string and `empty` says so.
    pub(crate) fn new(query: &Query, empty: Empty) -> Self {
        let mut references = Vec::new();
        let expression = Expression { source: Source::Query(query.clone()), convert: Vec::new() };
        let compiled = CompiledValue::new(&expression, &mut |reference| {
            references.push(reference.clone());
            references.len() - 1
        });
        Self { compiled, references, empty }
    }

    /// How many paths are looked for each time.
    pub(crate) fn paths(&self) -> usize {
        self.references.len()
    }

    /// What it gives where paths of a level start at what `level` says, null where it gives nothing; `None` where it fails. The
    /// fuel goes down by what that costs.
    ///
    /// # Errors
    /// [`OutOfFuel`], where it costs more.
    pub(crate) fn over<'v>(
        &self,
        level: impl Fn(Level) -> Option<&'v Value>,
        fuel: &mut u64,
    ) -> Result<Option<Value>, OutOfFuel> {
        let value = |it: &Reference| at(level(it.level)?, &it.path).map(Value::to_string);
        let values = SampleValues(self.references.iter().map(value).collect(), self.empty);
        let mut json = Vec::new();
        Ok(match self.compiled.evaluate(&values, &mut json, fuel)? {
            Evaluated::Value(_) => serde_json::from_slice(&json).ok(),
            Evaluated::Absent => Some(Value::Null),
            Evaluated::Failed => None,
        })
    }

    /// The fuel for a sample where nobody says otherwise.
    pub(crate) fn fuel(seen: &Seen) -> u64 {
        fuel::default_for(seen.bytes())
    }
}
