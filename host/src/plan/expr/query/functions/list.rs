//! Functions of arrays and objects.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use std::borrow::Cow;
use std::cmp::Ordering;

use super::super::function::FunctionName as F;
use super::super::machine::{ITEM, Items, Machine, Outcome};
use super::super::number::Number;
use super::super::program::Op;
use super::super::tree::Operation;
use super::super::value::{Form, Val};
use super::{Arguments, key};
use crate::plan::expr::{JsonType, Lookup};

/// Elements are compared one by one with so few others.
const FEW_ELEMENTS: usize = 8;

/// What is compared where values are put into an order.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
enum SortKey<'m> {
    Number(Number),
    Text(Cow<'m, str>),
}

impl<'m> SortKey<'m> {
    fn of<L: Lookup>(machine: &'m Machine<'_, '_, L>, value: Val) -> Option<Self> {
        let text = || machine.text(value).map(Self::Text);
        machine.number_of(value).map(Self::Number).or_else(text)
    }
}

#[inline(never)]
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

#[inline(never)]
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
        return Ok(Val::boolean(found));
    };
    while let Some(item) = machine.next(&mut items) {
        if machine.equal(item, search)? {
            return Ok(Val::boolean(true));
        }
    }
    Ok(Val::boolean(false))
}

#[inline(never)]
pub(super) fn reverse<L: Lookup>(machine: &mut Machine<'_, '_, L>, of: Val) -> Outcome<Val> {
    let Some(mut items) = machine.items(of)? else {
        let text = machine.text(of).unwrap_or_default();
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

/// `keys`, `values` and `items`.
#[inline(never)]
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

#[inline(never)]
pub(super) fn from_items<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    arguments: Arguments<'_>,
) -> Outcome<Val> {
    let base = machine.base();
    let Some(mut pairs) = machine.items(arguments.first)? else { return Ok(Val::NULL) };
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

#[inline(never)]
pub(super) fn merge<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    arguments: Arguments<'_>,
) -> Outcome<Val> {
    let base = machine.base();
    for argument in 0..arguments.count() {
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

#[inline(never)]
pub(super) fn zip<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    arguments: Arguments<'_>,
) -> Outcome<Val> {
    let mut columns = Vec::with_capacity(arguments.count());
    for argument in 0..arguments.count() {
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
#[inline(never)]
pub(super) fn most<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    list: Val,
    wanted: Ordering,
) -> Outcome<Val> {
    let base = machine.base();
    let Some(mut items) = machine.items(list)? else { return Ok(Val::NULL) };
    while let Some(item) = machine.next(&mut items) {
        machine.make(item.size())?;
        machine.push(item);
        machine.push(item);
    }
    Ok(most_of_pairs(machine, base, wanted))
}

/// Of the pairs of a key and an element that are on the stack from `base` on, the element whose key comes before all others, or after
/// them.
fn most_of_pairs<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    base: usize,
    wanted: Ordering,
) -> Val {
    let mut most: Option<(SortKey<'_>, Val)> = None;
    let (pairs, _) = machine.memory.arena.stack.get(base..).unwrap_or_default().as_chunks();
    for [key, item] in pairs {
        let Some(key) = SortKey::of(machine, *key) else { continue };
        if most.as_ref().is_none_or(|(most, _)| key.cmp(most) == wanted) {
            most = Some((key, *item));
        }
    }
    let most = most.map_or(Val::NULL, |(_, item)| item);
    machine.memory.arena.stack.truncate(base);
    most
}

#[inline(never)]
pub(super) fn sort<L: Lookup>(machine: &mut Machine<'_, '_, L>, list: Val) -> Outcome<Val> {
    let base = machine.base();
    let Some(mut items) = machine.items(list)? else { return Ok(Val::NULL) };
    while let Some(item) = machine.next(&mut items) {
        machine.make(item.size() + size_of::<(SortKey<'_>, Val)>())?;
        machine.push(item);
        machine.push(item);
    }
    sorted(machine, base)
}

/// The elements of the pairs of a key and an element that are on the stack from `base` on, in the order of their keys.
fn sorted<L: Lookup>(machine: &mut Machine<'_, '_, L>, base: usize) -> Outcome<Val> {
    let (pairs, _) = machine.memory.arena.stack.get(base..).unwrap_or_default().as_chunks();
    let key = |[key, item]: &[Val; 2]| SortKey::of(machine, *key).map(|key| (key, *item));
    let mut keyed: Vec<(SortKey<'_>, Val)> = pairs.iter().filter_map(key).collect();
    let rounds = (usize::BITS - keyed.len().leading_zeros()) as usize;
    let bytes = keyed.iter().map(|(key, _)| match key {
        SortKey::Number(_) => 16,
        SortKey::Text(text) => 8 + text.len(),
    });
    let bytes = bytes.fold(0_usize, usize::saturating_add);
    keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
    let items: Vec<Val> = keyed.into_iter().map(|(_, item)| item).collect();
    machine.spend(bytes.saturating_mul(rounds))?;
    machine.memory.arena.stack.truncate(base);
    machine.memory.arena.stack.extend(items);
    machine.list_from(base)
}

/// Elements that aren't equal to one before them.
#[inline(never)]
pub(super) fn distinct<L: Lookup>(machine: &mut Machine<'_, '_, L>, list: Val) -> Outcome<Val> {
    let Some(mut items) = machine.items(list)? else { return Ok(Val::NULL) };
    let base = machine.base();
    while let Some(item) = machine.next(&mut items) {
        machine.make(item.size().min(1 << 20) + 2 * ITEM)?;
        let kept = machine.base();
        if kept - base == FEW_ELEMENTS {
            machine.push(item);
            return distinct_of_many(machine, items, base);
        }
        let mut is_new = true;
        for index in base..kept {
            let other = machine.memory.arena.stack.get(index).copied().unwrap_or(Val::NULL);
            if machine.equal(other, item)? {
                is_new = false;
                break;
            }
        }
        if is_new {
            machine.push(item);
        }
    }
    machine.list_from(base)
}

/// The same of those on the stack from `base` on and the other items. Those that are no arrays and no objects are looked up, the others
/// compared.
fn distinct_of_many<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    mut items: Items,
    base: usize,
) -> Outcome<Val> {
    while let Some(item) = machine.next(&mut items) {
        machine.make(item.size().min(1 << 20) + 2 * ITEM)?;
        machine.push(item);
    }
    let all: Vec<Val> = machine.memory.arena.stack.drain(base..).collect();
    let mut kept = vec![true; all.len()];
    let mut others: Vec<usize> = Vec::new();
    {
        let mut keys = HashSet::new();
        let mut truths = HashSet::new();
        for (index, (item, is_kept)) in all.iter().zip(&mut kept).enumerate() {
            *is_kept = match (SortKey::of(machine, *item), item.form()) {
                (Some(key), _) => keys.insert(key),
                (None, Form::Null) => truths.insert(None),
                (None, Form::Boolean(truth)) => truths.insert(Some(truth)),
                (None, _) => {
                    others.push(index);
                    true
                }
            };
        }
    }
    let mut seen: Vec<Val> = Vec::new();
    for index in others {
        let (Some(item), Some(is_kept)) = (all.get(index).copied(), kept.get_mut(index)) else {
            continue;
        };
        for other in &seen {
            if machine.equal(*other, item)? {
                *is_kept = false;
                break;
            }
        }
        if *is_kept {
            seen.push(item);
        }
    }
    for (item, is_kept) in all.into_iter().zip(kept) {
        if is_kept {
            machine.push(item);
        }
    }
    machine.list_from(base)
}

/// The functions that evaluate an expression for each element.
#[inline(never)]
pub(super) fn by<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: Arguments<'_>,
    by: &'v Op,
) -> Outcome<Val> {
    let Arguments { first: list, call, .. } = arguments;
    let function = call.function.function;
    let Some(mut items) = machine.items(list)? else { return Ok(Val::NULL) };
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
            let base = machine.base();
            let mut first = None;
            while let Some(item) = machine.next(&mut items) {
                let value = key(machine, by, item)?;
                machine.make(value.size() + size_of::<(SortKey<'_>, Val)>())?;
                let kind = value.kind();
                let is_key = SortKey::of(machine, value).is_some();
                if !is_key || *first.get_or_insert(kind) != kind {
                    return arguments.invalid_type(
                        machine,
                        "an expression that gives numbers alone, or strings alone",
                    );
                }
                machine.push(value);
                machine.push(item);
            }
            match function {
                F::SortBy => sorted(machine, base),
                F::MaxBy => Ok(most_of_pairs(machine, base, Ordering::Greater)),
                _ => Ok(most_of_pairs(machine, base, Ordering::Less)),
            }
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
        if value.is_null() {
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
