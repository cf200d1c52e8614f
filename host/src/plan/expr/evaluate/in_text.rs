//! Values of the JSON that a string of the event is: the string is read once for all that ask, `parse_json` of expressions as well.

use super::super::conversion::data::StepOutcome;
use super::super::conversion::{Chain, MAX_TEXT_BYTES};
use super::super::fuel::{self, Cost, OutOfFuel};
use super::super::query::Part;
use super::super::{Conversion, Found, Lookup};
use super::{Evaluated, appended};
use crate::json::WantedKey;

/// `parse_json` as the first step of a chain.
#[derive(Clone, Debug)]
pub(super) struct InText {
    path: Vec<WantedKey>,
    cost: Cost,
    /// The steps behind it.
    rest: Chain,
}

impl InText {
    pub(super) fn of(steps: &[Conversion]) -> Option<Self> {
        let (first, rest) = steps.split_first()?;
        let Conversion::ParseJson { path } = first else { return None };
        let path = path.iter().map(|key| WantedKey::new(key)).collect();
        Some(Self { path, cost: first.cost(), rest: Chain::new(rest) })
    }

    /// What the steps make of the value with that number, whose JSON was paid for. `None` where it is no string of the event, or
    /// nothing can be remembered of it.
    ///
    /// # Errors
    /// [`OutOfFuel`], as soon as something costs more than is left.
    pub(super) fn evaluate(
        &self,
        event: &impl Lookup,
        index: usize,
        withholds_nested: bool,
        out: &mut Vec<u8>,
        fuel: &mut u64,
    ) -> Result<Option<Evaluated>, OutOfFuel> {
        let Some(Found::Placed { document: 0, start, end, .. }) = event.found(index) else {
            return Ok(None);
        };
        let json = event.document(0).part(start, end);
        let written = json.strip_prefix('"').and_then(|json| json.strip_suffix('"'));
        let Some(written) = written else { return Ok(None) };
        let inside = Part { document: 0, start: start + 1, end: end - 1 };
        let memory = event.memory().and_then(|memory| memory.try_borrow_mut().ok());
        let Some(mut memory) = memory else { return Ok(None) };
        let Some(has_read) = memory.has_read(inside) else { return Ok(None) };
        fuel::spend(fuel, self.cost.of(if has_read { 0 } else { written.len() }))?;
        let Some(mut value) = memory.json_in(inside, written) else {
            return Ok(Some(Evaluated::Failed));
        };
        let made = memory.made();
        let text = made.text.as_bytes();
        for key in &self.path {
            let is_object = text.get(made.tape.range(value).0 as usize) == Some(&b'{');
            let (found, looks) =
                if is_object { made.tape.member(text, value, key) } else { (None, 0) };
            fuel::spend(fuel, fuel::LOOK.step.saturating_mul(looks as u64))?;
            match found {
                Some(found) => value = found,
                None => return Ok(Some(Evaluated::Absent)),
            }
        }
        let (start, end) = made.tape.range(value);
        let outcome = match StepOutcome::read(made.part(start, end)) {
            StepOutcome::There(data) if data.bytes() > MAX_TEXT_BYTES => StepOutcome::Failed,
            outcome => outcome,
        };
        let outcome = self.rest.run(outcome, fuel)?;
        Ok(Some(appended(outcome, withholds_nested, out)))
    }
}
