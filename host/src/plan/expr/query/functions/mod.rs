//! What the functions do. Arguments are evaluated, then their types are looked at, then their values.

mod convert;
mod list;
mod text;

use super::error::FailureKind;
use super::evaluate::{Machine, Outcome, fail, length};
use super::function::{FunctionName as F, Parameter};
use super::number::Number;
use super::program::{Call, Extra, Op};
use super::tree::Operation;
use super::value::Val;
use crate::plan::expr::{JsonType, Lookup};

/// The values of the arguments, and what a function may ask of them.
struct Arguments<'v, 'c> {
    values: Vec<Val<'v>>,
    call: &'c Call,
}

impl<'v> Arguments<'v, '_> {
    fn value(&self, index: usize) -> Val<'v> {
        self.values.get(index).cloned().unwrap_or(Val::Null)
    }

    fn text(&self, index: usize) -> String {
        self.value(index).text().unwrap_or_default().into_owned()
    }

    fn number(&self, index: usize) -> Number {
        self.value(index).number().unwrap_or(Number::ZERO)
    }

    /// An integer, where the argument is there.
    fn integer(&self, index: usize) -> Outcome<Option<i64>> {
        let Some(value) = self.values.get(index) else { return Ok(None) };
        match value.number().and_then(Number::to_integer) {
            Some(integer) => Ok(Some(integer)),
            None => self.invalid_value("an integer"),
        }
    }

    fn count(&self, index: usize) -> Outcome<Option<usize>> {
        match self.integer(index)?.map(usize::try_from) {
            None => Ok(None),
            Some(Ok(count)) => Ok(Some(count)),
            Some(Err(_)) => self.invalid_value("an integer that isn't negative"),
        }
    }

    fn invalid_value<T>(&self, expected: &'static str) -> Outcome<T> {
        fail(FailureKind::InvalidValue, self.call.at, expected)
    }

    fn invalid_type<T>(&self, expected: &'static str) -> Outcome<T> {
        fail(FailureKind::InvalidType, self.call.at, expected)
    }
}

/// Calls a function.
pub(super) fn call<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    call: &'v Call,
    current: &Val<'v>,
) -> Outcome<Val<'v>> {
    let mut values = Vec::with_capacity(call.arguments.len());
    for argument in &call.arguments {
        values.push(machine.eval(argument, current)?);
    }
    for (index, value) in values.iter().enumerate() {
        let parameter = call.function.value(index).unwrap_or(Parameter::Any);
        if !is(machine, value, parameter)? {
            return fail(FailureKind::InvalidType, call.at, parameter.expected());
        }
        machine.spend(value.size())?;
    }
    let arguments = Arguments { values, call };
    apply(machine, &arguments, call)
}

/// Whether a value is what a parameter asks for.
fn is<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    value: &Val<'v>,
    parameter: Parameter,
) -> Outcome<bool> {
    let kind = value.kind();
    let elements = |machine: &mut Machine<'v, '_, L>, all: &[JsonType]| -> Outcome<bool> {
        let Some(items) = machine.items(value)? else { return Ok(false) };
        let mut first = None;
        for item in items {
            machine.spend(0)?;
            let kind = item.kind();
            // All of them of the type of the first.
            if *first.get_or_insert(kind) != kind || !all.contains(&kind) {
                return Ok(false);
            }
        }
        Ok(true)
    };
    Ok(match parameter {
        Parameter::Number => kind == JsonType::Number,
        Parameter::String => kind == JsonType::String,
        Parameter::Array => kind == JsonType::Array,
        Parameter::Object => kind == JsonType::Object,
        Parameter::ArrayOrString => matches!(kind, JsonType::Array | JsonType::String),
        Parameter::Sized => matches!(kind, JsonType::Array | JsonType::String | JsonType::Object),
        Parameter::Numbers => elements(machine, &[JsonType::Number])?,
        Parameter::Strings => elements(machine, &[JsonType::String])?,
        Parameter::Arrays => elements(machine, &[JsonType::Array])?,
        Parameter::Objects => elements(machine, &[JsonType::Object])?,
        Parameter::Sortable => elements(machine, &[JsonType::Number, JsonType::String])?,
        Parameter::Any
        | Parameter::Expression
        | Parameter::Constant
        | Parameter::ConstantGroup
        | Parameter::Table
        | Parameter::Unit => true,
    })
}

