//! Functions of arrays and objects.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::super::evaluate::{Machine, Outcome, length};
use super::super::function::FunctionName as F;
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
    fn of(value: &Val<'_>) -> Option<Self> {
        value
            .number()
            .map(Self::Number)
            .or_else(|| value.text().map(|text| Self::Text(text.into_owned())))
    }

    fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

pub(super) fn sum<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    list: &Val<'v>,
) -> Outcome<Option<Number>> {
    let mut sum = Some(Number::ZERO);
    for item in machine.items(list)?.into_iter().flatten() {
        machine.spend(item.size())?;
        let number = item.number().unwrap_or(Number::ZERO);
        sum = sum.and_then(|sum| sum.apply(Operation::Add, number));
    }
    Ok(sum)
}

pub(super) fn contains<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    subject: &Val<'v>,
    search: &Val<'v>,
) -> Outcome<Val<'v>> {
    let Some(items) = machine.items(subject)? else {
        machine.spend(subject.size() + search.size())?;
        let found = match (subject.text(), search.text()) {
            (Some(subject), Some(search)) => subject.contains(&*search),
            _ => false,
        };
        return Ok(Val::Boolean(found));
    };
    for item in items {
        if machine.equal(&item, search)? {
            return Ok(Val::Boolean(true));
        }
    }
    Ok(Val::Boolean(false))
}

/// `keys`, `values` and `items`.
pub(super) fn of_members<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    object: &Val<'v>,
    function: F,
) -> Outcome<Val<'v>> {
    let members = machine.members(object)?.unwrap_or_default();
    let mut list = Vec::with_capacity(members.len());
    for (key, value) in members.iter() {
        let key = Val::Text(key.clone());
        list.push(match function {
            F::Keys => key,
            F::Values => value.clone(),
            _ => machine.list(vec![key, value.clone()])?,
        });
    }
    machine.list(list)
}

pub(super) fn from_items<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: &Arguments<'v, '_>,
) -> Outcome<Val<'v>> {
    let mut members = Vec::new();
    for pair in machine.items(&arguments.value(0))?.into_iter().flatten() {
        let mut parts = machine.items(&pair)?.into_iter().flatten();
        let (Some(key), Some(value), None) = (parts.next(), parts.next(), parts.next()) else {
            return arguments.invalid_value("pairs of a key and a value");
        };
        let Some(key) = key.text() else {
            return arguments.invalid_value("pairs that begin with a string");
        };
        machine.make(key.len() + size_of::<Val<'_>>())?;
        members.push((Arc::from(&*key), value));
    }
    machine.object(members)
}

pub(super) fn merge<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    objects: &[Val<'v>],
) -> Outcome<Val<'v>> {
    let mut merged = Vec::new();
    for object in objects {
        let members = machine.members(object)?.unwrap_or_default();
        machine.make(members.len().saturating_mul(size_of::<Val<'_>>()))?;
        merged.extend(members.iter().cloned());
    }
    machine.object(merged)
}

pub(super) fn zip<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    lists: &[Val<'v>],
) -> Outcome<Val<'v>> {
    let mut columns: Vec<_> = lists.iter().filter_map(Val::items).collect();
    let mut rows = Vec::new();
    loop {
        let mut row = Vec::with_capacity(columns.len());
        for column in &mut columns {
            match column.next() {
                Some(item) => row.push(item),
                None => return machine.list(rows),
            }
        }
        if row.is_empty() {
            return machine.list(rows);
        }
        rows.push(machine.list(row)?);
    }
}

/// The element that comes before all others, or after them.
pub(super) fn most<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    list: &Val<'v>,
    wanted: Ordering,
) -> Outcome<Val<'v>> {
    let mut most: Option<(SortKey, Val<'v>)> = None;
    for item in machine.items(list)?.into_iter().flatten() {
        machine.make(item.size())?;
        let Some(key) = SortKey::of(&item) else { continue };
        if most.as_ref().is_none_or(|(most, _)| key.cmp(most) == wanted) {
            most = Some((key, item));
        }
    }
    Ok(most.map_or(Val::Null, |(_, item)| item))
}

