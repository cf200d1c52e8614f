//! Functions that convert: those of plans by the same code as the steps of `convert`.

use std::borrow::Cow;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::super::evaluate::{Machine, Outcome};
use super::super::function::FunctionName as F;
use super::super::number::Number;
use super::super::program::{Call, Extra, Unit};
use super::super::tree::Operation;
use super::super::value::{Json, Val};
use super::Arguments;
use crate::plan::expr::conversion::{Data, StepOutcome, from_nanoseconds, nanoseconds};
use crate::plan::expr::{Conversion, JsonType, Lookup, fuel};

pub(super) fn apply<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: &Arguments<'v, '_>,
    call: &'v Call,
) -> Outcome<Val<'v>> {
    let value = arguments.value(0);
    match call.function.function {
        F::ToNumber => return Ok(to_number(value)),
        F::ToString => {
            return match value.kind() {
                JsonType::String => Ok(value),
                JsonType::Null => machine.text("null"),
                _ => convert(machine, arguments, &value, &Conversion::ToJsonText),
            };
        }
        _ => {}
    }
    // What plans have beside JMESPath leaves null as it is.
    if arguments.values.iter().any(|value| matches!(value, Val::Null)) {
        return Ok(Val::Null);
    }
    match (&call.extra, call.function.function) {
        (Extra::Conversion(conversion), _) => convert(machine, arguments, &value, conversion),
        (Extra::Table(table), _) => {
            let key = match value.kind() {
                JsonType::Number => value.number().map(Number::to_json),
                JsonType::Boolean => {
                    Some(if value.is_true() { "true" } else { "false" }.to_owned())
                }
                _ => value.text().map(Cow::into_owned),
            };
            let Some(key) = key else {
                return arguments.invalid_type("a string, a number or a boolean");
            };
            Ok(table.get(&key).map_or(Val::Null, |json| Json::Borrowed(json.as_bytes()).value()))
        }
        (Extra::Unit(unit), function) => time(machine, arguments, function, *unit),
        _ => {
            let Some(text) = value.text() else {
                return arguments.invalid_type("a string");
            };
            machine.spend_cost(fuel::SHA256, text.len())?;
            let digest = Sha256::digest(text.as_bytes());
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            machine.text(&hex)
        }
    }
}

fn to_number(value: Val<'_>) -> Val<'_> {
    match value.kind() {
        JsonType::Number => value,
        JsonType::String => {
            let text = value.text().unwrap_or_default();
            let bytes = text.as_bytes();
            let is_number = matches!(bytes.first(), Some(b'-' | b'0'..=b'9'))
                && bytes.last().is_some_and(u8::is_ascii_digit)
                && crate::json::is_json(bytes);
            if !is_number {
                return Val::Null;
            }
            let length = text.len();
            Val::Json(Json::Shared(Arc::from(&*text), 0, length))
        }
        _ => Val::Null,
    }
}

/// What a step of `convert` makes of a value.
fn convert<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: &Arguments<'v, '_>,
    value: &Val<'v>,
    conversion: &Conversion,
) -> Outcome<Val<'v>> {
    let mut made = Vec::new();
    let written;
    let value = if let Val::Json(json) = value
        && json.repeats_keys()
    {
        machine.write(value, &mut made)?;
        let json = String::from_utf8(std::mem::take(&mut made)).unwrap_or_default();
        let end = json.len();
        written = Val::Json(Json::Shared(json.into(), 0, end));
        &written
    } else {
        value
    };
    if matches!(value, Val::List(_) | Val::Object(_)) {
        machine.write(value, &mut made)?;
        machine.make(made.len())?;
    }
    let made = String::from_utf8(made).unwrap_or_default();
    let Some(data) = value.data(|| Cow::Borrowed(&made)) else { return Ok(Val::Null) };
    let bytes = data.bytes();
    machine.spend_cost(conversion.cost(), bytes)?;
    machine.make(bytes)?;
    if let Conversion::Regex(pattern) = conversion {
        let Data::String(text) = data else { return arguments.invalid_type("a string") };
        if text.len() > pattern.max_text_bytes() {
            return arguments.invalid_value("a text of the length that the pattern reads");
        }
        // Nothing found is no failure here: a filter goes by it.
        let found = pattern.find(&text).and_then(|found| text.get(found));
        return found.map_or(Ok(Val::Null), |found| machine.text(found));
    }
    match conversion.apply(data) {
        StepOutcome::Absent => Ok(Val::Null),
        StepOutcome::Failed => {
            arguments.invalid_value("a value that the conversion of that name takes")
        }
        StepOutcome::There(Data::Object(_) | Data::Array(_)) if machine.withholds_nested => {
            Ok(Val::Null)
        }
        StepOutcome::There(data) => match data {
            Data::Boolean(truth) => Ok(Val::Boolean(truth)),
            Data::String(text) => machine.text(&text),
            Data::Number(json) | Data::Object(json) | Data::Array(json) => {
                machine.make(json.len())?;
                let length = json.len();
                Ok(Val::Json(Json::Shared(Arc::from(&*json), 0, length)))
            }
        },
    }
}

/// `epoch`, `from_epoch` and `duration`.
fn time<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: &Arguments<'v, '_>,
    function: F,
    unit: Unit,
) -> Outcome<Val<'v>> {
    let value = arguments.value(0);
    machine.spend_cost(Conversion::Timestamp(None).cost(), value.size())?;
    if function == F::FromEpoch {
        let number = match value.kind() {
            JsonType::Number => value.number(),
            _ => to_number(value).number(),
        };
        let Some(number) = number else {
            return arguments.invalid_type("a number, or a string of digits");
        };
        let nanoseconds = number.apply(Operation::Multiply, unit.nanoseconds().into());
        let time = nanoseconds
            .and_then(|number| number.floor().to_wide_integer())
            .and_then(from_nanoseconds);
        return match time {
            Some(time) => machine.text(&time),
            None => arguments.invalid_value("a time in the years 0001 to 9999"),
        };
    }
    let zone = machine.zone;
    let instant = |value: &Val<'v>| {
        let data = value.data(|| Cow::Borrowed(""))?;
        let nanoseconds = nanoseconds(&data, zone)?;
        Number::read(&nanoseconds.to_string())
    };
    let result = match function {
        F::Epoch => instant(&value),
        _ => {
            let until = arguments.value(1);
            machine.spend_cost(Conversion::Timestamp(None).cost(), until.size())?;
            let (from, until) = (instant(&value), instant(&until));
            from.zip(until).and_then(|(from, until)| until.apply(Operation::Subtract, from))
        }
    };
    let result = result.and_then(|it| it.apply(Operation::Divide, unit.nanoseconds().into()));
    match result {
        Some(number) => Ok(Val::Number(number)),
        None => arguments.invalid_value("a time, as timestamp takes it"),
    }
}
