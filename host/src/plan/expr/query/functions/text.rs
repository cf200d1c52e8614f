//! Functions of strings.

use super::super::function::FunctionName as F;
use super::super::machine::{ITEM, Machine, Outcome};
use super::super::value::{Part, Val};
use super::Arguments;
use crate::plan::expr::Lookup;
use crate::plan::expr::conversion::find_from;
use crate::plan::expr::fuel;

#[inline(never)]
pub(super) fn apply<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    arguments: Arguments<'_>,
) -> Outcome<Val> {
    let function = arguments.call.function.function;
    if function == F::Join {
        return join(machine, arguments);
    }
    let Some(part) = machine.text_part(arguments.first)? else { return Ok(Val::NULL) };
    // What reads and writes the text once or twice, at the price of the conversions that do.
    machine.spend_cost(fuel::TEXT, part.len())?;
    match function {
        F::StartsWith | F::EndsWith => {
            let text = machine.written(part);
            let affix = machine.text(arguments.value(machine, 1)).unwrap_or_default();
            let is_there = if function == F::StartsWith {
                text.starts_with(&*affix)
            } else {
                text.ends_with(&*affix)
            };
            Ok(Val::boolean(is_there))
        }
        F::Lower | F::Upper => {
            let mut changed = machine.memory.arena.begin_text();
            let text = machine.written(part);
            match (text.is_ascii(), function == F::Lower) {
                (true, is_lower) => {
                    changed.push_str(text);
                    if is_lower {
                        changed.make_ascii_lowercase();
                    } else {
                        changed.make_ascii_uppercase();
                    }
                }
                (false, true) => changed = text.to_lowercase(),
                (false, false) => changed = text.to_uppercase(),
            }
            machine.make_written(changed)
        }
        F::FindFirst | F::FindLast => {
            let (start, end) = (arguments.integer(machine, 2)?, arguments.integer(machine, 3)?);
            let sub = arguments.text(machine, 1);
            let found = find(machine.written(part), &sub, start, end, function == F::FindLast);
            match found {
                Some(at) => machine.made_number(at.into()),
                None => Ok(Val::NULL),
            }
        }
        F::PadLeft | F::PadRight => pad(machine, arguments, part, function),
        F::Replace => replace(machine, arguments, part),
        F::Split => split(machine, arguments, part),
        _ => {
            let set = arguments.text(machine, 1);
            machine.spend(part.len().saturating_mul(set.len().min(part.len())))?;
            let strips =
                |it: char| if set.is_empty() { it.is_whitespace() } else { set.contains(it) };
            let text = machine.written(part);
            let start = match function {
                F::TrimRight => 0,
                _ => text.len() - text.trim_start_matches(strips).len(),
            };
            let end = match function {
                F::TrimLeft => text.len(),
                _ => text.trim_end_matches(strips).len().max(start),
            };
            Ok(Val::text(part.part(start, end)))
        }
    }
}

#[inline(never)]
fn join<L: Lookup>(machine: &mut Machine<'_, '_, L>, arguments: Arguments<'_>) -> Outcome<Val> {
    let Some(between) = machine.text_part(arguments.first)? else {
        return Ok(Val::NULL);
    };
    let Some(mut items) = machine.items(arguments.value(machine, 1))? else { return Ok(Val::NULL) };
    let mut joined = machine.memory.arena.begin_text();
    let mut is_first = true;
    while let Some(item) = machine.next(&mut items) {
        machine.make(item.size() + between.len())?;
        if !std::mem::take(&mut is_first) {
            joined.push_str(machine.written(between));
        }
        joined.push_str(&machine.text(item).unwrap_or_default());
    }
    machine.make_written(joined)
}

/// The index of the first or last time that a text occurs between two indices, by characters.
fn find(text: &str, sub: &str, start: Option<i64>, end: Option<i64>, last: bool) -> Option<usize> {
    if sub.is_empty() || text.is_empty() {
        return None;
    }
    let length = text.chars().count() as i64;
    let bound = |index: i64| {
        let index = if index < 0 { index.saturating_add(length) } else { index };
        index.clamp(0, length) as usize
    };
    let (start, end) = (start.map_or(0, bound), end.map_or(length as usize, bound));
    let offset = |index: usize| text.char_indices().nth(index).map_or(text.len(), |(at, _)| at);
    let within = text.get(offset(start)..offset(end))?;
    let at = if last { within.rfind(sub) } else { within.find(sub) }?;
    Some(start + within.get(..at)?.chars().count())
}

#[inline(never)]
fn pad<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    arguments: Arguments<'_>,
    part: Part,
    function: F,
) -> Outcome<Val> {
    let width = arguments.natural(machine, 1)?.unwrap_or(0);
    let with = if arguments.count() > 2 { arguments.text(machine, 2) } else { " ".to_owned() };
    if with.chars().count() != 1 {
        return arguments.invalid_value(machine, "one character to fill with");
    }
    let missing = width.saturating_sub(machine.written(part).chars().count());
    // Before there are so many of them.
    machine.make(missing.saturating_mul(with.len()))?;
    let (filling, text) = (with.repeat(missing), machine.written(part));
    let padded = if function == F::PadLeft { filling + text } else { format!("{text}{filling}") };
    machine.make_text(&padded)
}

#[inline(never)]
fn replace<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    arguments: Arguments<'_>,
    part: Part,
) -> Outcome<Val> {
    let (old, new) = (arguments.text(machine, 1), arguments.text(machine, 2));
    let most = arguments.natural(machine, 3)?.unwrap_or(usize::MAX);
    let times = machine.written(part).matches(&old).count().min(most);
    machine.make(times.saturating_mul(new.len()))?;
    let replaced = machine.written(part).replacen(&old, &new, times);
    machine.make_text(&replaced)
}

/// The parts are places in the text.
#[inline(never)]
fn split<L: Lookup>(
    machine: &mut Machine<'_, '_, L>,
    arguments: Arguments<'_>,
    part: Part,
) -> Outcome<Val> {
    let Some(separator) = machine.text_part(arguments.value(machine, 1))? else {
        return Ok(Val::NULL);
    };
    let most = arguments.natural(machine, 2)?.unwrap_or(usize::MAX);
    let base = machine.base();
    let mut at = 0;
    for count in 0.. {
        let text = machine.written(part);
        let (end, next) = if count == most {
            (text.len(), None)
        } else if separator.len() == 0 {
            let first = text.get(at..).and_then(|rest| rest.chars().next());
            let end = at + first.map_or(0, char::len_utf8);
            (end, (end < text.len()).then_some(end))
        } else {
            match find_from(text, machine.written(separator), at) {
                Some(found) => (found, Some(found + separator.len())),
                None => (text.len(), None),
            }
        };
        if separator.len() == 0 && end == at {
            break;
        }
        machine.make(ITEM)?;
        machine.push(Val::text(part.part(at, end)));
        match next {
            Some(next) => at = next,
            None => break,
        }
    }
    machine.list_from(base)
}