pub(super) fn sort<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    list: &Val<'v>,
) -> Outcome<Val<'v>> {
    let mut keyed = Vec::new();
    for item in machine.items(list)?.into_iter().flatten() {
        machine.make(item.size() + size_of::<(SortKey, Val<'_>)>())?;
        keyed.extend(SortKey::of(&item).map(|key| (key, item)));
    }
    sorted(machine, keyed)
}

fn sorted<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    mut keyed: Vec<(SortKey, Val<'v>)>,
) -> Outcome<Val<'v>> {
    let rounds = (usize::BITS - keyed.len().leading_zeros()) as usize;
    let bytes = keyed.iter().map(|(key, _)| match key {
        SortKey::Number(_) => 16,
        SortKey::Text(text) => 8 + text.len(),
    });
    let bytes = bytes.fold(0_usize, usize::saturating_add);
    machine.spend(bytes.saturating_mul(rounds))?;
    keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
    machine.list(keyed.into_iter().map(|(_, item)| item).collect())
}

/// Elements that aren't equal to one before them. Those that are no arrays and no objects are looked up, the others compared.
pub(super) fn distinct<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    list: &Val<'v>,
) -> Outcome<Val<'v>> {
    let mut kept: Vec<Val<'v>> = Vec::new();
    let mut keys = HashSet::new();
    let mut others: Vec<Val<'v>> = Vec::new();
    let mut truths = HashSet::new();
    for item in machine.items(list)?.into_iter().flatten() {
        machine.make(item.size().min(1 << 20) + 2 * size_of::<Val<'_>>())?;
        let is_new = match (SortKey::of(&item), item.kind()) {
            (Some(key), _) => keys.insert(key),
            (None, JsonType::Null) => truths.insert(None),
            (None, JsonType::Boolean) => truths.insert(Some(item.is_true())),
            (None, _) => {
                let mut is_new = true;
                for other in &others {
                    if machine.equal(other, &item)? {
                        is_new = false;
                        break;
                    }
                }
                if is_new {
                    others.push(item.clone());
                }
                is_new
            }
        };
        if is_new {
            kept.push(item);
        }
    }
    machine.list(kept)
}

/// The functions that evaluate an expression for each element.
pub(super) fn by<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: &Arguments<'v, '_>,
    list: &Val<'v>,
    by: &'v Op,
) -> Outcome<Val<'v>> {
    let function = arguments.call.function.function;
    let Some(items) = machine.items(list)? else { return Ok(Val::Null) };
    match function {
        F::Map => {
            let mut mapped = Vec::new();
            for item in items {
                machine.make(size_of::<Val<'_>>())?;
                mapped.push(key(machine, by, &item)?);
            }
            machine.list(mapped)
        }
        F::GroupBy => {
            let mut places: HashMap<Arc<str>, usize> = HashMap::new();
            let mut groups: Vec<(Arc<str>, Vec<Val<'v>>)> = Vec::new();
            for item in items {
                let name = key(machine, by, &item)?;
                if matches!(name, Val::Null) {
                    continue;
                }
                let Some(name) = name.text() else {
                    return arguments.invalid_type("an expression that gives strings");
                };
                machine.make(name.len() + 2 * size_of::<Val<'_>>())?;
                let place = *places.entry(Arc::from(&*name)).or_insert_with(|| {
                    groups.push((Arc::from(&*name), Vec::new()));
                    groups.len() - 1
                });
                if let Some((_, group)) = groups.get_mut(place) {
                    group.push(item);
                }
            }
            let mut members = Vec::with_capacity(groups.len());
            for (name, group) in groups {
                members.push((name, machine.list(group)?));
            }
            machine.object(members)
        }
        _ => {
            let mut keyed: Vec<(SortKey, Val<'v>)> = Vec::with_capacity(length(list).min(1024));
            for item in items {
                let value = key(machine, by, &item)?;
                machine.make(value.size() + size_of::<(SortKey, Val<'_>)>())?;
                let key = SortKey::of(&value);
                let first = keyed.first().map(|(key, _)| key);
                let Some(key) = key.filter(|key| first.is_none_or(|it| it.is_like(key))) else {
                    return arguments
                        .invalid_type("an expression that gives numbers alone, or strings alone");
                };
                keyed.push((key, item));
            }
            let best = match function {
                F::SortBy => return sorted(machine, keyed),
                F::MaxBy => Ordering::Greater,
                _ => Ordering::Less,
            };
            let mut most: Option<(SortKey, Val<'v>)> = None;
            for (key, item) in keyed {
                if most.as_ref().is_none_or(|(most, _)| key.cmp(most) == best) {
                    most = Some((key, item));
                }
            }
            Ok(most.map_or(Val::Null, |(_, item)| item))
        }
    }
}
