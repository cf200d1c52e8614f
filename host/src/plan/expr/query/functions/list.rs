//! Functions of arrays and objects.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::super::function::FunctionName as F;
use super::super::machine::{ITEM, Items, Machine, Outcome};
use super::super::number::Number;
use super::super::program::Op;
use super::super::tree::Operation;
use super::super::value::Val;
use super::{Arguments, key};
use crate::plan::expr::{JsonType, Lookup};

/// What is compared where values are put into an order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum SortKey {
    Number(Number),
    Text(String),
}

impl SortKey {
    fn of<L: Lookup>(machine: &Machine<'_, '_, L>, value: Val) -> Option<Self> {
        let text = || machine.text(value).map(|text| Self::Text(text.into_owned()));
        machine.number_of(value).map(Self::Number).or_else(text)
    }

    fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

pub(super) fn sum<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    list: Val,
) -> Outcome<Option<Number>> {
    let mut sum = Some(Number::ZERO);
    let Some(mut items) = machine.items(list)? else { return Ok(sum) };
    while let Some(item) = machine.next(&mut items) {
        machine.spend(item.size())?;
        let number = machine.number_of(item).unwrap_or(Number::ZERO);
        sum = sum.and_then(|sum| sum.apply(Operation::Add, number));
    }
    Ok(sum)
}

pub(super) fn contains<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    subject: Val,
    search: Val,
) -> Outcome<Val> {
    let Some(mut items) = machine.items(subject)? else {
        machine.spend(subject.size() + search.size())?;
        let found = match (machine.text(subject), machine.text(search)) {
            (Some(subject), Some(search)) => subject.contains(&*search),
            _ => false,
        };
        return Ok(Val::Boolean(found));
    };
    while let Some(item) = machine.next(&mut items) {
        if machine.equal(item, search)? {
            return Ok(Val::Boolean(true));
        }
    }
    Ok(Val::Boolean(false))
}

/// `keys`, `values` and `items`.
pub(super) fn of_members<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    object: Val,
    function: F,
) -> Outcome<Val> {
    let members = machine.members(object)?;
    let base = machine.base();
    for index in 0..members.map_or(0, |members| members.count as usize) {
        let Some((key, value)) = members.and_then(|members| machine.member(members, index)) else {
            break;
        };
        let item = match function {
            F::Keys => key,
            F::Values => value,
            _ => {
                let base = machine.base();
                machine.push(key);
                machine.push(value);
                machine.list_from(base)?
            }
        };
        machine.push(item);
    }
    machine.list_from(base)
}

pub(super) fn from_items<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    arguments: Arguments<'_>,
) -> Outcome<Val> {
    let base = machine.base();
    let Some(mut pairs) = machine.items(arguments.value(machine, 0))? else { return Ok(Val::Null) };
    while let Some(pair) = machine.next(&mut pairs) {
        let mut parts = machine.items(pair)?;
        let mut next = || parts.as_mut().and_then(|parts| machine.next(parts));
        let (Some(key), Some(value), None) = (next(), next(), next()) else {
            return arguments.invalid_value(machine, "pairs of a key and a value");
        };
        if key.kind() != JsonType::String {
            return arguments.invalid_value(machine, "pairs that begin with a string");
        }
        machine.spend(key.size())?;
        machine.push(key);
        machine.push(value);
    }
    machine.object_from(base)
}

pub(super) fn merge<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    arguments: Arguments<'_>,
) -> Outcome<Val> {
    let base = machine.base();
    for argument in 0..arguments.count {
        let members = machine.members(arguments.value(machine, argument))?;
        for index in 0..members.map_or(0, |members| members.count as usize) {
            let member = members.and_then(|members| machine.member(members, index));
            let Some((key, value)) = member else { break };
            machine.push(key);
            machine.push(value);
        }
    }
    machine.object_from(base)
}

pub(super) fn zip<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    arguments: Arguments<'_>,
) -> Outcome<Val> {
    let mut columns = Vec::with_capacity(arguments.count);
    for argument in 0..arguments.count {
        columns.extend(machine.items(arguments.value(machine, argument))?);
    }
    let rows = machine.base();
    'rows: while !columns.is_empty() {
        let row = machine.base();
        for column in &mut columns {
            match machine.next(column) {
                Some(item) => machine.push(item),
                None => {
                    machine.memory.arena.stack.truncate(row);
                    break 'rows;
                }
            }
        }
        let row = machine.list_from(row)?;
        machine.push(row);
    }
    machine.list_from(rows)
}

/// The element that comes before all others, or after them.
pub(super) fn most<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    list: Val,
    wanted: Ordering,
) -> Outcome<Val> {
    let mut most: Option<(SortKey, Val)> = None;
    let Some(mut items) = machine.items(list)? else { return Ok(Val::Null) };
    while let Some(item) = machine.next(&mut items) {
        machine.make(item.size())?;
        let Some(key) = SortKey::of(machine, item) else { continue };
        if most.as_ref().is_none_or(|(most, _)| key.cmp(most) == wanted) {
            most = Some((key, item));
        }
    }
    Ok(most.map_or(Val::Null, |(_, item)| item))
}

