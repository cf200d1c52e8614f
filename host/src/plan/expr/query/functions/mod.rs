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

/// The values of the arguments, and what a function may ask of them.
#[derive(Clone, Copy)]
struct Arguments<'c> {
    /// The first one; null where there is none.
    first: Val,
    /// Where the others begin on the stack.
    base: usize,
    call: &'c Call,
}

impl Arguments<'_> {
    #[inline]
    fn count(self) -> usize {
        self.call.arguments.len()
    }

    #[inline]
    fn value<L: Lookup>(self, machine: &Machine<'_, '_, L>, index: usize) -> Val {
        match index.checked_sub(1) {
            None => self.first,
            Some(_) if index >= self.count() => Val::NULL,
            Some(behind) => {
                let value = machine.memory.arena.stack.get(self.base + behind);
                value.copied().unwrap_or(Val::NULL)
            }
        }
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
        if index >= self.count() {
            return Ok(None);
        }
        match machine.number_of(self.value(machine, index)).and_then(Number::to_integer) {
            Some(integer) => Ok(Some(integer)),
            None => self.invalid_value(machine, "an integer"),
        }
    }

    /// An integer that isn't negative, where the argument is there.
    fn natural<L: Lookup>(
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
    let Some(((argument, parameter), others)) = call.arguments.split_first() else {
        return apply(machine, Arguments { first: Val::NULL, base: 0, call });
    };
    let first = machine.eval(argument, current)?;
    if !others.is_empty() {
        return call_with(machine, call, first, others, current);
    }
    check(machine, first, *parameter, call)?;
    let base = machine.base();
    let result = apply(machine, Arguments { first, base, call });
    debug_assert!(result.is_err() || machine.base() == base, "a function cleans up the stack");
    result
}

/// The same with others beside the first argument.
#[inline(never)]
fn call_with<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    call: &'v Call,
    first: Val,
    others: &'v [(Op, Parameter)],
    current: Val,
) -> Outcome<Val> {
    let base = machine.base();
    for (argument, _) in others {
        let value = machine.eval(argument, current)?;
        machine.push(value);
    }
    let arguments = Arguments { first, base, call };
    for (index, (_, parameter)) in call.arguments.iter().enumerate() {
        let value = arguments.value(machine, index);
        check(machine, value, *parameter, call)?;
    }
    let result = apply(machine, arguments);
    machine.memory.arena.stack.truncate(base);
    result
}

/// Checks that a value is what a parameter asks for, and pays for reading it.
#[inline(always)]
fn check<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    value: Val,
    parameter: Parameter,
    call: &Call,
) -> Outcome<()> {
    let elements = parameter.elements();
    if !parameter.takes(value.kind())
        || !elements.is_empty() && !are_elements(machine, value, elements)?
    {
        return machine.fail(FailureKind::InvalidType, call.at, parameter.expected());
    }
    machine.spend(value.size())
}

/// Whether all elements of an array are of the type of the first, and that is one of these.
#[inline(never)]
fn are_elements<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    array: Val,
    kinds: &[JsonType],
) -> Outcome<bool> {
    let Some(mut items) = machine.items(array)? else { return Ok(false) };
    let mut first = None;
    while let Some(item) = machine.next(&mut items) {
        machine.spend(0)?;
        let kind = item.kind();
        if *first.get_or_insert(kind) != kind || !kinds.contains(&kind) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What a function gives; where it gives something it leaves the stack as it was. Those that do more than a little are functions by
/// themselves, which aren't inlined: none saves registers that only another one needs.
fn apply<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: Arguments<'v>,
) -> Outcome<Val> {
    let Arguments { first, call, .. } = arguments;
    if let Extra::Expression(by) = &call.extra {
        return list::by(machine, arguments, by);
    }
    match call.function.function {
        F::Abs | F::Ceil | F::Floor => rounded(machine, arguments),
        F::Sum => {
            let sum = list::sum(machine, first)?;
            number(machine, sum, call.at)
        }
        F::Avg => average(machine, arguments),
        F::Contains => {
            let search = arguments.value(machine, 1);
            list::contains(machine, first, search)
        }
        F::Length => length(machine, first),
        F::Keys | F::Values | F::Items => list::of_members(machine, first, call.function.function),
        F::FromItems => list::from_items(machine, arguments),
        F::Merge => list::merge(machine, arguments),
        F::Zip => list::zip(machine, arguments),
        F::Max => list::most(machine, first, std::cmp::Ordering::Greater),
        F::Min => list::most(machine, first, std::cmp::Ordering::Less),
        F::Sort => list::sort(machine, first),
        F::Distinct => list::distinct(machine, first),
        F::NotNull => {
            let mut values = (0..arguments.count()).map(|index| arguments.value(machine, index));
            Ok(values.find(|value| !value.is_null()).unwrap_or(Val::NULL))
        }
        F::Reverse => list::reverse(machine, first),
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
        | F::TrimRight => text::apply(machine, arguments),
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
        | F::ToJsonText => convert::apply(machine, arguments),
    }
}

#[inline(never)]
fn rounded<L: Lookup>(machine: &mut Machine<'_, '_, L>, arguments: Arguments<'_>) -> Outcome<Val> {
    let number = arguments.number(machine, 0);
    machine.made_number(match arguments.call.function.function {
        F::Abs => number.abs(),
        F::Ceil => number.ceil(),
        _ => number.floor(),
    })
}

#[inline(never)]
fn average<L: Lookup>(machine: &mut Machine<'_, '_, L>, arguments: Arguments<'_>) -> Outcome<Val> {
    let Arguments { first, call, .. } = arguments;
    match machine.length(first)? {
        0 => Ok(Val::NULL),
        count => {
            let sum = list::sum(machine, first)?;
            let average = sum.and_then(|sum| sum.apply(Operation::Divide, count.into()));
            number(machine, average, call.at)
        }
    }
}

#[inline(never)]
fn length<L: Lookup>(machine: &mut Machine<'_, '_, L>, of: Val) -> Outcome<Val> {
    let length = match of.kind() {
        JsonType::String => machine.text(of).unwrap_or_default().chars().count(),
        JsonType::Array => machine.length(of)?,
        _ => machine.members(of)?.map_or(0, |members| members.count as usize),
    };
    machine.made_number(length.into())
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