fn apply<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: &Arguments<'v, '_>,
    call: &'v Call,
) -> Outcome<Val<'v>> {
    let first = arguments.value(0);
    if let Extra::Expression(by) = &call.extra {
        return list::by(machine, arguments, &first, by);
    }
    let number = |number: Option<Number>| match number {
        Some(number) => Ok(Val::Number(number)),
        None => fail(FailureKind::NotANumber, call.at, "a result that is a number"),
    };
    match call.function.function {
        F::Abs => Ok(Val::Number(arguments.number(0).abs())),
        F::Ceil => Ok(Val::Number(arguments.number(0).ceil())),
        F::Floor => Ok(Val::Number(arguments.number(0).floor())),
        F::Sum => number(list::sum(machine, &first)?),
        F::Avg => match length(&first) {
            0 => Ok(Val::Null),
            count => {
                let sum = list::sum(machine, &first)?;
                number(sum.and_then(|sum| sum.apply(Operation::Divide, count.into())))
            }
        },
        F::Contains => list::contains(machine, &first, &arguments.value(1)),
        F::Length => Ok(Val::Number(match first.kind() {
            JsonType::String => first.text().unwrap_or_default().chars().count().into(),
            JsonType::Array => length(&first).into(),
            _ => machine.members(&first)?.map_or(0, |members| members.len()).into(),
        })),
        F::Keys | F::Values | F::Items => list::of_members(machine, &first, call.function.function),
        F::FromItems => list::from_items(machine, arguments),
        F::Merge => list::merge(machine, &arguments.values),
        F::Zip => list::zip(machine, &arguments.values),
        F::Max => list::most(machine, &first, std::cmp::Ordering::Greater),
        F::Min => list::most(machine, &first, std::cmp::Ordering::Less),
        F::Sort => list::sort(machine, &first),
        F::Distinct => list::distinct(machine, &first),
        F::NotNull => Ok(arguments
            .values
            .iter()
            .find(|value| !matches!(value, Val::Null))
            .cloned()
            .unwrap_or(Val::Null)),
        F::Reverse => {
            let Some(items) = first.items() else {
                let text: String = first.text().unwrap_or_default().chars().rev().collect();
                return machine.text(&text);
            };
            let mut items: Vec<Val<'v>> = items.collect();
            items.reverse();
            machine.list(items)
        }
        F::ToArray => match first.kind() {
            JsonType::Array => Ok(first),
            _ => machine.list(vec![first]),
        },
        F::Type => machine.text(match first.kind() {
            JsonType::Null => "null",
            JsonType::Boolean => "boolean",
            JsonType::Number => "number",
            JsonType::String => "string",
            JsonType::Array => "array",
            JsonType::Object => "object",
        }),
        F::Map | F::SortBy | F::MaxBy | F::MinBy | F::GroupBy => Ok(Val::Null),
        F::Join
        | F::StartsWith
        | F::EndsWith
        | F::Lower
        | F::Upper
        | F::FindFirst
        | F::FindLast
        | F::PadLeft
        | F::PadRight
        | F::Replace
        | F::Split
        | F::Trim
        | F::TrimLeft
        | F::TrimRight => text::apply(machine, arguments, call.function.function),
        F::ToNumber
        | F::ToString
        | F::Date
        | F::Duration
        | F::Epoch
        | F::FromEpoch
        | F::MapValue
        | F::ParseJson
        | F::Regex
        | F::Sha256
        | F::Timestamp
        | F::ToBoolean
        | F::ToDouble
        | F::ToInt64
        | F::ToJsonText => convert::apply(machine, arguments, call),
    }
}

/// What an expression gives for an element.
fn key<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    by: &'v Op,
    element: &Val<'v>,
) -> Outcome<Val<'v>> {
    machine.eval(by, element)
}