pub(super) fn sort<L: Lookup>(machine: &mut Machine<'_, '_, L>, list: Val) -> Outcome<Val> {
    let mut keyed = Vec::new();
    let Some(mut items) = machine.items(list)? else { return Ok(Val::Null) };
    while let Some(item) = machine.next(&mut items) {
        machine.make(item.size() + size_of::<(SortKey, Val)>())?;
        keyed.extend(SortKey::of(machine, item).map(|key| (key, item)));
    }
    sorted(machine, keyed)
}

fn sorted<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    mut keyed: Vec<(SortKey, Val)>,
) -> Outcome<Val> {
    let rounds = (usize::BITS - keyed.len().leading_zeros()) as usize;
    let bytes = keyed.iter().map(|(key, _)| match key {
        SortKey::Number(_) => 16,
        SortKey::Text(text) => 8 + text.len(),
    });
    let bytes = bytes.fold(0_usize, usize::saturating_add);
    machine.spend(bytes.saturating_mul(rounds))?;
    keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
    let base = machine.base();
    keyed.into_iter().for_each(|(_, item)| machine.push(item));
    machine.list_from(base)
}

/// Elements that aren't equal to one before them. Those that are no arrays and no objects are looked up, the others compared.
pub(super) fn distinct<L: Lookup>(machine: &mut Machine<'_, '_, L>, list: Val) -> Outcome<Val> {
    let mut keys = HashSet::new();
    let mut others: Vec<Val> = Vec::new();
    let mut truths = HashSet::new();
    let Some(mut items) = machine.items(list)? else { return Ok(Val::Null) };
    let base = machine.base();
    while let Some(item) = machine.next(&mut items) {
        machine.make(item.size().min(1 << 20) + 2 * ITEM)?;
        let is_new = match (SortKey::of(machine, item), item) {
            (Some(key), _) => keys.insert(key),
            (None, Val::Null) => truths.insert(None),
            (None, Val::Boolean(truth)) => truths.insert(Some(truth)),
            (None, _) => {
                let mut is_new = true;
                for other in &others {
                    if machine.equal(*other, item)? {
                        is_new = false;
                        break;
                    }
                }
                if is_new {
                    others.push(item);
                }
                is_new
            }
        };
        if is_new {
            machine.push(item);
        }
    }
    machine.list_from(base)
}

/// The functions that evaluate an expression for each element.
pub(super) fn by<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: Arguments<'_>,
    list: Val,
    by: &'v Op,
) -> Outcome<Val> {
    let function = arguments.call.function.function;
    let Some(mut items) = machine.items(list)? else { return Ok(Val::Null) };
    match function {
        F::Map => {
            let base = machine.base();
            while let Some(item) = machine.next(&mut items) {
                let value = key(machine, by, item)?;
                machine.push(value);
            }
            machine.list_from(base)
        }
        F::GroupBy => group(machine, arguments, items, by),
        _ => {
            let mut keyed: Vec<(SortKey, Val)> = Vec::new();
            while let Some(item) = machine.next(&mut items) {
                let value = key(machine, by, item)?;
                machine.make(value.size() + size_of::<(SortKey, Val)>())?;
                let key = SortKey::of(machine, value);
                let first = keyed.first().map(|(key, _)| key);
                let Some(key) = key.filter(|key| first.is_none_or(|it| it.is_like(key))) else {
                    return arguments.invalid_type(
                        machine,
                        "an expression that gives numbers alone, or strings alone",
                    );
                };
                keyed.push((key, item));
            }
            let best = match function {
                F::SortBy => return sorted(machine, keyed),
                F::MaxBy => Ordering::Greater,
                _ => Ordering::Less,
            };
            let mut most: Option<(SortKey, Val)> = None;
            for (key, item) in keyed {
                if most.as_ref().is_none_or(|(most, _)| key.cmp(most) == best) {
                    most = Some((key, item));
                }
            }
            Ok(most.map_or(Val::Null, |(_, item)| item))
        }
    }
}

/// The elements by what an expression gives for them, in the order in which that comes first.
fn group<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: Arguments<'_>,
    mut items: Items,
    by: &'v Op,
) -> Outcome<Val> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<(Val, Vec<Val>)> = Vec::new();
    while let Some(item) = machine.next(&mut items) {
        let value = key(machine, by, item)?;
        if matches!(value, Val::Null) {
            continue;
        }
        if value.kind() != JsonType::String {
            return arguments.invalid_type(machine, "an expression that gives strings");
        }
        machine.make(value.size() + 2 * ITEM)?;
        let name = machine.text(value).unwrap_or_default().into_owned();
        let next = groups.len();
        match groups.get_mut(*places.entry(name).or_insert(next)) {
            Some((_, group)) => group.push(item),
            None => groups.push((value, vec![item])),
        }
    }
    let members = machine.base();
    for (name, group) in groups {
        machine.push(name);
        let base = machine.base();
        group.into_iter().for_each(|item| machine.push(item));
        let list = machine.list_from(base)?;
        machine.push(list);
    }
    machine.object_from(members)
}
