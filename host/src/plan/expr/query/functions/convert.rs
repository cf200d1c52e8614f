//! Functions that convert: those of plans by the same code as the steps of `convert`.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use super::super::function::FunctionName as F;
use super::super::machine::{Machine, Outcome};
use super::super::number::Number;
use super::super::program::{Extra, Unit};
use super::super::tree::Operation;
use super::super::value::{Form, Val};
use super::Arguments;
use crate::plan::expr::conversion::{
    Data, MAX_TEXT_BYTES, StepOutcome, from_nanoseconds, is_printed_int64, nanoseconds,
};
use crate::plan::expr::{Conversion, JsonType, Lookup, fuel};

#[inline(never)]
pub(super) fn apply<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: Arguments<'v>,
) -> Outcome<Val> {
    let Arguments { first: value, call, .. } = arguments;
    match call.function.function {
        F::ToNumber => return to_number(machine, value),
        F::ToString => {
            return match value.kind() {
                JsonType::String => Ok(value),
                JsonType::Null => machine.make_text("null"),
                _ => convert(machine, arguments, value, &Conversion::ToJsonText),
            };
        }
        _ => {}
    }
    // What plans have beside JMESPath leaves null as it is.
    if (0..arguments.count()).any(|index| arguments.value(machine, index).is_null()) {
        return Ok(Val::NULL);
    }
    match (&call.extra, call.function.function) {
        (Extra::Conversion(conversion), _) => convert(machine, arguments, value, conversion),
        (Extra::Table(table), _) => {
            let key = match value.form() {
                Form::Boolean(true) => Some(Cow::Borrowed("true")),
                Form::Boolean(false) => Some(Cow::Borrowed("false")),
                Form::Digits(part) if is_printed_int64(machine.written(part)) => {
                    Some(Cow::Borrowed(machine.written(part)))
                }
                Form::Small(_) | Form::Number(_) | Form::Digits(_) => {
                    machine.number_of(value).map(|number| Cow::Owned(number.to_json()))
                }
                _ => machine.text(value),
            };
            let Some(key) = key else {
                return arguments.invalid_type(machine, "a string, a number or a boolean");
            };
            Ok(table.get(&*key).map_or(Val::NULL, |(_, value)| *value))
        }
        (Extra::Unit(unit), function) => time(machine, arguments, function, *unit),
        _ => {
            let Some(part) = machine.text_part(value)? else {
                return arguments.invalid_type(machine, "a string");
            };
            machine.spend_cost(fuel::SHA256, part.len())?;
            let digest = Sha256::digest(machine.written(part).as_bytes());
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            machine.make_text(&hex)
        }
    }
}

#[inline(never)]
fn to_number<L: Lookup>(machine: &mut Machine<'_, '_, L>, value: Val) -> Outcome<Val> {
    if value.kind() == JsonType::Number {
        return Ok(value);
    }
    let Some(part) = machine.text_part(value)? else { return Ok(Val::NULL) };
    let bytes = machine.written(part).as_bytes();
    let is_number = matches!(bytes.first(), Some(b'-' | b'0'..=b'9'))
        && bytes.last().is_some_and(u8::is_ascii_digit)
        && crate::json::is_json(bytes);
    Ok(if is_number { Val::digits(part) } else { Val::NULL })
}

