//! Chains of conversions, applied.

use std::borrow::Cow;

use super::data::{Data, Json, StepOutcome, part};
use super::{Conversion, json, number, text, time};
use crate::plan::expr::JsonType;
use crate::plan::expr::fuel::{self, Cost, OutOfFuel};

/// Bytes that a text may have that a conversion or a template has made: more has failed.
pub(crate) const MAX_TEXT_BYTES: usize = 16 << 20;

/// Steps that are applied one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    steps: Vec<(Conversion, Cost)>,
}

/// What a chain makes of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Converted {
    /// A value, as JSON; strings are canonical.
    Value(String),
    /// There is no value: it was null, or `parse_json` has found nothing at its path.
    Absent,
    /// A step doesn't take what it was given.
    Failed,
}

impl Chain {
    /// These steps, the first one first.
    #[must_use]
    pub(crate) fn new(steps: &[Conversion]) -> Self {
        Self { steps: steps.iter().map(|step| (step.clone(), step.cost())).collect() }
    }

    /// Whether there are no steps.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// What the steps make of a value, which is valid JSON. Without steps this is the value itself, a string canonical.
    /// `fuel` is what is left, and goes down by what this [costs](fuel::COSTS).
    ///
    /// # Errors
    /// [`OutOfFuel`], as soon as a step costs more than is left.
    pub(crate) fn apply(&self, json: &str, fuel: &mut u64) -> Result<Converted, OutOfFuel> {
        fuel::spend(fuel, fuel::VALUE.of(json.len()))?;
        Ok(match self.run(StepOutcome::read(json), fuel)? {
            StepOutcome::There(data) => {
                let mut out = Vec::new();
                data.write(&mut out);
                String::from_utf8(out).map_or(Converted::Failed, Converted::Value)
            }
            StepOutcome::Absent => Converted::Absent,
            StepOutcome::Failed => Converted::Failed,
        })
    }

    /// The JSON that the steps give, and its type, where they leave the text of a string or a number as it is: a part of the value's own
    /// JSON. It costs what [`run`](Self::run) costs, and nothing where this is `None`.
    ///
    /// # Errors
    /// [`OutOfFuel`], as soon as a step costs more than is left.
    pub(crate) fn kept<'j>(
        &self,
        json: Json<'j>,
        fuel: &mut u64,
    ) -> Result<Option<(&'j str, JsonType)>, OutOfFuel> {
        let Json { text: json, may_escape } = json;
        let inside = json.strip_prefix('"').and_then(|json| json.strip_suffix('"'));
        let (text, kind) = match inside {
            Some(inside) if !may_escape || memchr::memchr(b'\\', inside.as_bytes()).is_none() => {
                (inside, JsonType::String)
            }
            None if json.starts_with(|first: char| first == '-' || first.is_ascii_digit()) => {
                (json, JsonType::Number)
            }
            _ => return Ok(None),
        };
        let kept = self.steps.iter().try_fold(kind, |kind, (step, _)| step.keeps(kind, text));
        let Some(gives) = kept else { return Ok(None) };
        for (_, cost) in &self.steps {
            fuel::spend(fuel, cost.of(text.len()))?;
        }
        Ok(Some((if gives == JsonType::String { json } else { text }, gives)))
    }

    /// What the steps make of a value.
    pub(crate) fn run<'t>(
        &self,
        mut outcome: StepOutcome<'t>,
        fuel: &mut u64,
    ) -> Result<StepOutcome<'t>, OutOfFuel> {
        for (step, cost) in &self.steps {
            let StepOutcome::There(data) = outcome else { break };
            fuel::spend(fuel, cost.of(data.bytes()))?;
            outcome = apply(step, data);
        }
        Ok(outcome)
    }
}

/// What a step makes of a value.
pub(super) fn apply<'t>(step: &Conversion, data: Data<'t>) -> StepOutcome<'t> {
    match unbounded(step, data) {
        StepOutcome::There(data) if data.bytes() > MAX_TEXT_BYTES => StepOutcome::Failed,
        outcome => outcome,
    }
}

fn unbounded<'t>(step: &Conversion, data: Data<'t>) -> StepOutcome<'t> {
    match step {
        Conversion::ToString => text::to_string(data).into(),
        Conversion::ToInt64 => number::to_int64(data).into(),
        Conversion::ToDouble => number::to_double(data).into(),
        Conversion::ToBoolean => number::to_boolean(data).into(),
        Conversion::ToJsonText => json::to_json_text(data).into(),
        Conversion::Timestamp(zone) => time::timestamp(data, zone.as_ref()).into(),
        Conversion::Date(zone) => time::date(data, zone.as_ref()).into(),
        Conversion::Lower => on_text(data, |text| Some(text::lower(text))),
        Conversion::Upper => on_text(data, |text| Some(text::upper(text))),
        Conversion::Trim => on_text(data, text::trim),
        Conversion::Split { separator, index } => {
            on_text(data, |text| text::split(text, separator, *index))
        }
        Conversion::Regex(pattern) => on_text(data, |text| {
            let found = pattern.find(&text)?;
            part(text, found)
        }),
        Conversion::Length => json::length(&data).into(),
        Conversion::ParseJson { path } => match data {
            Data::String(text) => json::parse_json(text, path),
            _ => StepOutcome::Failed,
        },
    }
}

/// What takes strings alone, and gives one.
fn on_text<'t>(
    data: Data<'t>,
    convert: impl FnOnce(Cow<'t, str>) -> Option<Cow<'t, str>>,
) -> StepOutcome<'t> {
    match data {
        Data::String(text) => convert(text).map(Data::String).into(),
        _ => StepOutcome::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::{Chain, Converted};
    use crate::plan::Conversion;

    #[test]
    fn steps_are_applied_one_after_the_other() {
        let chain = Chain::new(&[Conversion::Trim, Conversion::ToInt64]);
        let mut fuel = 1_000;
        assert_eq!(chain.apply(r#"" 42 ""#, &mut fuel), Ok(Converted::Value("42".into())));
        assert_eq!(chain.apply("[]", &mut fuel), Ok(Converted::Failed));
    }
}
