//! What the functions do. Arguments are evaluated, then their types are looked at, then their values.

mod convert;
mod list;
mod text;

use super::error::FailureKind;
use super::function::{FunctionName as F, Parameter};
use super::machine::{Machine, Outcome};
use super::number::Number;
use super::program::{Call, Extra, Op};
use super::tree::Operation;
use super::value::Val;
use crate::plan::expr::{JsonType, Lookup};

/// The values of the arguments, which are on the stack, and what a function may ask of them.
#[derive(Clone, Copy)]
struct Arguments<'c> {
    base: usize,
    count: usize,
    call: &'c Call,
}

impl Arguments<'_> {
    fn value<L: Lookup>(self, machine: &Machine<'_, '_, L>, index: usize) -> Val {
        let there = index < self.count;
        let value = machine.memory.arena.stack.get(self.base + index).filter(|_| there);
        value.copied().unwrap_or(Val::NULL)
    }

    fn text<L: Lookup>(self, machine: &Machine<'_, '_, L>, index: usize) -> String {
        machine.text(self.value(machine, index)).unwrap_or_default().into_owned()
    }

    fn number<L: Lookup>(self, machine: &Machine<'_, '_, L>, index: usize) -> Number {
        machine.number_of(self.value(machine, index)).unwrap_or(Number::ZERO)
    }

    /// An integer, where the argument is there.
    fn integer<L: Lookup>(
        self,
        machine: &mut Machine<'_, '_, L>,
        index: usize,
    ) -> Outcome<Option<i64>> {
        if index >= self.count {
            return Ok(None);
        }
        match machine.number_of(self.value(machine, index)).and_then(Number::to_integer) {
            Some(integer) => Ok(Some(integer)),
            None => self.invalid_value(machine, "an integer"),
        }
    }

    fn count<L: Lookup>(
        self,
        machine: &mut Machine<'_, '_, L>,
        index: usize,
    ) -> Outcome<Option<usize>> {
        match self.integer(machine, index)?.map(usize::try_from) {
            None => Ok(None),
            Some(Ok(count)) => Ok(Some(count)),
            Some(Err(_)) => self.invalid_value(machine, "an integer that isn't negative"),
        }
    }

    fn invalid_value<T, L: Lookup>(
        self,
        machine: &mut Machine<'_, '_, L>,
        expected: &'static str,
    ) -> Outcome<T> {
        machine.fail(FailureKind::InvalidValue, self.call.at, expected)
    }

    fn invalid_type<T, L: Lookup>(
        self,
        machine: &mut Machine<'_, '_, L>,
        expected: &'static str,
    ) -> Outcome<T> {
        machine.fail(FailureKind::InvalidType, self.call.at, expected)
    }
}

/// Calls a function.
#[inline(never)]
pub(super) fn call<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    call: &'v Call,
    current: Val,
) -> Outcome<Val> {
    let base = machine.base();
    for (argument, _) in &call.arguments {
        let value = machine.eval(argument, current)?;
        machine.push(value);
    }
    let arguments = Arguments { base, count: call.arguments.len(), call };
    for (index, (_, parameter)) in call.arguments.iter().enumerate() {
        let value = arguments.value(machine, index);
        if !is(machine, value, *parameter)? {
            return machine.fail(FailureKind::InvalidType, call.at, parameter.expected());
        }
        machine.spend(value.size())?;
    }
    let result = apply(machine, arguments, call);
    machine.memory.arena.stack.truncate(base);
    result
}

/// Whether a value is what a parameter asks for.
fn is<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    value: Val,
    parameter: Parameter,
) -> Outcome<bool> {
    let kind = value.kind();
    let elements = |machine: &mut Machine<'_, '_, L>, all: &[JsonType]| -> Outcome<bool> {
        let Some(mut items) = machine.items(value)? else { return Ok(false) };
        let mut first = None;
        while let Some(item) = machine.next(&mut items) {
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
    arguments: Arguments<'_>,
    call: &'v Call,
) -> Outcome<Val> {
    let first = arguments.value(machine, 0);
    if let Extra::Expression(by) = &call.extra {
        return list::by(machine, arguments, first, by);
    }
    match call.function.function {
        F::Abs => {
            let number = arguments.number(machine, 0).abs();
            machine.made_number(number)
        }
        F::Ceil => {
            let number = arguments.number(machine, 0).ceil();
            machine.made_number(number)
        }
        F::Floor => {
            let number = arguments.number(machine, 0).floor();
            machine.made_number(number)
        }
        F::Sum => {
            let sum = list::sum(machine, first)?;
            number(machine, sum, call.at)
        }
        F::Avg => match machine.length(first)? {
            0 => Ok(Val::NULL),
            count => {
                let sum = list::sum(machine, first)?;
                let average = sum.and_then(|sum| sum.apply(Operation::Divide, count.into()));
                number(machine, average, call.at)
            }
        },
        F::Contains => {
            let search = arguments.value(machine, 1);
            list::contains(machine, first, search)
        }
        F::Length => {
            let length = match first.kind() {
                JsonType::String => machine.text(first).unwrap_or_default().chars().count(),
                JsonType::Array => machine.length(first)?,
                _ => machine.members(first)?.map_or(0, |members| members.count as usize),
            };
            machine.made_number(length.into())
        }
        F::Keys | F::Values | F::Items => list::of_members(machine, first, call.function.function),
        F::FromItems => list::from_items(machine, arguments),
        F::Merge => list::merge(machine, arguments),
        F::Zip => list::zip(machine, arguments),
        F::Max => list::most(machine, first, std::cmp::Ordering::Greater),
        F::Min => list::most(machine, first, std::cmp::Ordering::Less),
        F::Sort => list::sort(machine, first),
        F::Distinct => list::distinct(machine, first),
        F::NotNull => {
            let mut values = (0..arguments.count).map(|index| arguments.value(machine, index));
            Ok(values.find(|value| !value.is_null()).unwrap_or(Val::NULL))
        }
        F::Reverse => {
            let Some(mut items) = machine.items(first)? else {
                let text = machine.text(first).unwrap_or_default();
                let text: String = text.chars().rev().collect();
                return machine.make_text(&text);
            };
            let base = machine.base();
            while let Some(item) = machine.next(&mut items) {
                machine.spend(0)?;
                machine.push(item);
            }
            machine.memory.arena.stack.get_mut(base..).unwrap_or_default().reverse();
            machine.list_from(base)
        }
        F::ToArray => match first.kind() {
            JsonType::Array => Ok(first),
            _ => {
                let base = machine.base();
                machine.push(first);
                machine.list_from(base)
            }
        },
        F::Type => machine.make_text(match first.kind() {
            JsonType::Null => "null",
            JsonType::Boolean => "boolean",
            JsonType::Number => "number",
            JsonType::String => "string",
            JsonType::Array => "array",
            JsonType::Object => "object",
        }),
        F::Map | F::SortBy | F::MaxBy | F::MinBy | F::GroupBy => Ok(Val::NULL),
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

/// A number that a function gives.
fn number<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    number: Option<Number>,
    at: usize,
) -> Outcome<Val> {
    match number {
        Some(number) => machine.made_number(number),
        None => machine.fail(FailureKind::NotANumber, at, "a result that is a number"),
    }
}

/// What an expression gives for an element.
fn key<'v, L: Lookup>(machine: &mut Machine<'v, '_, L>, by: &'v Op, element: Val) -> Outcome<Val> {
    machine.eval(by, element)
}