/// What a step of `convert` makes of a value.
#[inline(never)]
fn convert<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: Arguments<'_>,
    mut value: Val,
    conversion: &Conversion,
) -> Outcome<Val> {
    if let Conversion::ParseJson { path } = conversion
        && path.is_empty()
    {
        return parse_json(machine, arguments, value, conversion);
    }
    if let Form::Text(part) | Form::Digits(part) = value.form()
        && let Some(gives) = conversion.keeps(value.kind(), machine.written(part))
    {
        machine.spend_cost(conversion.cost(), part.len())?;
        return Ok(match gives {
            JsonType::String => Val::text(part),
            _ => Val::digits(part),
        });
    }
    let mut made = Vec::new();
    if machine.repeats_keys(value)? {
        machine.write(value, &mut made)?;
        let json = String::from_utf8(std::mem::take(&mut made)).unwrap_or_default();
        value = machine.made_json(&json)?;
    }
    if matches!(value.form(), Form::List(_) | Form::Object(_)) {
        machine.write(value, &mut made)?;
        machine.make(made.len())?;
    }
    let made = String::from_utf8(made).unwrap_or_default();
    let Some(bytes) = machine.data(value, &made).map(|data| data.bytes()) else {
        return Ok(Val::NULL);
    };
    machine.spend_cost(conversion.cost(), bytes)?;
    machine.make(bytes)?;
    let Some(data) = machine.data(value, &made) else { return Ok(Val::NULL) };
    if let Conversion::Regex(pattern) = conversion {
        let Data::String(text) = data else { return arguments.invalid_type(machine, "a string") };
        if text.len() > pattern.max_text_bytes() {
            return arguments.invalid_value(machine, "a text of the length that the pattern reads");
        }
        // Nothing found is no failure here: a filter goes by it.
        let found = pattern.find(&text).and_then(|found| text.get(found)).map(str::to_owned);
        drop(text);
        return found.map_or(Ok(Val::NULL), |found| machine.make_text(&found));
    }
    let (json, is_text) = match conversion.apply(data) {
        StepOutcome::Absent => return Ok(Val::NULL),
        StepOutcome::Failed => {
            return arguments
                .invalid_value(machine, "a value that the conversion of that name takes");
        }
        StepOutcome::There(Data::Object(_) | Data::Array(_)) if machine.withholds_nested() => {
            return Ok(Val::NULL);
        }
        StepOutcome::There(Data::Boolean(truth)) => return Ok(Val::boolean(truth)),
        StepOutcome::There(Data::String(text)) => (text.into_owned(), true),
        StepOutcome::There(Data::Number(json) | Data::Object(json) | Data::Array(json)) => {
            (json.into_owned(), false)
        }
    };
    if is_text {
        return machine.make_text(&json);
    }
    machine.make(json.len())?;
    machine.made_json(&json)
}

/// The value that a text is as JSON.
#[inline(never)]
fn parse_json<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    arguments: Arguments<'_>,
    value: Val,
    conversion: &Conversion,
) -> Outcome<Val> {
    let parsed = match machine.json_of_event(value, conversion.cost())? {
        Some(parsed) => parsed,
        None => {
            let part = machine.text_part(value)?.filter(|part| part.len() <= MAX_TEXT_BYTES);
            if let Some(part) = part {
                machine.spend_cost(conversion.cost(), part.len())?;
            }
            part.map(|part| machine.parsed(part)).transpose()?.flatten()
        }
    };
    match parsed {
        None => arguments.invalid_value(machine, "a value that the conversion of that name takes"),
        Some(parsed)
            if machine.withholds_nested()
                && matches!(parsed.kind(), JsonType::Object | JsonType::Array) =>
        {
            Ok(Val::NULL)
        }
        Some(parsed) => Ok(parsed),
    }
}

/// `epoch`, `from_epoch` and `duration`.
#[inline(never)]
fn time<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: Arguments<'_>,
    function: F,
    unit: Unit,
) -> Outcome<Val> {
    let value = arguments.first;
    machine.spend_cost(Conversion::Timestamp(None).cost(), value.size())?;
    if function == F::FromEpoch {
        let number = to_number(machine, value)?;
        let Some(number) = machine.number_of(number) else {
            return arguments.invalid_type(machine, "a number, or a string of digits");
        };
        let nanoseconds = number.apply(Operation::Multiply, unit.nanoseconds().into());
        let time = nanoseconds
            .and_then(|number| number.floor().to_wide_integer())
            .and_then(from_nanoseconds);
        return match time {
            Some(time) => machine.make_text(&time),
            None => arguments.invalid_value(machine, "a time in the years 0001 to 9999"),
        };
    }
    let nanoseconds = match function {
        F::Epoch => instant(machine, value),
        _ => {
            let until = arguments.value(machine, 1);
            machine.spend_cost(Conversion::Timestamp(None).cost(), until.size())?;
            let (from, until) = (instant(machine, value), instant(machine, until));
            from.zip(until).map(|(from, until)| until - from)
        }
    };
    // Some 20 digits, which a decimal holds.
    match nanoseconds.and_then(|it| Number::with_scale(it, unit.places())) {
        Some(number) => machine.made_number(number),
        None => arguments.invalid_value(machine, "a time, as timestamp takes it"),
    }
}

/// Nanoseconds of a time since 1970.
fn instant<L: Lookup>(machine: &Machine<'_, '_, L>, value: Val) -> Option<i128> {
    nanoseconds(&machine.data(value, "")?, machine.zone)
}
